//! How large a metric is as a whole, for finding the worst of several.

use super::Value;

/// How large a metric is over the replicas of a row, or in its one run. What never came is more than any
/// number, and the more replicas it did not come in, the more it is.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Standing {
    /// In how many replicas it is [`Value::Never`].
    pub never: usize,
    /// Its mean over the others; 0 where there are none.
    pub mean: f64,
}

impl From<Value> for Standing {
    fn from(value: Value) -> Standing {
        match value {
            Value::Never => Standing { never: 1, mean: 0.0 },
            value => Standing { never: 0, mean: value.as_f64() },
        }
    }
}
