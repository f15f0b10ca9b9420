//! How much memory keys take in a server, by a sample of them.

use redis::{Value, cmd};

use super::fault::Fault;
use super::session::Session;

/// So many keys are looked at, at most.
const SAMPLE: usize = 1_000;

/// The mean bytes of a key, its name and the server's own records of it included. `names` gives the `count` keys
/// that there may be; those that are not there are passed over. `None` if none is, or the server does not tell.
///
/// # Errors
/// Whatever happens to the connection.
pub(super) fn mean(
    session: &mut Session,
    count: usize,
    name: impl Fn(&Session, usize) -> String,
) -> Result<Option<f64>, Fault> {
    let step = count.div_ceil(SAMPLE).max(1);
    let commands: Vec<Vec<u8>> = (0..count)
        .step_by(step)
        .map(|index| {
            let mut usage = cmd("MEMORY");
            usage.arg("USAGE").arg(name(session, index)).arg("SAMPLES").arg(0);
            usage.get_packed_command()
        })
        .collect();
    let answers = session.connection.ask_all(commands.iter().map(Vec::as_slice))?;
    let sizes: Vec<i64> = answers
        .into_iter()
        .filter_map(|answer| match answer {
            Ok(Value::Int(bytes)) => Some(bytes),
            _ => None,
        })
        .collect();
    let all: i64 = sizes.iter().sum();
    Ok((!sizes.is_empty()).then(|| all as f64 / sizes.len() as f64))
}
