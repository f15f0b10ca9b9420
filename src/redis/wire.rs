//! Bytes to and from a server, each exchange with an end: what is sent in one go, and the answers to it, are waited
//! for only so long altogether, however they trickle in, and signals that interrupt a wait do not end it. So is
//! connecting, the look-up of a name included.
//!
//! The `redis` crate packs commands and reads replies. Its own connection bounds each read instead, and takes an
//! interrupted one for a failure.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant as Moment};

use redis::{ConnectionAddr, Parser, RedisError, Value};

/// A stream on which nothing is waited for beyond a deadline.
pub(super) struct Wire {
    stream: Stream,
    parser: Parser,
    timeout: Duration,
    deadline: Moment,
}

enum Stream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

/// True time bounds how long a server is waited for, and tells how fast it is; it decides nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "a server that does not answer must not be waited for for ever; its speed is printed, and compared \
              with nothing"
)]
pub(super) fn now() -> Moment {
    Moment::now()
}

impl Wire {
    /// Connects; a name is looked up, and all its addresses are tried, within `timeout` altogether.
    pub fn connect(to: &ConnectionAddr, timeout: Duration) -> Result<Wire, RedisError> {
        let deadline = now() + timeout;
        let stream = match to {
            ConnectionAddr::Tcp(host, port) => {
                let name = (host.clone(), *port);
                let found: io::Result<Vec<SocketAddr>> =
                    within(deadline, move || Ok(name.to_socket_addrs()?.collect()));
                let addresses = found.map_err(|error| match error.kind() {
                    io::ErrorKind::TimedOut => io::Error::other(format!(
                        "its name was not looked up within {} s; is the name server out of reach? give the \
                         server's address instead",
                        timeout.as_secs_f64()
                    )),
                    _ => error,
                })?;
                let mut result = Err(io::Error::other("its name has no address"));
                for address in addresses {
                    result = TcpStream::connect_timeout(&address, left(deadline)?);
                    if result.is_ok() {
                        break;
                    }
                }
                let stream = result?;
                stream.set_nodelay(true)?;
                Stream::Tcp(stream)
            }
            #[cfg(unix)]
            ConnectionAddr::Unix(path) => {
                let path = path.clone();
                Stream::Unix(within(deadline, move || UnixStream::connect(path))?)
            }
            other => return Err(io::Error::other(format!("`{other}` is no address")).into()),
        };
        Ok(Wire { stream, parser: Parser::new(), timeout, deadline })
    }

    /// Sends bytes and reads so many answers.
    pub fn exchange(&mut self, bytes: &[u8], answers: usize) -> Result<Vec<Value>, RedisError> {
        self.deadline = now() + self.timeout;
        let mut waiting = Waiting { stream: &mut self.stream, deadline: self.deadline };
        waiting.write_all(bytes)?;
        (0..answers).map(|_| self.parser.parse_value(&mut waiting)).collect()
    }
}

/// What is left until a deadline.
fn left(deadline: Moment) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Does what the standard library gives no time-out: it looks up a name for as long as the system's resolver likes,
/// and connects to a socket in the file system when the one who listens there gets round to it. Both are done on a
/// thread of their own; one that is not back by the deadline is left to itself, and what it brings is dropped.
fn within<T: Send + 'static>(
    deadline: Moment,
    act: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::Builder::new().spawn(move || {
        // Where nobody waits any more, nobody misses it.
        let _ = sender.send(act());
    })?;
    receiver.recv_timeout(left(deadline)?).map_err(|error| match error {
        RecvTimeoutError::Timeout => io::Error::from(io::ErrorKind::TimedOut),
        RecvTimeoutError::Disconnected => io::Error::other("it ended without a result"),
    })?
}

/// A stream until a deadline.
struct Waiting<'a> {
    stream: &'a mut Stream,
    deadline: Moment,
}

impl Waiting<'_> {
    /// Does something that may be interrupted, until it is done.
    fn patiently<T>(
        &mut self,
        mut act: impl FnMut(&mut Stream, Duration) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            let result = act(self.stream, left(self.deadline)?);
            match result.as_ref().map_err(io::Error::kind) {
                Err(io::ErrorKind::Interrupted) => {}
                _ => return result,
            }
        }
    }
}

impl Read for Waiting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.patiently(|stream, left| match stream {
            Stream::Tcp(stream) => {
                stream.set_read_timeout(Some(left))?;
                stream.read(buffer)
            }
            #[cfg(unix)]
            Stream::Unix(stream) => {
                stream.set_read_timeout(Some(left))?;
                stream.read(buffer)
            }
        })
    }
}

impl Write for Waiting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.patiently(|stream, left| match stream {
            Stream::Tcp(stream) => {
                stream.set_write_timeout(Some(left))?;
                stream.write(bytes)
            }
            #[cfg(unix)]
            Stream::Unix(stream) => {
                stream.set_write_timeout(Some(left))?;
                stream.write(bytes)
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_too_long_is_waited_for_no_longer() {
        let begun = now();
        let slow = within(begun + Duration::from_millis(50), || {
            thread::sleep(Duration::from_secs(600));
            Ok(())
        });
        assert_eq!(slow.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(now() - begun < Duration::from_secs(300));
        let late = within(begun, || Ok(()));
        assert_eq!(late.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let deadline = now() + Duration::from_secs(60);
        assert_eq!(within(deadline, || Ok(7)).unwrap(), 7);
        let refused = within(deadline, || Err::<(), _>(io::ErrorKind::ConnectionRefused.into()));
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    }
}
