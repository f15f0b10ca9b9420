//! How evenly acceptances are shared out, in sums: whoever wants to know goes over hundreds of thousands only once.

/// Sums over the shares of all who attempted anything: of each, the accepted attempts / all attempts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evenness {
    /// How many they are.
    pub count: f64,
    /// The sum of their shares.
    pub sum: f64,
    /// The sum of the squares of these.
    pub squares: f64,
    /// The least share.
    pub least: Option<f64>,
}

impl FromIterator<f64> for Evenness {
    /// Of shares, in their order: sums of floating point depend on it.
    fn from_iter<I: IntoIterator<Item = f64>>(shares: I) -> Evenness {
        shares.into_iter().fold(Evenness::default(), |all, share| Evenness {
            count: all.count + 1.0,
            sum: all.sum + share,
            squares: all.squares + share * share,
            least: Some(all.least.map_or(share, |least| f64::min(least, share))),
        })
    }
}

/// Accepted attempts / attempts; `None` where nothing was attempted.
pub fn share(accepted: u64, attempts: u64) -> Option<f64> {
    (attempts > 0).then(|| accepted as f64 / attempts as f64)
}
