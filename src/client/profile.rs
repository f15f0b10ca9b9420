//! Profiles: the settings of real clients under their names. A profile is nothing but settings of
//! `[clients]`, which stand in for those that the user left out.

use std::sync::Arc;

use crate::error::{Problems, Source};
use crate::params::{Named, Node, Table, Value};

/// An entry of the registry.
#[derive(Debug)]
pub struct Profile {
    /// As written in a scenario.
    pub name: &'static str,
    /// One line for `ratesim list`.
    pub summary: &'static str,
    /// Where the numbers come from, and what the client does besides.
    pub source: &'static str,
    /// Settings of the table, as in a scenario.
    pub settings: &'static str,
}

/// The registry, in the order in which profiles are listed.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "naive-loop",
        summary: "Asks again at once, for ever.",
        source: "A loop around a call. With a short `rtt` it makes a very large number of attempts.",
        settings: r#"retries = "immediate""#,
    },
    Profile {
        name: "browser-reload",
        summary: "Somebody who reloads a page every few seconds and leaves after a minute.",
        source: "Assumed, not measured. Browsers do not heed Retry-After.",
        settings: r#"
            retries = "fixed"
            delay = "5s"
            jitter = "proportional"
            jitter-share = "50%"
            jitter-side = "around"
            patience = "60s"
        "#,
    },
    Profile {
        name: "fetch-with-backoff",
        summary: "The client of many articles: doubling delays, up to 20 % on top, heeds Retry-After.",
        source: "Usual numbers of such listings: 1 s doubling to 30 s, 5 attempts. All who were told the \
                 same time come at that time.",
        settings: r#"
            retries = "exponential"
            base = "1s"
            factor = 2
            cap = "30s"
            jitter = "proportional"
            jitter-share = "20%"
            jitter-side = "above"
            retry-after = "obey"
            attempts = 5
        "#,
    },
    Profile {
        name: "aws-standard",
        summary: "AWS SDKs in standard mode: three attempts, full jitter, a quota of 500 tokens.",
        source: "botocore's standard mode, as before AWS_NEW_RETRIES_2026; timeouts, which it charges 10 \
                 tokens, are charged 5 here.",
        settings: r#"
            retries = "exponential"
            base = "1s"
            factor = 2
            cap = "20s"
            jitter = "full"
            attempts = 3
            budget = { kind = "tokens", capacity = 500, per-retry = 5, refund = 1, refund-retried = 5 }
        "#,
    },
    Profile {
        name: "grpc",
        summary: "gRPC with a retry policy and throttling: stops while half of the tokens are gone.",
        source: "gRFC A6, delays and attempts of its example. A server's pushback is taken for \
                 Retry-After; it does not start the delays anew here.",
        settings: r#"
            retries = "exponential"
            base = "100ms"
            factor = 2
            cap = "1s"
            jitter = "proportional"
            jitter-share = "20%"
            jitter-side = "around"
            retry-after = "obey"
            attempts = 4
            budget = { kind = "tokens", capacity = 10, per-failure = 1, refund = 0.1, threshold = 5 }
        "#,
    },
    Profile {
        name: "finagle",
        summary: "Finagle's requeues: at once, for a fifth of the requests and ten a second.",
        source: "Finagle's RetryBudget and its default backoff of zero; that one request takes at most a \
                 fifth of the budget is left out.",
        settings: r#"
            retries = "immediate"
            budget = { kind = "share", share = "20%", window = "10s", floor = "10/s" }
        "#,
    },
    Profile {
        name: "linkerd",
        summary: "A Linkerd service profile: at once, for a fifth of the requests and ten a second, for 10 s.",
        source: "Linkerd's documentation: retryRatio 0.2, minRetriesPerSecond 10, ttl 10s, timeout 10s.",
        settings: r#"
            retries = "immediate"
            patience = "10s"
            budget = { kind = "share", share = "20%", window = "10s", floor = "10/s" }
        "#,
    },
    Profile {
        name: "envoy",
        summary: "Clients behind one Envoy: one retry after up to 25 ms, three in flight in all, for 15 s.",
        source: "Envoy's defaults: num_retries 1, back-off 25 ms to 250 ms, max_retries 3, route timeout \
                 15 s. Beyond one retry its delays grow by 2^n - 1 instead.",
        settings: r#"
            retries = "exponential"
            base = "25ms"
            factor = 2
            cap = "250ms"
            jitter = "full"
            attempts = 2
            patience = "15s"
            budget = { kind = "in-flight", most = 3, scope = "all" }
        "#,
    },
];

impl Named for Profile {
    const WHAT: &'static str = "profile";

    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }
}

impl Profile {
    /// Its settings as a table.
    pub fn settings(&self) -> Table {
        let name = format!("the profile `{}`", self.name);
        let source = Source { name, text: self.settings.to_owned() };
        match Node::parse(Arc::new(source), &Problems::new()).value {
            Value::Table(table) => table,
            _ => Table::default(),
        }
    }
}
