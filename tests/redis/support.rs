//! Servers to start, servers that only pretend, a scenario to verify, and the program.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use ratesim::error::Error;
use ratesim::redis::{Address, Comparison, Options, Session, Verified, verify};
use ratesim::run::{self, Prepared, Progress, Silent, Unit};
use ratesim::scenario::{Changes, Scenario};
use redis::cmd;
use tempfile::TempDir;

/// A variable of the environment that is set and not empty: which server there is, and how much to try on it.
#[expect(clippy::disallowed_methods, reason = "these tests need to know of a server outside")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The URL of the server that tests may use.
pub fn url() -> Option<String> {
    variable("RATESIM_REDIS_URL")
}

/// Whether there is a `redis-server` to start.
pub fn has_program() -> bool {
    let version = Command::new("redis-server").arg("--version").stdout(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// The URL of a database of the server that no other test uses.
pub fn database(number: u32) -> String {
    format!("{}/{number}", url().unwrap().trim_end_matches('/'))
}

pub fn session(url: &str) -> Session {
    let timeout = Duration::from_secs(10);
    Session::open(&Address::parse(url).unwrap(), timeout).unwrap_or_else(|fault| panic!("{fault}"))
}

/// How many keys a database holds.
pub fn keys(url: &str) -> u64 {
    session(url).size().unwrap()
}

/// A server of a test's own, which ends with it.
pub struct Server {
    child: Child,
    pub port: u16,
    _folder: TempDir,
}

impl Server {
    /// Starts one with these settings on a port that is free.
    pub fn start(settings: &[&str]) -> Server {
        for _ in 0..5 {
            let folder = tempfile::tempdir().unwrap();
            let port = free_port();
            let mut command = Command::new("redis-server");
            command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
            command.args(["--appendonly", "no", "--dir"]).arg(folder.path()).args(settings);
            let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
            let mut server = Server { child, port, _folder: folder };
            for _ in 0..200 {
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return server;
                }
                // Somebody else may have taken the port meanwhile.
                if server.child.try_wait().unwrap().is_some() {
                    break;
                }
                sleep(Duration::from_millis(50));
            }
        }
        panic!("redis-server does not start");
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: &str) {
        send_signal(self.child.id(), signal);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn send_signal(id: u32, signal: &str) {
    let status = Command::new("kill").args([signal, &id.to_string()]).status();
    assert!(status.unwrap().success(), "{signal}");
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// The URL of a port at which nothing listens.
pub fn nobody() -> String {
    format!("redis://127.0.0.1:{}", free_port())
}

/// What a server that only pretends does with a connection: the words of each command come in, what is sent back
/// comes out; `None` closes the connection.
pub type Pretence = fn(&[String]) -> Option<String>;

/// Starts a server that only pretends; it ends with the process. `greets` is sent to whoever connects.
pub fn pretend(greets: &'static str, pretence: Pretence) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                // A client that goes away is none of its business.
                let _ = converse(&stream, greets, pretence);
            });
        }
    });
    format!("redis://:secret@127.0.0.1:{port}")
}

fn converse(mut stream: &TcpStream, greets: &str, pretence: Pretence) -> std::io::Result<()> {
    stream.write_all(greets.as_bytes())?;
    let mut reader = BufReader::new(stream);
    loop {
        let Some(words) = words(&mut reader)? else { return Ok(()) };
        match pretence(&words) {
            Some(reply) => stream.write_all(reply.as_bytes())?,
            None => return Ok(()),
        }
    }
}

/// The words of the next command.
fn words(reader: &mut impl BufRead) -> std::io::Result<Option<Vec<String>>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let count: usize = line.trim().trim_start_matches('*').parse().unwrap_or(0);
    let mut words = Vec::new();
    for _ in 0..count {
        line.clear();
        reader.read_line(&mut line)?;
        let mut word = vec![0; line.trim().trim_start_matches('$').parse::<usize>().unwrap() + 2];
        reader.read_exact(&mut word)?;
        words.push(String::from_utf8_lossy(&word[..word.len() - 2]).into_owned());
    }
    Ok(Some(words))
}

/// What a server says of the commands that come before the first script is called.
pub fn obliging(words: &[String]) -> Option<&'static str> {
    Some(match words[0].as_str() {
        "AUTH" => "+OK\r\n",
        "CLIENT" => ":7\r\n",
        "INFO" => "$22\r\nredis_version:7.0.15\r\n\r\n",
        "DBSIZE" => ":0\r\n",
        "SCRIPT" => "$4\r\ncafe\r\n",
        "SCAN" => "*2\r\n$1\r\n0\r\n*0\r\n",
        "UNLINK" => ":0\r\n",
        _ => return None,
    })
}

/// 20,000 requests of 40 clients under a token bucket.
pub const SCENARIO: &str = r#"name = "many"
duration = "100s"
limit = "20/10s"
algorithm = { kind = "token-bucket" }

[[traffic]]
kind = "poisson"
rate = "200/s"
clients = 40
"#;

pub fn prepared(text: &str) -> Prepared {
    let scenario = Scenario::parse(Path::new("it.toml"), text.to_owned(), &Changes::default());
    run::prepare(scenario.unwrap(), &[]).unwrap()
}

/// As long as a test waits for a server that will answer.
pub const LONG: Duration = Duration::from_secs(30);

/// Verifies [`SCENARIO`] against a server whose answers are waited for so long.
pub fn verified(url: &str, timeout: Duration, progress: &dyn Progress) -> Result<Verified, Error> {
    let options = Options { timeout, ..Options::default() };
    let prepared = prepared(SCENARIO);
    let comparison = Comparison::of(&prepared).unwrap();
    verify(&comparison, &Address::parse(url).unwrap(), &options, progress)
}

/// The message of a verification that fails, which must be no mistake of the user's.
#[track_caller]
pub fn failure(url: &str, timeout: Duration) -> String {
    let error = verified(url, timeout, &Silent::default()).unwrap_err();
    assert_eq!(error.exit_code(), 3, "{error}");
    let shown = error.render(false);
    assert!(!shown.contains("secret"), "{shown}");
    shown
}

/// Does something once, when it has been asked so often whether to stop, and may stop then.
pub struct After<'a, F: Fn() -> bool + Sync> {
    pub times: usize,
    pub act: F,
    /// Done when the clean-up begins.
    pub before_clean_up: Option<&'a (dyn Fn() + Sync)>,
    /// What it was told.
    pub told: Mutex<Vec<String>>,
    asked: AtomicUsize,
    silent: Silent,
}

impl<F: Fn() -> bool + Sync> After<'_, F> {
    pub fn new(times: usize, act: F) -> Self {
        let (asked, silent, told) = (AtomicUsize::new(0), Silent::default(), Mutex::default());
        After { times, act, before_clean_up: None, told, asked, silent }
    }
}

impl<F: Fn() -> bool + Sync> Progress for After<'_, F> {
    fn begin(&self, _what: &str, _total: u64, _unit: Unit) {}
    fn advance(&self, _by: u64) {}
    fn announce(&self, message: &str) {
        self.told.lock().unwrap().push(message.to_owned());
    }
    fn end(&self) {}
    fn hold(&self, begins: bool) {
        if let Some(act) = self.before_clean_up.filter(|_| begins) {
            act();
        }
    }
    fn stop(&self) -> bool {
        if self.asked.fetch_add(1, Ordering::Relaxed) + 1 == self.times && (self.act)() {
            self.silent.stopped.store(true, Ordering::Relaxed);
        }
        self.silent.stop()
    }
}

/// Has the server forget all scripts.
pub fn forget_scripts(url: &str) {
    session(url).connection().ask::<()>(cmd("SCRIPT").arg("FLUSH")).unwrap();
}

/// A source of numbers that are the same in every run.
#[derive(Clone)]
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed)
    }

    /// SplitMix64.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Whether one of so many.
    pub fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}

/// A scenario text as a file in a folder.
pub fn file(text: &str) -> (TempDir, Arc<Path>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.toml");
    std::fs::write(&path, text).unwrap();
    (folder, path.into())
}

/// Runs the program.
fn ratesim(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ratesim"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    command.env_remove("CLICOLOR_FORCE").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_owned()).unwrap()
}

/// What a command prints that must end with this code.
#[track_caller]
pub fn prints(code: i32, arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = ratesim(arguments);
    assert_eq!(status.code(), Some(code), "{arguments:?}\n{}\n{}", text(&stdout), text(&stderr));
    text(&stdout)
}

/// The message of a command that is refused.
#[track_caller]
pub fn refused(arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = ratesim(arguments);
    assert_eq!((status.code(), text(&stdout).as_str()), (Some(2), ""), "{}", text(&stderr));
    text(&stderr)
}
