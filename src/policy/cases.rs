//! Tests of policies: files of cases, each a configuration with the verdicts that it is to get.

use std::collections::{BTreeMap, BTreeSet};

use super::verdict::Verdict;
use crate::diagnostic::{Diagnostic, Diagnostics, FileId, Span};
use crate::expression::evaluate_constant;
use crate::syntax::{self, AttributeSchema, Block, BlockSchema, Body, Expr};
use crate::value::{Str, Value};

/// One case of a test.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Where its header stands.
    pub span: Span,
    /// The text of the only file, where it is written in the case.
    pub configuration: Option<String>,
    /// The folder of the configuration, relative to the test's.
    pub directory: Option<String>,
    /// Whether it is planned instead of only read.
    pub plan: bool,
    /// The file with the state to plan from, relative to the test's folder.
    pub state: Option<String>,
    /// The variables of the root module.
    pub variables: BTreeMap<Str, Value>,
    /// The verdicts that it is to get; no others.
    pub expected: Vec<Expected>,
}

/// Verdicts of one rule that a case is to get.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// The rule; with its group before it where another group has a rule of that name.
    pub rule: String,
    /// The addresses; anywhere where none are named.
    pub on: Vec<String>,
    /// Whether they are to be certain; either will do where it is not said.
    pub certain: Option<bool>,
    /// Where the header stands.
    pub span: Span,
}

/// What a case got that it was not to get, or the other way round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// What is wrong.
    pub kind: MissKind,
    /// The rule.
    pub rule: String,
    /// The address; nothing where none was named.
    pub address: Option<String>,
    /// What it says, in a sentence.
    pub says: String,
    /// Where the expectation stands; the case where nothing was expected.
    pub span: Span,
}

/// The ways to differ from what is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissKind {
    /// It was expected, and is not there.
    Missing,
    /// It is there, and was not expected.
    Unexpected,
    /// It is there, and not as certain, or as uncertain, as expected.
    Certainty,
    /// The case was not run.
    NotRun,
}

impl MissKind {
    /// Returns its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            MissKind::Missing => "missing",
            MissKind::Unexpected => "unexpected",
            MissKind::Certainty => "certainty",
            MissKind::NotRun => "not_run",
        }
    }
}

/// Reads a file of cases. What is wrong is told, and left out.
pub fn read(file: FileId, text: &str) -> (Vec<Case>, Diagnostics) {
    let (body, mut problems) = syntax::parse(file, text);
    let blocks = [BlockSchema { kind: "case", labels: &["name"] }];
    let (body, found) = body.into_content(&[], &blocks);
    problems.extend(found);
    let mut names = BTreeSet::new();
    let mut cases = Vec::new();
    for block in &body.blocks {
        let case = problems.take(case(block, text));
        if let Some(case) = case {
            if !names.insert(case.name.clone()) {
                problems.push(twice(&case));
            }
            cases.push(case);
        }
    }
    (cases, problems)
}

fn case(block: &Block, source: &str) -> Result<Case, Diagnostics> {
    let names = ["configuration", "directory", "plan", "state", "variables", "expect_none"];
    let attributes = names.map(|name| AttributeSchema { name, required: false });
    let blocks = [BlockSchema { kind: "expect", labels: &["rule"] }];
    let (body, mut problems) = block.body.content(&attributes, &blocks);
    let (name, span) = (block.labels[0].text.to_string(), block.header);
    let mut case = Case {
        name,
        span,
        configuration: problems.take(configuration(&body, source)).flatten(),
        directory: problems.take(text(&body, "directory")).flatten(),
        plan: problems.take(truth(&body, "plan")).flatten().unwrap_or(false),
        state: problems.take(text(&body, "state")).flatten(),
        variables: BTreeMap::new(),
        expected: Vec::new(),
    };
    match (&case.configuration, &case.directory) {
        (Some(_), Some(_)) | (None, None) => problems.push(one_configuration(&case)),
        _ => {}
    }
    if case.state.is_some() && !case.plan {
        problems.push(state_without_plan(&case));
    }
    if let Some((value, span)) = problems.take(value(&body, "variables")).flatten() {
        match &value {
            Value::Object(_) => {
                let entries = value.entries().into_iter();
                case.variables = entries.map(|(name, value)| (name, value.clone())).collect();
            }
            _ => problems.push(wrong("variables", "an object: `{ name = value }`", span)),
        }
    }
    for block in &body.blocks {
        case.expected.extend(problems.take(expected(block)));
    }
    if problems.take(truth(&body, "expect_none")).flatten() == Some(true)
        && !case.expected.is_empty()
    {
        problems.push(both(&case));
    }
    if problems.has_errors() { Err(problems) } else { Ok(case) }
}

fn expected(block: &Block) -> Result<Expected, Diagnostics> {
    let attributes = ["on", "certain"].map(|name| AttributeSchema { name, required: false });
    let (body, mut problems) = block.body.content(&attributes, &[]);
    let mut expected = Expected {
        rule: block.labels[0].text.to_string(),
        on: Vec::new(),
        certain: problems.take(truth(&body, "certain")).flatten(),
        span: block.header,
    };
    if let Some((value, span)) = problems.take(value(&body, "on")).flatten() {
        let texts = match &value {
            Value::Tuple(it) => it.items.iter().map(text_of).collect::<Option<Vec<_>>>(),
            _ => None,
        };
        match texts {
            Some(texts) if !texts.is_empty() => expected.on = texts,
            _ => problems.push(wrong("on", "a list of addresses: `[\"aws_s3_bucket.a\"]`", span)),
        }
    }
    if problems.has_errors() { Err(problems) } else { Ok(expected) }
}

/// The value of an attribute, with its place.
fn value(body: &Body, name: &str) -> Result<Option<(Value, Span)>, Diagnostics> {
    let Some(found) = body.attributes.iter().find(|it| &*it.name.text == name) else {
        return Ok(None);
    };
    Ok(Some((evaluate_constant(&found.value)?, found.value.span)))
}

fn text(body: &Body, name: &str) -> Result<Option<String>, Diagnostics> {
    match value(body, name)? {
        None => Ok(None),
        Some((value, span)) => match text_of(&value) {
            Some(text) => Ok(Some(text)),
            None => Err(wrong(name, "a text", span).into()),
        },
    }
}

/// The text of a configuration. In a heredoc, `${…}` is the configuration's own: the text counts as it stands.
fn configuration(body: &Body, source: &str) -> Result<Option<String>, Diagnostics> {
    let name = "configuration";
    let found = body.attributes.iter().find(|it| &*it.name.text == name);
    let template = found.filter(|it| matches!(it.value.expr, Expr::Template(_)));
    let span = template.map(|it| it.value.span);
    let written = span.and_then(|it| source.get(it.start() as usize..it.end() as usize));
    match written.and_then(heredoc) {
        Some(raw) => Ok(Some(raw)),
        None => text(body, name),
    }
}

/// The lines of a heredoc, without what they are indented by.
fn heredoc(written: &str) -> Option<String> {
    let (first, rest) = written.strip_prefix("<<")?.split_once('\n')?;
    let marker = first.trim_start_matches('-').trim();
    let lines: Vec<&str> = rest.lines().take_while(|it| it.trim() != marker).collect();
    let indented = lines.iter().filter(|it| !it.trim().is_empty());
    let depth = indented.map(|it| it.len() - it.trim_start().len()).min().unwrap_or(0);
    let depth = if first.starts_with('-') { depth } else { 0 };
    let text: Vec<&str> = lines.iter().map(|it| it.get(depth..).unwrap_or("")).collect();
    Some(text.join("\n") + "\n")
}

fn truth(body: &Body, name: &str) -> Result<Option<bool>, Diagnostics> {
    match value(body, name)? {
        None => Ok(None),
        Some((Value::Bool(it), _)) => Ok(Some(it)),
        Some((_, span)) => Err(wrong(name, "`true` or `false`", span).into()),
    }
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().map(ToString::to_string)
}

impl Case {
    /// Returns how verdicts differ from those that the case is to get. What is waived or overruled counts as not given.
    pub fn misses(&self, verdicts: &[Verdict], not_judged: &[String]) -> Vec<Miss> {
        let mut misses = Vec::new();
        let given: Vec<&Verdict> =
            verdicts.iter().filter(|it| it.waived.is_none() && it.overridden.is_none()).collect();
        let mut is_expected = vec![false; given.len()];
        for expected in &self.expected {
            let places: Vec<Option<&str>> = match expected.on.is_empty() {
                true => vec![None],
                false => expected.on.iter().map(|it| Some(it.as_str())).collect(),
            };
            for place in places {
                let is_meant = |it: &&Verdict| {
                    expected.means(it) && place.is_none_or(|place| it.address == place)
                };
                let found: Vec<usize> =
                    (0..given.len()).filter(|it| is_meant(&given[*it])).collect();
                found.iter().for_each(|it| is_expected[*it] = true);
                misses.extend(expected.miss(place, &found, &given, not_judged));
            }
        }
        for (verdict, _) in given.iter().zip(&is_expected).filter(|it| !it.1) {
            misses.push(self.unexpected(verdict));
        }
        misses
    }

    fn unexpected(&self, verdict: &Verdict) -> Miss {
        let place = verdict.place.as_ref();
        let place = place.map_or(String::new(), |(file, line, _)| format!(" ({file}:{line})"));
        Miss {
            kind: MissKind::Unexpected,
            rule: verdict.name.clone(),
            address: Some(verdict.address.clone()),
            says: format!(
                "expected no verdict of {} on {}; came a {} one{place}: {}",
                verdict.name,
                place_words(&verdict.address),
                certainty(verdict.is_certain),
                verdict.message
            ),
            span: self.span,
        }
    }
}

impl Expected {
    fn means(&self, verdict: &Verdict) -> bool {
        verdict.name == self.rule || verdict.rule.name == self.rule
    }

    fn miss(
        &self,
        place: Option<&str>,
        found: &[usize],
        given: &[&Verdict],
        not_judged: &[String],
    ) -> Option<Miss> {
        let on = place.map_or("anything".to_owned(), place_words);
        let miss = |kind, says| {
            let (rule, address) = (self.rule.clone(), place.map(ToOwned::to_owned));
            Some(Miss { kind, rule, address, says, span: self.span })
        };
        if found.is_empty() {
            let elsewhere: Vec<String> = given
                .iter()
                .filter(|it| self.means(it))
                .map(|it| place_words(&it.address))
                .collect();
            let came = match (not_judged.contains(&self.rule), elsewhere.is_empty()) {
                (true, _) => "the rule is judged with a plan only: write `plan = true`".to_owned(),
                (false, true) => "came none".to_owned(),
                (false, false) => format!("came some on {}", elsewhere.join(", ")),
            };
            let says = format!("expected a verdict of {} on {on}; {came}", self.rule);
            return miss(MissKind::Missing, says);
        }
        let wanted = self.certain?;
        let other = found.iter().map(|it| given[*it]).find(|it| it.is_certain != wanted)?;
        let waits = match other.waits_for.is_empty() {
            true => String::new(),
            false => format!(", which waits for {}", other.waits_for.join(", ")),
        };
        let says = format!(
            "expected a {} verdict of {} on {on}; came a {} one{waits}: {}",
            certainty(wanted),
            self.rule,
            certainty(other.is_certain),
            other.message
        );
        miss(MissKind::Certainty, says)
    }
}

fn certainty(is_certain: bool) -> &'static str {
    if is_certain { "certain" } else { "possible" }
}

fn place_words(address: &str) -> String {
    if address.is_empty() { "the plan".to_owned() } else { address.to_owned() }
}

fn wrong(name: &str, expected: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Invalid test").detail(format!("`{name}` must be {expected}.")).at(at)
}

fn one_configuration(case: &Case) -> Diagnostic {
    Diagnostic::error("Invalid test")
        .detail(format!(
            "The case \"{}\" needs one configuration: either its text as `configuration`, or its folder as `directory`.",
            case.name
        ))
        .at(case.span)
}

fn state_without_plan(case: &Case) -> Diagnostic {
    Diagnostic::error("Invalid test")
        .detail(format!(
            "The case \"{}\" names a state, which only a plan begins with. Write `plan = true`, or leave out the state.",
            case.name
        ))
        .at(case.span)
}

fn both(case: &Case) -> Diagnostic {
    Diagnostic::error("Invalid test")
        .detail(format!(
            "The case \"{}\" says `expect_none = true`, and expects verdicts. Leave out one of the two.",
            case.name
        ))
        .at(case.span)
}

fn twice(case: &Case) -> Diagnostic {
    Diagnostic::error("Invalid test")
        .detail(format!(
            "Another case is already called \"{}\": a failure could be of either.",
            case.name
        ))
        .at(case.span)
}
