//! Policies as they are loaded: texts, the program that they make with the vocabulary, and what each rule says of itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use entail_rules::catalogue::{ADDED, RENAMED};
use entail_rules::{Facts, Node};

use super::elsewhere;
use super::naming::with_rule;
use super::shaping::unfit;
use super::source::PolicySource;
use super::told;
use crate::datalog::check::{Literal, Renames, Source, Term, Value};
use crate::datalog::parse::Dialect;
use crate::datalog::syntax::Note;
use crate::datalog::{Program, Tense, Values, kinds};
use crate::diagnostic::{Diagnostic, Diagnostics, FileId, Sort, Sources, Span};
use crate::reason::catalogue;

pub use super::levels::{Enforce, Level, Severity};

/// The heads that judge, with the level of what they conclude.
pub const JUDGING: &[(&str, Level)] = &[
    ("deny", Level::Deny),
    ("warn", Level::Warn),
    ("note", Level::Note),
    ("protect", Level::Deny),
];

/// The heads that shape a plan.
pub const SHAPING: &[&str] =
    &["exclude", "target", "replace", "protect", "create_first", "before", "one_at_a_time"];

/// What of the vocabulary states say, as plans do.
pub(super) const OF_STATES: &[&str] = &["existing", "state_depends_on"];

/// What of the vocabulary only a plan says, and whoever keeps plans of others keeps of them.
pub const OF_PLANS: &[&str] = &[
    "created",
    "updated",
    "replaced",
    "destroyed",
    "forgotten",
    "unchanged",
    "imported",
    "moved",
    "drifted",
    "selected",
    "excluded",
    "untargeted",
    "left_out",
    "changes",
    "forces_replacement",
];

/// What a rule says of itself.
#[derive(Clone, Debug)]
pub struct RuleInfo {
    /// Its name.
    pub name: String,
    /// Its name, with its group before it where another group has a rule of that name.
    pub shown: String,
    /// The group of files that it stands in.
    pub group: String,
    /// What it says, with its variables in backticks.
    pub sentence: String,
    /// How much it matters.
    pub severity: Severity,
    /// Who may overrule it.
    pub enforce: Enforce,
    /// What others call it.
    pub ids: Vec<String>,
    /// How to mend what it finds.
    pub help: Option<String>,
    /// Where more is said.
    pub see: Vec<String>,
    /// The file it stands in.
    pub file: String,
    /// The line where it begins.
    pub line: usize,
    /// Its place.
    pub span: Span,
    /// The called modules whose instances it judges; none where it judges all.
    pub modules: Vec<String>,
    /// Whether it is required.
    pub is_required: bool,
    /// The heads of the vocabulary that it concludes.
    pub heads: BTreeSet<String>,
    /// Whether it can only be judged where there is a plan.
    pub needs_plan: bool,
}

/// A waiver that was written in a configuration, with the nodes that it covers.
#[derive(Clone, Debug)]
pub struct Waiver {
    /// The rule.
    pub rule: String,
    /// The nodes.
    pub nodes: Vec<Node>,
}

/// Policies that can be judged by.
#[derive(Clone, Debug)]
pub struct Policies {
    /// The vocabulary and all policies.
    pub program: Program,
    /// The rules that judge or shape, in the order of their texts.
    pub rules: Vec<RuleInfo>,
    /// The texts.
    pub sources: Vec<PolicySource>,
    /// For each rule of the program, the rule in `rules`.
    pub(super) info: Vec<Option<usize>>,
}

impl Policies {
    /// Reads policies. Faulty rules are told and left out.
    pub fn read(policies: Vec<PolicySource>, sources: &Sources) -> (Policies, Diagnostics) {
        Policies::read_over(&given(), policies, sources)
    }

    /// Reads policies that judge what stands elsewhere: what the vocabulary concludes of nodes is told, but for what rests on values.
    pub fn read_elsewhere(
        policies: Vec<PolicySource>,
        sources: &Sources,
    ) -> (Policies, Diagnostics) {
        let mut all = given();
        all.extend_from_slice(elsewhere::RELATIONS);
        let (mut policies, problems) = Policies::read_over(&all, policies, sources);
        let rules = &policies.program.rules;
        let stays: Vec<bool> =
            rules.iter().map(|it| !it.group.is_empty() || of_values(it)).collect();
        policies.program = policies.program.keep_rules(|it| stays[it]);
        let info = std::mem::take(&mut policies.info).into_iter().zip(&stays);
        policies.info = info.filter(|it| *it.1).map(|it| it.0).collect();
        (policies, problems)
    }

    fn read_over(
        given: &[entail_rules::Relation],
        policies: Vec<PolicySource>,
        sources: &Sources,
    ) -> (Policies, Diagnostics) {
        let vocabulary = entail_rules::POLICY_VOCABULARY;
        let mut texts = vec![Source {
            name: "policy.rules",
            file: FileId::default(),
            text: vocabulary,
            dialect: Dialect::Policies,
            group: "",
        }];
        let files: Vec<FileId> = policies
            .iter()
            .map(|it| sources.add(it.name.clone(), Arc::from(it.text.as_str())))
            .collect();
        for (policy, file) in policies.iter().zip(&files) {
            texts.push(Source {
                name: &policy.name,
                file: *file,
                text: &policy.text,
                dialect: Dialect::Policies,
                group: &policy.group,
            });
        }
        let names = Renames { former: RENAMED, added: ADDED };
        let (program, mut problems) = Program::read_over(given, names, &texts);
        let mut policies =
            Policies { info: Vec::new(), rules: Vec::new(), program, sources: policies };
        policies.inform(sources, &mut problems);
        policies.number_verdicts();
        let named = problems.0.into_iter().map(|it| with_rule(it, sources));
        (policies, Diagnostics(named.collect()))
    }

    /// Returns whether there is nothing to judge by.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Returns the values that the rules mention.
    pub fn values(&self) -> &Arc<Values> {
        &self.program.values
    }

    /// Reads what rules say of themselves.
    fn inform(&mut self, sources: &Sources, problems: &mut Diagnostics) {
        let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
        for at in 0..self.program.rules.len() {
            let rule = &self.program.rules[at];
            let head = self.program.relations[rule.head].name.clone();
            let is_ours = JUDGING.iter().any(|it| it.0 == head) || SHAPING.contains(&&*head);
            if rule.group.is_empty() || !is_ours {
                self.info.push(None);
                continue;
            }
            if rule.sentence.is_empty() {
                problems.push(unnamed(&head, rule.span));
                self.info.push(None);
                continue;
            }
            let key = (rule.group.clone(), rule.name.clone());
            let source = self.sources.iter().find(|it| it.name == rule.source);
            if SHAPING.contains(&&*head) {
                let of_module =
                    source.is_some_and(|it| !it.modules.is_empty()) && head != "protect";
                let of_module = of_module.then(|| not_of_modules(&head, rule.span));
                if let Some(problem) = of_module.or_else(|| unfit(&self.program, at)) {
                    problems.push(problem);
                    self.info.push(None);
                    continue;
                }
            }
            let info = *known.entry(key).or_insert_with(|| {
                let mut info = RuleInfo {
                    name: rule.name.clone(),
                    shown: rule.name.clone(),
                    group: rule.group.clone(),
                    sentence: rule.sentence.clone(),
                    severity: Severity::default(),
                    enforce: Enforce::default(),
                    ids: Vec::new(),
                    help: None,
                    see: Vec::new(),
                    file: rule.source.clone(),
                    line: sources.position(rule.span.file(), rule.span.start()).line,
                    span: rule.span,
                    modules: source.map_or(Vec::new(), |it| it.modules.clone()),
                    is_required: source.is_some_and(|it| it.is_required),
                    heads: BTreeSet::new(),
                    needs_plan: false,
                };
                for note in &rule.notes {
                    if let Some(problem) = info.take(note) {
                        problems.push(problem);
                    }
                }
                self.rules.push(info);
                self.rules.len() - 1
            });
            self.rules[info].heads.insert(head);
            // What is protected is refused where a plan would destroy it.
            let is_protected = self.rules[info].heads.contains("protect");
            self.rules[info].needs_plan |= is_protected || self.needs_plan(at);
            self.info.push(Some(info));
        }
        let mut groups: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, group) in known.into_keys().map(|(group, name)| (name, group)) {
            groups.entry(name).or_default().insert(group);
        }
        for rule in &mut self.rules {
            if groups.get(&rule.name).is_some_and(|it| it.len() > 1) {
                rule.shown = format!("{}:{}", rule.group, rule.name);
            }
        }
    }

    /// Whether a rule rests on what only a plan says.
    fn needs_plan(&self, rule: usize) -> bool {
        let program = &self.program;
        let mut seen = vec![false; program.relations.len()];
        let mut waiting = vec![rule];
        while let Some(rule) = waiting.pop() {
            let rule = &program.rules[rule];
            if rule.body.iter().any(literal_needs_plan) {
                return true;
            }
            for relation in rule.body.iter().filter_map(Literal::relation) {
                let name = program.relations[relation].name.as_str();
                if is_of_plans(name) {
                    return true;
                }
                // What the vocabulary says besides, it says of a configuration as well.
                if std::mem::replace(&mut seen[relation], true) || !name.contains('@') {
                    continue;
                }
                let rules = program.rules.iter().enumerate();
                waiting.extend(rules.filter(|it| it.1.head == relation).map(|it| it.0));
            }
        }
        false
    }

    /// Gives each verdict a further column: the rule that it comes of, so that two rules may say the same.
    fn number_verdicts(&mut self) {
        let judging: BTreeSet<usize> = JUDGING
            .iter()
            .map(|it| it.0)
            .chain(SHAPING.iter().copied())
            .filter_map(|it| self.program.relation(it))
            .collect();
        for relation in &judging {
            self.program.relations[*relation].columns.push(kinds::VALUE.to_owned());
        }
        for (at, rule) in self.program.rules.iter_mut().enumerate() {
            if judging.contains(&rule.head) {
                let number = self.info.get(at).copied().flatten().map_or(-1, |it| it as i64);
                rule.terms.push(Value::Word(self.program.values.number(number)));
            }
            for literal in &mut rule.body {
                if let Literal::Holds(pattern)
                | Literal::Absent(pattern)
                | Literal::Aggregate { pattern, .. } = literal
                    && judging.contains(&pattern.relation)
                {
                    pattern.terms.push(Term::Any);
                }
            }
        }
    }
}

impl RuleInfo {
    /// Takes in one line above the rule, or says what is wrong with it.
    fn take(&mut self, note: &Note) -> Option<Diagnostic> {
        let Note { name, text, span } = note;
        match name.as_str() {
            "severity" => match Severity::of(text) {
                Some(it) => self.severity = it,
                None => return Some(bad_note(note, "low, medium, high or critical")),
            },
            "enforce" => match Enforce::of(text) {
                Some(it) => self.enforce = it,
                None => return Some(bad_note(note, "always, overridable or advisory")),
            },
            "id" => {
                self.ids.extend(text.split([',', ' ']).filter(|it| !it.is_empty()).map(Into::into))
            }
            "help" => match &mut self.help {
                Some(help) => {
                    help.push(' ');
                    help.push_str(text);
                }
                None => self.help = Some(text.clone()),
            },
            "see" => self.see.push(text.clone()),
            _ => return Some(unknown_note(name, *span)),
        }
        None
    }
}

/// Returns whether only a plan says what a relation holds: it is about what a plan does, or the planner concludes it.
pub(super) fn is_of_plans_alone(name: &str) -> bool {
    let is_concluded = name
        .strip_prefix("core::")
        .is_some_and(|it| !Facts::RELATIONS.iter().any(|told| told.name == it));
    name == "action" || OF_PLANS.contains(&name) || is_concluded
}

/// Returns whether a configuration alone says nothing of a relation: a plan does, or a state.
pub(super) fn is_of_plans(name: &str) -> bool {
    OF_STATES.contains(&name) || is_of_plans_alone(name)
}

/// Whether a rule of the vocabulary depends only on values and on other relations of the vocabulary, and not on this run.
fn of_values(rule: &crate::datalog::check::Rule) -> bool {
    const HEADS: &[&str] =
        &["policy.tag", "policy.label", "policy.argument", "policy.transitively"];
    let is_written = rule.name.ends_with("-written");
    !is_written && HEADS.iter().any(|it| rule.name.starts_with(it))
}

/// Whether a part of a body looks at what only a plan, or a state, says.
fn literal_needs_plan(literal: &Literal) -> bool {
    literal.tenses().iter().any(|it| matches!(it, Tense::Old | Tense::State))
}

/// The relations that policies find: the planner's as `core::…`, and what the documents say.
fn given() -> Vec<entail_rules::Relation> {
    let leak = |name: String| -> &'static str { Box::leak(name.into_boxed_str()) };
    static ALL: std::sync::OnceLock<Vec<entail_rules::Relation>> = std::sync::OnceLock::new();
    ALL.get_or_init(|| {
        let core = catalogue::catalogue().iter().map(|it| entail_rules::Relation {
            name: leak(format!("core::{}", it.relation.name)),
            ..*it.relation
        });
        let told = told::RELATIONS.iter().map(|(name, columns)| entail_rules::Relation {
            name,
            columns,
            doc: &[],
            group: "model",
            since: "1.0",
        });
        core.chain(told).collect()
    })
    .clone()
}

fn not_of_modules(head: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Policy of a module that shapes a plan")
        .detail(format!(
            "`{head}` shapes a plan, and policies of a called module only judge it. Move the rule to the policies of the root module."
        ))
        .at(at)
}

fn unnamed(head: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Rule without a name")
        .detail(format!(
            "A rule that concludes `{head}` needs a line above it that names it and says what it means: `// @rule group.name: what is wrong with `n``."
        ))
        .at(at)
        .sort(Sort::UnnamedRule)
}

fn bad_note(note: &Note, expected: &str) -> Diagnostic {
    Diagnostic::error("Invalid line above a rule")
        .detail(format!("`@{}` is one of {expected}, not `{}`.", note.name, note.text))
        .at(note.span)
}

fn unknown_note(name: &str, at: Span) -> Diagnostic {
    let known = ["rule", "severity", "enforce", "id", "help", "see"];
    let near = known.iter().min_by_key(|it| strsim::damerau_levenshtein(it, name));
    let hint = near.filter(|it| strsim::damerau_levenshtein(it, name) <= 2);
    let hint = hint.map_or(String::new(), |it| format!(" Did you mean `@{it}`?"));
    Diagnostic::error("Unknown line above a rule")
        .detail(format!("`@{name}` means nothing.{hint} Known are: @{}.", known.join(", @")))
        .at(at)
}

#[cfg(test)]
mod tests {
    use super::{Policies, PolicySource};
    use crate::diagnostic::Sources;

    #[test]
    fn the_vocabulary_is_well_formed() {
        let sources = Sources::default();
        let (policies, problems) = Policies::read(Vec::<PolicySource>::new(), &sources);
        assert_eq!(problems.0, []);
        for rule in &policies.program.rules {
            assert!(!rule.sentence.is_empty(), "{}", rule.name);
        }
    }
}
