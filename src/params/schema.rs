//! Settings as JSON Schemas.

use serde_json::{Map, Value as Json, json};

use super::Field;

/// The JSON Schema of a table with these settings and no others.
pub fn table_schema(fields: &[Field]) -> Json {
    let properties: Map<String, Json> = fields
        .iter()
        .map(|field| {
            let mut schema = field.schema.clone();
            if let Json::Object(object) = &mut schema {
                object.insert("description".to_owned(), json!(field.meaning));
                if let Some(default) = &field.default {
                    object.insert("default".to_owned(), default.clone());
                }
            }
            (field.name.clone(), schema)
        })
        .collect();
    let required: Vec<&str> =
        fields.iter().filter(|f| f.required).map(|f| f.name.as_str()).collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// The JSON Schema of a table whose setting `kind` has the one value `kind`, with these settings,
/// `kind` among them.
pub fn kind_schema(kind: &str, meaning: &str, fields: &[Field]) -> Json {
    let mut schema = table_schema(fields);
    schema["properties"]["kind"] = json!({ "const": kind, "description": meaning });
    schema
}
