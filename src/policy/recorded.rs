//! What policies said, read from the document that a saved plan keeps of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value as Json;

use super::asked::Asked;
use super::rules::{Enforce, Level, RuleInfo, SHAPING, Severity};
use super::verdict::{Report, Verdict, WaivedBy};
use crate::diagnostic::{Diagnostics, Span};

impl Report {
    /// Returns what a document says, but for what verdicts rest on and what diagnostics told. What is no verdict is passed over.
    pub fn of_json(document: &Json) -> Report {
        let verdicts = document["verdicts"].as_array().into_iter().flatten();
        let named = document["not_judged"].as_array().into_iter().flatten();
        let shaped = document["shaped"].as_array().into_iter().flatten();
        let count = |name: &str| document["summary"][name].as_u64().unwrap_or_default() as usize;
        Report {
            verdicts: verdicts.filter_map(verdict).collect(),
            not_judged: named.filter_map(Json::as_str).map(str::to_owned).collect(),
            rules: count("rules"),
            resources: count("resources"),
            asked: shaped.filter_map(asked).collect(),
            problems: Diagnostics::new(),
        }
    }
}

fn asked(it: &Json) -> Option<Asked> {
    let text = |name: &str| it[name].as_str().map(str::to_owned);
    let line = it["rule_line"].as_u64().unwrap_or_default() as usize;
    Some(Asked {
        rule: text("rule")?,
        head: SHAPING.iter().copied().find(|head| it["head"] == **head)?,
        address: text("address")?,
        with: text("with"),
        place: (text("rule_file")?, line),
    })
}

fn verdict(it: &Json) -> Option<Verdict> {
    let text = |name: &str| it[name].as_str().map(str::to_owned);
    let number = |name: &str| it[name].as_u64().unwrap_or_default() as usize;
    let name = text("rule")?;
    let ids = it["ids"].as_array().into_iter().flatten();
    let waits_for = it["waits_for"].as_array().into_iter().flatten();
    let waived = it["waived"].as_object().and_then(|it| {
        let text = |name: &str| it.get(name)?.as_str().map(str::to_owned);
        let line = it.get("line").and_then(Json::as_u64).unwrap_or_default() as usize;
        Some(WaivedBy { reason: text("reason")?, until: text("until"), file: text("file")?, line })
    });
    Some(Verdict {
        rule: Arc::new(RuleInfo {
            shown: name.clone(),
            name: name.clone(),
            group: String::new(),
            sentence: text("sentence").unwrap_or_default(),
            severity: Severity::of(it["severity"].as_str()?)?,
            enforce: Enforce::of(it["enforce"].as_str()?)?,
            ids: ids.filter_map(Json::as_str).map(str::to_owned).collect(),
            help: text("help"),
            see: Vec::new(),
            file: text("rule_file").unwrap_or_default(),
            line: number("rule_line"),
            span: Span::default(),
            modules: Vec::new(),
            is_required: false,
            heads: BTreeSet::new(),
            needs_plan: false,
        }),
        name,
        level: Level::of(it["level"].as_str()?)?,
        is_certain: it["certainty"] == "certain",
        address: text("address")?,
        message: text("message")?,
        sentence: text("sentence").unwrap_or_default(),
        place: text("file").map(|file| (file, number("line"), number("column"))),
        waived,
        overridden: it["overridden"]["because"].as_str().map(str::to_owned),
        waits_for: waits_for.filter_map(Json::as_str).map(str::to_owned).collect(),
        why: Vec::new(),
        row: (0, 0),
    })
}
