//! `ratesim schema`: what a scenario file may hold, as a JSON Schema for editors or as a reference
//! for people, both from the very readers that read the files.

use serde_json::{Map, Value as Json, json};

use crate::metrics::{METRICS, SUBJECT_METRICS};
use crate::params::table_schema;
use crate::run::contender_schema;
use crate::scenario::Scenario;
use crate::traffic;

/// The JSON Schema (draft 2020-12) of a scenario file.
pub fn schema() -> Json {
    let fields = Scenario::fields(&contender_schema(), &traffic::schema());
    let mut schema = table_schema(&fields);
    let metric = &mut schema["properties"]["expect"]["anyOf"];
    for table in [&["0", "items"][..], &["1"]] {
        let path = format!("/{}/properties/metric", table.join("/"));
        if let Some(metric) = metric.pointer_mut(&path) {
            metric["oneOf"] = metrics();
        }
    }
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("ratesim scenario");
    schema
}

/// The names that an expectation may give its `metric`, each once, with their meanings.
fn metrics() -> Json {
    let of_run = METRICS.iter().map(|metric| (metric.name, metric.meaning));
    let of_subject = SUBJECT_METRICS
        .iter()
        .filter(|subject| METRICS.iter().all(|metric| metric.name != subject.name))
        .map(|metric| (metric.name, metric.meaning));
    let choice = |(name, meaning)| json!({ "const": name, "description": meaning });
    of_run.chain(of_subject).map(choice).collect()
}

/// The reference of scenario files, in Markdown.
pub fn reference() -> String {
    let mut text = String::from(
        "# Scenario files\n\nA scenario is a TOML file. Every setting with its default, as printed by \
         `ratesim schema --markdown` from what reads the files; editors take `ratesim schema`.\n",
    );
    section(&mut text, "Top level", &schema());
    text
}

/// A heading and a list of the settings of a table, then a section for each table among them.
fn section(text: &mut String, title: &str, schema: &Json) {
    *text += &format!("\n## {title}\n\n");
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut inner: Vec<(String, &Json)> = Vec::new();
    for (name, property) in properties(schema) {
        let must = required.iter().any(|required| required == name);
        let default = match property.get("default") {
            Some(default) => format!("; default `{}`", toml_like(default)),
            None if must => "; required".to_owned(),
            None => String::new(),
        };
        let meaning = property["description"].as_str().unwrap_or_default();
        *text += &format!("- **`{name}`** ({}{default}). {meaning}\n", type_of(property));
        for option in property["oneOf"].as_array().into_iter().flatten() {
            if let (Some(value), Some(what)) =
                (option["const"].as_str(), option["description"].as_str())
            {
                *text += &format!("  - `\"{value}\"`: {what}\n");
            }
        }
        let title = if title == "Top level" { name.clone() } else { format!("{title}.{name}") };
        inner.extend(
            tables(property).into_iter().map(|(suffix, table)| (title.clone() + &suffix, table)),
        );
    }
    for (title, table) in inner {
        section(text, &title, table);
    }
}

fn properties(schema: &Json) -> impl Iterator<Item = (&String, &Json)> {
    schema["properties"].as_object().into_iter().flatten()
}

/// The tables that a setting may be, with what distinguishes each: nothing, or its kind.
fn tables(schema: &Json) -> Vec<(String, &Json)> {
    if let Some(kind) = schema["properties"]["kind"]["const"].as_str() {
        return vec![(format!(" of kind `{kind}`"), schema)];
    }
    if properties(schema).next().is_some() {
        return vec![(String::new(), schema)];
    }
    if schema["additionalProperties"].is_object() {
        let named = tables(&schema["additionalProperties"]).into_iter();
        return named.map(|(suffix, table)| (format!(".NAME{suffix}"), table)).collect();
    }
    if schema["type"] == "array" {
        return tables(&schema["items"]);
    }
    let mut found: Vec<(String, &Json)> = Vec::new();
    for option in ["oneOf", "anyOf"].iter().flat_map(|key| schema[key].as_array()).flatten() {
        for (suffix, table) in tables(option) {
            // A list of tables and a single one are described once.
            if !found.iter().any(|(known, _)| *known == suffix) {
                found.push((suffix, table));
            }
        }
    }
    found
}

fn type_of(schema: &Json) -> String {
    if let Some(grammar) = schema["title"].as_str() {
        return grammar.to_owned();
    }
    if let Some(name) = schema["type"].as_str() {
        let name = match name {
            "object" => "table",
            "array" => "list",
            "string" => "text",
            "integer" => "whole number",
            "boolean" => "true or false",
            other => other,
        };
        return name.to_owned();
    }
    if schema["const"].is_string() {
        return format!("`\"{}\"`", schema["const"].as_str().unwrap_or_default());
    }
    let options = ["oneOf", "anyOf"].iter().flat_map(|key| schema[key].as_array()).flatten();
    if options.clone().all(|option| option["const"].is_string()) {
        return "one of".to_owned();
    }
    let mut types: Vec<String> = Vec::new();
    for option in options {
        let name = type_of(option);
        if !types.contains(&name) {
            types.push(name);
        }
    }
    types.join(" or ")
}

/// A default as it would be written in a scenario.
fn toml_like(value: &Json) -> String {
    match value {
        Json::Object(table) => {
            let inline = |table: &Map<String, Json>| {
                let pairs =
                    table.iter().map(|(key, value)| format!("{key} = {}", toml_like(value)));
                pairs.collect::<Vec<_>>().join(", ")
            };
            format!("{{ {} }}", inline(table))
        }
        Json::Array(values) => {
            format!("[{}]", values.iter().map(toml_like).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
