//! What a row says, and what a rule says, with names in place of variables.
//!
//! Relations and rules bring their own sentences: the doc comment of a relation (`` `reads(n, m)`: … ``) and the line
//! above a rule (`// @rule name: …`). Only what reads better with words of its own is written here.

use entail_rules::{Action, Atom, Facts, Reason};

use super::{Leaves, name};
use crate::reason::shipped;

use super::proof::{Application, Shape};

/// Returns what a row of a relation says.
pub fn of_row(relation: &str, row: &[u64], leaves: &dyn Leaves) -> String {
    if let ("action", [node, action, reason]) = (relation, row) {
        return of_action(*node, *action, *reason, leaves);
    }
    if let ("output_action", [node, action]) = (relation, row) {
        let what = match Action::from_word(*action) {
            Some(Action::Create) => "is created",
            Some(Action::Update) => "is changed",
            Some(Action::Delete) => "goes",
            _ => "stays as it is",
        };
        return format!("{} {what}", name(leaves, "Node", *node));
    }
    let words: Vec<Option<u64>> = row.iter().copied().map(Some).collect();
    of_words(relation, &words, leaves)
}

/// Returns what rows of a shape say; what is not settled is `something`.
pub fn of_shape(shape: &Shape, leaves: &dyn Leaves) -> String {
    if let Some(row) = shape.words.iter().copied().collect::<Option<Vec<u64>>>() {
        return of_row(&shape.relation, &row, leaves);
    }
    of_words(&shape.relation, &shape.words, leaves)
}

fn of_words(relation: &str, words: &[Option<u64>], leaves: &dyn Leaves) -> String {
    let program = shipped::program();
    let Some(number) = program.relation(relation) else { return relation.to_owned() };
    let columns = &program.relations[number].columns;
    let cell = |index: usize| match words.get(index).copied().flatten() {
        Some(word) => name(leaves, &columns[index], word),
        None => "something".to_owned(),
    };
    let Some((variables, sentence)) = template(relation) else {
        let cells: Vec<String> = (0..words.len()).map(cell).collect();
        return format!("{relation}({})", cells.join(", "));
    };
    let said = fill(&sentence, |variable| variables.iter().position(|it| it == variable).map(cell));
    without_reason(&said)
}

/// Returns a sentence without what leads up to its reason where that is the plain one, which says nothing.
pub fn without_reason(said: &str) -> String {
    let said = said.replace(" ()", "").replace(" (something)", "");
    said.trim_end().trim_end_matches(", for reason").to_owned()
}

/// Returns the variables of a relation's doc comment, and its sentence: up to the first semicolon, or stop and blank.
pub fn template(relation: &str) -> Option<(Vec<String>, String)> {
    let program = shipped::program();
    let known = &program.relations[program.relation(relation)?];
    let doc = if known.is_derived {
        known.doc.first()?.clone()
    } else {
        let base = Facts::RELATIONS.iter().find(|it| it.name == relation)?;
        base.doc.first()?.trim().to_owned()
    };
    let (head, sentence) = doc.split_once(": ")?;
    let arguments = head.trim_matches('`').split_once('(')?.1.trim_end_matches(')');
    let variables = arguments.split(", ").map(str::to_owned).collect();
    let end = sentence.find(';').into_iter().chain(sentence.find(". ")).min();
    let sentence = &sentence[..end.unwrap_or(sentence.len())];
    Some((variables, sentence.trim_end_matches('.').to_owned()))
}

/// Returns what the use of a rule says; nothing where that adds nothing for a reader.
pub fn of_rule(application: &Application, leaves: &dyn Leaves) -> Option<String> {
    let is_silent = application.sentence.starts_with('(');
    (!is_silent).then(|| of_rule_in_full(application, leaves))
}

/// Returns what the use of a rule says.
pub fn of_rule_in_full(application: &Application, leaves: &dyn Leaves) -> String {
    let sentence = application.sentence.trim_start_matches('(').trim_end_matches(')');
    let is_variable = |text: &str| text.len() == 1;
    fill(sentence, |variable| match application.bindings.iter().find(|it| it.name == variable) {
        Some(found) => Some(name(leaves, &found.kind, found.word)),
        None => is_variable(variable).then(|| "something".to_owned()),
    })
}

/// Puts what `value` gives in place of words in backticks; others stay as they are.
fn fill(sentence: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    for (index, part) in sentence.split('`').enumerate() {
        match index % 2 {
            0 => out.push_str(part),
            _ => match value(part) {
                Some(text) => out.push_str(&text),
                None => {
                    out.push('`');
                    out.push_str(part);
                    out.push('`');
                }
            },
        }
    }
    out
}

fn of_action(node: u64, action: u64, reason: u64, leaves: &dyn Leaves) -> String {
    let node = name(leaves, "Node", node);
    of_done(&node, Action::from_word(action), Reason::from_word(reason))
}

/// Returns what a plan does with an object, as one sentence.
pub fn of_planned(node: &str, action: Action) -> String {
    let what = match action {
        Action::NoOp => "is unchanged",
        Action::Create => "will be created",
        Action::Read => "will be read during apply",
        Action::Update => "will be updated",
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => {
            "will be replaced"
        }
        Action::Delete => "will be destroyed",
        Action::Forget => "will be removed from the state but not destroyed",
        Action::Drop => "will be removed from the state",
    };
    format!("{node} {what}")
}

/// Returns what is done with what is called so, and why.
pub fn of_done(node: &str, action: Option<Action>, reason: Option<Reason>) -> String {
    let what = match action {
        Some(Action::NoOp) => "stays as it is",
        Some(Action::Create) => "is created",
        Some(Action::Read) => "is read during apply",
        Some(Action::Update) => "is updated in place",
        Some(Action::DeleteThenCreate) => "is replaced: destroyed, then created",
        Some(Action::CreateThenDelete) => "is replaced: created, then destroyed",
        Some(Action::Delete) => "is destroyed",
        Some(Action::Forget) => "leaves the state and is left alone",
        Some(Action::ForgetThenCreate) => "is replaced: left alone, then created",
        Some(Action::Drop) => "leaves the state",
        None => "is decided",
    };
    match reason {
        None | Some(Reason::Plain) => format!("{node} {what}"),
        Some(reason) => format!("{node} {what} ({})", reason.text()),
    }
}
