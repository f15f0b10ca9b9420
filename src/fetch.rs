//! Having memory fetched before it is needed.

/// Reads a value of each of the things that will be needed before long. None waits for another, so that
/// what takes longest, memory that is in no cache, is waited for about once and not for each.
#[inline]
pub fn fetch(values: impl Iterator<Item = u64>) {
    std::hint::black_box(values.fold(0, |all, value| all ^ value));
}
