//! Verdicts, and the report that they make.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::asked::Asked;
use super::proof::Line;
use super::rules::{Enforce, Level, RuleInfo};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity, Sources};

/// What a rule says of one place.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The rule.
    pub rule: Arc<RuleInfo>,
    /// The rule's name; with its group before it where another group has a rule of that name.
    pub name: String,
    /// How bad it is; of an advisory rule, a denial is a warning.
    pub level: Level,
    /// Whether it holds whatever turns out of what is not known yet.
    pub is_certain: bool,
    /// The address; empty for the plan as a whole.
    pub address: String,
    /// What the rule says.
    pub message: String,
    /// The rule's sentence, its variables filled in.
    pub sentence: String,
    /// The file, line and column of the block, where there is one.
    pub place: Option<(String, usize, usize)>,
    /// The waiver that covers it.
    pub waived: Option<WaivedBy>,
    /// Why it is overruled.
    pub overridden: Option<String>,
    /// What has to be known before it is certain.
    pub waits_for: Vec<String>,
    /// Why it is given: what it rests on, a few steps back.
    pub why: Vec<Line>,
    /// The relation and the position of its row among the conclusions.
    pub row: (usize, usize),
}

/// A waiver that covers a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaivedBy {
    /// Why.
    pub reason: String,
    /// Until which day, `2027-01-31`.
    pub until: Option<String>,
    /// Where it stands.
    pub file: String,
    /// Its line.
    pub line: usize,
}

impl Verdict {
    /// Returns whether it counts: certain, and nobody has waived or overruled it.
    pub fn counts(&self) -> bool {
        self.is_certain && self.waived.is_none() && self.overridden.is_none()
    }

    /// Returns it as a document.
    pub fn to_json(&self) -> Json {
        let place = self.place.as_ref();
        json!({
            "rule": self.name,
            "ids": self.rule.ids,
            "level": self.level.name(),
            "certainty": if self.is_certain { "certain" } else { "possible" },
            "severity": self.rule.severity.name(),
            "enforce": self.rule.enforce.name(),
            "address": self.address,
            "message": self.message,
            "sentence": self.sentence,
            "help": self.rule.help,
            "file": place.map(|it| &it.0),
            "line": place.map(|it| it.1),
            "column": place.map(|it| it.2),
            "rule_file": self.rule.file,
            "rule_line": self.rule.line,
            "waived": self.waived.as_ref().map(|it| json!({
                "reason": it.reason, "until": it.until, "file": it.file, "line": it.line,
            })),
            "overridden": self.overridden.as_ref().map(|it| json!({"because": it})),
            "waits_for": self.waits_for,
        })
    }
}

/// Everything that was judged.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The verdicts, in the order of rules and addresses.
    pub verdicts: Vec<Verdict>,
    /// What policies asked of the plan before it was made.
    pub asked: Vec<Asked>,
    /// Rules that cannot be judged without a plan.
    pub not_judged: Vec<String>,
    /// How many rules judged.
    pub rules: usize,
    /// How many resources, data sources and ephemeral resources were judged.
    pub resources: usize,
    /// What else should be known: expressions that failed, waivers that cover nothing.
    pub problems: Diagnostics,
}

impl Report {
    /// Returns how many verdicts of a level count.
    pub fn count(&self, level: Level) -> usize {
        self.verdicts.iter().filter(|it| it.counts() && it.level == level).count()
    }

    /// Returns whether something is denied for certain.
    pub fn is_denied(&self) -> bool {
        self.count(Level::Deny) > 0
    }

    /// Returns the numbers as a document.
    pub fn summary(&self) -> Json {
        let count =
            |test: &dyn Fn(&Verdict) -> bool| self.verdicts.iter().filter(|it| test(it)).count();
        json!({
            "deny": self.count(Level::Deny),
            "warn": self.count(Level::Warn),
            "note": self.count(Level::Note),
            "waived": count(&|it| it.waived.is_some()),
            "overridden": count(&|it| it.overridden.is_some()),
            "possible": count(&|it| !it.is_certain),
            "rules": self.rules,
            "resources": self.resources,
        })
    }

    /// Returns it as a document.
    ///
    /// - `with_possible`: whether verdicts that are not certain are listed too.
    pub fn to_json(&self, with_possible: bool, sources: &Sources) -> Json {
        let shown = self.verdicts.iter().filter(|it| it.is_certain || with_possible);
        let diagnostics = self.problems.iter().map(|it| {
            let place = it.subject.filter(|it| it.file().0 != 0).map(|it| sources.place(it));
            json!({
                "severity": match it.severity {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                },
                "summary": it.summary,
                "detail": it.detail,
                "place": place,
            })
        });
        json!({
            "format_version": "1.0",
            "verdicts": shown.map(Verdict::to_json).collect::<Vec<_>>(),
            "shaped": self.asked.iter().map(Asked::to_json).collect::<Vec<_>>(),
            "not_judged": self.not_judged,
            "diagnostics": diagnostics.collect::<Vec<_>>(),
            "summary": self.summary(),
        })
    }
}

/// Returns the level of a rule's verdict.
pub(super) fn level_of(level: Level, rule: &RuleInfo) -> Level {
    match (level, rule.enforce) {
        (Level::Deny, Enforce::Advisory) => Level::Warn,
        (level, _) => level,
    }
}

/// A denial that somebody overrules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overruling {
    /// The rule.
    pub rule: String,
    /// The address; nothing where every one is meant.
    pub address: Option<String>,
    /// Why.
    pub because: String,
}

impl Report {
    /// Overrules denials. What may not be overruled, and what is not there, is told.
    pub fn overrule(&mut self, all: &[Overruling]) {
        for it in all {
            let mut is_used = false;
            let mut is_refused = false;
            for verdict in &mut self.verdicts {
                let is_meant = (verdict.name == it.rule || verdict.rule.name == it.rule)
                    && it.address.as_ref().is_none_or(|address| *address == verdict.address);
                if !is_meant || verdict.level != Level::Deny {
                    continue;
                }
                match verdict.rule.enforce {
                    Enforce::Overridable if !verdict.rule.is_required => {
                        verdict.overridden = Some(it.because.clone());
                        is_used = true;
                    }
                    _ => is_refused = true,
                }
            }
            if is_refused {
                self.problems.push(not_overridable(&it.rule));
            } else if !is_used {
                self.problems.push(nothing_overruled(it));
            }
        }
    }
}

fn not_overridable(rule: &str) -> Diagnostic {
    Diagnostic::warning("Rule that cannot be overruled").detail(format!(
        "`{rule}` is required or enforced always: -override does not count for it."
    ))
}

fn nothing_overruled(it: &Overruling) -> Diagnostic {
    let at = it.address.as_ref().map_or(String::new(), |it| format!(" for {it}"));
    Diagnostic::warning("Nothing to overrule")
        .detail(format!("No denial of `{}`{at} is there that -override names.", it.rule))
}
