//! tmp
/// tmp
pub fn page(_: &crate::metrics::Comparison) -> String {
    String::new()
}
