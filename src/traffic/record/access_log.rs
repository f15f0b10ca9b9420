//! Access logs of Apache and nginx, with the client and the endpoint that most questions are about. What their
//! lines look like is known to the format `combined`.

use super::request::{Reading, append_address, client_at};
use super::{Settings, open};
use crate::log::format::{Layout, named};
use crate::log::{Entry, Field, Unit, readable};
use crate::params::{Choice, Params};
use crate::traffic::{Client, Kind};

/// The entry of the registry.
pub const KIND: Kind = Kind {
    name: "access-log",
    summary: "An access log of Apache or nginx, in the common or combined format.",
    recorded: true,
    open: |params, context| open(params, context, super::one_path, settings),
};

/// What makes the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Address,
    User,
}

impl Choice for Named {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("address", Named::Address, "the address or host name that a line starts with"),
        ("user", Named::User, "the name of the user, or the address where there is none"),
    ];
}

/// What becomes of the query of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Query {
    Drop,
    Keep,
}

impl Choice for Query {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("drop", Query::Drop, "`/a?b=c` is `/a`"),
        ("keep", Query::Keep, "`/a?b=c` and `/a` are two endpoints"),
    ];
}

fn settings(params: &mut Params) -> Option<Settings> {
    let client = params.or("client", Named::Address, "What makes the client.");
    let query = params.or("query", Query::Drop, "Whether the query is part of the endpoint.");
    let duration_unit: Option<Unit> = params.optional(
        "duration",
        "The unit of the last field of a line, after those of the format, if that is how long the \
         request took: `s` for `$request_time` of nginx, `us` for `%D` of Apache.",
    );
    let mut wanted = vec![Field::Address, Field::Target];
    wanted.extend((client == Named::User).then_some(Field::User));
    let place = Some(params.place_of("path"));
    let layout = Layout { wanted, duration_unit, place, ..Layout::default() };
    let reading = Box::new(AccessLog { query });
    Some(Settings { format: named("combined"), ..Settings::new(layout, reading) })
}

const ADDRESS: usize = 0;
const TARGET: usize = 1;
/// Where the user stands, if it makes the client.
const USER: usize = 2;

struct AccessLog {
    query: Query,
}

/// What the identity of a client starts with that is known by its user; no address does.
const BY_USER: u8 = b'u';

impl Reading for AccessLog {
    fn identity(&mut self, entry: &Entry, into: &mut Vec<u8>) {
        match entry.get(USER) {
            Some(user) => {
                into.push(BY_USER);
                into.extend_from_slice(user);
            }
            None => append_address(entry.get(ADDRESS).unwrap_or(b"-"), into),
        }
    }

    fn client(&self, identity: &[u8]) -> (Client, bool) {
        match identity {
            [BY_USER, user @ ..] => (Client::new(readable(user), None), false),
            address => client_at(address),
        }
    }

    fn endpoint(&mut self, entry: &Entry, into: &mut Vec<u8>) {
        let target = entry.get(TARGET).unwrap_or(b"");
        let length = match self.query {
            Query::Keep => None,
            Query::Drop => memchr::memchr(b'?', target),
        };
        into.extend_from_slice(&target[..length.unwrap_or(target.len())]);
    }
}
