//! What a rule compares a secret with says what the secret is: it is not shown either.

use std::collections::{BTreeMap, BTreeSet};

use super::check::reached;
use super::lines::Manner;
use super::{Application, By, Explainer, Premise, Proof, Step};
use crate::datalog::check::{Literal, Reference, Term};
use crate::datalog::values;

impl Explainer<'_> {
    /// Whether a part of a rule, as it was met, compares a secret with something.
    pub(super) fn is_secret(&self, it: &Application, at: usize) -> bool {
        let is_word = |variable: usize| it.words[variable].is_some_and(values::is_secret);
        let leads = |reference: &Reference| {
            let all = reached(reference, (self.program, it), self.database, self.model);
            all.iter().any(|value| value.contains_sensitive())
        };
        match &self.program.rules[it.rule].body[at] {
            Literal::Refers(reference, Some(_)) | Literal::Lacks(reference, Some(_)) => {
                is_word(reference.root) || leads(reference)
            }
            Literal::If(formula) | Literal::Compute(_, formula) => {
                let is_used = formula.uses.iter().any(|(_, variable, _)| is_word(*variable));
                is_used || formula.references().iter().any(leads)
            }
            Literal::Absent(pattern) => {
                let variables = pattern.terms.iter().filter_map(|it| match it {
                    Term::Variable(it) => Some(*it),
                    _ => None,
                });
                variables.into_iter().any(is_word)
            }
            _ => false,
        }
    }
}

impl Explainer<'_> {
    /// Returns the steps of a proof that are equal to a secret in some column, with these columns.
    pub(super) fn secret_steps(&self, proof: &Proof) -> BTreeMap<usize, BTreeSet<usize>> {
        let mut found: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for step in &proof.steps {
            let By::Rule(application) = &step.by else { continue };
            let body = &self.program.rules[application.rule].body;
            for (literal, premise) in body.iter().zip(&application.premises) {
                let (Literal::Holds(pattern), Premise::Step(number)) = (literal, premise) else {
                    continue;
                };
                let row = &proof.steps[*number].row;
                let is_secret = |term: &Term| match term {
                    Term::Variable(it) => application.words[*it].is_some_and(values::is_secret),
                    _ => false,
                };
                let terms = pattern.terms.iter().zip(row).enumerate();
                let equal = terms
                    .filter(|(_, (term, word))| is_secret(term) && !values::is_secret(**word))
                    .map(|it| it.0);
                let equal: BTreeSet<usize> = equal.collect();
                if !equal.is_empty() {
                    found.entry(*number).or_default().extend(equal);
                }
            }
        }
        found
    }

    /// A row without what is equal to a secret.
    pub(super) fn hidden_row(&self, step: &Step, hidden: &BTreeSet<usize>) -> String {
        let cells = self.hidden_cells(step, hidden);
        format!("{}({})", self.program.shown_name(step.relation), cells.join(", "))
    }

    /// The words of a row without what is equal to a secret.
    pub(super) fn hidden_cells(&self, step: &Step, hidden: &BTreeSet<usize>) -> Vec<String> {
        let cells = self.cells(step.relation, &step.row, Manner::Quoted).into_iter().enumerate();
        cells
            .map(|(at, it)| if hidden.contains(&at) { "(sensitive)".to_owned() } else { it })
            .collect()
    }
}

/// A part of a rule without the texts and numbers that stand in it; indexes stay.
pub(super) fn hidden(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_in_name = out.ends_with(|it: char| it.is_alphanumeric() || it == '_' || it == '[');
        let end = match first {
            '"' => end_of_text(rest),
            it if it.is_ascii_digit() && !is_in_name => {
                rest.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(rest.len())
            }
            it => {
                out.push(it);
                rest = &rest[it.len_utf8()..];
                continue;
            }
        };
        // A name in brackets says where one looks.
        match out.ends_with('[') {
            true => out.push_str(&rest[..end]),
            false => out.push_str("(sensitive)"),
        }
        rest = &rest[end..];
    }
    out
}

/// The length of a text in quotes, with what is interpolated in it.
fn end_of_text(text: &str) -> usize {
    let (mut depth, mut is_escaped, mut is_dollar) = (0_usize, false, false);
    for (at, it) in text.char_indices().skip(1) {
        match it {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '{' if is_dollar || depth > 0 => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '"' if depth == 0 => return at + 1,
            _ => {}
        }
        is_dollar = it == '$' || it == '%';
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::hidden;

    #[test]
    fn what_a_secret_is_compared_with_is_not_shown() {
        assert_eq!(hidden(r#"n.tags["a"] == "hunter2""#), r#"n.tags["a"] == (sensitive)"#);
        assert_eq!(hidden("n.v2[0] == 42.5"), "n.v2[0] == (sensitive)");
        assert_eq!(hidden(r#"x == "a${f("b")}c" && y"#), "x == (sensitive) && y");
        assert_eq!(hidden(r#"x == "a\"b" || "c""#), "x == (sensitive) || (sensitive)");
    }
}
