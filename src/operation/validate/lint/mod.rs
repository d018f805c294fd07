//! `-lint`: what may be a mistake in a configuration, although it is valid.
//!
//! Facts are lowered from the configuration as it is written, the stratum `lint` concludes the findings, and each finding becomes
//! a warning. Facts are lowered only for lint rules that are enabled.

mod dependencies;
mod equality;
mod expressions;
mod impurity;
mod names;
mod problems;
mod quoted;

use entail_rules::lint::Lint;
use entail_rules::{Definition, Facts, Ledger, LintName, Site, ValueType};
use rustc_hash::FxHashMap;

use super::Session;
use crate::diagnostic::{Diagnostics, Sources, Span};
use crate::lower::{When, leave_out};
use crate::observe::pool::Pool;
use crate::reason::shipped;
use crate::request::LintSelection;
use crate::value::{Str, Type};

/// The groups of each lint rule. Every rule also belongs to `all` and `core:all`.
const GROUPS: &[(LintName, &[LintName])] = &[
    (LintName::UnusedDeps, &[LintName::Confusing]),
    (LintName::QuotedRef, &[LintName::Confusing, LintName::Mistake]),
    (LintName::IneffEq, &[LintName::Mistake]),
    (LintName::ImpureFunc, &[LintName::NoConverge]),
];

/// Returns a warning for each finding of the lint rules that are asked for, in the order of files and lines.
pub fn check(session: &Session, pool: &Pool, asked: &LintSelection) -> Diagnostics {
    if asked.is_empty() {
        return Diagnostics::new();
    }
    let mut lowered = Lowered::default();
    lower_selection(asked, &mut lowered.facts);
    let concluded = lowered.conclude(session);
    for (rule,) in &concluded.lint_enabled {
        match rule {
            LintName::UnusedDeps => dependencies::lower(session, &mut lowered),
            LintName::QuotedRef => quoted::lower(session, &mut lowered),
            LintName::IneffEq => equality::lower(session, pool, &mut lowered),
            LintName::ImpureFunc => impurity::lower(session, pool, &mut lowered),
            LintName::All
            | LintName::CoreAll
            | LintName::Confusing
            | LintName::Mistake
            | LintName::NoConverge => {}
        }
    }
    let concluded = lowered.conclude(session);
    let mut problems = findings(&concluded, &lowered, &session.sources);
    let facts = lowered.facts;
    problems.extend(shipped::note_met(&session.world, || facts).err());
    problems
}

/// Writes `lint_includes`, `lint_excludes` and `lint_covers`. Identifiers that mean nothing here are passed over.
fn lower_selection(asked: &LintSelection, facts: &mut Facts) {
    let known = |id: &String| LintName::ALL.iter().find(|it| it.text() == id).map(|it| (*it,));
    facts.lint_includes.extend(asked.included.iter().filter_map(known));
    facts.lint_excludes.extend(asked.excluded.iter().filter_map(known));
    for (rule, groups) in GROUPS {
        let all = [*rule, LintName::All, LintName::CoreAll];
        facts.lint_covers.extend(all.iter().chain(*groups).map(|it| (*it, *rule)));
    }
}

/// The facts, and what the numbers in them stand for.
#[derive(Default)]
struct Lowered {
    facts: Facts,
    sites: Sites,
    /// Where the items of the `depends_on` begin and end that an item is one of.
    lists: FxHashMap<Site, Span>,
    /// What is compared.
    comparisons: FxHashMap<Site, Comparison>,
    /// The number of each type.
    types: FxHashMap<Type, ValueType>,
    /// The arguments of managed resources.
    arguments: FxHashMap<Definition, Argument>,
}

impl Lowered {
    fn conclude(&mut self, session: &Session) -> Lint {
        self.facts.tidy();
        leave_out(&mut self.facts, When::Always);
        session.engine().conclude(&Ledger::of(&self.facts))
    }
}

/// The places that facts are about, by their numbers.
#[derive(Default)]
struct Sites {
    all: Vec<Span>,
    numbers: FxHashMap<Span, Site>,
}

impl Sites {
    /// Returns the number of a place.
    fn number(&mut self, place: Span) -> Site {
        let Sites { all, numbers } = self;
        *numbers.entry(place).or_insert_with(|| {
            all.push(place);
            Site(all.len() as u32 - 1)
        })
    }

    /// Returns the place with a number.
    fn place(&self, site: Site) -> Span {
        self.all[site.0 as usize]
    }
}

/// `==` or `!=` with what is known of its operands.
struct Comparison {
    left: Type,
    right: Type,
    /// Whether it is `!=`.
    is_negated: bool,
    /// Whether both operands may be null, and equal then.
    may_both_be_null: bool,
}

/// An argument of a managed resource.
struct Argument {
    /// The address of the resource, without keys.
    resource: String,
    /// The name of the argument or block.
    name: Str,
}

/// Returns the findings as warnings.
fn findings(found: &Lint, lowered: &Lowered, sources: &Sources) -> Diagnostics {
    let place = |site: Site| lowered.sites.place(site);
    let mut problems = Diagnostics::new();
    for rows in found.unused_dependency.chunk_by(|a, b| a.0 == b.0) {
        let item = place(rows[0].0);
        let references = rows.iter().map(|it| place(it.1));
        let Some(first) = references.min_by_key(|it| (it.file(), it.start())) else { continue };
        let list = lowered.lists.get(&rows[0].0).copied().unwrap_or(item);
        problems.push(problems::unused_dependency(item, list, first, sources));
    }
    for rows in found.quoted_reference.chunk_by(|a, b| a.0 == b.0) {
        problems.push(problems::quoted_reference(place(rows[0].0), sources));
    }
    for (site,) in &found.ineffective_comparison {
        let comparison = lowered.comparisons.get(site);
        problems.extend(comparison.map(|it| problems::ineffective_comparison(it, place(*site))));
    }
    for rows in found.impure_argument.chunk_by(|a, b| a.0 == b.0) {
        let arguments: Vec<&Argument> =
            rows.iter().filter_map(|it| lowered.arguments.get(&it.1)).collect();
        problems.extend(problems::impure_argument(&arguments, place(rows[0].0), sources));
    }
    problems.0.sort_by_key(|it| it.subject.map(|it| (it.file(), it.start())));
    problems
}
