//! What an expression refers to, as a plan's document lists it.

use crate::expression::{Reference, Subject, provider_functions_of, references_of};
use crate::syntax::{Expr, Expression, Step};

/// Returns what `depends_on` names.
pub(super) fn subjects(expressions: &[Expression]) -> Vec<String> {
    let first = |it: &Expression| references_of(it).0.first().map(|it| Named::of(it).subject);
    expressions.iter().filter_map(first).collect()
}

/// Returns what an expression refers to: each reference whole, then shorter by a step each, down to its subject and, of
/// one instance, to the block. Functions of providers come last.
pub(super) fn references(expression: &Expression) -> Vec<String> {
    let mut all = Vec::new();
    for reference in references_of(expression).0 {
        let Named { subject, steps, whole } = Named::of(&reference);
        for used in (1..=steps.len()).rev() {
            all.push(format!("{subject}{}", steps[..used].concat()));
        }
        all.push(subject);
        all.extend(whole);
    }
    all.extend(provider_functions_of(expression).into_iter().map(|it| it.text.to_string()));
    all
}

/// A reference as text.
struct Named {
    subject: String,
    /// The steps after the subject, as far as they are literal.
    steps: Vec<String>,
    /// What the subject is a part of.
    whole: Option<String>,
}

impl Named {
    fn of(reference: &Reference<'_>) -> Named {
        let mut steps: Vec<String> = reference.rest.iter().map_while(step_text).collect();
        let is_key = |it: Option<&String>| it.is_some_and(|it| it.starts_with('['));
        let block = match reference.subject {
            Subject::Terraform(name) => format!("{}.{name}", reference.root.text),
            subject => subject_text(subject),
        };
        match reference.subject {
            Subject::Resource(..) if is_key(steps.first()) => {
                Named { subject: format!("{block}{}", steps.remove(0)), steps, whole: Some(block) }
            }
            Subject::Module(_) => {
                let call = if is_key(steps.first()) {
                    format!("{block}{}", steps.remove(0))
                } else {
                    block.clone()
                };
                match steps.is_empty() {
                    true => Named { whole: (call != block).then_some(block), subject: call, steps },
                    false => Named {
                        subject: format!("{call}{}", steps.remove(0)),
                        steps,
                        whole: Some(call),
                    },
                }
            }
            _ => Named { subject: block, steps, whole: None },
        }
    }
}

fn step_text(step: &Step) -> Option<String> {
    match step {
        Step::Attribute(name) => Some(format!(".{}", name.text)),
        Step::LegacyIndex(it) => Some(format!("[{}]", it.index)),
        Step::Index(it) => match &it.key.expr {
            Expr::String(text) => Some(format!("[{}]", crate::value::text::quoted(text))),
            Expr::Number(number) => Some(format!("[{number}]")),
            _ => None,
        },
        _ => None,
    }
}

fn subject_text(subject: Subject<'_>) -> String {
    match subject {
        Subject::Variable(name) => format!("var.{name}"),
        Subject::Local(name) => format!("local.{name}"),
        Subject::Module(name) => format!("module.{name}"),
        Subject::Resource(name) => name.to_string(),
        Subject::EachKey => "each.key".into(),
        Subject::EachValue => "each.value".into(),
        Subject::CountIndex => "count.index".into(),
        Subject::Path(name) => format!("path.{name}"),
        Subject::Terraform(name) => format!("terraform.{name}"),
        Subject::SelfObject => "self".into(),
        Subject::Unknown(name) => name.to_string(),
    }
}
