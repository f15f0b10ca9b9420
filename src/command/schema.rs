//! `ratesim schema`: what a scenario file may hold, as a JSON Schema for editors or as a reference
//! for people, both from the very readers that read the files.

use serde_json::{Value as Json, json};

use crate::algorithm::ALGORITHMS;
use crate::params::{Field, table_schema};
use crate::run::contender_schema;
use crate::scenario::Scenario;
use crate::traffic::{self, SOURCES};

/// The JSON Schema (draft 2020-12) of a scenario file.
pub fn schema() -> Json {
    let fields = Scenario::fields(&contender_schema(), &traffic::schema());
    let mut schema = table_schema(&fields);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("ratesim scenario");
    schema
}

/// The reference of scenario files, in Markdown.
pub fn reference() -> String {
    let any = json!({ "type": "object" });
    let mut text = String::from(
        "# Scenario files\n\nA scenario is a TOML file. Every setting, with its default; written by \
         `ratesim schema --markdown` from what reads the files.\n",
    );
    let fields = Scenario::fields(&any, &any);
    section(&mut text, "## The scenario", "", &schema()["properties"], &fields);
    text += "\n## `[[traffic]]` by `kind`\n";
    kinds(&mut text, &traffic::schema(), SOURCES.iter().map(|kind| (kind.name, kind.summary)));
    text += "\n## `[[algorithm]]` by `kind`\n";
    kinds(
        &mut text,
        &contender_schema(),
        ALGORITHMS.iter().map(|kind| (kind.name, kind.summary)),
    );
    text
}
