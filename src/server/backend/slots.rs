//! The jobs in service, each in a place of its own.

use super::{Job, Running};
use crate::time::Instant;

/// The jobs in service. There are as many places as jobs were ever in service at a time, so that a
/// number of slots costs nothing that is never used.
#[derive(Debug, Default)]
pub struct Slots {
    places: Vec<Place>,
    /// Places without a job.
    free: Vec<u32>,
    /// Jobs that ever began.
    began: u64,
}

#[derive(Debug)]
struct Place {
    /// Jobs that ended here, so that an old [`Running`] finds none of the later ones.
    generation: u32,
    busy: Option<Busy>,
}

#[derive(Debug)]
struct Busy {
    job: Job,
    since: Instant,
    /// Which of all jobs, in the order in which they began.
    number: u64,
}

impl Slots {
    /// Jobs in service.
    pub fn busy(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// A job begins.
    ///
    /// # Panics
    /// If 2^32 are in service.
    pub fn take(&mut self, job: Job, since: Instant) -> Running {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { generation: 0, busy: None });
            u32::try_from(self.places.len() - 1).expect("at most 2^32 slots")
        });
        let place = &mut self.places[index as usize];
        place.busy = Some(Busy { job, since, number: self.began });
        self.began += 1;
        Running(u64::from(place.generation) << 32 | u64::from(index))
    }

    /// A job ends: gives it with the instant at which it began, or `None` if it has ended before.
    pub fn free(&mut self, running: Running) -> Option<(Job, Instant)> {
        let (generation, index) = ((running.0 >> 32) as u32, running.0 as u32);
        let place = self.places.get_mut(index as usize)?;
        if place.generation != generation {
            return None;
        }
        let Busy { job, since, .. } = place.end()?;
        self.free.push(index);
        Some((job, since))
    }

    /// All jobs end: gives them with the instants at which they began, in that order.
    pub fn clear(&mut self) -> Vec<(Job, Instant)> {
        let mut ended: Vec<Busy> = self.places.iter_mut().filter_map(Place::end).collect();
        self.free = (0..self.places.len() as u32).rev().collect();
        ended.sort_by_key(|busy| busy.number);
        ended.into_iter().map(|busy| (busy.job, busy.since)).collect()
    }
}

impl Place {
    fn end(&mut self) -> Option<Busy> {
        let busy = self.busy.take()?;
        self.generation = self.generation.wrapping_add(1);
        Some(busy)
    }
}
