//! Tests of the clients as a whole: tables are read, and crowds told what became of attempts.

mod budgets;
mod draws;
mod fuzz;
mod header;
mod settings;
mod times;

use std::sync::Arc;

use serde_json::Value as Json;

use super::{Clients, Crowd, Memory, Next};
use crate::error::{Problems, Source};
use crate::params::{Node, Params};
use crate::seed::Seed;
use crate::server::Header;
use crate::time::{Instant, Span};

/// A table with its resolved form, or all problems.
fn read(text: &str) -> Result<(Clients, Json), String> {
    let problems = Problems::new();
    let source = Source { name: "t.toml".to_owned(), text: text.to_owned() };
    let node = Node::parse(Arc::new(source), &problems);
    let mut params = Params::new(&node, &problems);
    let clients = Clients::read(&mut params);
    let resolved = Json::Object(params.finish().resolved);
    problems.into_result().map_err(|error| error.render(false))?;
    Ok((clients, resolved))
}

fn clients(text: &str) -> Clients {
    read(text).unwrap_or_else(|message| panic!("{message}")).0
}

fn span(text: &str) -> Span {
    Span::parse(text).unwrap()
}

/// So long after midnight.
fn at(text: &str) -> Instant {
    Instant::MIDNIGHT + span(text)
}

/// A request that was first made at midnight, and once.
fn fresh() -> Memory {
    Memory { first: Instant::MIDNIGHT, waited: Span::ZERO, delay: Span::ZERO, tries: 1 }
}

/// What a lone client does after a first attempt that failed at midnight.
fn first(text: &str, header: Option<Header>) -> Next {
    let clients = clients(text);
    Crowd::new(&clients, Seed(1), 1).failed(0, 0, Instant::MIDNIGHT, &mut fresh(), header)
}

/// The waits of a request whose attempts all fail at once, and when it is given up; at most `most`
/// retries.
fn waits(text: &str, most: usize) -> (Vec<String>, Option<Span>) {
    let clients = clients(text);
    let mut crowd = Crowd::new(&clients, Seed(1), 1);
    let (mut memory, mut now) = (fresh(), Instant::MIDNIGHT);
    let mut waits = Vec::new();
    crowd.began(0, now);
    while waits.len() < most {
        match crowd.failed(0, 0, now, &mut memory, None) {
            Next::GiveUp { at } => return (waits, Some(at - Instant::MIDNIGHT)),
            Next::Retry { at, obeys } => {
                assert!(!obeys);
                waits.push((at - now).to_string());
                now = at;
                memory.tries += 1;
            }
        }
        assert_eq!(memory.waited, now - Instant::MIDNIGHT);
    }
    (waits, None)
}
