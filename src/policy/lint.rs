//! What is not wrong with policies, and most likely not meant.

use crate::world::PROGRAM;
use std::collections::BTreeMap;

use super::rules::{JUDGING, Policies, SHAPING};
use crate::datalog::check::{Literal, Pattern, Rule, Term};
use crate::datalog::formula::Formula;
use crate::diagnostic::{Diagnostic, Sort, Sources, Span};

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which lint found it.
    pub lint: &'static str,
    /// What is to be said.
    pub says: String,
    /// Where.
    pub span: Span,
}

/// Returns what is found, in the order of the texts. `faults` are those that reading the policies gave.
pub fn lint(policies: &Policies, faults: &[Diagnostic], sources: &Sources) -> Vec<Finding> {
    let mut found: Vec<Finding> = faults.iter().map(of_fault).collect();
    let linter = Linter { policies, sources };
    let rules = policies.written_rules();
    let can_fire = linter.relations_that_fire();
    for (at, rule) in rules.iter().enumerate() {
        let written = &policies.program.rules[*rule];
        linter.once(written, &mut found);
        linter.cross(written, &mut found);
        linter.idle(written, &can_fire, &mut found);
        linter.internal(written, &mut found);
        let same = rules[..at].iter().find(|it| linter.are_same(**it, *rule));
        if let Some(first) = same {
            let says = format!(
                "Another rule already says exactly this: {}. Leave out one of the two.",
                policies.called(*first)
            );
            found.push(Finding { lint: "duplicate", says, span: written.span });
        }
    }
    linter.unread(&rules, &mut found);
    found.sort_by_key(|it| (it.span.file().0, it.span.start(), it.lint));
    found.dedup();
    found
}

/// What is wrong is found, too.
fn of_fault(fault: &Diagnostic) -> Finding {
    let lint = match fault.sort {
        Sort::UnknownRelation => "misspelt-name",
        Sort::UnnamedRule => "no-sentence",
        Sort::DuplicateRule => "duplicate",
        Sort::PublicName => "public-name",
        _ => "fault",
    };
    let says = format!("{}: {}", fault.summary, fault.detail);
    Finding { lint, says, span: fault.subject.unwrap_or_default() }
}

struct Linter<'a> {
    policies: &'a Policies,
    sources: &'a Sources,
}

impl Linter<'_> {
    fn name(&self, relation: usize) -> &str {
        self.policies.program.shown_name(relation)
    }

    fn is_own(&self, relation: usize) -> bool {
        self.policies.program.relations[relation].name.contains('@')
    }

    /// A variable that stands in one place only matches anything.
    fn once(&self, rule: &Rule, found: &mut Vec<Finding>) {
        let mut uses = vec![0; rule.variables.len()];
        rule.body.iter().for_each(|it| it.for_each_variable(&mut |it| uses[it] += 1));
        rule.terms.iter().for_each(|it| it.for_each_variable(&mut |it| uses[it] += 1));
        for (name, uses) in rule.variables.iter().zip(uses) {
            // The sentence is shown with it.
            let is_said = rule.sentence.contains(&format!("`{name}`"));
            if uses == 1 && !name.starts_with('_') && !is_said {
                let says = format!(
                    "`{name}` stands only once and so matches anything. Write `_` if that is meant."
                );
                found.push(Finding { lint: "variable-used-once", says, span: rule.span });
            }
        }
    }

    /// Parts of a body that have no variable in common pair everything with everything.
    fn cross(&self, rule: &Rule, found: &mut Vec<Finding>) {
        let mut group: Vec<usize> = (0..rule.variables.len()).collect();
        for literal in &rule.body {
            let mut first = None;
            literal.for_each_variable(&mut |it| {
                let root = *first.get_or_insert(group[it]);
                let old = group[it];
                group.iter_mut().filter(|it| **it == old).for_each(|it| *it = root);
            });
        }
        let mut parts: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for literal in &rule.body {
            let Literal::Holds(pattern) = literal else { continue };
            let name = self.name(pattern.relation);
            // There is only one plan.
            let first = pattern.variables().next().filter(|_| name != "plan");
            if let Some(first) = first {
                parts.entry(group[first]).or_default().push(name);
            }
        }
        if parts.len() > 1 {
            let names: Vec<String> =
                parts.values().map(|it| format!("`{}`", it.join("`, `"))).collect();
            let says = format!(
                "{} have no variable in common, so that every row of the one is paired with every row of the other. Join them by a variable.",
                names.join(" and ")
            );
            found.push(Finding { lint: "cross-product", says, span: rule.span });
        }
    }

    /// Says which relations may hold something at all.
    fn relations_that_fire(&self) -> Vec<bool> {
        let program = &self.policies.program;
        let mut fires: Vec<bool> =
            (0..program.relations.len()).map(|it| !self.is_own(it)).collect();
        loop {
            let before = fires.clone();
            for rule in program.rules.iter().filter(|it| self.contradiction(it).is_none()) {
                let all = rule.body.iter().all(|it| match it {
                    Literal::Holds(it) => fires[it.relation],
                    _ => true,
                });
                fires[rule.head] |= all;
            }
            if fires == before {
                return fires;
            }
        }
    }

    /// A rule that never concludes anything.
    fn idle(&self, rule: &Rule, fires: &[bool], found: &mut Vec<Finding>) {
        let mut say = |lint, says, span| found.push(Finding { lint, says, span });
        if let Some(why) = self.contradiction(rule) {
            say("rule-cannot-fire", format!("This never holds: {why}."), rule.span);
        }
        for (literal, place) in rule.body.iter().zip(&rule.places) {
            let Some(relation) = literal.relation().filter(|it| !fires[*it]) else { continue };
            let name = self.name(relation);
            let hint =
                self.near(relation).map_or(String::new(), |it| format!(" Did you mean `{it}`?"));
            match literal {
                Literal::Holds(_) => say(
                    "rule-cannot-fire",
                    format!("No rule ever concludes `{name}`, so that this never holds.{hint}"),
                    *place,
                ),
                _ if !hint.is_empty() => say(
                    "misspelt-name",
                    format!("No rule ever concludes `{name}`, so that this always holds.{hint}"),
                    *place,
                ),
                _ => {}
            }
        }
    }

    /// Why a body holds for nothing.
    fn contradiction(&self, rule: &Rule) -> Option<String> {
        for (at, one) in rule.body.iter().enumerate() {
            for other in &rule.body[at + 1..] {
                let (one, other) = match (one, other) {
                    (Literal::Absent(_) | Literal::Lacks(..), _) => (other, one),
                    _ => (one, other),
                };
                match (one, other) {
                    (Literal::Holds(one), Literal::Absent(other)) if one == other => {
                        return Some(format!("`{}` is there and is not", self.name(one.relation)));
                    }
                    (Literal::Refers(one, value), Literal::Lacks(other, same))
                        if one == other && (value == same || same.is_none()) =>
                    {
                        return Some("what a reference leads to is there and is not".to_owned());
                    }
                    (Literal::Holds(one), Literal::Holds(other)) => {
                        if let Some((one, other)) = self.types_differ(one, other) {
                            return Some(format!("one object is not of type {one} and {other}"));
                        }
                    }
                    _ => {}
                }
            }
        }
        None
    }

    /// The types that two patterns want of one node.
    fn types_differ(&self, one: &Pattern, other: &Pattern) -> Option<(String, String)> {
        let of_type = ["resource", "data_source", "ephemeral_resource", "existing"];
        let is_of_type =
            one.relation == other.relation && of_type.contains(&self.name(one.relation));
        let [Term::Variable(node), Term::Word(type_one)] = one.terms[..] else { return None };
        let [Term::Variable(same), Term::Word(type_other)] = other.terms[..] else { return None };
        let values = &self.policies.program.values;
        (is_of_type && node == same && type_one != type_other)
            .then(|| (values.show(type_one), values.show(type_other)))
    }

    fn internal(&self, rule: &Rule, found: &mut Vec<Finding>) {
        for (literal, place) in rule.body.iter().zip(&rule.places) {
            let name = literal.relation().map(|it| self.name(it));
            if let Some(name) =
                name.filter(|it| it.starts_with("core::") || it.starts_with("model::"))
            {
                let says = format!(
                    "`{name}` is a relation of the planner and may change with any version. `{PROGRAM} policy docs` lists those that stay."
                );
                found.push(Finding { lint: "internal-relation", says, span: *place });
            }
        }
    }

    /// Whether two rules of one source say the same, whatever they are called.
    fn are_same(&self, one: usize, other: usize) -> bool {
        let program = &self.policies.program;
        let (a, b) = (&program.rules[one], &program.rules[other]);
        // The last column of a verdict is the rule's number.
        let is_verdict = [JUDGING.iter().map(|it| it.0).collect(), SHAPING.to_vec()]
            .concat()
            .contains(&self.name(a.head));
        let shown = |rule: &Rule| {
            let count = rule.terms.len() - usize::from(is_verdict);
            rule.terms[..count].to_vec()
        };
        let mut premises = a.body.iter().zip(&b.body);
        a.group == b.group
            && a.head == b.head
            && a.body.len() == b.body.len()
            && shown(a) == shown(b)
            && premises.all(|(one, other)| self.is_alike((a, one), (b, other)))
    }

    /// Whether two premises are the same; of expressions, as they are written.
    fn is_alike(&self, (a, one): (&Rule, &Literal), (b, other): (&Rule, &Literal)) -> bool {
        let are = |one: &Formula, other: &Formula| self.written(a, one) == self.written(b, other);
        match (one, other) {
            (Literal::If(one), Literal::If(other)) => are(one, other),
            (Literal::Compute(a, one), Literal::Compute(b, other)) => a == b && are(one, other),
            _ => one == other,
        }
    }

    /// An expression as it is written, without blanks, and with numbers for the variables.
    fn written(&self, rule: &Rule, formula: &Formula) -> String {
        let text = self.sources.text(formula.span).unwrap_or_default();
        let belongs = |it: char| it.is_alphanumeric() || it == '_';
        let mut out = String::new();
        for part in text.split_inclusive(|it| !belongs(it)) {
            let name = part.trim_end_matches(|it| !belongs(it));
            // Behind a dot stands the name of an attribute.
            let variable = rule.variables.iter().position(|it| it == name);
            match variable.filter(|_| !out.ends_with('.')) {
                Some(number) => out.push_str(&format!("#{number}{}", &part[name.len()..])),
                None => out.push_str(part),
            }
            let length = out.trim_end().len();
            out.truncate(length);
        }
        out
    }

    /// Relations that nothing reads.
    fn unread(&self, rules: &[usize], found: &mut Vec<Finding>) {
        let program = &self.policies.program;
        let mut is_told = vec![false; program.relations.len()];
        for rule in rules.iter().map(|it| &program.rules[*it]) {
            let all = program.rules.iter().filter(|it| it.span == rule.span).map(|it| it.head);
            for head in all.collect::<Vec<_>>() {
                let is_read = program.rules.iter().any(|it| {
                    it.head != head && it.body.iter().any(|it| it.relation() == Some(head))
                });
                if !self.is_own(head) || is_read || std::mem::replace(&mut is_told[head], true) {
                    continue;
                }
                let name = self.name(head);
                match self.near(head) {
                    Some(near) => found.push(Finding {
                        lint: "misspelt-name",
                        says: format!("Nothing reads `{name}`. Did you mean `{near}`?"),
                        span: rule.span,
                    }),
                    None => found.push(Finding {
                        lint: "unread-relation",
                        says: format!(
                            "Nothing reads `{name}`, so that the rule has no effect. Read it in another rule, or leave it out."
                        ),
                        span: rule.span,
                    }),
                }
            }
        }
    }

    /// A relation of nearly the same name that has the same number of columns.
    fn near(&self, relation: usize) -> Option<String> {
        let program = &self.policies.program;
        let name = self.name(relation);
        let group = program.relations[relation].name.split_once('@').map(|it| it.1);
        let others = (0..program.relations.len()).filter(|it| {
            let full = &program.relations[*it].name;
            *it != relation
                && !full.contains("::")
                && full.split_once('@').is_none_or(|it| Some(it.1) == group)
        });
        let distance = |it: &usize| strsim::damerau_levenshtein(self.name(*it), name);
        let near = others.min_by_key(distance)?;
        let is_near = distance(&near) <= 1 + usize::from(name.len() > 5) && name.len() > 3;
        is_near.then(|| self.name(near).to_owned())
    }
}
