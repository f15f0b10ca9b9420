//! Groups values in time order by client, in place: it needs at most two bytes a value and four a client more, and a
//! few megabytes.
//!
//! Neighbouring clients are a family. Values go to the buffer of their family; a full buffer is written over values
//! that were read before, as a block. Blocks are permuted until those of a family lie together, and then the values of
//! each family are put in the order of its clients. So what is written to is always near, or a whole block.

use std::ops::Range;

use super::grouped::Part;

/// Values in a block.
const BLOCK: usize = 128;

/// A family of several clients has at most one in so many of all values ...
const FAMILIES: usize = 512;

/// ... or so many of them, if that is more.
const FEW: usize = 1 << 14;

/// How to group values by client.
pub struct Regroup<'a, const BLOCK: usize> {
    /// Whose each value is, in time order.
    clients: &'a [u32],
    parts: &'a [Part],
    families: Vec<Family>,
    /// By client.
    seats: Vec<Seat>,
    /// Which member of its family each value is of that lies in a block; only of families of several, one after the
    /// other.
    members: Vec<u16>,
}

/// Clients whose parts follow one another.
struct Family {
    /// Which parts are theirs.
    parts: Range<usize>,
    /// Where their values lie when all are grouped.
    places: Range<usize>,
    /// Which blocks are theirs, when blocks lie in order.
    blocks: Range<usize>,
    /// Where in `members` theirs begin, if they are several.
    members: usize,
}

impl Family {
    fn is_one(&self) -> bool {
        self.parts.len() == 1
    }

    /// Where the values of its blocks lie, when blocks lie in order.
    fn in_blocks<const BLOCK: usize>(&self) -> Range<usize> {
        self.blocks.start * BLOCK..self.blocks.end * BLOCK
    }
}

/// Where a client belongs.
#[derive(Debug, Clone, Copy, Default)]
struct Seat {
    family: u16,
    member: u16,
}

/// The buffers of all families, one after the other.
struct Buffers<T> {
    values: Vec<T>,
    /// Of the values.
    members: Vec<u16>,
}

impl<'a> Regroup<'a, BLOCK> {
    /// For values of these clients, fewer than 2^32, and the parts they have.
    pub fn new(clients: &'a [u32], parts: &'a [Part]) -> Self {
        Regroup::by_families(clients, parts, (clients.len() / FAMILIES).max(FEW))
    }
}

impl<'a, const BLOCK: usize> Regroup<'a, BLOCK> {
    /// Families of several have at most so many values. Of two neighbours, either both together have more than that, or
    /// one has 2^16 clients, none without a value: so there are no more than 2^16 with what [`Regroup::new`] allows.
    fn by_families(clients: &'a [u32], parts: &'a [Part], most: usize) -> Self {
        let numbers = parts.last().map_or(0, |last| last.client as usize + 1);
        let mut seats = vec![Seat::default(); numbers];
        let mut families: Vec<Family> = Vec::new();
        let (mut next, mut block, mut members) = (0, 0, 0);
        while next < parts.len() {
            let start = parts[next].places.start as usize;
            let fits = |part: &&Part| part.places.end as usize - start <= most;
            let several = parts[next..].iter().take(1 << 16).take_while(fits).count();
            let theirs = next..next + several.max(1);
            let family = u16::try_from(families.len()).expect("families are no more than 2^16");
            for (member, part) in (0..=u16::MAX).zip(&parts[theirs.clone()]) {
                seats[part.client as usize] = Seat { family, member };
            }
            next = theirs.end;
            let places = start..parts[next - 1].places.end as usize;
            let blocks = block..block + places.len() / BLOCK;
            block = blocks.end;
            let family = Family { parts: theirs, places, blocks, members };
            if !family.is_one() {
                members += family.blocks.len() * BLOCK;
            }
            families.push(family);
        }
        Regroup { clients, parts, families, seats, members: vec![0; members] }
    }

    /// Groups values that are in time order.
    pub fn group<T: Copy>(&mut self, mut values: Vec<T>) -> Vec<T> {
        if self.parts.len() > 1 {
            debug_assert_eq!(values.len(), self.clients.len());
            let (mut sources, left) = self.collect(&mut values);
            permute::<T, BLOCK>(&mut values, &mut sources);
            self.distribute(&mut values, &left);
        }
        values
    }

    /// Writes blocks to the beginning of the values, and gives for each place of a block the one that belongs there;
    /// what fills no block is left in the buffers.
    fn collect<T: Copy>(&mut self, values: &mut [T]) -> (Vec<u32>, Buffers<T>) {
        let families = &self.families;
        let count = families.len();
        let mut buffers =
            Buffers { values: vec![values[0]; count * BLOCK], members: vec![0; count * BLOCK] };
        let mut sources = vec![0; families.last().map_or(0, |last| last.blocks.end)];
        // Of each family, where in the buffers its next value belongs, and which block it is in.
        let mut places: Vec<u32> = (0..count).map(|family| (family * BLOCK) as u32).collect();
        let mut blocks: Vec<u32> = families.iter().map(|own| own.blocks.start as u32).collect();
        let mut written = 0;
        for (position, &client) in self.clients.iter().enumerate() {
            let Seat { family, member } = self.seats[client as usize];
            let family = usize::from(family);
            let place = &mut places[family];
            buffers.values[*place as usize] = values[position];
            buffers.members[*place as usize] = member;
            *place += 1;
            if !(*place as usize).is_multiple_of(BLOCK) {
                continue;
            }
            *place -= BLOCK as u32;
            let full = family * BLOCK..(family + 1) * BLOCK;
            // A block has none but values that were read, so no more are written over.
            values[written * BLOCK..][..BLOCK].copy_from_slice(&buffers.values[full.clone()]);
            let block = blocks[family] as usize;
            let own = &families[family];
            if !own.is_one() {
                let members = own.members + (block - own.blocks.start) * BLOCK;
                self.members[members..][..BLOCK].copy_from_slice(&buffers.members[full]);
            }
            sources[block] = written as u32;
            blocks[family] += 1;
            written += 1;
        }
        (sources, buffers)
    }

    /// Puts all values in their places, once the blocks lie in order.
    fn distribute<T: Copy>(&self, values: &mut [T], left: &Buffers<T>) {
        let several = self.families.iter().filter(|family| !family.is_one());
        let longest = several.map(|family| family.places.len()).max().unwrap_or(0);
        let mut ordered = vec![values[0]; longest];
        let mut next: Vec<u32> = Vec::new();
        // From the last family to the first. Those before one have no fewer places than values in blocks: so its
        // blocks do not begin after its places, and nothing is written over blocks of those before.
        for (number, family) in self.families.iter().enumerate().rev() {
            let Range { start, end } = family.places;
            let in_blocks = family.in_blocks::<BLOCK>();
            let rest = number * BLOCK..number * BLOCK + (end - start) % BLOCK;
            if family.is_one() {
                let rest = &left.values[rest];
                values.copy_within(in_blocks, start);
                values[end - rest.len()..end].copy_from_slice(rest);
                continue;
            }
            let parts = &self.parts[family.parts.clone()];
            next.clear();
            next.extend(parts.iter().map(|part| part.places.start - start as u32));
            let mut put = |values: &[T], members: &[u16]| {
                for (&value, &member) in values.iter().zip(members) {
                    let place = &mut next[usize::from(member)];
                    ordered[*place as usize] = value;
                    *place += 1;
                }
            };
            let members = &self.members[family.members..][..in_blocks.len()];
            put(&values[in_blocks], members);
            put(&left.values[rest.clone()], &left.members[rest]);
            values[start..end].copy_from_slice(&ordered[..end - start]);
        }
    }
}

/// Moves blocks, cycle by cycle: the one that belongs in a place comes from the place that `sources` has for it.
fn permute<T: Copy, const BLOCK: usize>(values: &mut [T], sources: &mut [u32]) {
    let values_of = |block: usize| block * BLOCK..(block + 1) * BLOCK;
    let mut held = [values[0]; BLOCK];
    for first in 0..sources.len() {
        if sources[first] as usize == first {
            continue;
        }
        held.copy_from_slice(&values[values_of(first)]);
        let mut at = first;
        loop {
            let from = sources[at] as usize;
            sources[at] = at as u32;
            if from == first {
                break;
            }
            values.copy_within(values_of(from), at * BLOCK);
            at = from;
        }
        values[values_of(at)].copy_from_slice(&held);
    }
}

#[cfg(test)]
mod tests {
    use super::super::column::Column;
    use super::super::grouped::parts;
    use super::*;
    use proptest::prelude::*;

    /// Groups the positions of requests of these clients, and gives what a stable sort does too.
    fn both<const BLOCK: usize>(clients: &[u32], most: usize) -> [Vec<usize>; 2] {
        let parts = parts(&Column::Each(clients.to_vec()), clients.len());
        let positions: Vec<usize> = (0..clients.len()).collect();
        let mut sorted = positions.clone();
        sorted.sort_by_key(|&position| clients[position]);
        let mut regroup = Regroup::<BLOCK>::by_families(clients, &parts, most);
        // What one column leaves behind does not matter to the next.
        assert_eq!(regroup.group(positions.clone()), sorted);
        [regroup.group(positions), sorted]
    }

    proptest! {
        #[test]
        fn values_are_grouped_as_a_stable_sort_does(
            requests in prop::collection::vec((0_u32..30, 0_u32..30), 0..500),
            stretch in 1_u32..9,
            most in 0_usize..300,
        ) {
            // Small numbers have the more requests.
            let clients: Vec<u32> =
                requests.iter().map(|(one, other)| one * other / 30 * stretch).collect();
            let [grouped, sorted] = both::<1>(&clients, most);
            prop_assert_eq!(grouped, sorted);
            let [grouped, sorted] = both::<4>(&clients, most);
            prop_assert_eq!(grouped, sorted);
            let [grouped, sorted] = both::<128>(&clients, most);
            prop_assert_eq!(grouped, sorted);
        }
    }

    #[test]
    fn more_clients_than_a_family_has_members_are_several_families() {
        let clients: Vec<u32> = (0..70_000).rev().collect();
        let [grouped, sorted] = both::<4>(&clients, usize::MAX);
        assert_eq!(grouped, sorted);
    }
}
