//! The first bytes of a text as one number, so that all of them are looked at together: what differs from line to line,
//! such as where the dots of an address stand, is then no branch for the processor to guess.

/// So many bytes are looked at together.
pub const WIDTH: usize = 16;

/// Every byte has this value.
const fn each(byte: u8) -> u128 {
    u128::from_le_bytes([byte; WIDTH])
}

/// The highest bit of a byte.
const HIGH: u128 = each(0x80);

/// Some bytes, the first of them lowest; zeros follow. `None` of more than [`WIDTH`], and of fewer than four.
#[inline]
pub fn load(bytes: &[u8]) -> Option<u128> {
    if bytes.len() > WIDTH {
        return None;
    }
    // The last bytes may overlap the first ones: no copy of an unknown length.
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        return Some(u128::from(first) | u128::from(last) << (8 * (bytes.len() - 8)));
    }
    let (first, last) = (bytes.first_chunk()?, bytes.last_chunk()?);
    let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
    Some(u128::from(first) | u128::from(last) << (8 * (bytes.len() - 4)))
}

/// The highest bit of each byte that is this one.
#[inline]
pub fn equal(word: u128, byte: u8) -> u128 {
    let differs = word ^ each(byte);
    !(((differs & !HIGH) + !HIGH) | differs) & HIGH
}

/// The highest bit of each byte that is no digit.
#[inline]
pub fn not_digits(word: u128) -> u128 {
    let value = word ^ each(b'0');
    (((value & !HIGH) + each(0x80 - 10)) | value) & HIGH
}

/// The position of the first byte that is marked, or [`WIDTH`].
#[inline]
pub fn first(marks: u128) -> usize {
    (marks.trailing_zeros() / 8) as usize
}

/// All bits of the first bytes, up to 15.
#[inline]
pub fn up_to(count: usize) -> u128 {
    (1 << (8 * count)) - 1
}

/// A bit for each byte that is marked.
#[inline]
fn bits(marks: u128) -> u32 {
    // Each product has the marks of eight bytes, one after the other, in its highest byte.
    let gather = |half: u64| ((half >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32;
    gather(marks as u64) | gather((marks >> 64) as u64) << 8
}

/// The octets of a dotted IPv4 address and nothing else. Zeros before a number are refused: some read it as octal.
#[inline]
pub fn octets(text: &[u8]) -> Option<[u8; 4]> {
    if !(7..=15).contains(&text.len()) {
        return None;
    }
    octets_of(load(text)?, text.len())
}

/// The octets of the IPv4 address that a text starts with and how long it is, if a space ends it.
#[inline]
pub fn first_octets(text: &[u8]) -> Option<([u8; 4], usize)> {
    let word = u128::from_le_bytes(*text.first_chunk()?);
    let length = first(equal(word, b' '));
    Some((octets_of(word, length)?, length))
}

/// The octets of the IPv4 address that the first bytes of a word are.
#[inline]
fn octets_of(word: u128, length: usize) -> Option<[u8; 4]> {
    let within = (1 << length) - 1;
    let dots = bits(equal(word, b'.')) & within;
    let strange = bits(not_digits(word)) & !dots & within;
    let second = dots & dots.wrapping_sub(1);
    let third = second & second.wrapping_sub(1);
    if strange != 0 || third == 0 || third & (third - 1) != 0 {
        return None;
    }
    let [one, two, three] = [dots, second, third].map(|dots| dots.trailing_zeros() as usize);
    let ends = [one, two, three, length];
    let (mut octets, mut wrong, mut start) = ([0; 4], false, 0);
    for (octet, end) in octets.iter_mut().zip(ends) {
        let length = end - start;
        let digits = (word >> (8 * start)) as u32 & 0x0f0f_0f0f;
        // Three digits, with zeros for those before the first.
        let [hundreds, tens, ones, _] =
            (digits << (8 * (3_usize.wrapping_sub(length) & 3))).to_le_bytes();
        let value = 100 * u32::from(hundreds) + 10 * u32::from(tens) + u32::from(ones);
        let zero_before = (length > 1) & (digits & 0xff == 0);
        wrong |= (length == 0) | (length > 3) | (value > 255) | zero_before;
        *octet = value as u8;
        start = end + 1;
    }
    (!wrong).then_some(octets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    #[test]
    fn bytes_are_marked_whatever_stands_beside_them() {
        let text: [u8; WIDTH] = *b"0.9./:\0\x80\xae..\xff.09.";
        let marked = |marks: u128| -> Vec<usize> {
            (0..WIDTH).filter(|position| marks >> (8 * position + 7) & 1 == 1).collect()
        };
        let word = load(&text).unwrap();
        assert_eq!(marked(equal(word, b'.')), [1, 3, 9, 10, 12, 15]);
        assert_eq!(marked(not_digits(word)), [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15]);
        assert_eq!((first(equal(word, b'/')), first(equal(word, b'x'))), (4, WIDTH));
        assert_eq!(up_to(2), 0xffff);
    }

    proptest! {
        #[test]
        fn octets_are_those_of_the_standard_library(
            text in "([0-9]{1,4}\\.){0,4}[0-9]{0,3}|([0-9]{1,2}\\.){3}[0-9/:.]{1,3}|[a-f0-9:.]{0,8}",
        ) {
            let standard: Option<Ipv4Addr> = text.parse().ok();
            let expected = standard.map(|address| address.octets());
            prop_assert_eq!(octets(text.as_bytes()), expected);
            let line = format!("{text} 1.2.3.4 - - [17/May");
            let found = expected.map(|octets| (octets, text.len()));
            prop_assert_eq!(first_octets(line.as_bytes()), found);
        }

        #[test]
        fn some_bytes_are_followed_by_zeros(bytes in prop::collection::vec(any::<u8>(), 4..=WIDTH)) {
            let mut padded = [0; WIDTH];
            padded[..bytes.len()].copy_from_slice(&bytes);
            prop_assert_eq!(load(&bytes), Some(u128::from_le_bytes(padded)));
        }
    }
}
