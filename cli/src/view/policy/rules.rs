//! Rules and relations as tables, and what lints find.

use entail::diagnostic::Sources;
use entail::policy::lint::Finding;
use entail::policy::reference::{RelationWords, relations};
use entail::policy::rules::RuleInfo;
use entail::policy::{Origin, Policies, PolicySource, VOCABULARY_VERSION};
use serde_json::{Value as Json, json};

/// Returns the rules in force, by the group of files that they stand in.
pub fn list(policies: &Policies) -> String {
    let mut out = String::new();
    let mut group = None;
    let mut rules: Vec<&RuleInfo> = policies.rules.iter().collect();
    rules.sort_by_key(|it| (&it.group, &it.file, it.line));
    for rule in rules {
        if group != Some(&rule.group) {
            let source = source(policies, rule);
            let from = source.map_or(String::new(), |it| format!(": {}", words(it)));
            out.push_str(&format!("{}{from}\n", rule.group));
            group = Some(&rule.group);
        }
        let ids =
            if rule.ids.is_empty() { String::new() } else { format!(" ({})", rule.ids.join(", ")) };
        out.push_str(&format!(
            "  {}{ids}: {}\n    {}, {}, {}:{}\n",
            rule.name,
            rule.sentence,
            rule.severity.name(),
            rule.enforce.name(),
            rule.file,
            rule.line
        ));
    }
    let count = policies.rules.len();
    out.push_str(&format!("{count} {}.\n", if count == 1 { "rule" } else { "rules" }));
    out
}

fn source<'a>(policies: &'a Policies, rule: &RuleInfo) -> Option<&'a PolicySource> {
    policies.sources.iter().find(|it| it.name == rule.file)
}

/// Where policies come from, in words.
fn words(source: &PolicySource) -> String {
    let from = match &source.origin {
        Origin::Folder => "beside the root module".to_owned(),
        Origin::Module => format!("of the module {}", source.modules.join(", ")),
        Origin::Path => "by its path".to_owned(),
        Origin::Library => "of the library".to_owned(),
        Origin::Source { address, version, digest } => {
            let version = version.as_ref().map_or(String::new(), |it| format!(" {it}"));
            format!("installed from {address}{version} ({digest})")
        }
    };
    if source.is_required { format!("{from}, required") } else { from }
}

/// Returns the rules in force as a document.
pub fn list_json(policies: &Policies) -> String {
    let rules = policies.rules.iter().map(|it| {
        let source = source(policies, it);
        json!({
            "rule": it.name,
            "source": it.group,
            "origin": source.map(|it| &it.origin),
            "modules": it.modules,
            "file": it.file,
            "line": it.line,
            "severity": it.severity.name(),
            "enforce": it.enforce.name(),
            "required": it.is_required,
            "sentence": it.sentence,
            "concludes": it.heads,
            "needs_plan": it.needs_plan,
            "ids": it.ids,
            "help": it.help,
            "see": it.see,
        })
    });
    format!("{:#}\n", json!({ "format_version": "1.0", "rules": rules.collect::<Vec<_>>() }))
}

/// Returns the relations that policies may rely on, as a table.
pub fn vocabulary(policies: &Policies) -> String {
    let mut out = format!("Vocabulary of policies, version {VOCABULARY_VERSION}\n\n");
    out.push_str("| Relation | Columns | Says |\n|---|---|---|\n");
    for RelationWords { usage, columns, says, .. } in relations(policies) {
        out.push_str(&format!("| `{usage}` | {columns} | {says} |\n"));
    }
    out
}

/// Returns the vocabulary as a document.
pub fn vocabulary_document(policies: &Policies) -> Json {
    let relations = relations(policies).into_iter().map(|it| {
        let columns: Vec<&str> = it.columns.split(", ").collect();
        let mut relation = json!({
            "name": it.name(), "usage": it.usage, "columns": columns, "says": it.says, "since": it.since,
        });
        if let Some(former) = it.former {
            relation["formerly"] = former.into();
        }
        relation
    });
    json!({
        "format_version": "1.0",
        "vocabulary_version": VOCABULARY_VERSION,
        "relations": relations.collect::<Vec<_>>(),
    })
}

/// Returns what a rule, or a relation of the vocabulary, is about.
pub fn about(policies: &Policies, name: &str, sources: &Sources) -> Option<String> {
    let meant = |it: &&RuleInfo| it.name == name || format!("{}:{}", it.group, it.name) == name;
    let rules: Vec<String> =
        policies.rules.iter().filter(meant).map(|it| rule(it, sources)).collect();
    if !rules.is_empty() {
        return Some(rules.join("\n"));
    }
    let found = relations(policies).into_iter().find(|it| it.is_called(name))?;
    let former = found.former.map_or_else(String::new, |it| format!("  formerly: {it}\n"));
    Some(format!("{} ({})\n  {}\n{former}", found.usage, found.columns, found.says))
}

fn rule(rule: &RuleInfo, sources: &Sources) -> String {
    let mut out = format!("{}: {}\n", rule.name, rule.sentence);
    let mut line = |name: &str, text: &str| {
        if !text.is_empty() {
            out.push_str(&format!("  {name}: {text}\n"));
        }
    };
    line("severity", rule.severity.name());
    line("enforce", rule.enforce.name());
    line("ids", &rule.ids.join(", "));
    line("help", rule.help.as_deref().unwrap_or_default());
    line("see", &rule.see.join(", "));
    line("where", &format!("{}:{}", rule.file, rule.line));
    out.push('\n');
    for text in sources.text(rule.span).unwrap_or_default().lines() {
        out.push_str(&format!("    {text}\n"));
    }
    out
}

/// Returns every name that `docs` knows.
pub fn names(policies: &Policies) -> Vec<String> {
    let rules = policies.rules.iter().map(|it| it.name.clone());
    let relations = relations(policies);
    rules.chain(relations.iter().map(|it| it.name().to_owned())).collect()
}

/// Returns what lints found, in lines that editors understand.
pub fn findings(findings: &[Finding], files: usize, sources: &Sources) -> String {
    let mut out = String::new();
    for finding in findings {
        let (file, line, column) = place(finding, sources);
        out.push_str(&format!("{file}:{line}:{column}: {}: {}\n", finding.lint, finding.says));
    }
    let files = format!("{files} {}", if files == 1 { "file" } else { "files" });
    let count = findings.len();
    out.push_str(&match count {
        0 => format!("Nothing found in {files}.\n"),
        _ => format!("{count} found in {files}.\n"),
    });
    out
}

/// Returns what lints found as a document.
pub fn findings_json(findings: &[Finding], sources: &Sources) -> String {
    let listed = findings.iter().map(|it| {
        let (file, line, column) = place(it, sources);
        json!({ "lint": it.lint, "message": it.says, "file": file, "line": line, "column": column })
    });
    let document = json!({
        "format_version": "1.0",
        "findings": listed.collect::<Vec<_>>(),
        "summary": { "findings": findings.len() },
    });
    format!("{document:#}\n")
}

fn place(finding: &Finding, sources: &Sources) -> (String, usize, usize) {
    let at = sources.position(finding.span.file(), finding.span.start());
    let file = sources.get(finding.span.file()).map_or(String::new(), |it| it.name.clone());
    (file, at.line, at.column)
}
