//! Queries: any body of a rule, and its rows, with what is certain apart from what is only possible.

use std::collections::BTreeSet;

use entail_rules::{Node, Tables};
use serde_json::{Value as Json, json};

use super::judge::evaluated;
use super::model::Model;
use super::rules::{JUDGING, OF_PLANS, Policies, SHAPING, is_of_plans, is_of_plans_alone};
use super::waivers::{self, Written};
use crate::address::Instance;
use crate::datalog::check::Literal;
use crate::datalog::query::{Asking, Query};
use crate::datalog::{Domain, Limits, Table, Tense, kinds, values};
use crate::diagnostic::{Diagnostic, Diagnostics, FileId, Span};
use crate::value::{Number, Value};

/// What there is to be asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A plan, with its configuration.
    Plan,
    /// A state alone.
    State,
    /// States and configurations of others.
    Elsewhere {
        /// Whether saved plans are known, too.
        has_plans: bool,
    },
    /// A configuration alone.
    Configuration,
}

/// What questions are asked of.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The nodes, and what they are.
    pub model: &'a Model<'a>,
    /// What is told and concluded of them.
    pub tables: &'a [&'a dyn Tables],
    /// The waivers in the configuration.
    pub waivers: &'a [Written],
    /// What of all that there is.
    pub scope: Scope,
}

/// What a column of a row holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// What something is called: the address of a node.
    Name(String),
    /// A value.
    Value(Value),
    /// A value that must not be shown.
    Sensitive,
    /// A value that is not known yet.
    Unknown,
}

/// The rows of a query, each once, in the order of what they show.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The variables.
    pub columns: Vec<String>,
    /// The rows that hold whatever turns out of what is not known yet.
    pub certain: Vec<Vec<Cell>>,
    /// The others.
    pub possible: Vec<Vec<Cell>>,
    /// Expressions that failed.
    pub problems: Diagnostics,
}

/// What something of another kind than a node is called.
pub type Names<'a> = &'a dyn Fn(&str, u64) -> String;

impl Policies {
    /// Reads a query: a body over the vocabulary and the relations of all policies; of several of a name, over those of a group.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn query(&self, text: &str, file: FileId, first: &str) -> Result<Query, Diagnostics> {
        let numbered = JUDGING.iter().map(|it| it.0).chain(SHAPING.iter().copied());
        let numbered: BTreeSet<usize> =
            numbered.filter_map(|it| self.program.relation(it)).collect();
        let numbered: Vec<usize> = numbered.into_iter().collect();
        self.program.ask(&Asking { text, file, first, numbered: &numbered })
    }
}

/// Answers a query.
///
/// # Errors
///
/// If it asks for what there is not, or takes too much.
pub fn answer(
    policies: &Policies,
    query: &Query,
    subject: &Subject<'_>,
    names: Names<'_>,
    limits: &Limits,
) -> Result<Answer, Diagnostics> {
    let &Subject { model, tables, waivers, scope } = subject;
    if let Some(problem) = not_there(query, scope) {
        return Err(problem.into());
    }
    let is_judged =
        |rule: usize| scope != Scope::Configuration || policies.is_judged_by_configuration(rule);
    let program = query.program.keep_rules(|it| it == query.rule || is_judged(it));
    let program = program.for_goals(&[query.relation]);
    let in_force = waivers::in_force(waivers, model);
    let (database, problems) = evaluated(&program, model, tables, &in_force, limits)?;

    let rule = &query.program.rules[query.rule];
    let columns = rule.terms.iter().filter_map(|it| match it {
        crate::datalog::check::Value::Variable(it) => Some(rule.variables[*it].clone()),
        _ => None,
    });
    let kinds = &program.relations[query.relation].columns[..];
    let (certain, possible) = shown(model, names, (database.table(query.relation), kinds));
    Ok(Answer { columns: columns.collect(), certain, possible, problems })
}

/// Returns the rows of a public relation. The columns of the answer are the kinds of those of the relation.
///
/// # Errors
///
/// If the rules take more than the limits allow.
pub fn rows_of(
    policies: &Policies,
    relation: &str,
    subject: &Subject<'_>,
    names: Names<'_>,
    limits: &Limits,
) -> Result<Answer, Diagnostics> {
    let &Subject { model, tables, waivers, .. } = subject;
    let Some(number) = policies.program.relation(relation) else { return Ok(Answer::default()) };
    let program = policies.program.for_goals(&[number]);
    let in_force = waivers::in_force(waivers, model);
    let (database, problems) = evaluated(&program, model, tables, &in_force, limits)?;
    let columns = &program.relations[number].columns;
    // The last column of a verdict is the number of its rule.
    let hidden = usize::from(is_numbered(relation));
    let kinds = &columns[..columns.len() - hidden];
    let (certain, possible) = shown(model, names, (database.table(number), kinds));
    Ok(Answer { columns: kinds.to_vec(), certain, possible, problems })
}

/// Returns whether rows of a relation end with the number of their rule.
fn is_numbered(relation: &str) -> bool {
    JUDGING.iter().any(|it| it.0 == relation) || SHAPING.contains(&relation)
}

/// The certain rows of a table, and those that are only possible.
fn shown(
    model: &Model<'_>,
    names: Names<'_>,
    (table, kinds): (&Table, &[String]),
) -> (Vec<Vec<Cell>>, Vec<Vec<Cell>>) {
    let rows = |is_certain: bool| {
        let found = table.positions().filter(|it| table.is_certain(*it) == is_certain);
        let shown = found.map(|it| {
            let cells = table.row(it).iter().zip(kinds);
            cells.map(|(word, kind)| cell(model, names, kind, *word)).collect()
        });
        in_order(shown.collect())
    };
    let certain = rows(true);
    let mut possible = rows(false);
    possible.retain(|it| !certain.contains(it));
    (certain, possible)
}

fn cell(model: &Model<'_>, names: Names<'_>, kind: &str, word: u64) -> Cell {
    if values::is_secret(word) {
        return Cell::Sensitive;
    }
    if values::is_value(word) {
        return match model.values.value(word) {
            Some(value) if value.is_known() => Cell::Value(value),
            _ => Cell::Unknown,
        };
    }
    Cell::Name(match kind == <Node as entail_rules::Atom>::KIND {
        true => model.show(kind, word).to_string(),
        false => names(kind, word),
    })
}

/// Rows by what they show, each once: two secrets look the same, and how many there are is nobody's business.
fn in_order(mut rows: Vec<Vec<Cell>>) -> Vec<Vec<Cell>> {
    rows.sort_by_cached_key(|it| it.iter().map(Cell::key).collect::<Vec<_>>());
    rows.dedup();
    rows
}

/// What cells are sorted by: numbers by size, addresses as instances are, else by what is shown.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Number(Size),
    Instance(Instance),
    Text(String),
}

struct Size(Number);

impl PartialEq for Size {
    fn eq(&self, other: &Size) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Size {}

impl PartialOrd for Size {
    fn partial_cmp(&self, other: &Size) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Size {
    fn cmp(&self, other: &Size) -> std::cmp::Ordering {
        self.0.compare(&other.0)
    }
}

impl Cell {
    fn key(&self) -> Key {
        match self {
            Cell::Value(Value::Number(it)) => Key::Number(Size(it.clone())),
            Cell::Name(name) => {
                name.parse().map_or_else(|_| Key::Text(name.clone()), Key::Instance)
            }
            other => Key::Text(other.text()),
        }
    }

    /// Returns it as text: texts as they are, what has parts as JSON.
    pub fn text(&self) -> String {
        match self.json() {
            Json::String(text) => text,
            other => other.to_string(),
        }
    }

    /// Returns it as rules write it, in a column of this kind: texts in quotes, unless the column holds names.
    pub fn literal(&self, kind: &str) -> String {
        match self {
            Cell::Value(value) if kind != kinds::TEXT => document(value).to_string(),
            other => other.text(),
        }
    }

    /// Returns it as JSON.
    pub fn json(&self) -> Json {
        match self {
            Cell::Name(name) => json!(name),
            Cell::Value(value) => document(value),
            Cell::Sensitive => json!("(sensitive)"),
            Cell::Unknown => json!("(known after apply)"),
        }
    }
}

/// A value of which parts may be unknown or secret.
fn document(value: &Value) -> Json {
    if value.marks().is_secret() {
        return json!("(sensitive)");
    }
    match value.bare() {
        Value::Null(_) => Json::Null,
        Value::Bool(it) => json!(it),
        Value::String(it) => json!(&**it),
        Value::Number(it) => {
            let text = it.to_string();
            serde_json::from_str(&text).unwrap_or(Json::String(text))
        }
        Value::Map(_) | Value::Object(_) => {
            let parts = value.bare().entries();
            parts.into_iter().map(|(name, it)| (name.to_string(), document(it))).collect()
        }
        Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
            value.bare().children().map(document).collect()
        }
        _ => json!("(known after apply)"),
    }
}

impl Answer {
    /// Returns whether it holds at all, where there are no variables: nothing where that is only possible.
    pub fn truth(&self) -> Option<bool> {
        match (self.certain.is_empty(), self.possible.is_empty()) {
            (false, _) => Some(true),
            (true, true) => Some(false),
            (true, false) => None,
        }
    }

    /// Returns it as a document.
    pub fn to_json(&self) -> Json {
        let rows = |rows: &[Vec<Cell>]| -> Vec<Vec<Json>> {
            rows.iter().map(|row| row.iter().map(Cell::json).collect()).collect()
        };
        json!({
            "format_version": "1.0",
            "columns": self.columns,
            "rows": rows(&self.certain),
            "possible_rows": rows(&self.possible),
        })
    }
}

/// What a query asks for that there is not where it is asked.
fn not_there(query: &Query, scope: Scope) -> Option<Diagnostic> {
    let program = &query.program;
    let is_missing = |relation: &str| match scope {
        Scope::Plan => false,
        Scope::Elsewhere { has_plans: true } => {
            is_of_plans_alone(relation) && !OF_PLANS.contains(&relation)
        }
        Scope::State | Scope::Elsewhere { .. } => is_of_plans_alone(relation),
        Scope::Configuration => is_of_plans(relation),
    };
    let is_untold = |tense: &Tense| match scope {
        Scope::Plan => false,
        Scope::State | Scope::Elsewhere { .. } => *tense == Tense::Config,
        Scope::Configuration => matches!(tense, Tense::Old | Tense::State),
    };
    let lacks = |literal: &Literal| {
        if let Some(tense) = literal.tenses().iter().find(|it| is_untold(it)) {
            return Some(format!("{}(…)", tense.name()));
        }
        let name = &program.relations[literal.relation()?].name;
        is_missing(name).then(|| name.clone())
    };
    let rule = &program.rules[query.rule];
    for (literal, place) in rule.body.iter().zip(&rule.places) {
        if let Some(what) = lacks(literal) {
            return Some(needs(scope, &what, None, *place));
        }
        let (mut open, mut seen) =
            (literal.relation().into_iter().collect::<Vec<_>>(), BTreeSet::new());
        while let Some(relation) = open.pop() {
            let is_own = program.relations[relation].name.contains('@');
            if !is_own || !seen.insert(relation) {
                continue;
            }
            for literal in
                program.rules.iter().filter(|it| it.head == relation).flat_map(|it| &it.body)
            {
                if let Some(what) = lacks(literal) {
                    let name = program.shown_name(relation);
                    return Some(needs(scope, &what, Some(name), *place));
                }
                open.extend(literal.relation());
            }
        }
    }
    None
}

fn needs(scope: Scope, what: &str, through: Option<&str>, at: Span) -> Diagnostic {
    if let Scope::Elsewhere { has_plans } = scope {
        let rests = through.map_or(String::new(), |it| format!(" `{it}` rests on it."));
        let why = match has_plans {
            true => {
                "a fleet does not keep it. Ask with `created`, `updated`, `replaced`, `destroyed`, `forgotten` or `unchanged`"
            }
            false => {
                "it is what a plan says, and no stack has a saved plan where `plan` of its block in fleet.hcl says"
            }
        };
        return Diagnostic::error("Not to be asked of this")
            .detail(format!("`{what}` says nothing of a fleet: {why}.{rests}"))
            .at(at);
    }
    let through = through.map_or(String::new(), |it| format!(" `{it}` rests on it."));
    let (which, flag) = match scope {
        Scope::State => ("a state alone", "-state"),
        _ => ("a configuration alone", "-config"),
    };
    Diagnostic::error("Not to be asked of this")
        .detail(format!(
            "`{what}` says nothing of {which}.{through} Without {flag}, a plan is made and asked."
        ))
        .at(at)
}
