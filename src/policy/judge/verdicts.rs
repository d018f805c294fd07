//! Verdicts: what the heads that judge hold, in words.

use std::sync::Arc;

use entail_rules::{Node, atom::Atom};
use rustc_hash::FxHashSet;

use crate::datalog::evaluate::binding;
use crate::datalog::{Database, Domain, Program, Values, values};
use crate::policy::model::Model;
use crate::policy::proof::lines::filled;
use crate::policy::rules::{JUDGING, Level, Policies, RuleInfo};
use crate::policy::verdict::{Verdict, level_of};
use crate::policy::waits;

/// The rule that a row comes of, with what its variables are.
type Binding = (usize, Vec<Option<u64>>);

/// Returns the verdicts, in the order of level, rule and address. What is certain of a place needs no possibility beside it.
pub(in crate::policy) fn of(
    policies: &Policies,
    model: &Model<'_>,
    program: &Program,
    database: &Database,
) -> Vec<Verdict> {
    let rules: Vec<Arc<RuleInfo>> = policies.rules.iter().cloned().map(Arc::new).collect();
    let judged = Judged { rules: &rules, model, program, database };
    let mut certain: FxHashSet<(usize, Node)> = FxHashSet::default();
    let mut found: Vec<(usize, Node, Verdict)> = Vec::new();
    for (head, level) in JUDGING {
        let Some(relation) = program.relation(head) else { continue };
        for position in database.table(relation).positions() {
            let Some((node, info)) = judged.says(head, (relation, position)) else { continue };
            let is_certain = *head == "protect" || database.table(relation).is_certain(position);
            if is_certain {
                certain.insert((info, node));
            }
            let verdict = judged.verdict((node, info), *level, (relation, position), is_certain);
            found.push((info, node, verdict));
        }
    }
    found.retain(|(info, node, it)| it.is_certain || !certain.contains(&(*info, *node)));
    let mut verdicts: Vec<Verdict> = found.into_iter().map(|it| it.2).collect();
    fn key(it: &Verdict) -> (Level, &str, &str, &str) {
        (it.level, &it.rule.shown, &it.address, &it.message)
    }
    verdicts.sort_by(|a, b| key(a).cmp(&key(b)).then(a.is_certain.cmp(&b.is_certain)));
    verdicts.dedup_by(|a, b| key(a) == key(b));
    verdicts
}

struct Judged<'j, 'm> {
    rules: &'j [Arc<RuleInfo>],
    model: &'j Model<'m>,
    program: &'j Program,
    database: &'j Database,
}

impl Judged<'_, '_> {
    /// What a row is about, and the rule that it comes of; nothing where the rule has no say there.
    fn says(&self, head: &str, (relation, position): (usize, usize)) -> Option<(Node, usize)> {
        let row = self.database.table(relation).row(position);
        let (node, info) = (Node::from_word(*row.first()?)?, info_of(row, &self.program.values)?);
        // A rule of a called module may only speak of what is in its instances.
        let modules = &self.rules[info].modules;
        let is_in_charge =
            modules.is_empty() || modules.iter().any(|it| self.model.is_within(node, it));
        // What would destroy it is refused, also where it only may be protected.
        let destroyed = self.program.relation("destroyed").map(|it| self.database.table(it));
        let is_meant =
            head != "protect" || destroyed.is_some_and(|it| it.position(&row[..1]).is_some());
        (is_in_charge && is_meant).then_some((node, info))
    }

    fn verdict(
        &self,
        (node, info): (Node, usize),
        level: Level,
        (relation, position): (usize, usize),
        is_certain: bool,
    ) -> Verdict {
        let (model, rule) = (self.model, self.rules[info].clone());
        let row = self.database.table(relation).row(position);
        let bound = binding(self.program, self.database, Some(model), relation, position);
        let waits_for = match is_certain {
            true => Vec::new(),
            false => waits::waits((self.program, self.database), model, (relation, position)),
        };
        Verdict {
            name: rule.shown.clone(),
            level: level_of(level, &rule),
            is_certain,
            address: model.address(node),
            message: row.get(1).map_or(String::new(), |it| self.program.values.show(*it)),
            sentence: sentence(&rule.sentence, bound.as_ref(), self.program, model),
            place: model.place(node),
            waived: None,
            overridden: None,
            waits_for,
            why: Vec::new(),
            row: (relation, position),
            rule,
        }
    }
}

/// The rule that a row comes of: its last column says it.
pub(in crate::policy) fn info_of(row: &[u64], known: &Values) -> Option<usize> {
    usize::try_from(known.value(*row.last()?)?.as_int()?).ok()
}

/// A sentence with its variables filled in.
fn sentence(
    sentence: &str,
    bound: Option<&Binding>,
    program: &Program,
    model: &Model<'_>,
) -> String {
    filled(sentence, |name| {
        let (rule, words) = bound?;
        let rule = &program.rules[*rule];
        let at = rule.variables.iter().position(|it| it == name)?;
        let word = words[at]?;
        Some(match values::is_value(word) {
            true => program.values.show(word),
            false => model.show(&rule.kinds[at], word).to_string(),
        })
    })
}
