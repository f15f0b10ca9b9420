//! The server's side of an attempt once the limits have decided: what a rejection tells the client
//! ([`Rejection`]), and the backend that does the work of what was let through ([`Backend`]).

mod backend;
mod rejection;

pub use backend::MEANING as BACKEND_MEANING;
pub use backend::{Backend, BackendSpec, Entry, Job, Running, Started, Work};
pub use rejection::MEANING as REJECTION_MEANING;
pub use rejection::{Header, Rejection};
