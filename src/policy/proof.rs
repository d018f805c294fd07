//! Why a verdict is given: the rule, what it rests on, and where that stands.

use std::collections::BTreeMap;

use entail_rules::{Node, atom::Atom};

use super::model::Model;
use crate::datalog::check::{Literal, Reference, Step};
use crate::datalog::evaluate::binding;
use crate::datalog::{Database, Domain, Program, values};
use crate::diagnostic::{FileId, Span};
use crate::lower::structure::NodeKind;
use crate::reason::catalogue;

/// One line of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// How many steps it stands behind the verdict.
    pub depth: usize,
    /// What holds.
    pub text: String,
    /// Where it stands: `main.tf:3,9`; empty where that is nowhere.
    pub place: String,
}

/// Explains a conclusion of the planner: lines, each with how many steps it stands behind the conclusion.
pub type Core<'a> = dyn Fn(&str, &[u64]) -> Vec<(usize, String)> + 'a;

/// Explains a row of a program that holds, at most `deepest` steps back.
///
/// - `core`: tells more of a row of the planner's, as lines without depth.
pub struct Explainer<'a> {
    /// The rules.
    pub program: &'a Program,
    /// What they concluded.
    pub database: &'a Database,
    /// What they are about.
    pub model: &'a Model<'a>,
    /// Explains a conclusion of the planner, each line with its depth.
    pub core: &'a Core<'a>,
    /// How many steps back to go.
    pub deepest: usize,
}

impl Explainer<'_> {
    /// Returns the proof of a row: the row first, then what it rests on.
    pub fn lines(&self, relation: usize, position: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        self.row(relation, position, 0, &mut lines);
        lines
    }

    fn row(&self, relation: usize, position: usize, depth: usize, lines: &mut Vec<Line>) {
        if depth > self.deepest || lines.len() > 200 {
            return;
        }
        let row = self.database.table(relation).row(position);
        let name = self.program.relations[relation].name.as_str();
        let domain: &dyn Domain = self.model;
        let Some((rule, words)) =
            binding(self.program, self.database, Some(domain), relation, position)
        else {
            return self.given(name, row, depth, lines);
        };
        // What all that is judged has in common says nothing.
        if matches!(name, "stays" | "is_object" | "passes") {
            return;
        }
        let of = &self.program.rules[rule];
        let text = filled(&of.sentence, |name| self.shown(rule, &words, name));
        let text = if text.is_empty() { self.as_row(relation, row) } else { text };
        lines.push(Line { depth, text, place: self.place(of.span) });
        let count = |rule: usize| {
            let body = self.program.rules[rule].body.iter();
            body.filter(|it| matches!(it, Literal::Holds(_))).count()
        };
        let premises = self.database.derivation(relation, position, count);
        let mut premises = premises.map_or(&[][..], |it| it.1).iter();
        for (at, literal) in of.body.iter().enumerate() {
            match literal {
                Literal::Holds(pattern) => {
                    if let Some(position) = premises.next() {
                        self.row(pattern.relation, *position as usize, depth + 1, lines);
                    }
                }
                other if depth < self.deepest => {
                    lines.extend(self.condition(rule, &words, (at, other), depth + 1));
                }
                _ => {}
            }
        }
    }

    /// What is given: by the planner, which says more, or by the documents.
    fn given(&self, name: &str, row: &[u64], depth: usize, lines: &mut Vec<Line>) {
        let Some(core) = name.strip_prefix("core::") else { return };
        let told = (self.core)(core, row);
        if !told.is_empty() {
            lines.extend(told.into_iter().map(|(further, text)| Line {
                depth: depth + further,
                text,
                place: String::new(),
            }));
            return;
        }
        let entry = catalogue::catalogue().iter().find(|it| it.relation.name == core);
        let Some(entry) = entry else { return };
        let (head, says) = entry.sentence();
        let names = head.split_once('(').map_or("", |it| it.1.trim_end_matches(')'));
        let names: Vec<&str> = names.split(", ").collect();
        let says = says.split(';').next().unwrap_or(&says).trim_end_matches('.').to_owned();
        let text = filled(&says, |name| {
            let at = names.iter().position(|it| *it == name)?;
            Some(self.model.show(entry.relation.columns[at], row[at]).to_string())
        });
        let place = match row {
            [one, other] => match (Node::from_word(*one), Node::from_word(*other)) {
                (Some(one), Some(other)) => self.model.places.get(&(one, other)).copied(),
                _ => None,
            },
            _ => None,
        };
        let place = place.map_or(String::new(), |it| self.place(it));
        lines.push(Line { depth, text, place });
    }

    /// A part of a rule that is no row: as it is written, with what its variables are.
    fn condition(
        &self,
        rule: usize,
        words: &[Option<u64>],
        (at, literal): (usize, &Literal),
        depth: usize,
    ) -> Option<Line> {
        let span = self.program.rules[rule].places.get(at)?;
        let source = self.model.sources.get(span.file)?;
        let text = source.text.get(span.start as usize..span.end as usize)?;
        let text = written(text, |name| self.shown(rule, words, name));
        let (text, place) = match literal {
            Literal::Absent(_) => (format!("there is no {text}"), String::new()),
            Literal::Lacks(reference, _) => {
                (format!("there is no {text}"), self.place_of(words, reference))
            }
            Literal::Refers(reference, None) => {
                (format!("there is {text}"), self.place_of(words, reference))
            }
            Literal::Refers(reference, Some(_)) => (text, self.place_of(words, reference)),
            Literal::Member(_, reference) => (text, self.place_of(words, reference)),
            _ => (text, String::new()),
        };
        Some(Line { depth, text, place })
    }

    /// Where the argument or block stands that a reference looks at.
    fn place_of(&self, words: &[Option<u64>], reference: &Reference) -> String {
        let place = || {
            let word = words[reference.root].filter(|it| !values::is_value(*it))?;
            let node = Node::from_word(word)?;
            if node.0 as usize >= self.model.structure.nodes.len() {
                return None;
            }
            let (NodeKind::Object(id, _) | NodeKind::Pending(id)) = self.model.structure.kind(node)
            else {
                return self.model.declared(node);
            };
            let block = self.model.structure.block(*id)?;
            let name = match reference.steps.first()? {
                Step::Name(name) => name,
                Step::Key(_) => return Some(block.declared),
            };
            let attribute = block.body.attribute(name).map(|it| it.span());
            let nested = || block.body.blocks_of(name).next().map(|it| it.header);
            attribute.or_else(nested).or(Some(block.declared))
        };
        place().map_or(String::new(), |it| self.place(it))
    }

    fn place(&self, span: Span) -> String {
        if span.file == FileId::default() {
            return String::new();
        }
        self.model.sources.place(span)
    }

    fn shown(&self, rule: usize, words: &[Option<u64>], name: &str) -> Option<String> {
        let of = &self.program.rules[rule];
        let at = of.variables.iter().position(|it| it == name)?;
        let word = words[at]?;
        if !values::is_value(word) {
            return Some(self.model.show(&of.kinds[at], word).to_string());
        }
        // What has parts is called by its name: all of it would be too much.
        let value = self.program.values.value(word)?;
        let is_simple = value.bare().children().next().is_none();
        is_simple.then(|| quoted(&self.program.values, word))
    }

    fn as_row(&self, relation: usize, row: &[u64]) -> String {
        let columns = &self.program.relations[relation].columns;
        let cells: Vec<String> = row
            .iter()
            .zip(columns)
            .map(|(word, kind)| match values::is_value(*word) {
                true => quoted(&self.program.values, *word),
                false => self.model.show(kind, *word).to_string(),
            })
            .collect();
        format!("{}({})", self.program.shown_name(relation), cells.join(", "))
    }
}

fn quoted(known: &values::Values, word: u64) -> String {
    match known.as_text(word).filter(|_| !values::is_secret(word) && !values::is_open(word)) {
        Some(text) => format!("{text:?}"),
        None => known.show(word),
    }
}

/// A sentence with what stands in backticks filled in.
pub(super) fn filled(sentence: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let parts = sentence.split('`').enumerate().map(|(at, part)| match at % 2 {
        1 => value(part).unwrap_or_else(|| part.to_owned()),
        _ => part.to_owned(),
    });
    parts.collect()
}

/// A part of a rule with its variables filled in; names behind a dot, before a parenthesis and in quotes stay.
fn written(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    let mut known: BTreeMap<&str, Option<String>> = BTreeMap::new();
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let end = rest[1..].find('"').map_or(rest.len(), |it| it + 2);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        } else if first.is_alphabetic() || first == '_' {
            let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_');
            let (name, behind) = rest.split_at(end.unwrap_or(rest.len()));
            let stays = out.ends_with('.') || behind.starts_with(['(', ':']);
            let shown = known.entry(name).or_insert_with(|| value(name)).clone();
            out.push_str(shown.filter(|_| !stays).as_deref().unwrap_or(name));
            rest = behind;
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{filled, written};

    #[test]
    fn variables_are_filled_in_and_names_stay() {
        let value = |name: &str| (name == "b").then(|| "aws_s3_bucket.a".to_owned());
        assert_eq!(filled("`b` is `c`", value), "aws_s3_bucket.a is c");
        let text = r#"b.b[_] == "b" && length(b) > b.x"#;
        let expected =
            r#"aws_s3_bucket.a.b[_] == "b" && length(aws_s3_bucket.a) > aws_s3_bucket.a.x"#;
        assert_eq!(written(text, value), expected);
    }
}
