//! What the steps of an object wait for, and the longest way through a run.

use std::collections::{BTreeMap, VecDeque};

use entail_rules::{Action, Atom, Facts, Flag, Node, Phase};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value as Json, json};

use super::causes::Causes;
use super::context::ExplainContext;
use crate::explain::Leaves;
use crate::explain::render::Line;
use crate::explain::sentence::of_planned;
use crate::reason::EngineRef;

/// How many steps of a way are named before its middle is left out.
const NAMED: usize = 12;

/// A phase of a node; a step where something is carried out then.
type At = (Node, Phase);

/// The steps of a plan, and what comes before what.
struct Steps {
    steps: FxHashSet<At>,
    before: FxHashMap<At, Vec<At>>,
    after: FxHashMap<At, Vec<At>>,
    /// Which group (`one_at_a_time`) keeps the second step waiting for the first.
    turns: FxHashMap<(At, At), Flag>,
}

impl Steps {
    fn of(engine: EngineRef, facts: &Facts) -> Steps {
        let order = engine.conclude_all(facts).order;
        let (mut before, mut after): (FxHashMap<At, Vec<At>>, FxHashMap<At, Vec<At>>) =
            Default::default();
        for &(n, f, m, g) in &order.before {
            before.entry((m, g)).or_default().push((n, f));
            after.entry((n, f)).or_default().push((m, g));
        }
        let steps = order.step.iter().copied().collect();
        let mut all = Steps { steps, before, after, turns: FxHashMap::default() };
        all.take_turns(facts);
        all
    }

    /// Puts the steps of each group (`one_at_a_time`) one after another, in the order in which they can begin.
    ///
    /// A run may choose another order. That takes as long if every step takes as long as any other.
    fn take_turns(&mut self, facts: &Facts) {
        if facts.one_at_a_time.is_empty() {
            return;
        }
        let longest = self.longest();
        let mut by_node: FxHashMap<Node, Vec<At>> = FxHashMap::default();
        self.steps.iter().for_each(|at| by_node.entry(at.0).or_default().push(*at));
        let mut groups: BTreeMap<Flag, Vec<At>> = BTreeMap::new();
        for (node, group) in &facts.one_at_a_time {
            groups.entry(*group).or_default().extend(by_node.get(node).into_iter().flatten());
        }
        for (group, mut members) in groups {
            // A step that another one depends on has a shorter way to it, so that no circle comes about.
            members.sort_by_key(|at| (longest.get(at).map_or(0, |it| it.0), *at));
            members.dedup();
            for pair in members.windows(2).filter(|it| it[0].0 != it[1].0) {
                self.before.entry(pair[1]).or_default().push(pair[0]);
                self.after.entry(pair[0]).or_default().push(pair[1]);
                self.turns.insert((pair[0], pair[1]), group);
            }
        }
    }

    /// The steps that a phase waits for, with nothing but phases without steps between.
    fn next_before(&self, at: At) -> Vec<At> {
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        let mut todo: Vec<At> = self.before.get(&at).cloned().unwrap_or_default();
        while let Some(at) = todo.pop() {
            if !seen.insert(at) {
                continue;
            }
            match self.steps.contains(&at) {
                true => found.push(at),
                false => todo.extend(self.before.get(&at).into_iter().flatten()),
            }
        }
        found.sort();
        found
    }

    /// How many steps lie on the longest way to each phase, itself included, and the phase before it on that way.
    fn longest(&self) -> FxHashMap<At, (usize, Option<At>)> {
        let mut waiting: FxHashMap<At, usize> = FxHashMap::default();
        for (at, all) in &self.before {
            waiting.insert(*at, all.len());
            for at in all {
                waiting.entry(*at).or_insert(0);
            }
        }
        for at in &self.steps {
            waiting.entry(*at).or_insert(0);
        }
        let mut ready: Vec<At> = waiting.iter().filter(|it| *it.1 == 0).map(|it| *it.0).collect();
        ready.sort();
        let mut ready: VecDeque<At> = ready.into();
        let mut found: FxHashMap<At, (usize, Option<At>)> = FxHashMap::default();
        while let Some(at) = ready.pop_front() {
            let so_far = found.entry(at).or_insert((0, None));
            so_far.0 += usize::from(self.steps.contains(&at));
            let length = so_far.0;
            for next in self.after.get(&at).into_iter().flatten() {
                let known = found.entry(*next).or_insert((0, None));
                if length > known.0 || known.1.is_none() {
                    *known = (length, Some(at));
                }
                if let Some(left) = waiting.get_mut(next) {
                    *left -= 1;
                    if *left == 0 {
                        ready.push_back(*next);
                    }
                }
            }
        }
        found
    }

    /// The steps on the longest way through the run, the first one first.
    fn critical(&self, longest: &FxHashMap<At, (usize, Option<At>)>) -> Vec<At> {
        let last = self.steps.iter().max_by_key(|it| (longest.get(*it).map(|it| it.0), **it));
        last.map_or_else(Vec::new, |it| self.way(longest, *it))
    }

    /// The same steps, with what comes last first.
    fn turned(&self) -> Steps {
        let (before, after) = (self.after.clone(), self.before.clone());
        Steps { steps: self.steps.clone(), before, after, turns: self.turns.clone() }
    }

    /// The steps on the longest way to a phase, the first one first.
    fn way(&self, longest: &FxHashMap<At, (usize, Option<At>)>, to: At) -> Vec<At> {
        let (mut way, mut at) = (Vec::new(), Some(to));
        while let Some(here) = at {
            if self.steps.contains(&here) {
                way.push(here);
            }
            at = longest.get(&here).and_then(|it| it.1);
        }
        way.reverse();
        way
    }
}

/// When each step of a plan can be carried out, where every step takes as long as any other.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// The steps, those that can come first before others.
    pub steps: Vec<Turn>,
    /// How many steps lie on the longest way through the run.
    pub most: usize,
}

/// One step of a plan.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Whose step it is.
    pub name: String,
    /// What is carried out, as a sentence.
    pub text: String,
    /// The first turn in which it can be carried out; they are counted from 1.
    pub first: usize,
    /// The last turn in which it can be, for the run to take no longer.
    pub last: usize,
    /// Its place on the longest way through the run, where it lies on that.
    pub critical: Option<usize>,
}

/// Returns the turns of a plan, with the same longest way as [`tell`] has.
pub fn turns(context: &ExplainContext, causes: &Causes<'_>) -> Turns {
    let steps = Steps::of(context.engine, &context.facts);
    let (longest, rest) = (steps.longest(), steps.turned().longest());
    let teller = Teller { context, causes };
    let critical: FxHashMap<At, usize> = steps.critical(&longest).into_iter().zip(0..).collect();
    let most = critical.len();
    let length = |of: &FxHashMap<At, (usize, Option<At>)>, at: &At| of.get(at).map_or(1, |it| it.0);
    let turn = |at: &At| Turn {
        name: context.name(at.0),
        text: teller.step(*at),
        first: length(&longest, at),
        last: (most + 1).saturating_sub(length(&rest, at)),
        critical: critical.get(at).copied(),
    };
    let mut own: Vec<At> = steps.steps.iter().copied().collect();
    own.sort_by_key(|it| (length(&longest, it), *it));
    Turns { steps: own.iter().map(turn).collect(), most }
}

/// Tells what the steps of a node wait for, or, without one, the longest way through the run.
pub fn tell(
    node: Option<Node>,
    context: &ExplainContext,
    causes: &Causes<'_>,
) -> (Vec<Line>, Json) {
    let steps = Steps::of(context.engine, &context.facts);
    let longest = steps.longest();
    let teller = Teller { context, causes };
    let mut lines = Vec::new();
    let mut document = json!({});
    if let Some(node) = node {
        let mut own: Vec<At> = steps.steps.iter().filter(|it| it.0 == node).copied().collect();
        own.sort();
        if own.is_empty() {
            lines.push(line(0, format!("nothing is carried out for {}", context.name(node)), None));
        }
        let mut all = Vec::new();
        for at in own {
            let before = steps.next_before(at);
            let what = match before.len() {
                0 => "waits for nothing".to_owned(),
                1 => "waits for one step".to_owned(),
                many => format!("waits for {many} steps"),
            };
            lines.push(line(0, format!("{}: {what}", teller.step(at)), context.place_of(node)));
            for it in &before {
                let (text, place) = match steps.turns.get(&(*it, at)) {
                    Some(group) => (
                        format!("after {}, one at a time", teller.step(*it)),
                        Some(context.id(Flag::KIND, group.word())),
                    ),
                    None => {
                        (format!("after {}", teller.step(*it)), context.place_between(node, it.0))
                    }
                };
                lines.push(line(1, text, place));
            }
            let way = steps.way(&longest, at);
            lines.push(line(1, teller.way("the longest way there", &way), None));
            all.push(json!({
                "step": teller.step(at),
                "waits_for": before.iter().map(|it| teller.step(*it)).collect::<Vec<_>>(),
                "longest": way.iter().map(|it| context.name(it.0)).collect::<Vec<_>>(),
            }));
        }
        document["address"] = context.name(node).into();
        document["steps"] = all.into();
    }
    let critical = steps.critical(&longest);
    lines.push(line(0, teller.way("the longest way through the run", &critical), None));
    document["critical_path"] =
        critical.iter().map(|it| Json::from(teller.step(*it))).collect::<Vec<_>>().into();
    (lines, document)
}

struct Teller<'a> {
    context: &'a ExplainContext,
    causes: &'a Causes<'a>,
}

impl Teller<'_> {
    /// What is carried out in a step, as a sentence.
    fn step(&self, (node, phase): At) -> String {
        let name = self.context.name(node);
        let change = self.causes.model.plan.as_ref().and_then(|it| it.change(node));
        match change {
            Some(it) if is_replacement(it.action) => match phase {
                Phase::Up | Phase::Settled | Phase::Made => {
                    format!("{name} will be created again")
                }
                Phase::Down | Phase::Late => format!("{name} will be destroyed, to be replaced"),
            },
            Some(it) => of_planned(&name, it.action),
            None => name,
        }
    }

    fn way(&self, what: &str, way: &[At]) -> String {
        let names: Vec<String> = way.iter().map(|it| self.context.name(it.0)).collect();
        let shown = match names.len() > NAMED {
            false => names.join(" → "),
            true => {
                let (first, last) = (&names[..NAMED / 2], &names[names.len() - NAMED / 2..]);
                let between = names.len() - NAMED;
                format!("{} → … {between} more … → {}", first.join(" → "), last.join(" → "))
            }
        };
        match way.len() {
            0 => format!("{what}: there is none"),
            1 => format!("{what} has one step: {shown}"),
            many => format!("{what} has {many} steps: {shown}"),
        }
    }
}

fn is_replacement(action: Action) -> bool {
    matches!(action, Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate)
}

fn line(depth: usize, text: String, place: Option<String>) -> Line {
    Line { depth, text, is_reason: false, origins: place.into_iter().collect() }
}
