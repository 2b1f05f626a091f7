//! Answers of the module, as JSON.

use lab::{Column, Failure, Outcome, Scenario, Table};
use serde_json::{Value, json};
use units::param::Invalid;

/// Return the answer about a wrong request. `path` is the dotted path of the key that caused the
/// error, or "".
pub fn error(path: &str, text: &str) -> Value {
    json!({ "error": { "path": path, "text": text } })
}

/// Return the answer about an invalid scenario.
pub fn invalid(invalid: Invalid) -> Value {
    error(invalid.path(), &invalid.to_string())
}

/// Return the answer about a run without a result.
pub fn failure(failure: &Failure) -> Value {
    let path = if let Failure::Invalid(invalid) = failure { invalid.path() } else { "" };
    error(path, &failure.to_string())
}

/// Return the version, the JSON Schema, the manual pages and the columns of all tables.
pub fn description() -> Value {
    json!({ "version": lab::VERSION, "schema": lab::schema(), "pages": lab::pages(), "columns": lab::columns() })
}

/// Return the manifest, the tables and the captures of a run, with the addresses of the columns and
/// of the captures in `outcome`.
pub fn result(scenario: &Scenario, outcome: &Outcome) -> Value {
    let tables = outcome.tables.iter().map(|of| (of.name.to_owned(), table(of)));
    let captures = outcome.captures.iter().map(|(name, content)| {
        json!({ "name": name, "address": content.as_ptr() as usize, "bytes": content.len() })
    });
    let warnings = outcome.warnings.iter().map(|of| json!({ "about": of.about, "text": of.text }));
    json!({
        "manifest": {
            "scenario": lab::write(scenario),
            "seed": scenario.seed,
            "version": lab::VERSION,
            "simulated_s": outcome.end.seconds(),
            "start_spread_s": outcome.start_spread.seconds(),
            "events": outcome.events,
            "warnings": warnings.collect::<Vec<_>>(),
        },
        "tables": tables.collect::<serde_json::Map<_, _>>(),
        "captures": captures.collect::<Vec<_>>(),
    })
}

fn table(table: &Table) -> Value {
    let columns = table.columns.iter().map(|(name, of)| column(name, of));
    json!({ "rows": table.rows(), "columns": columns.collect::<Vec<_>>() })
}

/// Describe a column. `kind` is "float" (64 bits), "count" (64 bits) or "name" (32 bits, each an
/// index into `names`).
fn column(name: &str, column: &Column) -> Value {
    match column {
        Column::Float(values) => {
            json!({ "name": name, "kind": "float", "address": values.as_ptr() as usize })
        }
        Column::Count(values) => {
            json!({ "name": name, "kind": "count", "address": values.as_ptr() as usize })
        }
        Column::Name(codes, names) => {
            json!({ "name": name, "kind": "name", "address": codes.as_ptr() as usize, "names": names.as_slice() })
        }
    }
}
