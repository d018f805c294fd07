//! Verdicts as SARIF 2.1.0, for what shows findings in code.

use entail::policy::rules::{Level, RuleInfo, Severity};
use entail::policy::{Report, Verdict};
use serde_json::{Map, Value as Json, json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Returns the document.
pub fn document(report: &Report, rules: &[RuleInfo], with_possible: bool) -> Json {
    let shown = report.verdicts.iter().filter(|it| it.is_certain || with_possible);
    let results: Vec<Json> = shown.map(|it| result(it, rules)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "entail",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(rule).collect::<Vec<_>>(),
            }},
            "originalUriBaseIds": { "ROOT": {
                "description": { "text": "The folder of the root module." }
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(rule: &RuleInfo) -> Json {
    let sentence = rule.sentence.replace('`', "");
    let help = rule.help.clone().unwrap_or_else(|| sentence.clone());
    let links: Vec<String> = rule.see.iter().map(|it| format!("\n\nSee <{it}>.")).collect();
    let mut document = json!({
        "id": rule.shown,
        "shortDescription": { "text": sentence },
        "help": { "text": help, "markdown": format!("{help}{}", links.concat()) },
        "properties": {
            "tags": rule.ids,
            "precision": "very-high",
            "security-severity": score(rule.severity),
            "enforce": rule.enforce.name(),
        },
    });
    if let Some(link) = rule.see.iter().find(|it| it.starts_with("http")) {
        document["helpUri"] = json!(link);
    }
    document
}

/// What a severity is on the scale that readers of these documents sort by.
fn score(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "3.0",
        Severity::Medium => "5.5",
        Severity::High => "8.0",
        Severity::Critical => "9.5",
    }
}

fn result(verdict: &Verdict, rules: &[RuleInfo]) -> Json {
    // What is only possible is open, and what is open has no level.
    let (kind, level) = match (verdict.is_certain, verdict.level) {
        (false, _) => ("open", "none"),
        (true, Level::Deny) => ("fail", "error"),
        (true, Level::Warn) => ("fail", "warning"),
        (true, Level::Note) => ("fail", "note"),
    };
    let mut location = Map::new();
    if let Some((file, line, column)) = &verdict.place {
        location.insert("physicalLocation".to_owned(), place(file, *line, Some(*column)));
    }
    if !verdict.address.is_empty() {
        let logical = json!([{ "fullyQualifiedName": verdict.address, "kind": "resource" }]);
        location.insert("logicalLocations".to_owned(), logical);
    }
    let locations = if location.is_empty() { json!([]) } else { json!([location]) };
    let index =
        rules.iter().position(|it| it.name == verdict.rule.name && it.group == verdict.rule.group);
    let mut document = json!({
        "ruleId": verdict.name,
        "kind": kind,
        "level": level,
        "message": { "text": verdict.message },
        "locations": locations,
        "relatedLocations": [{
            "id": 1,
            "message": { "text": "The rule" },
            "physicalLocation": place(&verdict.rule.file, verdict.rule.line, None),
        }],
        "partialFingerprints": { "entail/v1": fingerprint(verdict) },
        "suppressions": suppressions(verdict),
        "properties": {
            "sentence": verdict.sentence,
            "severity": verdict.rule.severity.name(),
            "waits_for": verdict.waits_for,
        },
    });
    if let Some(index) = index {
        document["ruleIndex"] = json!(index);
    }
    document
}

fn place(file: &str, line: usize, column: Option<usize>) -> Json {
    let mut region = json!({ "startLine": line });
    if let Some(column) = column {
        region["startColumn"] = json!(column);
    }
    // What has a scheme of its own lies in no folder.
    let artifact = match file.starts_with("library:") {
        true => json!({ "uri": encoded(file) }),
        false => json!({ "uri": encoded(file), "uriBaseId": "ROOT" }),
    };
    json!({ "artifactLocation": artifact, "region": region })
}

/// A path as a reference in a document.
fn encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.replace('\\', "/").bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~/:".contains(&byte) {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// What stays the same while lines move: rule, address and message.
fn fingerprint(verdict: &Verdict) -> String {
    let text = [&verdict.name, &verdict.address, &verdict.message].map(String::as_str).join("\0");
    // FNV-1a, of 64 bits: it is no secret, and has to be the same in every version.
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

fn suppressions(verdict: &Verdict) -> Json {
    let mut found = Vec::new();
    if let Some(waived) = &verdict.waived {
        found.push(json!({
            "kind": "inSource",
            "status": "accepted",
            "justification": waived.reason,
            "location": { "physicalLocation": place(&waived.file, waived.line, None) },
        }));
    }
    if let Some(because) = &verdict.overridden {
        found.push(json!({
            "kind": "external", "status": "accepted", "justification": because,
        }));
    }
    Json::Array(found)
}
