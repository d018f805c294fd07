//! A proof as lines for people.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use entail_rules::{Node, atom::Atom};

use super::super::rules::{JUDGING, SHAPING};
use super::check::reached;
use super::secret::hidden;
use super::{Application, By, Explainer, Line, Premise, Proof, Step};
use crate::datalog::check::{self, Literal, Pattern, Reference, Term};
use crate::datalog::evaluate::compute;
use crate::datalog::{Database, Domain, check::Value, values};
use crate::diagnostic::{FileId, Span};
use crate::explain::sentence::without_reason;
use crate::lower::structure::NodeKind;
use crate::reason::catalogue;

/// How many lines a proof in short has at most.
const MOST: usize = 200;

/// How many rows are named that an aggregate goes over.
const COUNTED: usize = 10;

impl Explainer<'_> {
    /// Returns a proof line by line: what was asked first, then what it rests on.
    pub fn told(&self, proof: &Proof) -> Vec<Line> {
        let secret = self.secret_steps(proof);
        let mut teller =
            Teller { it: self, proof, secret, told: HashSet::new(), lines: Vec::new() };
        let Some(goal) = proof.steps.len().checked_sub(1) else { return Vec::new() };
        let mut waiting = vec![Told::Step(goal, 0)];
        while let Some(next) = waiting.pop() {
            if !self.is_whole() && teller.lines.len() > MOST {
                break;
            }
            match next {
                Told::Line(line) => teller.lines.push(line),
                Told::Step(number, depth) => {
                    let mut below = teller.step(number, depth);
                    below.reverse();
                    waiting.extend(below);
                }
            }
        }
        teller.lines
    }

    /// What a step says.
    pub(super) fn sentence(&self, step: &Step) -> String {
        let said = match &step.by {
            By::Rule(it) => {
                let sentence = &self.program.rules[it.rule].sentence;
                filled(sentence, |name| self.shown(it.rule, &it.words, name, Manner::Quoted))
            }
            By::Told => match self.is_of_planner(step.relation) {
                Some(name) => self.of_planner(name, &step.row),
                None => String::new(),
            },
        };
        if said.is_empty() { self.as_row(step.relation, &step.row) } else { said }
    }

    /// Where a step stands: of a policy its rule, of what is told the block.
    pub(super) fn place_of_step(&self, proof: &Proof, step: &Step) -> String {
        match &step.by {
            By::Told => self.origin(step.relation, &step.row),
            By::Rule(application) => {
                let rule = self.place(self.program.rules[application.rule].span);
                if !rule.is_empty() || !self.is_whole() {
                    return rule;
                }
                // The vocabulary stands in no file of the reader's: what it was told does.
                let told = application.premises.iter().filter_map(|it| match it {
                    Premise::Step(it) => Some(&proof.steps[*it]),
                    Premise::Absent | Premise::Condition => None,
                });
                let told = told.filter(|it| it.by == By::Told);
                let mut places = told.map(|it| self.origin(it.relation, &it.row));
                places.find(|it| !it.is_empty()).unwrap_or_default()
            }
        }
    }

    /// Where what is told comes from.
    pub(super) fn origin(&self, relation: usize, row: &[u64]) -> String {
        let name = self.program.relations[relation].name.as_str();
        let node = |at: usize| row.get(at).and_then(|it| Node::from_word(*it));
        let read = |one: usize, other: usize| {
            let pair = (node(one)?, node(other)?);
            self.model.places.get(&pair)
        };
        let declared = || {
            let node = node(0).filter(|_| self.is_whole())?;
            self.model.declared(node)
        };
        if let Some(place) = self.origin_elsewhere(node(0)) {
            return place;
        }
        let span = match (name, row) {
            ("model::mode" | "model::plan" | "model::changes" | "model::forces", _) => None,
            ("model::argument", [_, argument, _]) => {
                let name = self.program.values.as_text(*argument);
                name.and_then(|it| self.argument(node(0)?, &it)).or_else(declared)
            }
            (_, [_, _]) => read(0, 1).or_else(declared),
            _ => declared(),
        };
        span.map_or(String::new(), |it| self.place(it))
    }

    /// What the planner concluded, in its own words.
    fn of_planner(&self, core: &str, row: &[u64]) -> String {
        let entry = catalogue::catalogue().iter().find(|it| it.relation.name == core);
        let Some(entry) = entry else { return String::new() };
        let (head, says) = entry.sentence();
        let names = head.split_once('(').map_or("", |it| it.1.trim_end_matches(')'));
        let names: Vec<&str> = names.split(", ").collect();
        let says = says.split(';').next().unwrap_or(&says).trim_end_matches('.').to_owned();
        let said = filled(&says, |name| {
            let at = names.iter().position(|it| *it == name)?;
            Some(self.model.show(entry.relation.columns[at], row[at]).to_string())
        });
        without_reason(&said)
    }

    /// A part of a rule that is no row: as it is written, with what its variables are.
    pub(super) fn condition(&self, it: &Application, at: usize) -> Option<(String, String)> {
        let rule = &self.program.rules[it.rule];
        let span = *rule.places.get(at)?;
        let text = self.literal(it, at);
        if text.is_empty() {
            return None;
        }
        let (text, place) = match &rule.body[at] {
            Literal::Absent(_) => (format!("there is no {text}"), String::new()),
            Literal::Lacks(reference, _) => {
                (format!("there is no {text}"), self.place_of(&it.words, reference))
            }
            Literal::Refers(reference, None) => {
                (format!("there is {text}"), self.place_of(&it.words, reference))
            }
            Literal::Refers(reference, Some(_)) | Literal::Member(_, reference) => {
                (text, self.place_of(&it.words, reference))
            }
            Literal::Aggregate { pattern, .. } if self.is_whole() => {
                let counted = counted(pattern, &it.words, self.database);
                (format!("{text}{}", self.named(pattern.relation, &counted)), String::new())
            }
            _ => (text, String::new()),
        };
        // Where all is told, what stands nowhere else stands in the rule.
        let is_nowhere = place.is_empty() && self.is_whole();
        Some((text, if is_nowhere { self.place(span) } else { place }))
    }

    /// A part of a rule as it is written, with what its variables are; empty where the rule stands in no file.
    pub(in super::super) fn literal(&self, it: &Application, at: usize) -> String {
        let span = self.program.rules[it.rule].places.get(at);
        let text = span.and_then(|it| self.model.sources.text(*it)).unwrap_or_default();
        let text = if self.is_secret(it, at) { hidden(&text) } else { text };
        written(&text, |name| self.shown(it.rule, &it.words, name, Manner::Quoted))
    }

    /// What a reference leads to, as it is shown.
    pub(in super::super) fn reached(&self, it: &Application, reference: &Reference) -> Vec<String> {
        let Explainer { program, database, model, .. } = *self;
        let all = reached(reference, (program, it), database, model);
        let known = &program.values;
        all.iter().map(|it| quoted(known, known.word(it))).collect()
    }

    /// The rows that an aggregate goes over.
    fn named(&self, relation: usize, rows: &[usize]) -> String {
        let table = self.database.table(relation);
        let shown = rows.iter().take(COUNTED).map(|it| self.as_row(relation, table.row(*it)));
        let mut shown: Vec<String> = shown.collect();
        if let more @ 1.. = rows.len().saturating_sub(COUNTED) {
            shown.push(format!("{more} more"));
        }
        if shown.is_empty() { String::new() } else { format!(": {}", shown.join(", ")) }
    }

    /// Where the argument or block stands that a reference looks at.
    fn place_of(&self, words: &[Option<u64>], reference: &Reference) -> String {
        let place = || {
            let word = words[reference.root].filter(|it| !values::is_value(*it))?;
            let node = Node::from_word(word)?;
            match reference.steps.first()? {
                check::Step::Name(name) => self.argument(node, name),
                check::Step::Key(_) => self.model.declared(node),
            }
        };
        place().map_or(String::new(), |it| self.place(it))
    }

    /// Where an argument or a nested block of a node stands; its block where it has none.
    fn argument(&self, node: Node, name: &str) -> Option<Span> {
        if node.0 as usize >= self.model.structure.nodes.len() {
            return None;
        }
        let (NodeKind::Object(id, _) | NodeKind::Pending(id)) = self.model.structure.kind(node)
        else {
            return self.model.declared(node);
        };
        let block = self.model.structure.block(*id)?;
        let attribute = block.body.attribute(name).map(|it| it.span());
        let nested = || block.body.blocks_of(name).next().map(|it| it.header);
        attribute.or_else(nested).or(Some(block.declared))
    }

    pub(in super::super) fn place(&self, span: Span) -> String {
        if span.file() == FileId::default() {
            return String::new();
        }
        self.model.sources.place(span)
    }

    /// What a variable was, where it is not too much to be shown.
    pub(super) fn shown(
        &self,
        rule: usize,
        words: &[Option<u64>],
        name: &str,
        manner: Manner,
    ) -> Option<String> {
        let of = &self.program.rules[rule];
        let at = of.variables.iter().position(|it| it == name)?;
        let word = words[at]?;
        if !values::is_value(word) {
            return Some(self.node(&of.kinds[at], word, manner));
        }
        // What has parts is called by its name: all of it would be too much.
        let value = self.program.values.value(word)?;
        let is_simple = value.bare().children().next().is_none();
        is_simple.then(|| manner.show(&self.program.values, word))
    }

    /// What is no value: its address, and in a sentence what it is where that is empty.
    fn node(&self, kind: &str, word: u64, manner: Manner) -> String {
        let shown = self.model.show(kind, word).to_string();
        let is_whole = word == self.model.whole().word();
        match (manner, shown.is_empty()) {
            (Manner::Quoted, true) if is_whole => "the plan".to_owned(),
            (Manner::Quoted, true) => "the root module".to_owned(),
            _ => shown,
        }
    }

    pub(super) fn as_row(&self, relation: usize, row: &[u64]) -> String {
        let cells = self.cells(relation, row, Manner::Quoted);
        format!("{}({})", self.program.shown_name(relation), cells.join(", "))
    }

    /// The words of a row as they are shown.
    pub(super) fn cells(&self, relation: usize, row: &[u64], manner: Manner) -> Vec<String> {
        let columns = &self.program.relations[relation].columns;
        let cells = row.iter().zip(columns).map(|(word, kind)| match values::is_value(*word) {
            true => manner.show(&self.program.values, *word),
            false => self.node(kind, *word, manner),
        });
        // Verdicts have the number of their rule behind what is written.
        let name = self.program.relations[relation].name.as_str();
        let is_numbered = SHAPING.contains(&name) || JUDGING.iter().any(|it| it.0 == name);
        cells.take(columns.len() - usize::from(is_numbered)).collect()
    }
}

/// How texts are shown.
#[derive(Clone, Copy)]
pub(super) enum Manner {
    /// Between quotes, among other words.
    Quoted,
    /// As they are.
    Plain,
}

impl Manner {
    fn show(self, known: &values::Values, word: u64) -> String {
        match self {
            Manner::Quoted => quoted(known, word),
            Manner::Plain => known.show(word),
        }
    }
}

/// How many characters of a value are told.
const LONGEST: usize = 100;

/// What is to be told next.
enum Told {
    Step(usize, usize),
    Line(Line),
}

struct Teller<'a> {
    it: &'a Explainer<'a>,
    proof: &'a Proof,
    /// The steps that say what a secret is, with the columns that do.
    secret: BTreeMap<usize, BTreeSet<usize>>,
    told: HashSet<usize>,
    lines: Vec<Line>,
}

impl Teller<'_> {
    /// Tells one step, and returns what is to be told below it.
    fn step(&mut self, number: usize, depth: usize) -> Vec<Told> {
        let (it, step) = (self.it, &self.proof.steps[number]);
        let relation = &it.program.relations[step.relation].name;
        // What all that is judged has in common says nothing.
        if matches!(relation.as_str(), "policy_stays" | "policy_is_object" | "policy_passes") {
            return Vec::new();
        }
        if let Some(hidden) = self.secret.get(&number) {
            let (text, place) = (it.hidden_row(step, hidden), it.place_of_step(self.proof, step));
            self.lines.push(Line { depth, text, place });
            return Vec::new();
        }
        let By::Rule(application) = &step.by else {
            return self.leaf(step, depth);
        };
        let is_new = self.told.insert(number) || !it.is_whole();
        let again = if is_new || application.premises.is_empty() { "" } else { " (see above)" };
        let text = format!("{}{again}", it.sentence(step));
        let place = it.place_of_step(self.proof, step);
        self.lines.push(Line { depth, text, place });
        if !is_new {
            return Vec::new();
        }
        let premises = application.premises.iter().enumerate();
        let below = premises.filter_map(|(at, premise)| match premise {
            Premise::Step(number) => Some(Told::Step(*number, depth + 1)),
            Premise::Absent | Premise::Condition => {
                let (text, place) = it.condition(application, at)?;
                Some(Told::Line(Line { depth: depth + 1, text, place }))
            }
        });
        below.collect()
    }

    /// What is given: by the planner, which says more, or by the documents, of which the line before has said it.
    fn leaf(&self, step: &Step, depth: usize) -> Vec<Told> {
        let it = self.it;
        if let Some((text, place)) = it.told_elsewhere(step) {
            return vec![Told::Line(Line { depth, text, place })];
        }
        let Some(core) = it.is_of_planner(step.relation) else { return Vec::new() };
        let told = (it.core)(core, &step.row);
        if told.is_empty() {
            let text = it.of_planner(core, &step.row);
            let place = it.origin(step.relation, &step.row);
            let is_known = !text.is_empty();
            return is_known
                .then_some(Told::Line(Line { depth, text, place }))
                .into_iter()
                .collect();
        }
        let line = |line: crate::explain::render::Line| {
            let depth = depth + line.depth;
            Told::Line(Line { depth, text: line.text, place: line.origins.join(", ") })
        };
        told.into_iter().map(line).collect()
    }
}

/// The positions of the rows that an aggregate goes over: those that may match.
pub(in super::super) fn counted(
    pattern: &Pattern,
    words: &[Option<u64>],
    database: &Database,
) -> Vec<usize> {
    let table = database.table(pattern.relation);
    let wanted = |term: &Term| match term {
        Term::Any => None,
        Term::Word(it) => Some(*it),
        Term::Variable(it) => words[*it],
        Term::InTense(tense, it) => compute(&Value::InTense(*tense, *it), words),
    };
    let wanted: Vec<Option<u64>> = pattern.terms.iter().map(wanted).collect();
    let fits = |row: &[u64]| {
        row.iter().zip(&wanted).all(|(word, wanted)| {
            wanted.is_none_or(|it| values::key(it) == values::key(*word) || values::is_open(*word))
        })
    };
    table.positions().filter(|it| fits(table.row(*it))).collect()
}

fn quoted(known: &values::Values, word: u64) -> String {
    match known.as_text(word).filter(|_| !values::is_secret(word) && !values::is_open(word)) {
        Some(text) => format!("{:?}", shortened(text.to_string())),
        None => shortened(known.show(word)),
    }
}

/// A text as far as a line has room for it: a document of JSON, say, can be longer than all that is told.
fn shortened(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A sentence with what stands in backticks filled in.
pub(in super::super) fn filled(sentence: &str, value: impl Fn(&str) -> Option<String>) -> String {
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
