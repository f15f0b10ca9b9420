//! The clients of a source: their number, names, addresses, keys, tenants and tiers.

use super::address::Addresses;
use super::mix::read_weights;
use crate::params::{Choice, Params};
use crate::traffic::{Account, Client, Context};

/// More clients than this do not fit into memory with their names.
const MOST_CLIENTS: u64 = 10_000_000;

/// Which clients have an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ApiKeys {
    None,
    PerClient,
}

impl Choice for ApiKeys {
    const CHOICES: &'static [(&'static str, Self, &'static str)] = &[
        ("none", ApiKeys::None, "no client has a key"),
        ("per-client", ApiKeys::PerClient, "each client has its own: `key-` and its name"),
    ];
}

/// Reads who asks and gives the numbers of the clients. `None` after a problem was reported.
pub fn read(params: &mut Params, context: &mut Context) -> Option<Vec<u32>> {
    let count = params.within(1..=MOST_CLIENTS).or("clients", 1_u32, "How many clients ask.");
    let prefix: Option<String> = params.optional(
        "client",
        "What their names start with; by default `client`, so that they are `client-1`, `client-2` \
         and so on, the same in all sources. One client with a name given here has just that name.",
    );
    let addresses: Option<Addresses> = params.optional(
        "address",
        "Where they come from: one address for all, or a prefix, of which the first client takes \
         the second address, the next client the next. By default none has an address.",
    );
    let api_keys = params.or("api-keys", ApiKeys::None, "Which of them have an API key.");
    let tenant: Option<String> =
        params.optional("tenant", "The organisation they belong to; by default none.");
    let tier: Option<String> = params.optional("tier", "The plan they pay for; by default none.");
    let tiers = read_weights(
        params,
        "tiers",
        "Plans with weights, such as `{ free = 9, pro = 1 }`: each next client gets the plan that \
         lags most behind its share.",
    );
    let good = [
        params.require(
            "client",
            prefix.as_deref() != Some(""),
            "an empty name",
            "write a name, or leave it out",
        ),
        params.require(
            "address",
            addresses.is_none_or(|addresses| u128::from(count) <= addresses.room()),
            format!("the prefix has too few addresses for {count} clients"),
            "write a shorter prefix (its first address is not given out), or one address for all",
        ),
        params.require(
            "tiers",
            tier.is_none() || tiers.as_ref().is_some_and(Vec::is_empty),
            "both `tier` and `tiers`",
            "keep one of them",
        ),
    ];
    let tiers = tiers?;
    if good.contains(&false) {
        return None;
    }
    let mut turns = Turns::new(tiers);
    let client = |number: usize| {
        let name = match &prefix {
            Some(name) if count == 1 => name.clone(),
            Some(prefix) => format!("{prefix}-{}", number + 1),
            None => format!("client-{}", number + 1),
        };
        let api_key = (api_keys == ApiKeys::PerClient).then(|| format!("key-{name}"));
        let tier = turns.next().or_else(|| tier.clone());
        let account = Account { api_key, tenant: tenant.clone(), tier };
        Client::new(name, addresses.map(|addresses| addresses.of(number))).with(account)
    };
    Some((0..count as usize).map(client).map(|client| context.client(client)).collect())
}

/// Deals names in proportion to their weights, so that every run of turns from the first is divided
/// as well as it can be and more turns change none of those before.
struct Turns {
    names: Vec<(String, u32)>,
    /// How far each lags behind its share, in parts of the total weight.
    lag: Vec<i64>,
    total: i64,
}

impl Turns {
    fn new(names: Vec<(String, u32)>) -> Turns {
        let total = names.iter().map(|&(_, weight)| i64::from(weight)).sum();
        Turns { lag: vec![0; names.len()], names, total }
    }

    /// The name whose turn it is, the first of equals; `None` if there are no names.
    fn next(&mut self) -> Option<String> {
        for (lag, (_, weight)) in self.lag.iter_mut().zip(&self.names) {
            *lag += i64::from(*weight);
        }
        let first = (0..self.names.len()).rev().max_by_key(|&index| self.lag[index])?;
        self.lag[first] -= self.total;
        Some(self.names[first].0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_weights_5_1_1_every_seventh_turn_is_bs_and_never_the_first() {
        let names = [("a", 5), ("b", 1), ("c", 1)].map(|(name, weight)| (name.to_owned(), weight));
        let mut turns = Turns::new(names.to_vec());
        let dealt: String = (0..14).filter_map(|_| turns.next()).collect();
        assert_eq!(dealt, "aabacaaaabacaa");
        assert_eq!(Turns::new(Vec::new()).next(), None);
    }

    #[test]
    fn a_weight_of_zero_gets_no_turn() {
        let names = [("a", 0), ("b", 2)].map(|(name, weight)| (name.to_owned(), weight));
        let mut turns = Turns::new(names.to_vec());
        assert!((0..10).all(|_| turns.next().as_deref() == Some("b")));
    }
}
