//! Rules as written to rules that can be evaluated: names looked up, variables numbered, strata found.
//!
//! A program is safe: every variable of a head, a negation or a condition gets its value before; and stratified: no
//! relation depends on its own absence.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::diagnostic::{Diagnostics, FileId, Span};

use super::parse::{self, Dialect};
pub use super::syntax::{Aggregate, Arithmetic, Comparison};
use super::values::Values;
use super::{infer, kinds, problem, reader::RuleReader, syntax};

mod faults;
mod names;
mod parts;

pub use names::Renames;
pub(super) use names::own_name;
pub use parts::{Literal, Over, Part, Pattern, Reference, Step, Term, Value};

/// A relation of a program. Its number is its position.
#[derive(Clone, Debug)]
pub struct Relation {
    /// Its name.
    pub name: String,
    /// The kinds of its columns.
    pub columns: Vec<String>,
    /// The lines of its doc comment.
    pub doc: Vec<String>,
    /// Whether some rule concludes it.
    pub is_derived: bool,
    /// Whether it is there without a declaration, and no rule of this program may conclude it.
    pub is_given: bool,
    /// Whether what all share concludes it, so that no group's own rule may.
    pub is_closed: bool,
    /// Whether a goal or a rule that is left needs its rows; see [`Program::for_goals`].
    pub is_needed: bool,
}

/// A rule that can be evaluated. One head: a rule as written with several becomes several.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name, unique in the program but for the heads of one rule.
    pub name: String,
    /// What it says, in words.
    pub sentence: String,
    /// The file it stands in, as given to [`Program::read`].
    pub source: String,
    /// Whose it is: relations of its own belong to this group of files.
    pub group: String,
    /// What other `@` lines above it say.
    pub notes: Vec<syntax::Note>,
    /// Where it stands.
    pub span: Span,
    /// The relation it concludes.
    pub head: usize,
    /// What each column of the conclusion is.
    pub terms: Vec<Value>,
    /// What it rests on, in the order of the text.
    pub body: Vec<Literal>,
    /// The names of its variables, by number.
    pub variables: Vec<String>,
    /// The kinds of its variables, as far as they are known.
    pub kinds: Vec<String>,
    /// Where each part of the body stands; of policies only.
    pub places: Vec<Span>,
}

/// Relations and rules, checked, in strata.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The relations.
    pub relations: Vec<Relation>,
    /// The rules, in the order of the texts.
    pub rules: Vec<Rule>,
    /// Numbers of rules by stratum: a stratum rests only on relations that are finished in those before, and on its own.
    pub strata: Vec<Vec<usize>>,
    /// Values that rules mention, and those of rows.
    pub values: Arc<Values>,
    /// Whether rules speak of values.
    pub has_values: bool,
    /// Relations of which a rule is left out, because something is wrong with it.
    pub(super) faulty: BTreeSet<usize>,
    /// Relations of one's own, by group, whose rules cannot be read.
    pub(super) broken: BTreeSet<(String, String)>,
    by_name: HashMap<String, usize>,
    names: Renames,
}

/// One text of rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its number for spans.
    pub file: FileId,
    /// The whole file.
    pub text: &'a str,
    /// What it may say.
    pub dialect: Dialect,
    /// Whose it is, where relations of one's own are apart from those of others; empty for what all share.
    pub group: &'a str,
}

impl Program {
    /// Reads and checks texts that share their relations. Rules with errors are left out.
    pub fn read(sources: &[Source<'_>]) -> (Program, Diagnostics) {
        Program::read_over([], Renames::default(), sources)
    }

    /// Reads and checks texts over relations that are there already, with rows from elsewhere: a text need not declare
    /// them, must use them with their columns, and may not conclude them.
    pub fn read_over<'r>(
        given: impl IntoIterator<Item = &'r entail_rules::Relation>,
        names: Renames,
        sources: &[Source<'_>],
    ) -> (Program, Diagnostics) {
        let mut program = Program { names, ..Program::default() };
        for relation in given {
            let owned = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect();
            program.by_name.insert(relation.name.to_owned(), program.relations.len());
            program.relations.push(Relation {
                name: relation.name.to_owned(),
                columns: owned(relation.columns),
                doc: owned(relation.doc),
                is_derived: false,
                is_given: true,
                is_closed: true,
                is_needed: true,
            });
        }
        let mut problems = Diagnostics::new();
        let mut texts = Vec::new();
        for source in sources {
            let (text, found) = parse::parse_as(source.dialect, source.file, source.text);
            problems.extend(found);
            for declaration in &text.declarations {
                program.declare(source.group, declaration, &mut problems);
            }
            program.has_values |= source.dialect == Dialect::Policies;
            texts.push((source, text));
        }
        if program.has_values {
            infer::declare_own(&mut program, &texts, &mut problems);
            faults::mark_broken(&mut program, &texts);
        }
        let mut sentences: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        for (source, text) in &texts {
            for rule in &text.rules {
                let first = sentences.insert((source.group, &rule.name), &rule.sentence);
                // In policies, several rules may have one name that say the same.
                let may_share = source.dialect == Dialect::Policies;
                let is_shared = may_share && first == Some(&rule.sentence);
                if !rule.name.is_empty() && first.is_some() && !is_shared {
                    problems.push(problem::duplicate_rule(&rule.name, rule.span));
                }
                program.add_rule(source, rule, &mut problems);
            }
        }
        program.stratify(&mut problems);
        if program.has_values {
            infer::refuse_computed_recursion(&mut program, &mut problems);
            faults::leave_out(&mut program);
            problems.0.sort_by_key(|it| it.subject.map(|it| (it.file(), it.start())));
        }
        (program, problems)
    }

    /// Adds a relation, and returns its number.
    pub(super) fn add_relation(&mut self, relation: Relation) -> usize {
        self.by_name.insert(relation.name.clone(), self.relations.len());
        self.relations.push(relation);
        self.relations.len() - 1
    }

    /// Returns the same program without one rule as written, whatever its heads.
    pub fn without(&self, name: &str) -> Program {
        self.keep(|it| it.name != name)
    }

    /// Returns the same program with only the rules that these relations may rest on.
    pub fn for_goals(&self, goals: &[usize]) -> Program {
        let mut needed = vec![false; self.relations.len()];
        let mut waiting = goals.to_vec();
        while let Some(relation) = waiting.pop() {
            if std::mem::replace(&mut needed[relation], true) {
                continue;
            }
            let rules = self.rules.iter().filter(|it| it.head == relation);
            waiting.extend(rules.flat_map(|it| it.body.iter()).filter_map(Literal::relation));
        }
        let mut program = self.keep(|it| needed[it.head]);
        for (relation, is_needed) in program.relations.iter_mut().zip(needed) {
            relation.is_needed = is_needed;
        }
        program
    }

    /// Returns whether some rule rests on this relation.
    pub fn rests_on(&self, relation: usize) -> bool {
        self.rules.iter().flat_map(|it| it.body.iter()).any(|it| it.relation() == Some(relation))
    }

    /// Returns the same program with these rules only, by number.
    pub fn keep_rules(&self, wanted: impl Fn(usize) -> bool) -> Program {
        let mut at = 0;
        let mut program = self.clone();
        program.rules.retain(|_| {
            at += 1;
            wanted(at - 1)
        });
        program.stratify(&mut Diagnostics::new());
        program
    }

    /// Finds the strata again, after rules were added that deny nothing.
    pub(super) fn restratify(&mut self) {
        self.stratify(&mut Diagnostics::new());
    }

    fn keep(&self, wanted: impl Fn(&Rule) -> bool) -> Program {
        let mut program = self.clone();
        program.rules.retain(wanted);
        // Deriving or not is about the language, not about the rules that are left.
        program.stratify(&mut Diagnostics::new());
        program
    }

    fn declare(
        &mut self,
        group: &str,
        declaration: &syntax::Declaration,
        problems: &mut Diagnostics,
    ) {
        for kind in declaration.columns.iter().filter(|it| !kinds::is_kind(it)) {
            problems.push(problem::unknown_kind(&declaration.name, kind, declaration.span));
        }
        let name = own_name(group, &declaration.name);
        let since = self.added_in(&declaration.name).filter(|_| !group.is_empty());
        if let Some(since) = since.filter(|_| self.relation(&name).is_none()) {
            problems.push(problem::public_name(&declaration.name, since, declaration.span));
        }
        match self.relation(&name) {
            Some(index) => {
                let known = &mut self.relations[index];
                if known.columns != declaration.columns {
                    let (name, first) = (&known.name, &known.columns);
                    problems.push(problem::declared_differently(
                        name,
                        first,
                        &declaration.columns,
                        declaration.span,
                    ));
                }
                if known.doc.is_empty() {
                    known.doc.clone_from(&declaration.doc);
                }
            }
            None => {
                self.add_relation(Relation {
                    name,
                    columns: declaration.columns.clone(),
                    doc: declaration.doc.clone(),
                    is_derived: false,
                    is_given: false,
                    is_closed: false,
                    is_needed: true,
                });
            }
        }
    }

    fn add_rule(&mut self, source: &Source<'_>, rule: &syntax::Rule, problems: &mut Diagnostics) {
        let mut reader = RuleReader::new(self, source, problems);
        let (body, places) = match source.dialect {
            Dialect::Strata => {
                (rule.body.iter().filter_map(|it| reader.literal(it)).collect(), Vec::new())
            }
            Dialect::Policies => reader.body(&rule.body),
        };
        if reader.failed {
            return self.mark_faulty(source.group, rule);
        }
        let heads: Vec<(usize, Vec<Value>)> =
            rule.heads.iter().filter_map(|it| reader.head(it)).collect();
        reader.report_singletons();
        let (variables, kinds, failed) = (reader.variables, reader.kinds, reader.failed);
        if failed {
            return self.mark_faulty(source.group, rule);
        }
        let name = match rule.name.as_str() {
            "" => format!("{}:{}", source.name, rule.span.start()),
            name => name.to_owned(),
        };
        let kinds: Vec<String> = kinds.into_iter().map(Option::unwrap_or_default).collect();
        for (head, terms) in heads {
            self.relations[head].is_derived = true;
            self.relations[head].is_closed |= source.group.is_empty();
            self.rules.push(Rule {
                name: name.clone(),
                sentence: rule.sentence.clone(),
                source: source.name.to_owned(),
                group: source.group.to_owned(),
                notes: rule.notes.clone(),
                span: rule.span,
                head,
                terms,
                body: body.clone(),
                variables: variables.clone(),
                kinds: kinds.clone(),
                places: places.clone(),
            });
        }
    }

    fn mark_faulty(&mut self, group: &str, rule: &syntax::Rule) {
        for head in &rule.heads {
            self.mark_faulty_relation(group, &head.relation);
        }
    }

    /// Marks a relation of one's own; what all share says the same, whatever is wrong with somebody's rule.
    pub(super) fn mark_faulty_relation(&mut self, group: &str, name: &str) {
        let relation = self.relation_in(group, name);
        self.faulty.extend(relation.filter(|it| self.relations[*it].name.contains('@')));
    }

    /// Sorts the rules into strata. Those of relations that rest on their own absence are left out.
    fn stratify(&mut self, problems: &mut Diagnostics) {
        let level = loop {
            match self.levels() {
                Some(level) => break level,
                None => {
                    let (circle, span) = self.negative_circle();
                    let names: Vec<&str> = circle.iter().map(|&it| self.shown_name(it)).collect();
                    problems.push(problem::unstratifiable(&names, span));
                    self.rules.retain(|it| !circle.contains(&it.head));
                    self.faulty.extend(circle);
                }
            }
        };
        self.strata = vec![Vec::new(); level.iter().max().map_or(0, |it| it + 1)];
        for (index, rule) in self.rules.iter().enumerate() {
            self.strata[level[rule.head]].push(index);
        }
        self.strata.retain(|it| !it.is_empty());
    }

    /// The stratum of each relation; nothing where one rests on its own absence.
    fn levels(&self) -> Option<Vec<usize>> {
        let mut level = vec![0_usize; self.relations.len()];
        for _ in 0..=self.relations.len() + 1 {
            let mut is_raised = false;
            for rule in &self.rules {
                let needed = rule
                    .body
                    .iter()
                    .filter_map(|it| Some(level[it.relation()?] + usize::from(!it.is_positive())));
                let needed = needed.max().unwrap_or(0);
                if needed > level[rule.head] {
                    level[rule.head] = needed;
                    is_raised = true;
                }
            }
            if !is_raised {
                return Some(level);
            }
        }
        None
    }

    /// Returns a relation that depends on its own absence, the way back to it, and where the absence is asked for.
    fn negative_circle(&self) -> (Vec<usize>, Span) {
        for rule in &self.rules {
            for (at, literal) in rule.body.iter().enumerate().filter(|it| !it.1.is_positive()) {
                let Some(from) = literal.relation() else { continue };
                if let Some(mut way) = self.way(from, rule.head) {
                    way.insert(0, rule.head);
                    return (way, rule.places.get(at).copied().unwrap_or(rule.span));
                }
            }
        }
        unreachable!("levels rise without end only in a circle with a negation")
    }

    /// Returns the shortest way from a relation to one that it depends on, both included.
    pub(super) fn way(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut came: HashMap<usize, usize> = HashMap::new();
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(relation) = queue.pop_front() {
            if relation == to {
                let mut way = vec![to];
                let mut at = to;
                while at != from {
                    at = came[&at];
                    way.insert(0, at);
                }
                return Some(way);
            }
            for rule in self.rules.iter().filter(|it| it.head == relation) {
                for next in rule.body.iter().filter_map(Literal::relation) {
                    if next != from && !came.contains_key(&next) {
                        came.insert(next, relation);
                        queue.push_back(next);
                    }
                }
            }
        }
        None
    }
}
