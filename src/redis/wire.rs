//! Bytes to and from a server, each exchange with an end: what is sent in one go, and the answers to it, are waited
//! for only so long altogether, however they trickle in, and signals that interrupt a wait do not end it.
//!
//! The `redis` crate packs commands and reads replies. Its own connection bounds each read instead, and takes an
//! interrupted one for a failure.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
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

/// True time bounds how long a server is waited for; it decides nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "a server that does not answer must not be waited for for ever"
)]
fn now() -> Moment {
    Moment::now()
}

impl Wire {
    /// Connects; all addresses of a name are tried within `timeout` altogether.
    pub fn connect(to: &ConnectionAddr, timeout: Duration) -> Result<Wire, RedisError> {
        let deadline = now() + timeout;
        let stream = match to {
            ConnectionAddr::Tcp(host, port) => {
                let mut result = Err(io::Error::other("its name has no address"));
                for address in (host.as_str(), *port).to_socket_addrs()? {
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
            ConnectionAddr::Unix(path) => Stream::Unix(UnixStream::connect(path)?),
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
