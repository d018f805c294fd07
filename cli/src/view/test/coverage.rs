//! What tests have exercised: for people, as JSON, and as LCOV.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::workflow::test::Exercised;
use serde_json::json;

/// How it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// A document.
    Json,
    /// As tools for coverage read it.
    Lcov,
}

impl Format {
    /// Reads the word of a flag.
    ///
    /// # Errors
    ///
    /// If there is no such format.
    pub fn parse(word: &str) -> Result<Format, Diagnostic> {
        match word {
            "text" => Ok(Format::Text),
            "json" => Ok(Format::Json),
            "lcov" => Ok(Format::Lcov),
            other => Err(Diagnostic::error("Invalid -coverage option").detail(format!(
                "There is no format {other:?}. Those that there are: text, json, lcov."
            ))),
        }
    }

    /// Tells what was exercised.
    pub fn text(self, found: &[Exercised]) -> String {
        match self {
            Format::Text => text(found),
            Format::Json => document(found),
            Format::Lcov => lcov(found),
        }
    }
}

/// The standard output is for messages.
pub fn no_place() -> Diagnostic {
    Diagnostic::error("Coverage needs a file").detail(
        "With -json the standard output carries messages. Say with -coverage-out=FILE where the coverage is to be written.",
    )
}

/// Writes a report.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(path: &Path, text: &str) -> Result<(), Diagnostics> {
    std::fs::write(path, text).map_err(|why| {
        Diagnostic::error("Failed to write the coverage")
            .detail(format!("{} could not be written: {why}.", path.display()))
            .into()
    })
}

fn by_file(found: &[Exercised]) -> BTreeMap<&str, Vec<&Exercised>> {
    let mut files: BTreeMap<&str, Vec<&Exercised>> = BTreeMap::new();
    found.iter().for_each(|it| files.entry(&it.file).or_default().push(it));
    files
}

fn share(found: &[&Exercised]) -> String {
    let hit = found.iter().filter(|it| it.hits > 0).count();
    let percent = (hit * 100).checked_div(found.len()).unwrap_or(100);
    format!("{hit} of {} ({percent} %)", found.len())
}

fn text(found: &[Exercised]) -> String {
    let all: Vec<&Exercised> = found.iter().collect();
    let mut out = format!("Exercised: {}\n", share(&all));
    for (file, items) in by_file(found) {
        let _ = writeln!(out, "  {file}: {}", share(&items));
        for it in items.iter().filter(|it| it.hits == 0) {
            let what = match it.branch {
                "" => format!("{} {}", it.kind, it.name),
                branch => format!("{} of {}: never {branch}", it.kind, it.name),
            };
            let _ = writeln!(out, "    line {}: {what}", it.line);
        }
    }
    out
}

fn document(found: &[Exercised]) -> String {
    let items: Vec<_> = found
        .iter()
        .map(|it| {
            json!({
                "file": it.file, "line": it.line, "kind": it.kind,
                "name": it.name, "branch": it.branch, "hits": it.hits,
            })
        })
        .collect();
    let hit = found.iter().filter(|it| it.hits > 0).count();
    let whole =
        json!({"format_version": "1.0", "total": found.len(), "exercised": hit, "items": items});
    format!("{whole:#}\n")
}

fn lcov(found: &[Exercised]) -> String {
    let mut out = String::new();
    for (file, items) in by_file(found) {
        let _ = writeln!(out, "TN:\nSF:{file}");
        let lines: Vec<_> = items.iter().filter(|it| it.branch.is_empty()).collect();
        for (number, it) in items.iter().filter(|it| !it.branch.is_empty()).enumerate() {
            let _ = writeln!(out, "BRDA:{},{},{},{}", it.line, number / 2, it.branch, it.hits);
        }
        let branches: Vec<_> = items.iter().filter(|it| !it.branch.is_empty()).collect();
        let hit = |all: &[&&Exercised]| all.iter().filter(|it| it.hits > 0).count();
        let _ = writeln!(out, "BRF:{}\nBRH:{}", branches.len(), hit(&branches));
        for it in &lines {
            let _ = writeln!(out, "DA:{},{}", it.line, it.hits);
        }
        let _ = writeln!(out, "LF:{}\nLH:{}\nend_of_record", lines.len(), hit(&lines));
    }
    out
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn found() -> Vec<Exercised> {
        let item = |line, kind, name: &str, branch, hits| Exercised {
            file: "main.tf".into(),
            line,
            kind,
            name: name.into(),
            branch,
            hits,
        };
        vec![
            item(1, "resource", "null_resource.a", "", 2),
            item(2, "conditional", "null_resource.a", "false", 0),
            item(2, "conditional", "null_resource.a", "true", 2),
            item(5, "output", "output.o", "", 0),
        ]
    }

    #[test]
    fn people_are_told_what_no_test_has_exercised() {
        expect![[r#"
            Exercised: 2 of 4 (50 %)
              main.tf: 2 of 4 (50 %)
                line 2: conditional of null_resource.a: never false
                line 5: output output.o
        "#]]
        .assert_eq(&Format::Text.text(&found()));
    }

    #[test]
    fn tools_are_told_of_lines_and_branches() {
        expect![[r#"
            TN:
            SF:main.tf
            BRDA:2,0,false,0
            BRDA:2,0,true,2
            BRF:2
            BRH:1
            DA:1,2
            DA:5,0
            LF:2
            LH:1
            end_of_record
        "#]]
        .assert_eq(&Format::Lcov.text(&found()));
    }
}
