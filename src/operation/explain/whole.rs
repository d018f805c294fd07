//! Resources and modules as a whole: what is done with their instances, grouped.

use std::collections::BTreeMap;

use entail_rules::{Action, Node};
use serde_json::{Value as Json, json};

use super::Asked;
use super::causes::{Causes, Owner, Part, lines, to_json};
use super::context::ExplainContext;
use super::failures::blocked;
use crate::explain::Leaves;
use crate::explain::render::Line;
use crate::explain::sentence::of_done;
use crate::lower::structure::{CallId, ModuleId, ResourceId, Style};

/// How many instances of a group are named.
const NAMED: usize = 5;

/// What happens to a number of objects alike.
struct Group {
    /// What is done with them, without a name.
    what: String,
    nodes: Vec<Node>,
}

/// Tells of a resource or a module as a whole; nothing where something single is asked.
pub fn tell(
    asked: &Asked,
    context: &ExplainContext,
    causes: Option<&Causes<'_>>,
) -> Option<(Vec<Line>, Json)> {
    let whole = Whole { context, causes };
    match asked {
        Asked::Resource(id) => Some(whole.resource(*id)),
        Asked::Module(id) => Some(whole.module(*id)),
        Asked::Call(id) => Some(whole.call(*id)),
        _ => None,
    }
}

struct Whole<'a> {
    context: &'a ExplainContext,
    causes: Option<&'a Causes<'a>>,
}

impl Whole<'_> {
    fn resource(&self, id: ResourceId) -> (Vec<Line>, Json) {
        let resource = self.context.structure.resource(id);
        let nodes = Asked::Resource(id).objects(self.context);
        let name = resource.address.to_string();
        let head = match nodes.len() {
            0 => format!("{name} has no instances"),
            1 => format!("{name} has one instance"),
            many => format!("{name} has {many} instances"),
        };
        let mut out = self.begin(head, resource.collection);
        if matches!(resource.style, Style::Count | Style::ForEach) {
            self.part(Part::Keys(Owner::Resource(id), None), &mut out);
        }
        self.groups(nodes, true, &mut out);
        self.finish(&name, out)
    }

    fn module(&self, id: ModuleId) -> (Vec<Line>, Json) {
        let structure = &self.context.structure;
        let module = structure.module(id);
        let name = module.address.to_string();
        let mut out = self.begin(format!("{name} is an instance of a module"), module.node);
        if let Some((_, call)) = module.parent {
            out.0[0].origins = self.place_of_call(call).into_iter().collect();
            if matches!(structure.call(call).style, Style::Count | Style::ForEach) {
                self.part(Part::Keys(Owner::Call(call), None), &mut out);
            }
        }
        let mut variables: Vec<Node> = module.variables.values().copied().collect();
        variables.sort();
        for node in variables {
            self.part(Part::Value(node, Vec::new()), &mut out);
        }
        self.groups(Asked::Module(id).objects(self.context), false, &mut out);
        self.finish(&name, out)
    }

    fn call(&self, id: CallId) -> (Vec<Line>, Json) {
        let structure = &self.context.structure;
        let call = structure.call(id);
        let name = structure.call_name(id);
        let head = match call.instances.len() {
            1 => format!("{name} has one instance"),
            many => format!("{name} has {many} instances"),
        };
        let mut out = self.begin(head, None);
        out.0[0].origins = self.place_of_call(id).into_iter().collect();
        self.part(Part::Keys(Owner::Call(id), None), &mut out);
        for &module in call.instances.values() {
            let address = structure.module(module).address.to_string();
            let groups = self.grouped(Asked::Module(module).objects(self.context));
            let all: Vec<String> =
                groups.iter().map(|it| format!("{} {}", it.nodes.len(), it.what)).collect();
            let what = if all.is_empty() { "nothing in it".to_owned() } else { all.join(", ") };
            out.0.push(own(1, format!("{address}: {what}"), Vec::new()));
        }
        self.finish(&name, out)
    }

    fn place_of_call(&self, id: CallId) -> Option<String> {
        let structure = &self.context.structure;
        let block = structure.call_block(id)?;
        Some(self.causes?.model.sources.place(block.declared))
    }

    fn begin(&self, head: String, node: Option<Node>) -> (Vec<Line>, Vec<Json>, Vec<Json>) {
        let origins = node.and_then(|it| self.context.place_of(it)).into_iter().collect();
        (vec![own(0, head, origins)], Vec::new(), Vec::new())
    }

    fn part(&self, part: Part, out: &mut (Vec<Line>, Vec<Json>, Vec<Json>)) {
        let Some(causes) = self.causes else { return };
        let found = causes.of(part);
        out.0.extend(lines(&found, 0));
        out.1.push(to_json(&found));
    }

    /// The groups, each with what its first member's change comes from.
    fn groups(
        &self,
        nodes: Vec<Node>,
        with_causes: bool,
        out: &mut (Vec<Line>, Vec<Json>, Vec<Json>),
    ) {
        for group in self.grouped(nodes) {
            let names: Vec<String> =
                group.nodes.iter().take(NAMED).map(|it| self.context.name(*it)).collect();
            let more = group.nodes.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let names = format!("{}{more}", names.join(", "));
            let text = match group.nodes.len() {
                1 => format!("{names} {}", group.what),
                many => format!("{many} × {}: {names}", group.what),
            };
            out.0.push(own(1, text, Vec::new()));
            let first = group.nodes.first().copied();
            let found = match (first, self.causes) {
                (Some(first), Some(causes)) if with_causes => causes.of_object(first),
                _ => Vec::new(),
            };
            out.0.extend(lines(&found, 0).into_iter().map(|it| Line { depth: it.depth + 1, ..it }));
            let objects: Vec<String> =
                group.nodes.iter().map(|it| self.context.name(*it)).collect();
            out.2
                .push(json!({ "what": group.what, "objects": objects, "causes": to_json(&found) }));
        }
    }

    fn finish(
        &self,
        name: &str,
        (lines, parts, groups): (Vec<Line>, Vec<Json>, Vec<Json>),
    ) -> (Vec<Line>, Json) {
        let causes: Vec<Json> =
            parts.into_iter().flat_map(|it| it.as_array().cloned().unwrap_or_default()).collect();
        let head = lines.first().map_or("", |it| &it.text);
        let document =
            json!({ "address": name, "sentence": head, "causes": causes, "groups": groups });
        (lines, document)
    }

    fn has_failed(&self, node: Node) -> bool {
        self.context.failures.why(node, &self.context.facts).is_some()
    }

    /// Objects by what is done with them, in the order in which people ask.
    fn grouped(&self, nodes: Vec<Node>) -> Vec<Group> {
        let mut groups: BTreeMap<(u8, String), Vec<Node>> = BTreeMap::new();
        let plan = self.causes.and_then(|it| it.model.plan.as_ref());
        let blocked = blocked(self.context.engine, &self.context.facts);
        for node in nodes {
            let change = plan.and_then(|it| it.change(node));
            let (rank, what) = match change {
                Some(change) => {
                    let what = of_done("", Some(change.action), Some(change.reason));
                    (rank(change.action), what.trim().to_owned())
                }
                None if self.has_failed(node) => (7, "could not be planned".into()),
                None if blocked.contains(&node) => {
                    (8, "could not be planned, because something that it reads failed".into())
                }
                None => (9, "takes no part in this plan".to_owned()),
            };
            groups.entry((rank, what)).or_default().push(node);
        }
        groups.into_iter().map(|((_, what), nodes)| Group { what, nodes }).collect()
    }
}

/// A line that is a part of what stands above it.
fn own(depth: usize, text: String, origins: Vec<String>) -> Line {
    Line { depth, text, is_reason: false, origins }
}

fn rank(action: Action) -> u8 {
    match action {
        Action::Delete => 0,
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => 1,
        Action::Forget | Action::Drop => 2,
        Action::Create => 3,
        Action::Update => 4,
        Action::Read => 5,
        Action::NoOp => 6,
    }
}
