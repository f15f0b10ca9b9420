//! The JSON Schema that `ratesim schema` prints describes what the program takes: a small validator
//! of what the schema uses, held against scenarios that are right and some that are not.

use std::path::Path;

use serde_json::Value as Json;

use crate::shipped;
use crate::support::Bench;

/// Whether a value is what a schema says; where not, the path of the part at fault.
///
/// # Panics
/// On a word of JSON Schema that it does not know, so that none is passed over in silence.
pub fn validate(value: &Json, schema: &Json, path: &str) -> Result<(), String> {
    let fault = |what: String| Err(format!("{path}: {what}"));
    for (word, says) in schema.as_object().unwrap() {
        match word.as_str() {
            "$schema" | "title" | "description" | "default" => {}
            "type" => {
                let fits = match says.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "number" => value.is_number(),
                    "integer" => value.is_i64() || value.is_u64(),
                    other => panic!("unknown type {other}"),
                };
                if !fits {
                    return fault(format!("{value} is no {says}"));
                }
            }
            "const" if value != says => return fault(format!("{value} is not {says}")),
            "const" => {}
            "minimum" if below(value, says) => return fault(format!("{value} < {says}")),
            "maximum" if below(says, value) => return fault(format!("{value} > {says}")),
            "minimum" | "maximum" => {}
            "required" => {
                for name in says.as_array().unwrap() {
                    if value.get(name.as_str().unwrap()).is_none() {
                        return fault(format!("{name} is missing"));
                    }
                }
            }
            "properties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    match (says.get(name), &schema["additionalProperties"]) {
                        (Some(says), _) => validate(inner, says, &format!("{path}.{name}"))?,
                        (None, Json::Bool(false)) => return fault(format!("unknown {name}")),
                        (None, _) => {}
                    }
                }
            }
            "additionalProperties" if says.is_object() => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    validate(inner, says, &format!("{path}.{name}"))?;
                }
            }
            "additionalProperties" => {}
            "items" => {
                for (index, inner) in value.as_array().into_iter().flatten().enumerate() {
                    validate(inner, says, &format!("{path}.{index}"))?;
                }
            }
            "anyOf" | "oneOf" => {
                let options = says.as_array().unwrap().iter();
                let results: Vec<_> = options.map(|one| validate(value, one, path)).collect();
                let fitting = results.iter().filter(|result| result.is_ok()).count();
                if fitting == 0 || (word == "oneOf" && fitting > 1) {
                    let faults: Vec<_> = results.into_iter().filter_map(Result::err).collect();
                    return fault(format!("{fitting} of {word} fit: {}", faults.join("; ")));
                }
            }
            other => panic!("unknown word {other}"),
        }
    }
    Ok(())
}

fn below(left: &Json, right: &Json) -> bool {
    match (left.as_u64(), right.as_u64()) {
        (Some(left), Some(right)) => left < right,
        _ => left.as_f64().zip(right.as_f64()).is_some_and(|(left, right)| left < right),
    }
}

/// The schema as printed.
pub fn printed() -> Json {
    serde_json::from_str(&Bench::new().prints(&["schema"])).unwrap()
}

/// A scenario text as JSON.
pub fn as_json(text: &str) -> Json {
    toml::from_str(text).unwrap()
}

#[test]
fn shipped_scenarios_and_the_template_are_what_the_schema_says() {
    let schema = printed();
    for path in shipped::scenarios() {
        let text = std::fs::read_to_string(&path).unwrap();
        validate(&as_json(&text), &schema, &path.display().to_string()).unwrap();
    }
    let bench = Bench::new();
    bench.prints(&["new", "it"]);
    validate(&as_json(&bench.read("it.toml")), &schema, "it").unwrap();
}

#[test]
fn what_the_program_refuses_is_not_what_the_schema_says() {
    let schema = printed();
    let bench = Bench::new();
    bench.prints(&["new", "it"]);
    let right = bench.read("it.toml");
    for (part, wrong) in [
        ("seed     = 1 ", "sead     = 1 "),
        ("seed     = 1 ", "seed     = -1 "),
        ("requests = 100", "requests = \"100\""),
        ("rate     =", "raet     ="),
        ("kind     = \"poisson\"", "kind     = \"poison\""),
        ("metric    =", "metrics   ="),
        ("key      = \"client\"", "key      = \"clients\""),
    ] {
        assert!(right.contains(part), "{part}");
        let text = right.replacen(part, wrong, 1);
        assert!(validate(&as_json(&text), &schema, "it").is_err(), "{wrong}");
        Bench::with("it.toml", text).refuses(&["check", "it.toml"]);
    }
}

#[test]
fn the_schema_names_its_draft_and_what_is_required() {
    let schema = printed();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["required"], serde_json::json!(["name"]));
    let described = schema["properties"].as_object().unwrap().values();
    assert!(described.clone().count() > 10);
    for property in described {
        assert!(property["description"].as_str().is_some_and(|text| !text.is_empty()));
    }
}

/// The reference for people is kept in the repository; after a change of settings, write it anew with
/// `ratesim schema --markdown > docs/scenario.md`.
#[test]
fn the_reference_in_the_repository_is_the_one_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scenario.md");
    let kept = std::fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    let printed = Bench::new().prints(&["schema", "--markdown"]);
    assert!(kept == printed, "run: ratesim schema --markdown > docs/scenario.md");
}
