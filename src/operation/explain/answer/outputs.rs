//! Why a root output changes, keeps its value or goes.

use entail_rules::{Action, Atom, Keep, Node};
use rustc_hash::FxHashSet;

use super::Teller;
use super::reasons::{Because, reason};
use crate::explain::render::Line;
use crate::lower::structure::NodeKind;
use crate::operation::explain::causes::{Part, change_shown, look, shown};
use crate::plan::OutputChange;
use crate::value::difference::differences;
use crate::value::{Path, PathStep, ShowPath, Value};

/// How many parts of an output's value are named in its first line.
const PARTS: usize = 3;
/// How many parts of an output's value are followed to their causes.
const FOLLOWED: usize = 20;

impl Teller<'_> {
    /// Answers why a root output has the value that it has after the plan.
    pub fn output(&self, node: Node, relation: &str, row: &[u64]) -> Option<Because> {
        if relation == "keeps_value" {
            return self.kept(node, Keep::from_word(*row.get(1)?)?);
        }
        let name = self.name(node);
        let change = self.output_change(node);
        match Action::from_word(*row.get(1)?)? {
            Action::Create => {
                let reason =
                    Because::new(format!("{name} is not in the state"), self.declared(node));
                let mut told = Because::of(&format!("{name} will be created"), vec![reason]);
                told.below = self.causes_of(node, &Path::new(), false);
                Some(told)
            }
            Action::Delete => {
                let is_declared = self.context.facts.declared.binary_search(&(node,)).is_ok();
                let reason = match is_declared {
                    true => Because::new("its value is null", self.declared(node)),
                    false => {
                        Because::new("it is not in the configuration", Some("state".to_owned()))
                    }
                };
                Some(Because::of(&format!("{name} will be removed"), vec![reason]))
            }
            Action::Update => Some(self.changed(node, change?)),
            _ => {
                let value = change.map(|it| &it.after).filter(|it| !it.is_null());
                let value = value.map_or_else(String::new, |it| format!(": {}", shown(it)));
                Some(Because::new(format!("{name} is unchanged{value}"), self.declared(node)))
            }
        }
    }

    fn output_change(&self, node: Node) -> Option<&OutputChange> {
        let name = match self.context.structure.kind(node) {
            NodeKind::Output(_, name) | NodeKind::Recorded(name) => name,
            _ => return None,
        };
        self.causes?.model.plan.as_ref()?.plan.outputs.get(name)
    }

    /// Answers for an output whose value changes: which parts do, and where each comes from.
    fn changed(&self, node: Node, change: &OutputChange) -> Because {
        let name = self.name(node);
        let place = self.place_of_value(node);
        let (before, after) = (&change.before, &change.after);
        let mut paths = distinct(differences(before, after), before, after);
        if paths.is_empty() {
            paths.push(Path::new());
        }
        let mut parts: Vec<String> =
            paths.iter().take(PARTS).map(|path| part_changes(before, after, path)).collect();
        if paths.len() > PARTS {
            parts.push(format!("and {} more", paths.len() - PARTS));
        }
        let text = match paths.as_slice() {
            [path] if path.is_empty() => format!("{name} {}", parts.join(", ")),
            _ => format!("{name} changes: {}", parts.join(", ")),
        };
        let mut told = Because::new(text, place);
        let mut seen = FxHashSet::default();
        for path in paths.iter().take(FOLLOWED) {
            for line in self.causes_of(node, path, true) {
                if seen.insert((line.depth, line.text.clone())) {
                    told.below.push(line);
                }
            }
        }
        told
    }

    /// Where the value of an output stands.
    fn place_of_value(&self, node: Node) -> Option<String> {
        let NodeKind::Output(module, name) = self.context.structure.kind(node) else {
            return self.declared(node);
        };
        let output = self.context.structure.module(*module).config.outputs.get(name);
        output.and_then(|it| self.place(it.value.span)).or_else(|| self.declared(node))
    }

    /// What a part of a value comes from.
    ///
    /// - `skips_own`: leaves the part itself out.
    fn causes_of(&self, node: Node, path: &Path, skips_own: bool) -> Vec<Line> {
        let Some(causes) = self.causes else { return Vec::new() };
        let own = usize::from(skips_own);
        let all = causes.of(Part::Value(node, path.clone())).into_iter().skip(own);
        all.map(|it| reason(it.depth - own, it.text, it.place)).collect()
    }

    /// Answers for an output that keeps its value.
    fn kept(&self, node: Node, keep: Keep) -> Option<Because> {
        let name = self.name(node);
        let value = self.causes.and_then(|it| it.model.value(node)).filter(|it| !it.is_null());
        let head = match &value {
            Some(value) => format!("{name} keeps {}", shown(value)),
            None => format!("{name} stays without a value"),
        };
        let excluded = self.exclusion(node);
        let mut reasons: Vec<Because> = match keep {
            Keep::Destroying => vec![Because::new(
                "-destroy with -target or -exclude changes no outputs",
                self.declared(node),
            )],
            Keep::NothingTaken if !excluded.is_empty() => excluded,
            Keep::NothingTaken => {
                vec![Because::new("it depends on no object in this plan", self.declared(node))]
            }
            Keep::SomethingMissing => match self.untargeted(node) {
                Some(untargeted) => vec![untargeted],
                None => excluded,
            },
            Keep::NoValue => excluded
                .into_iter()
                .map(|it| Because {
                    text: format!("it cannot be evaluated, because {}", it.text),
                    ..it
                })
                .collect(),
        };
        if reasons.is_empty() {
            let text = "it cannot be evaluated in a plan that leaves something out";
            let below = self.causes_of(node, &Path::new(), true);
            reasons.push(Because { text: text.to_owned(), place: self.declared(node), below });
        }
        Because::completed(reasons, |first| format!("{head}: {first}."))
    }

    /// An object that a value depends on, and that no target wants.
    fn untargeted(&self, node: Node) -> Option<Because> {
        let (mut seen, mut todo) = (FxHashSet::from_iter([node]), vec![(node, None)]);
        while let Some((at, place)) = todo.pop() {
            for next in entail_rules::beside(&self.context.facts.reads, at) {
                let place: Option<String> =
                    place.clone().or_else(|| self.context.place_between(at, next));
                if self.holds("untargeted", next) || self.has_untargeted_keys(next) {
                    let verb = if at == node { "reads" } else { "depends on" };
                    let text = format!("it {verb} {}, which no -target matches", self.called(next));
                    return Some(Because::new(text, place));
                }
                let is_value = self.context.facts.value.binary_search(&(next,)).is_ok();
                if is_value && seen.insert(next) {
                    todo.push((next, place));
                }
            }
        }
        None
    }
}

impl Teller<'_> {
    /// Whether a node stands for keys that no target wants.
    fn has_untargeted_keys(&self, node: Node) -> bool {
        let facts = &self.context.facts;
        let is_keys = facts.repetition.binary_search(&(node,)).is_ok();
        is_keys && !facts.targeting.is_empty() && !self.holds("want", node)
    }
}

/// The paths at which values differ; a key that appeared or went is one, however much lies behind it.
fn distinct(all: Vec<(Path, bool)>, before: &Value, after: &Value) -> Vec<Path> {
    let mut paths: Vec<Path> = Vec::new();
    for (path, _) in all {
        let ends = (1..=path.len()).find(|end| {
            look(before, &path[..*end]).is_none() != look(after, &path[..*end]).is_none()
        });
        let path = path[..ends.unwrap_or(path.len())].to_vec();
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// What happens to a part of a value.
fn part_changes(before: &Value, after: &Value, path: &[PathStep]) -> String {
    let (old, new) = (look(before, path), look(after, path));
    let (last, around) = match path.split_last() {
        Some((last, around)) => (Some(last), around),
        None => (None, path),
    };
    let key = || {
        let text = last.map_or_else(String::new, key_text);
        match around.is_empty() {
            true => text,
            false => format!("{text} of {}", path_shown(around)),
        }
    };
    match (old, new) {
        (None, Some(new)) if last.is_some() => {
            format!("{} is added: {}", key(), shown_or_later(&new))
        }
        (Some(old), None) if last.is_some() => format!("{} is removed: {}", key(), shown(&old)),
        (old, new) => {
            let (old, new) = (old.unwrap_or(Value::NULL), new.unwrap_or(Value::NULL));
            let what = change_shown(&old, &new);
            match path.is_empty() {
                true => what,
                false => match what.strip_prefix("changes: ") {
                    // `[0] "a" → "b"`, `name: "a" → "b"`
                    Some(what) if path_shown(path).starts_with('[') => {
                        format!("{} {what}", path_shown(path))
                    }
                    Some(what) => format!("{}: {what}", path_shown(path)),
                    None => format!("{} {what}", path_shown(path)),
                },
            }
        }
    }
}

fn shown_or_later(value: &Value) -> String {
    if value.is_known() { shown(value) } else { "(known after apply)".to_owned() }
}

fn path_shown(path: &[PathStep]) -> String {
    ShowPath(path).to_string().trim_start_matches('.').to_owned()
}

fn key_text(step: &PathStep) -> String {
    match step {
        PathStep::Attribute(name) => format!("key {:?}", &**name),
        PathStep::Index(key) => match key.as_str() {
            Some(key) => format!("key {key:?}"),
            None => format!("element {}", path_shown(std::slice::from_ref(step))),
        },
    }
}
