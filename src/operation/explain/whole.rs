//! Resources and modules as a whole: what is done with their instances, grouped.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::{Action, Atom, Node};
use serde_json::{Value as Json, json};

use super::answer::{Because, Teller, part};
use super::causes::{Owner, Part, lines, to_json};
use super::{Asked, Decided};
use crate::address::ModuleInstance;
use crate::explain::Leaves;
use crate::explain::render::Line;
use crate::explain::sentence::of_done;
use crate::lower::structure::{CallId, ModuleId, ResourceId, Style};

/// How many instances of a group are named.
const NAMED: usize = 5;

/// What happens to a number of objects alike.
#[derive(Clone)]
struct Group {
    /// What is done with them, as a count says it: `destroyed`.
    word: &'static str,
    nodes: Vec<Node>,
}

/// Answers about a resource or a module as a whole; nothing where something single is asked.
///
/// - `decided`: what is decided of each of its objects.
pub fn tell(asked: &Asked, teller: &Teller<'_>, decided: &Decided) -> Option<(Vec<Line>, Json)> {
    let whole = Whole { teller, decided };
    match asked {
        Asked::Resource(id) => Some(whole.resource(*id)),
        Asked::Module(id) => Some(whole.module(*id)),
        Asked::Call(id) => Some(whole.call(*id)),
        Asked::Gone(module) => Some(whole.gone(asked, module)),
        _ => None,
    }
}

struct Whole<'a> {
    teller: &'a Teller<'a>,
    decided: &'a Decided,
}

/// An answer in the making: its lines, and the causes and groups of its document.
#[derive(Default)]
struct Told {
    lines: Vec<Line>,
    causes: Vec<Json>,
    groups: Vec<Json>,
}

impl Whole<'_> {
    fn resource(&self, id: ResourceId) -> (Vec<Line>, Json) {
        let structure = &self.teller.context.structure;
        let resource = structure.resource(id);
        let nodes = Asked::Resource(id).objects(self.teller.context);
        let name = resource.address.to_string();
        let groups = self.grouped(nodes);
        if groups.is_empty()
            && let Some(told) =
                self.without_keys(&name, resource.besides.repetition, resource.style)
        {
            return finish(&name, told);
        }
        let head = format!("{name} has {}", counted(count(&groups), "instance"));
        let place = structure.block(id).and_then(|it| self.teller.place(it.declared));
        let place = place.or_else(|| self.teller.declared(resource.collection?));
        let mut told = Told::default();
        told.lines.push(part(0, with_summary(head, &groups), place));
        self.add_groups(&groups, &mut told);
        if matches!(resource.style, Style::Count | Style::ForEach) {
            self.add_keys(Owner::Resource(id), &groups, &mut told);
        }
        finish(&name, told)
    }

    fn module(&self, id: ModuleId) -> (Vec<Line>, Json) {
        let structure = &self.teller.context.structure;
        let module = structure.module(id);
        let name = module.address.to_string();
        let groups = self.grouped(Asked::Module(id).objects(self.teller.context));
        let call = module.parent.map(|it| it.1);
        let head = match call.filter(|it| structure.call(*it).style != Style::Single) {
            Some(call) => format!("{name} is an instance of {}", structure.call_name(call)),
            None => format!("{name} has one instance"),
        };
        let place = call.and_then(|it| self.place_of_call(it));
        let mut told = Told::default();
        match self.only_one(&groups) {
            Some(node) => {
                let Because { text, place: at, below } = self.within(&name, node);
                told.lines.push(part(0, format!("{head}; its object {text}"), at.or(place)));
                told.lines.extend(below);
                let others: Vec<Group> =
                    groups.iter().filter(|it| it.nodes != [node]).cloned().collect();
                if others.iter().any(|it| !is_quiet(it.word)) {
                    told.lines.push(part(1, format!("others: {}", summary(&others)), None));
                }
                self.add_documents(&groups, &mut told);
            }
            None => {
                told.lines.push(part(0, with_summary(head, &groups), place));
                self.add_groups(&groups, &mut told);
            }
        }
        if let Some(call) = call
            && matches!(structure.call(call).style, Style::Count | Style::ForEach)
        {
            self.add_keys(Owner::Call(call), &groups, &mut told);
        }
        let mut variables: Vec<Node> = module.variables.values().copied().collect();
        variables.sort();
        for node in variables {
            self.add_part(Part::Value(node, Vec::new()), &mut told);
        }
        finish(&name, told)
    }

    fn call(&self, id: CallId) -> (Vec<Line>, Json) {
        let context = self.teller.context;
        let structure = &context.structure;
        let call = structure.call(id);
        let name = structure.call_name(id);
        if call.instances.is_empty()
            && let Some(told) = self.without_keys(&name, Some(call.keys), call.style)
        {
            return finish(&name, told);
        }
        let mut told = Told::default();
        let head = format!("{name} has {}", counted(call.instances.len(), "instance"));
        let all = self.grouped(Asked::Call(id).objects(context));
        told.lines.push(part(0, with_summary(head, &all), self.place_of_call(id)));
        for &module in call.instances.values() {
            let address = structure.module(module).address.to_string();
            let groups = self.grouped(Asked::Module(module).objects(context));
            let what =
                if groups.is_empty() { "nothing in it".to_owned() } else { summary(&groups) };
            told.lines.push(part(1, format!("{address}: {what}"), None));
        }
        for module in gone_instances(id, self.teller) {
            let groups = self.grouped(Asked::Gone(module.clone()).objects(context));
            let reason = self.teller.module_gone(&module);
            let text = format!("{module}: {}, because {}", summary(&groups), reason.text);
            told.lines.push(part(1, text, reason.place));
        }
        self.add_keys(Owner::Call(id), &all, &mut told);
        finish(&name, told)
    }

    /// A module instance that only the state has.
    fn gone(&self, asked: &Asked, module: &ModuleInstance) -> (Vec<Line>, Json) {
        let groups = self.grouped(asked.objects(self.teller.context));
        let name = module.to_string();
        let head = match groups.as_slice() {
            [only] if only.word == "destroyed" => format!("{name} will be destroyed"),
            _ => format!("{name} is no longer declared"),
        };
        let lines = Because::of(&head, vec![self.teller.module_gone(module)]).lines();
        let mut told = Told { lines, ..Told::default() };
        told.lines.push(part(1, summary(&groups), Some("state".to_owned())));
        self.add_documents(&groups, &mut told);
        finish(&name, told)
    }

    fn place_of_call(&self, id: CallId) -> Option<String> {
        let block = self.teller.context.structure.call_block(id)?;
        self.teller.place(block.declared)
    }

    /// The answer for a block whose keys are not known, because what they depend on is excluded.
    fn without_keys(&self, name: &str, keys: Option<Node>, style: Style) -> Option<Told> {
        let keys = keys.filter(|it| self.teller.holds("out", *it))?;
        let word = if style == Style::Count { "count" } else { "for_each" };
        let told = Because::completed(self.teller.exclusion(keys), |first| {
            let reason = first.strip_prefix("it ").unwrap_or(first);
            format!("{name} has no known instances: its {word} {reason}.")
        })?;
        Some(Told { lines: told.lines(), ..Told::default() })
    }

    /// Adds what the keys come from. Where all objects are excluded, their keys may not be known.
    fn add_keys(&self, owner: Owner, groups: &[Group], told: &mut Told) {
        if groups.is_empty() || groups.iter().any(|it| it.word != "excluded") {
            self.add_part(Part::Keys(owner, None), told);
        }
    }

    /// Adds what a part comes from. A line that is there already is not repeated.
    fn add_part(&self, part: Part, told: &mut Told) {
        let Some(causes) = self.teller.causes else { return };
        let found = causes.of(part);
        let own = lines(&found, 0);
        // `count of X is 5` is told by `index 5 is out of range: count is 5`.
        let keys = |text: &str| {
            let (argument, value) = (text.split_once(" of ")?.0, text.split_once(" is ")?.1);
            Some(format!(": {argument} is {value}"))
        };
        let is_told = |first: &Line| {
            let keys = keys(&first.text);
            let says = |it: &Line| keys.as_ref().is_some_and(|keys| it.text.ends_with(keys));
            told.lines.iter().any(|it| it.text == first.text || says(it))
        };
        if !own.first().is_some_and(is_told) {
            told.lines.extend(own);
        }
        told.causes.extend(to_json(&found).as_array().cloned().unwrap_or_default());
    }

    /// The only object of which anything is to be told.
    fn only_one(&self, groups: &[Group]) -> Option<Node> {
        let told: Vec<&Group> = groups.iter().filter(|it| !is_quiet(it.word)).collect();
        let excluded: Vec<&Group> = groups.iter().filter(|it| it.word == "excluded").collect();
        // In a plan that excludes something, that is what people ask for.
        match if excluded.is_empty() { &told } else { &excluded }.as_slice() {
            [only] if only.nodes.len() == 1 => only.nodes.first().copied(),
            _ => None,
        }
    }

    /// What is decided of an object, by its name within a module.
    fn within(&self, module: &str, node: Node) -> Because {
        let name = self.teller.context.name(node);
        let own = name.strip_prefix(&format!("{module}.")).unwrap_or(&name).to_owned();
        let told = self.told(node);
        let rest = told.text.strip_prefix(&name).unwrap_or("").trim_start().to_owned();
        let text = match rest.strip_prefix("is excluded from this plan: ") {
            Some(reason) => format!("{own} is excluded because {reason}"),
            None => format!("{own} {rest}").replace(&name, &own),
        };
        Because { text, ..told }
    }

    fn told(&self, node: Node) -> Because {
        let context = self.teller.context;
        if let Some((why, place)) = context.failures.why(node, &context.facts) {
            let text = format!("{} could not be planned: {why}", context.name(node));
            return Because::new(text, place);
        }
        let lines = match self.decided.get(&node) {
            Some((relation, row)) => self.teller.decision(node, relation, row),
            None => Vec::new(),
        };
        let mut lines = lines.into_iter();
        match lines.next() {
            Some(first) => Because {
                text: first.text,
                place: first.origins.into_iter().next(),
                below: lines.collect(),
            },
            None => {
                let what = self.teller.failure(node).unwrap_or("takes part in this plan");
                let text = format!("{} {what}", self.teller.context.name(node));
                Because::new(text, self.teller.declared(node))
            }
        }
    }

    /// The groups, each with what its first member's change comes from.
    fn add_groups(&self, groups: &[Group], told: &mut Told) {
        for group in groups.iter().filter(|it| !is_quiet(it.word)) {
            let Some((first, others)) = group.nodes.split_first() else { continue };
            let Because { text, place, below } = self.told(*first);
            told.lines.push(part(1, text, place));
            if !others.is_empty() {
                let names: Vec<String> =
                    others.iter().take(NAMED).map(|it| self.teller.context.name(*it)).collect();
                let more = others.len().saturating_sub(NAMED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let text = format!("the same applies to {}{more}", names.join(", "));
                told.lines.push(part(2, text, None));
            }
            told.lines.extend(below.into_iter().map(|it| Line { depth: it.depth + 1, ..it }));
        }
        self.add_documents(groups, told);
    }

    fn add_documents(&self, groups: &[Group], told: &mut Told) {
        for group in groups {
            let found = group.nodes.first().zip(self.teller.causes);
            let found = found.map_or_else(Vec::new, |(node, causes)| causes.of_object(*node));
            let objects: Vec<String> =
                group.nodes.iter().map(|it| self.teller.context.name(*it)).collect();
            let what =
                group.nodes.first().map_or_else(String::new, |it| self.what(*it, group.word));
            told.groups
                .push(json!({ "what": what, "objects": objects, "causes": to_json(&found) }));
        }
    }

    /// What is done with an object, for documents.
    fn what(&self, node: Node, word: &str) -> String {
        let plan = self.teller.causes.and_then(|it| it.model.plan.as_ref());
        match plan.and_then(|it| it.change(node)) {
            Some(it) => of_done("", Some(it.action), Some(it.reason)).trim().to_owned(),
            None => self.teller.failure(node).map_or_else(|| format!("is {word}"), str::to_owned),
        }
    }

    /// Objects by what is done with them, in the order in which people ask.
    fn grouped(&self, nodes: Vec<Node>) -> Vec<Group> {
        let mut groups: BTreeMap<(usize, u64), (&'static str, Vec<Node>)> = BTreeMap::new();
        for node in nodes {
            let (word, reason) = self.word(node);
            let rank = WORDS.iter().position(|it| *it == word).unwrap_or(WORDS.len());
            groups.entry((rank, reason)).or_insert((word, Vec::new())).1.push(node);
        }
        groups.into_values().map(|(word, nodes)| Group { word, nodes }).collect()
    }

    /// What is done with an object, as a count says it, and for which reason.
    fn word(&self, node: Node) -> (&'static str, u64) {
        if self.teller.failure(node).is_some() {
            return ("failed", 0);
        }
        let Some((relation, row)) = self.decided.get(&node) else { return ("unchanged", 0) };
        let action = row.get(1).and_then(|it| Action::from_word(*it));
        let reason = row.get(2).copied().unwrap_or_default();
        match *relation {
            "action" => (action.map_or("unchanged", done), reason),
            "violation" => ("refused", 0),
            "excluded" => ("excluded", 0),
            "untargeted" => ("not targeted", 0),
            "reads_now" | "reuses" => ("read", 0),
            "opens" | "opened" | "opens_later" => ("opened", 0),
            _ => ("unchanged", 0),
        }
    }
}

/// What is done with objects, in the order in which people ask.
const WORDS: &[&str] = &[
    "refused",
    "failed",
    "destroyed",
    "replaced",
    "removed from the state",
    "created",
    "updated",
    "to be read",
    "excluded",
    "not targeted",
    "opened",
    "read",
    "unchanged",
];

/// Whether nothing is to be told of objects with which that is done.
fn is_quiet(word: &str) -> bool {
    matches!(word, "unchanged" | "read" | "opened")
}

fn done(action: Action) -> &'static str {
    match action {
        Action::Delete => "destroyed",
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => {
            "replaced"
        }
        Action::Forget | Action::Drop => "removed from the state",
        Action::Create => "created",
        Action::Update => "updated",
        Action::Read => "to be read",
        Action::NoOp => "unchanged",
    }
}

fn count(groups: &[Group]) -> usize {
    groups.iter().map(|it| it.nodes.len()).sum()
}

fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("one {what}"),
        many => format!("{many} {what}s"),
    }
}

/// `6 replaced, 1 updated, 2 unchanged`
fn summary(groups: &[Group]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for group in groups {
        match counts.last_mut().filter(|it| it.0 == group.word) {
            Some(last) => last.1 += group.nodes.len(),
            None => counts.push((group.word, group.nodes.len())),
        }
    }
    let all: Vec<String> = counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
    all.join(", ")
}

fn with_summary(head: String, groups: &[Group]) -> String {
    if groups.is_empty() { head } else { format!("{head}: {}", summary(groups)) }
}

fn finish(name: &str, told: Told) -> (Vec<Line>, Json) {
    let head = told.lines.first().map_or("", |it| &it.text);
    let document = json!({
        "address": name, "sentence": head, "causes": told.causes, "groups": told.groups,
    });
    (told.lines, document)
}

/// The instances of a call that only the state has.
fn gone_instances(id: CallId, teller: &Teller<'_>) -> BTreeSet<ModuleInstance> {
    let structure = &teller.context.structure;
    let call = structure.call(id);
    let around = &structure.module(call.parent).address.0;
    let depth = around.len();
    let of_call = structure.resources.iter().enumerate().filter(|(_, it)| {
        let path = &it.address.module.0;
        path.starts_with(around) && path.get(depth).is_some_and(|it| it.0 == call.name)
    });
    let modules = of_call.filter_map(|(number, it)| {
        let module = ModuleInstance(it.address.module.0[..=depth].into());
        let is_gone = structure.module_id(&module).is_none_or(|it| !structure.stands(it));
        let id = ResourceId(number as u32);
        let has_objects = !Asked::Resource(id).objects(teller.context).is_empty();
        (is_gone && has_objects).then_some(module)
    });
    modules.collect()
}
