//! Which keys of which limits a request is counted under.

use std::borrow::Cow;
use std::net::IpAddr;

use foldhash::fast::FixedState;
use indexmap::IndexSet;

use crate::params::Choice;
use crate::scenario::{Attribute, Counts, Key, LimitSpec};
use crate::traffic::{Client, Traffic};

/// How the requests of a case map to keys: made once, shared by all runs.
#[derive(Debug)]
pub struct KeyPlan {
    pub(super) limits: Vec<LimitKeys>,
}

/// How one limit's keys are made.
#[derive(Debug)]
pub(super) struct LimitKeys {
    pub counts: Counts,
    /// By endpoint, whether the limit covers it.
    pub covers: Vec<bool>,
    /// What decides the key of a client's requests: its group, or the client itself where each is a group of
    /// its own ...
    pub group: Option<ByClient<u32>>,
    /// ... 0 for the limit itself, else 1 + the position of the tier ...
    pub variant: ByClient<u32>,
    /// ... and whether the endpoint counts too.
    pub by_endpoint: ByClient<bool>,
    /// The groups by number; none are kept where each client is one of its own that goes by its name.
    pub groups: IndexSet<Group>,
    pub count: usize,
}

/// A value for each client, kept once if it is the same for all: it is looked at for every attempt.
#[derive(Debug)]
pub(super) enum ByClient<T> {
    Same(T),
    Each(Vec<T>),
}

impl<T: Copy + PartialEq> ByClient<T> {
    fn new(values: Vec<T>) -> ByClient<T> {
        match values.first() {
            Some(&first) if values.iter().all(|&value| value == first) => ByClient::Same(first),
            _ => ByClient::Each(values),
        }
    }

    #[inline]
    pub fn of(&self, client: u32) -> T {
        match self {
            ByClient::Same(value) => *value,
            ByClient::Each(values) => values[client as usize],
        }
    }
}

/// What requests share as far as their client decides it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Group {
    /// 0 for the limit itself, else 1 + the position of the tier.
    pub variant: usize,
    /// The parts of the key; `None` stands for the endpoint.
    parts: Vec<Option<(Attribute, String)>>,
}

impl KeyPlan {
    /// Whether there is one limit, and each client has one key of its own under it.
    pub fn is_one_key_each(&self) -> bool {
        let own = |limit: &LimitKeys| {
            let everywhere = limit.covers.iter().all(|&covers| covers);
            everywhere
                && limit.group.is_none()
                && matches!(limit.by_endpoint, ByClient::Same(false))
        };
        matches!(&self.limits[..], [only] if own(only))
    }

    /// Whether any limit counts what requests cost.
    pub fn counts_costs(&self) -> bool {
        self.limits.iter().any(|limit| limit.counts == Counts::Cost)
    }

    /// Which promise of a limit a client has: 0 for the limit's own, else 1 + the position of the tier.
    pub fn variant(&self, limit: usize, client: u32) -> u32 {
        self.limits[limit].variant.of(client)
    }

    /// The name of a client's key under a limit, whatever it asks for.
    pub fn name_of<'t>(&self, limit: usize, client: u32, traffic: &'t Traffic) -> Cow<'t, str> {
        let plan = &self.limits[limit];
        plan.name(traffic, plan.group(client), None)
    }

    /// For the limits and the traffic of a case.
    pub fn new(limits: &[LimitSpec], traffic: &Traffic) -> KeyPlan {
        KeyPlan { limits: limits.iter().map(|limit| LimitKeys::new(limit, traffic)).collect() }
    }
}

impl LimitKeys {
    fn new(spec: &LimitSpec, traffic: &Traffic) -> LimitKeys {
        let covers = traffic
            .endpoints
            .iter()
            .map(|endpoint| spec.endpoints.is_empty() || spec.endpoints.contains(endpoint));
        let covers = covers.collect();
        if let Some(variants) = own_names(spec, traffic) {
            return LimitKeys {
                counts: spec.counts,
                covers,
                group: None,
                variant: ByClient::new(variants),
                by_endpoint: ByClient::Same(false),
                groups: IndexSet::new(),
                count: traffic.clients.len(),
            };
        }
        let mut groups = IndexSet::new();
        let (mut group, mut variant, mut by_endpoint) = (Vec::new(), Vec::new(), Vec::new());
        for client in traffic.clients.iter() {
            let tier = variant_of(spec, client);
            let parts = parts(spec, client);
            variant.push(tier as u32);
            by_endpoint.push(parts.contains(&None));
            group.push(groups.insert_full(Group { variant: tier, parts }).0 as u32);
        }
        LimitKeys {
            counts: spec.counts,
            covers,
            group: (groups.len() < group.len()).then(|| ByClient::new(group)),
            variant: ByClient::new(variant),
            by_endpoint: ByClient::new(by_endpoint),
            count: groups.len(),
            groups,
        }
    }

    /// The name of a key for people.
    pub fn name<'t>(
        &self,
        traffic: &'t Traffic,
        group: u32,
        endpoint: Option<u32>,
    ) -> Cow<'t, str> {
        if self.groups.is_empty() {
            return Cow::Borrowed(&traffic.clients[group as usize].name);
        }
        let endpoint =
            endpoint.map_or("", |endpoint| traffic.endpoints[endpoint as usize].as_str());
        let part = |part: &Option<(Attribute, String)>| match part {
            Some((_, value)) => value.clone(),
            None => endpoint.to_owned(),
        };
        let words: Vec<String> = self.groups[group as usize].parts.iter().map(part).collect();
        match words.as_slice() {
            [] => Cow::Borrowed("everything"),
            words => Cow::Owned(words.join(" ")),
        }
    }

    #[inline]
    pub fn group(&self, client: u32) -> u32 {
        match &self.group {
            None => client,
            Some(group) => group.of(client),
        }
    }
}

/// Which promise a client has: 0 for the limit's own, else 1 + the position of the tier.
fn variant_of(spec: &LimitSpec, client: &Client) -> usize {
    let tier = |tier: &str| spec.tiers.iter().position(|t| t.name == tier);
    client.tier().and_then(tier).map_or(0, |position| position + 1)
}

/// By client, which promise it has, if each is told from all others by its name alone.
fn own_names(spec: &LimitSpec, traffic: &Traffic) -> Option<Vec<u32>> {
    if spec.key != Key::Each(vec![Attribute::Client]) || traffic.clients.is_empty() {
        return None;
    }
    let names: IndexSet<&str, FixedState> =
        traffic.clients.iter().map(|client| client.name.as_str()).collect();
    let variants = traffic.clients.iter().map(|client| variant_of(spec, client) as u32);
    (names.len() == traffic.clients.len()).then(|| variants.collect())
}

fn parts(spec: &LimitSpec, client: &Client) -> Vec<Option<(Attribute, String)>> {
    let part = |attribute: Attribute| match attribute {
        Attribute::Endpoint => None,
        _ => {
            let absent = || format!("(no {})", attribute.name());
            Some((attribute, value(spec, client, attribute).unwrap_or_else(absent)))
        }
    };
    match &spec.key {
        Key::Everything => Vec::new(),
        Key::Each(attributes) => attributes.iter().map(|&attribute| part(attribute)).collect(),
        Key::FirstOf(attributes) => {
            let present = attributes.iter().find(|&&attribute| {
                attribute == Attribute::Endpoint || value(spec, client, attribute).is_some()
            });
            present.map(|&attribute| part(attribute)).into_iter().collect()
        }
    }
}

fn value(spec: &LimitSpec, client: &Client, attribute: Attribute) -> Option<String> {
    match attribute {
        Attribute::Client => Some(client.name.clone()),
        Attribute::Tenant => client.tenant().map(str::to_owned),
        Attribute::Tier => client.tier().map(str::to_owned),
        Attribute::Address => client.address.map(|address| address.to_string()),
        Attribute::AddressPrefix => client.address.map(|address| prefix(spec, address)),
        Attribute::ApiKey => client.api_key().map(str::to_owned),
        Attribute::Endpoint => None,
    }
}

fn prefix(spec: &LimitSpec, address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => {
            let bits = spec.ipv4_prefix;
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            format!("{}/{bits}", std::net::Ipv4Addr::from(u32::from(address) & mask))
        }
        IpAddr::V6(address) => {
            let bits = spec.ipv6_prefix;
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            format!("{}/{bits}", std::net::Ipv6Addr::from(u128::from(address) & mask))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Keyring;
    use super::*;
    use crate::error::{Place, Source};
    use crate::rate::Limit;
    use crate::time::Window;
    use crate::time::{Instant, Span};
    use crate::traffic::{Account, Arrival, Clients};
    use std::sync::Arc;

    fn spec(key: Key) -> LimitSpec {
        let source = Arc::new(Source { name: String::new(), text: String::new() });
        let limit = Limit::new(1, Span::from_secs(1));
        LimitSpec { key, ..LimitSpec::plain(limit, Place { source, span: 0..0 }) }
    }

    fn client(name: &str, address: Option<&str>, api_key: Option<&str>) -> Client {
        let account = Account { api_key: api_key.map(str::to_owned), ..Account::default() };
        Client::new(name.to_owned(), address.map(|text| text.parse().unwrap())).with(account)
    }

    /// The names of the keys of three clients asking for two endpoints each.
    fn names(spec: LimitSpec) -> Vec<String> {
        let at = Instant(0);
        let traffic = Traffic {
            clients: Arc::new(Clients::from_iter([
                client("ann", Some("192.0.2.7"), Some("k1")),
                client("bob", Some("192.0.2.200"), None),
                client("cid", None, None),
            ])),
            endpoints: IndexSet::from(["/a".to_owned(), "/b".to_owned()]),
            sources: Vec::new(),
            inputs: Vec::new(),
            window: Window { start: at, end: at },
            outside: 0,
            met_in_records: (0, 0),
        };
        let plan = KeyPlan::new(&[spec], &traffic);
        let mut ring = Keyring::new(&plan);
        let mut keys = Vec::new();
        for client in 0..3 {
            for endpoint in 0..2 {
                ring.keys_of(&Arrival { at, client, endpoint, cost: 3 }, |met| {
                    assert_eq!(met.first, !keys.contains(&met.key));
                    keys.push(met.key);
                });
            }
        }
        keys.iter().map(|&key| ring.name(&traffic, 0, key)).collect()
    }

    #[test]
    fn a_key_is_a_field_a_combination_the_first_present_or_everything() {
        let each = |attributes: &[Attribute]| names(spec(Key::Each(attributes.to_vec())));
        assert_eq!(each(&[Attribute::Client]), ["ann", "ann", "bob", "bob", "cid", "cid"]);
        assert_eq!(
            each(&[Attribute::Client, Attribute::Endpoint]),
            ["ann /a", "ann /b", "bob /a", "bob /b", "cid /a", "cid /b"]
        );
        let prefix = "192.0.2.0/24";
        let none = "(no address-prefix)";
        assert_eq!(each(&[Attribute::AddressPrefix]), [prefix, prefix, prefix, prefix, none, none]);
        let first = Key::FirstOf(vec![Attribute::ApiKey, Attribute::Address]);
        let shared = "everything";
        assert_eq!(names(spec(first)), ["k1", "k1", "192.0.2.200", "192.0.2.200", shared, shared]);
        assert_eq!(names(spec(Key::Everything)), [shared; 6]);
    }

    #[test]
    fn a_limit_covers_only_its_endpoints() {
        let limit = spec(Key::Each(vec![Attribute::Client]));
        let only_b = LimitSpec { endpoints: vec!["/b".to_owned()], ..limit };
        assert_eq!(names(only_b), ["ann", "bob", "cid"]);
    }
}
