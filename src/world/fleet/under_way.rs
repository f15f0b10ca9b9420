//! What is under way between nodes and store, by number. A number is used again once its owner is done with it
//! and nothing that would name it lies ahead.

/// Things under way.
#[derive(Debug)]
pub(super) struct UnderWay<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot<T> {
    /// `None` while it is out, or nothing is there.
    content: Option<T>,
    /// So many events name it.
    events: u32,
    done: bool,
}

impl<T> UnderWay<T> {
    /// Nothing.
    pub fn new() -> UnderWay<T> {
        UnderWay { slots: Vec::new(), free: Vec::new() }
    }

    /// The number of something that is to be put there.
    pub fn add(&mut self) -> u32 {
        if let Some(number) = self.free.pop() {
            return number;
        }
        self.slots.push(Slot { content: None, events: 0, done: false });
        self.slots.len() as u32 - 1
    }

    fn of(&mut self, number: u32) -> &mut Slot<T> {
        &mut self.slots[number as usize]
    }

    /// An event that names it lies ahead.
    pub fn expect(&mut self, number: u32) {
        self.of(number).events += 1;
    }

    /// Takes it out because such an event has come up; it must be put back.
    pub fn take_up(&mut self, number: u32) -> T {
        self.of(number).events -= 1;
        self.take(number)
    }

    /// Takes it out; it must be put back.
    pub fn take(&mut self, number: u32) -> T {
        self.of(number).content.take().expect("it is under way")
    }

    /// Its owner is done with it.
    pub fn close(&mut self, number: u32) {
        self.of(number).done = true;
    }

    /// Puts it back, and gives it for good if it is over.
    pub fn put(&mut self, number: u32, content: T) -> Option<T> {
        let slot = self.of(number);
        if slot.done && slot.events == 0 {
            slot.done = false;
            self.free.push(number);
            return Some(content);
        }
        slot.content = Some(content);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_used_again_once_nothing_names_it() {
        let mut all = UnderWay::new();
        let one = all.add();
        all.expect(one);
        all.expect(one);
        assert_eq!(all.put(one, 'a'), None);
        let content = all.take_up(one);
        all.close(one);
        assert_eq!(all.put(one, content), None, "an event still names it");
        let other = all.add();
        assert_ne!(other, one);
        let content = all.take_up(one);
        assert_eq!(all.put(one, content), Some('a'));
        assert_eq!(all.add(), one);
        assert_eq!(all.put(one, 'b'), None, "it is new");
    }
}
