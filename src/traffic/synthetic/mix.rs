//! What requests are for and what they cost.

use serde_json::json;

use super::cost::Cost;
use crate::error::Problem;
use crate::params::{Params, Setting};
use crate::seed::{Stream, below};
use crate::traffic::Context;

/// The endpoints of a source with their weights and costs.
pub struct Mix {
    /// In the order of the scenario; at least one.
    offers: Vec<Offer>,
    /// The sum of the weights; at least 1.
    total: u64,
}

struct Offer {
    endpoint: u32,
    /// The sum of the weights up to and including this one.
    up_to: u64,
    cost: Cost,
}

/// What one request is for and what it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The number of the endpoint.
    pub endpoint: u32,
    /// From 1.
    pub cost: u32,
}

/// What the endpoints and costs of one client are drawn from.
pub struct Marks {
    /// For endpoints.
    pub endpoints: Stream,
    /// For costs.
    pub costs: Stream,
}

impl Mix {
    /// Whether a request may cost more than 1.
    pub fn has_costs(&self) -> bool {
        self.offers.iter().any(|offer| !matches!(offer.cost, Cost::Fixed(1)))
    }

    /// Reads what is asked for and what it costs. `None` after a problem was reported.
    pub fn read(params: &mut Params, context: &mut Context) -> Option<Mix> {
        let endpoint: Option<String> = params
            .optional("endpoint", "What is asked for; by default nothing that would have a name.");
        let endpoints = read_weights(
            params,
            "endpoints",
            "Endpoints with weights, such as `{ \"/a\" = 3, \"/b\" = 1 }`: each request is for one of \
             them at random.",
        );
        let cost = params.or("cost", Cost::Fixed(1), "What a request costs.");
        let costs = read_costs(params, endpoint.as_deref(), endpoints.as_deref());
        let alone = params.require(
            "endpoints",
            endpoint.is_none() || endpoints.as_ref().is_some_and(Vec::is_empty),
            "both `endpoint` and `endpoints`",
            "keep one of them",
        );
        let mut weights = endpoints?;
        if weights.is_empty() {
            weights.push((endpoint.unwrap_or_default(), 1));
        }
        let mut total = 0;
        let offers = weights
            .into_iter()
            .map(|(name, weight)| {
                total += u64::from(weight);
                let own = costs.iter().find(|(endpoint, _)| *endpoint == name);
                Offer {
                    endpoint: context.endpoint(&name),
                    up_to: total,
                    cost: own.map_or(cost, |&(_, cost)| cost),
                }
            })
            .collect();
        alone.then_some(Mix { offers, total })
    }

    /// The endpoint and the cost of a client's next request.
    pub fn draw(&self, marks: &mut Marks) -> Mark {
        let index = match self.offers.len() {
            1 => 0,
            _ => {
                let ticket = below(&mut marks.endpoints, self.total);
                self.offers.partition_point(|offer| offer.up_to <= ticket)
            }
        };
        let offer = &self.offers[index];
        Mark { endpoint: offer.endpoint, cost: offer.cost.draw(&mut marks.costs) }
    }
}

/// Reads the costs by endpoint. `endpoints` are those of the source, `None` after a problem with them.
fn read_costs(
    params: &mut Params,
    endpoint: Option<&str>,
    endpoints: Option<&[(String, u32)]>,
) -> Vec<(String, Cost)> {
    let known = |name: &str| {
        endpoints.is_none_or(|endpoints| endpoints.iter().any(|(known, _)| known == name))
            || endpoint == Some(name)
    };
    params.entries(
        "costs",
        "What requests for some of the endpoints cost, such as `{ \"/search\" = 10 }`; each may be \
         whatever `cost` may be.",
        |entry, problems| {
            if !known(&entry.key) {
                let message = format!("`{}` is no endpoint of this source", entry.key);
                let help = "`costs` is for names in `endpoints`, `cost` for all others";
                problems.add(Problem::at(&entry.place, message).help(help));
            }
            match Cost::read(&entry.node) {
                Ok(cost) => Some(((entry.key.clone(), cost), cost.json())),
                Err(problem) => {
                    problems.add(problem.of(format_args!("`{}`", entry.key)));
                    None
                }
            }
        },
        Cost::schema(),
    )
}

/// Reads a table of names with weights, empty if it was left out. `None` after a problem was
/// reported.
pub fn read_weights(params: &mut Params, name: &str, meaning: &str) -> Option<Vec<(String, u32)>> {
    let mut good = true;
    let weights: Vec<(String, u32)> = params.entries(
        name,
        meaning,
        |entry, problems| match u32::read(&entry.node) {
            Ok(weight) => Some(((entry.key.clone(), weight), json!(weight))),
            Err(problem) => {
                problems.add(problem.of(format_args!("the weight of `{}`", entry.key)));
                good = false;
                None
            }
        },
        u32::schema(),
    );
    let some = weights.iter().any(|&(_, weight)| weight > 0);
    let written = params.has(name);
    let message = format!("`{name}` has no weight above 0");
    let help = "write weights such as { a = 3, b = 1 }";
    (params.require(name, !good || !written || some, message, help) && good).then_some(weights)
}
