//! Snapshots: values that are kept in files beside their test, and compared.

use std::path::{Path, PathBuf};

use super::scope::TestScope;
use super::suite::Suite;
use crate::backend::files::{self, Fresh};
use crate::config::testing::{Snapshot, TestFile, TestRun};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression;
use crate::value::{Kind, Value, json};

/// Returns where a snapshot lies: beside the file of the test.
fn place(suite: &Suite, (file, run): (&TestFile, &TestRun), snapshot: &Snapshot) -> PathBuf {
    let (run, name) = (&run.name.text, &snapshot.name.text);
    suite.world.root.join(format!("{}.{run}.{name}.snapshot.json", file.path))
}

/// Compares snapshots with what is in their files, or writes these. Returns whether any differs, and what is to be told.
pub fn compare(
    suite: &Suite,
    (file, run): (&TestFile, &TestRun),
    scope: &TestScope<'_, '_>,
) -> (bool, Diagnostics) {
    let mut told = Diagnostics::new();
    let mut differs = false;
    for snapshot in &run.snapshots {
        let path = place(suite, (file, run), snapshot);
        let Some(text) = told.take(taken(snapshot, scope)) else { continue };
        if suite.updates_snapshots {
            told.extend(write(&path, &text).err());
            continue;
        }
        match suite.world.files.read_text(&path) {
            Ok(kept) if kept == text => {}
            Ok(kept) => {
                differs = true;
                told.push(other(snapshot, &kept, &text));
            }
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
                differs = true;
                told.push(missing(snapshot));
            }
            Err(why) => told.push(unreadable(&path, &why)),
        }
    }
    (differs, told)
}

/// Returns a snapshot as it is kept: JSON, a member a line, what is not known yet named so, and nothing that is secret.
fn taken(snapshot: &Snapshot, scope: &TestScope<'_, '_>) -> Result<String, Diagnostics> {
    let wrong = scope.references(&snapshot.value);
    if wrong.has_errors() {
        return Err(wrong);
    }
    let (value, found) = expression::evaluate(&snapshot.value, scope);
    if found.has_errors() {
        return Err(found);
    }
    let text = json::to_json(&shown(&value).to_plain()).map_err(|why| {
        Diagnostic::error("Invalid snapshot")
            .detail(format!("Its value cannot be written as JSON: {why}."))
            .at(snapshot.value.span)
    })?;
    let pretty = serde_json::from_str::<serde_json::Value>(&text)
        .and_then(|it| serde_json::to_string_pretty(&it));
    Ok(format!("{}\n", pretty.unwrap_or(text)))
}

fn shown(value: &Value) -> Value {
    if value.marks().is_secret() {
        return Value::string("(sensitive value)");
    }
    match value.bare() {
        Value::Unknown(_) => Value::string("(known after apply)"),
        it @ (Value::Object(_) | Value::Map(_)) => {
            let parts = it.entries().into_iter().map(|(name, it)| (name, shown(it)));
            Value::object(parts.collect::<Vec<_>>())
        }
        it if matches!(it.ty().kind(), Kind::List(_) | Kind::Set(_) | Kind::Tuple(_))
            && !it.is_null() =>
        {
            Value::tuple(it.children().map(shown).collect())
        }
        it => it.clone(),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Diagnostic> {
    files::replace(path, text.as_bytes(), Fresh::Usual).map_err(|why| {
        Diagnostic::error("Failed to write a snapshot")
            .detail(format!("{} could not be written: {why}.", path.display()))
    })
}

fn other(snapshot: &Snapshot, kept: &str, text: &str) -> Diagnostic {
    let problem = Diagnostic::error("Snapshot differs")
        .detail("What was kept is not what there is now. If that is meant to be, run the tests again with -update-snapshots.")
        .at(snapshot.name.span);
    let both = (json::from_json_implied(kept), json::from_json_implied(text));
    match both {
        (Ok(kept), Ok(now)) => Diagnostic { difference: Some(Box::new((kept, now))), ..problem },
        _ => problem,
    }
}

fn missing(snapshot: &Snapshot) -> Diagnostic {
    Diagnostic::error("Missing snapshot")
        .detail("Nothing is kept to compare it with. Run the tests with -update-snapshots to keep what there is now, and look at what was written.")
        .at(snapshot.name.span)
}

fn unreadable(path: &Path, why: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Failed to read a snapshot")
        .detail(format!("{} could not be read: {why}.", path.display()))
}
