//! Takes in the requests of a record one by one, and makes the source of them.

use super::column::Column;
use super::drawn::{Stamped, raise};
use super::durations::Durations;
use super::order::{InOrder, Order};
use super::request::Reading;
use super::sorting::sort;
use super::spread::Spread;
use crate::error::{Place, Problem};
use crate::log::format::Fault;
use crate::log::key::address::Prefix;
use crate::log::names::{Keys, Names};
use crate::log::read::{Sink, Spot};
use crate::log::{Entry, Plain};
use crate::time::{Instant, SECOND, Span};
use crate::traffic::{Context, Source};

/// A record has at most so many requests.
const MOST: usize = u32::MAX as usize;

/// The requests of a record so far.
pub struct Intake<'a, 'c> {
    context: &'a mut Context<'c>,
    reading: &'a mut dyn Reading,
    order: Order,
    in_order: InOrder,
    /// Where the record was named, for messages.
    place: Place,
    /// In the order of the record, as are the columns.
    times: Vec<Instant>,
    /// The client, endpoint and cost of each.
    columns: [Column; 3],
    /// How long each took, as long as it may have to be taken off after they were spread.
    took: Option<Durations>,
    /// Whether all stamps are whole seconds.
    seconds: bool,
    clients: Names,
    /// The identities of the clients of the last requests, which have no number yet.
    unnumbered: Keys,
    endpoints: Names,
    endpoint: Vec<u8>,
    /// The number of the endpoint where none is told: often that of all requests.
    nothing_asked: Option<u32>,
    /// Clients known by an address that is none.
    without_address: u64,
}

/// So many clients are given their numbers at once.
const AT_ONCE: usize = 256;

/// The first byte of an identity that is an address of IPv4.
const V4: u8 = 4;

impl<'a, 'c> Intake<'a, 'c> {
    /// None so far.
    pub fn new(
        context: &'a mut Context<'c>,
        reading: &'a mut dyn Reading,
        order: Order,
        place: Place,
    ) -> Intake<'a, 'c> {
        Intake {
            context,
            reading,
            order,
            in_order: InOrder::new(order),
            place,
            times: Vec::new(),
            columns: [Column::EMPTY; 3],
            took: None,
            seconds: true,
            clients: Names::default(),
            unnumbered: Keys::default(),
            endpoints: Names::default(),
            endpoint: Vec::new(),
            nothing_asked: None,
            without_address: 0,
        }
    }

    /// A sentence on the order of the files, where it matters.
    pub fn note(&self) -> Option<String> {
        self.in_order.note()
    }

    /// The source of all requests, how whole seconds were spread if all stamps are, and how many clients are
    /// known by an address that is none.
    pub fn finish(mut self, wanted: Option<Spread>) -> (Box<dyn Source>, Option<Spread>, u64) {
        self.number_clients();
        let spread = self.seconds.then(|| wanted.unwrap_or(Spread::Even));
        let in_order = self.order == Order::File;
        let [client, endpoint, cost] = &mut self.columns;
        match in_order {
            true => raise(&mut self.times),
            false => sort(&mut self.times, &mut [client, endpoint, cost, &mut self.took]),
        }
        self.times.shrink_to_fit();
        let stamped = Stamped {
            stamps: self.times,
            columns: self.columns,
            took: self.took,
            seconds: self.seconds,
            spread: spread.unwrap_or(Spread::None),
            in_order,
            position: self.context.position as u64,
        };
        let recorded = stamped.under(self.context.seed, self.context.keep_stamps);
        (Box::new(recorded), spread, self.without_address)
    }

    /// Adds the time of a request that took so long after it came.
    #[inline]
    fn push(&mut self, at: Instant, took: Span) {
        if self.seconds && at.0 % SECOND as i64 != 0 {
            self.seconds = false;
            if let Some(took) = self.took.take() {
                for (index, time) in self.times.iter_mut().enumerate() {
                    *time = *time - took.get(index);
                }
            }
        }
        if !self.seconds {
            self.times.push(at - took);
            return;
        }
        if self.took.is_none() && took > Span::ZERO {
            self.took = Some(Durations::zeros(self.times.len()));
        }
        if let Some(all) = &mut self.took {
            all.push(took);
        }
        self.times.push(at);
    }

    /// Gives the clients of the last requests their numbers.
    fn number_clients(&mut self) {
        let Intake { context, reading, unnumbered, columns: [clients, ..], .. } = self;
        let number = |identity: &[u8]| {
            let (client, nameless) = reading.client(identity);
            self.without_address += u64::from(nameless);
            context.client(client)
        };
        let mut index = self.times.len() - unnumbered.len();
        self.clients.get_all(unnumbered.iter(), number, |client| {
            clients.push(index, client);
            index += 1;
        });
        unnumbered.clear();
    }

    /// Adds requests of which the address is all that is wanted, and its prefix all of the identity.
    fn push_plain(&mut self, plain: &[Plain], prefix: Prefix) {
        let mut index = self.times.len();
        self.endpoint.clear();
        let endpoint = self.number_endpoint();
        let Intake { context, reading, columns: [clients, endpoints, costs], .. } = self;
        endpoints.push_all(index, endpoint, plain.len());
        costs.push_all(index, 1, plain.len());
        for some in plain.chunks(AT_ONCE) {
            let keys = some.iter().map(|request| {
                let [a, b, c, d] = prefix.of_v4(request.address);
                [V4, a, b, c, d]
            });
            let number = |identity: &[u8]| {
                let (client, nameless) = reading.client(identity);
                self.without_address += u64::from(nameless);
                context.client(client)
            };
            self.clients.get_all(keys, number, |client| {
                clients.push(index, client);
                index += 1;
            });
        }
        match (self.seconds, &self.took) {
            (true, None) => self.times.extend(plain.iter().map(|request| request.at())),
            _ => plain.iter().for_each(|request| self.push(request.at(), Span::ZERO)),
        }
    }

    /// Why no more requests can be taken.
    fn too_many(&self) -> Fault {
        let message = format!("the record has more than {MOST} requests");
        let problem = Problem::at(&self.place, message).help("split it into several sources");
        Fault::Stop(vec![problem])
    }

    /// The number of the endpoint of the last request.
    #[inline]
    fn number_endpoint(&mut self) -> u32 {
        let Intake { context, reading, endpoint, endpoints, nothing_asked, .. } = self;
        if let (Some(number), true) = (*nothing_asked, endpoint.is_empty()) {
            return number;
        }
        let name = || context.endpoint(&reading.endpoint_name(endpoint));
        let number = endpoints.get(endpoint, name);
        if endpoint.is_empty() {
            *nothing_asked = Some(number);
        }
        number
    }
}

impl Sink for Intake<'_, '_> {
    fn takes_plain(&self) -> bool {
        self.in_order.is_any() && self.reading.prefix().is_some()
    }

    fn plain(&mut self, plain: &[Plain], _spot: Spot) -> Result<(), (usize, Fault)> {
        let Some(prefix) = self.reading.prefix() else {
            unreachable!("they are given only where it is known")
        };
        let room = MOST - self.times.len();
        if plain.len() > room {
            return Err((room, self.too_many()));
        }
        self.number_clients();
        self.push_plain(plain, prefix);
        Ok(())
    }

    fn entry(&mut self, entry: &Entry, spot: Spot) -> Result<bool, Fault> {
        let index = self.times.len();
        if index >= MOST {
            return Err(self.too_many());
        }
        if !self.reading.keeps(entry) {
            return Ok(false);
        }
        let cost = self.reading.cost(entry)?;
        let at = self.in_order.stamp(entry.stamp.at)?;
        self.in_order.push(entry.stamp.at, spot.file);
        self.unnumbered.push(|into| self.reading.identity(entry, into));
        self.endpoint.clear();
        self.reading.endpoint(entry, &mut self.endpoint);
        let endpoint = self.number_endpoint();
        let [_, endpoints, costs] = &mut self.columns;
        endpoints.push(index, endpoint);
        costs.push(index, cost);
        let took = entry.took.filter(|_| spot.ends).unwrap_or(Span::ZERO);
        self.push(at, took);
        if self.unnumbered.len() == AT_ONCE {
            self.number_clients();
        }
        Ok(true)
    }
}
