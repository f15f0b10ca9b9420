//! Which keys of which limits a request is counted under.

use std::net::IpAddr;

use indexmap::{IndexMap, IndexSet};

use crate::params::Choice;
use crate::scenario::{Attribute, Counts, Key, LimitSpec};
use crate::traffic::{Arrival, Client, Traffic};

/// How the requests of a case map to keys: made once, shared by all runs.
#[derive(Debug)]
pub struct KeyPlan {
    limits: Vec<LimitKeys>,
}

/// How one limit's keys are made.
#[derive(Debug)]
struct LimitKeys {
    counts: Counts,
    /// By endpoint, whether the limit covers it.
    covers: Vec<bool>,
    /// What decides the key of a client's requests: its group, or the client itself where each is a group of
    /// its own ...
    group: Option<ByClient<u32>>,
    /// ... 0 for the limit itself, else 1 + the position of the tier ...
    variant: ByClient<u32>,
    /// ... and whether the endpoint counts too.
    by_endpoint: ByClient<bool>,
    groups: IndexSet<Group>,
    endpoints: Vec<String>,
}

/// A value for each client, kept once if it is the same for all: it is looked at for every attempt.
#[derive(Debug)]
enum ByClient<T> {
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
    fn of(&self, client: u32) -> T {
        match self {
            ByClient::Same(value) => *value,
            ByClient::Each(values) => values[client as usize],
        }
    }
}

/// What requests share as far as their client decides it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Group {
    /// 0 for the limit itself, else 1 + the position of the tier.
    variant: usize,
    /// The parts of the key; `None` stands for the endpoint.
    parts: Vec<Option<(Attribute, String)>>,
}

impl KeyPlan {
    /// Whether there is one limit, and each client has one key of its own under it.
    pub(super) fn is_one_key_each(&self) -> bool {
        let own = |limit: &LimitKeys| {
            let everywhere = limit.covers.iter().all(|&covers| covers);
            everywhere
                && limit.group.is_none()
                && matches!(limit.by_endpoint, ByClient::Same(false))
        };
        matches!(&self.limits[..], [only] if own(only))
    }

    /// For the limits and the traffic of a case.
    pub fn new(limits: &[LimitSpec], traffic: &Traffic) -> KeyPlan {
        KeyPlan { limits: limits.iter().map(|limit| LimitKeys::new(limit, traffic)).collect() }
    }
}

impl LimitKeys {
    fn new(spec: &LimitSpec, traffic: &Traffic) -> LimitKeys {
        let endpoints: Vec<String> = traffic.endpoints.iter().cloned().collect();
        let covers = endpoints
            .iter()
            .map(|endpoint| spec.endpoints.is_empty() || spec.endpoints.contains(endpoint));
        let covers = covers.collect();
        let mut groups = IndexSet::new();
        let (mut group, mut variant, mut by_endpoint) = (Vec::new(), Vec::new(), Vec::new());
        for client in &traffic.clients {
            let tier = |tier: &String| spec.tiers.iter().position(|t| &t.name == tier);
            let tier = client.tier.as_ref().and_then(tier).map_or(0, |position| position + 1);
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
            groups,
            endpoints,
        }
    }

    #[inline]
    fn group(&self, client: u32) -> u32 {
        match &self.group {
            None => client,
            Some(group) => group.of(client),
        }
    }
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
        Attribute::Tenant => client.tenant.clone(),
        Attribute::Tier => client.tier.clone(),
        Attribute::Address => client.address.map(|address| address.to_string()),
        Attribute::AddressPrefix => client.address.map(|address| prefix(spec, address)),
        Attribute::ApiKey => client.api_key.clone(),
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

/// A key of a limit, met in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Met {
    /// The limit.
    pub limit: usize,
    /// The key's number among those of the limit, in the order in which they were first met.
    pub key: usize,
    /// Whether this was the first time.
    pub first: bool,
    /// 0 for the limit itself, else 1 + the position of the tier.
    pub variant: usize,
    /// What the request is charged.
    pub cost: u32,
}

/// So many keys stay in the cache.
const FEW: usize = 64;

/// The keys that one run has met so far.
#[derive(Debug)]
pub struct Keyring<'a> {
    plan: &'a KeyPlan,
    met: Vec<MetKeys>,
}

#[derive(Debug)]
struct MetKeys {
    /// By group, the number of the key plus one, for keys without an endpoint.
    by_group: Vec<u32>,
    /// Keys with an endpoint.
    by_endpoint: IndexMap<(u32, u32), u32>,
    /// By number: group and endpoint.
    keys: Vec<(u32, u32)>,
}

impl<'a> Keyring<'a> {
    /// No key was met yet.
    pub fn new(plan: &'a KeyPlan) -> Keyring<'a> {
        let met = plan.limits.iter().map(|limit| MetKeys {
            by_group: vec![0; limit.groups.len()],
            by_endpoint: IndexMap::new(),
            keys: Vec::new(),
        });
        Keyring { plan, met: met.collect() }
    }

    /// The keys that a request is counted under, in the order of the limits that cover it.
    pub fn keys_of(&mut self, arrival: &Arrival, mut each: impl FnMut(Met)) {
        for (limit, plan) in self.plan.limits.iter().enumerate() {
            let met = &mut self.met[limit];
            if !plan.covers[arrival.endpoint as usize] {
                continue;
            }
            let (group, variant) = (plan.group(arrival.client), plan.variant.of(arrival.client));
            let by_endpoint = plan.by_endpoint.of(arrival.client);
            let next = met.keys.len() as u32;
            let key = if by_endpoint {
                *met.by_endpoint.entry((group, arrival.endpoint)).or_insert(next)
            } else {
                let slot = &mut met.by_group[group as usize];
                if *slot == 0 {
                    *slot = next + 1;
                }
                *slot - 1
            };
            if key == next {
                met.keys.push((group, arrival.endpoint));
            }
            let cost = match plan.counts {
                Counts::Cost => arrival.cost,
                Counts::Requests => 1,
            };
            let (key, first) = (key as usize, key == next);
            each(Met { limit, key, first, variant: variant as usize, cost });
        }
    }

    /// How many keys of a limit were met.
    pub fn count(&self, limit: usize) -> usize {
        self.met[limit].keys.len()
    }

    /// Looks up the keys of clients under a limit, as far as they were met before and no endpoint decides
    /// them. Limits of few keys are passed over, as those are at hand anyway.
    pub(super) fn known(&self, clients: &[u32], limit: usize) -> impl Iterator<Item = u32> {
        let (plan, met) = (&self.plan.limits[limit], &self.met[limit]);
        let clients = if met.keys.len() > FEW { clients } else { &[] };
        let key = |&client: &u32| match plan.by_endpoint.of(client) {
            true => None,
            false => met.by_group[plan.group(client) as usize].checked_sub(1),
        };
        clients.iter().filter_map(key)
    }

    /// A key that was met before, at no cost.
    pub(super) fn met(&self, limit: usize, key: usize) -> Met {
        let (group, _) = self.met[limit].keys[key];
        let variant = self.plan.limits[limit].groups[group as usize].variant;
        Met { limit, key, first: false, variant, cost: 0 }
    }

    /// The name of a key for people.
    ///
    /// # Panics
    /// If it was not met.
    pub fn name(&self, limit: usize, key: usize) -> String {
        let plan = &self.plan.limits[limit];
        let (group, endpoint) = self.met[limit].keys[key];
        let parts = &plan.groups[group as usize].parts;
        let words: Vec<&str> = parts
            .iter()
            .map(|part| match part {
                Some((_, value)) => value.as_str(),
                None => plan.endpoints[endpoint as usize].as_str(),
            })
            .collect();
        match words.as_slice() {
            [] => "everything".to_owned(),
            words => words.join(" "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Place, Source};
    use crate::rate::Limit;
    use crate::time::Window;
    use crate::time::{Instant, Span};
    use std::sync::Arc;

    fn spec(key: Key) -> LimitSpec {
        let source = Arc::new(Source { name: String::new(), text: String::new() });
        let limit = Limit::new(1, Span::from_secs(1));
        LimitSpec { key, ..LimitSpec::plain(limit, Place { source, span: 0..0 }) }
    }

    fn client(name: &str, address: Option<&str>, api_key: Option<&str>) -> Client {
        Client {
            name: name.to_owned(),
            address: address.map(|text| text.parse().unwrap()),
            api_key: api_key.map(str::to_owned),
            ..Client::default()
        }
    }

    /// The names of the keys of three clients asking for two endpoints each.
    fn names(spec: LimitSpec) -> Vec<String> {
        let at = Instant(0);
        let traffic = Traffic {
            clients: IndexSet::from([
                client("ann", Some("192.0.2.7"), Some("k1")),
                client("bob", Some("192.0.2.200"), None),
                client("cid", None, None),
            ]),
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
        keys.iter().map(|&key| ring.name(0, key)).collect()
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
