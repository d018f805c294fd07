//! Which attributes contribute to what a plan changes: changes made outside are worth telling where they are among them.
//!
//! Starting from the blocks of everything that is not left as it is and from outputs that change, references are followed
//! through local values, variables, modules and other resources. A reference to an attribute leads on only to what that
//! attribute's own argument refers to. This describes a plan and decides nothing.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::Inputs;
use super::parts::Parts;
use super::progress::Part;
use crate::address::{Instance, InstanceKey, Mode, ModuleInstance, ResourceName};
use crate::config::uses::{self, Role, Use};
use crate::config::{Module, Repetition, Resource};
use crate::expression::{Reference, Subject};
use crate::observe::pool::Pool;
use crate::plan::{Action, ChangeList};
use crate::request::PlanMode;
use crate::schema::{BlockSchema, Nesting};
use crate::syntax::{Body, Expr, Step};
use crate::value::path::ShowPath;
use crate::value::{Path, PathStep, Str};

/// Returns resource instances with paths into them, sorted; where an instance cannot be told, its key is left out.
///
/// - `outputs`: the [`module_outputs`].
pub(super) fn attributes(
    parts: &Parts<'_, '_>,
    changes: &ChangeList,
    outputs: Vec<(ModuleInstance, Str)>,
) -> Vec<(String, Path)> {
    let search = Search { inputs: parts.inputs, pool: parts.observer.pool };
    let mut found = Found::default();
    let changed = changes.iter().filter(|it| it.action != Action::NoOp);
    let forgotten = forgotten_data(parts);
    for address in changed.map(|it| &it.address).chain(&forgotten) {
        let reached = Reached {
            module: address.module.clone(),
            owner: None,
            what: What::Resource(address.resource.clone(), address.key.clone()),
            rest: Vec::new(),
        };
        found.follow(&search, search.behind(&reached));
    }
    let root = ModuleInstance::default();
    let changed = parts.outputs.iter().filter(|it| it.1.action != Action::NoOp);
    let changed = changed.map(|it| (root.clone(), it.0.clone()));
    for (module, name) in changed.chain(outputs) {
        found.follow(&search, search.output(&module, &name));
    }
    found.resources.into_iter().map(|((address, _), path)| (address, path)).collect()
}

/// Returns the recorded data sources that a destroy plan takes out of the state. The plan lists no changes of them.
fn forgotten_data(parts: &Parts<'_, '_>) -> Vec<Instance> {
    if parts.inputs.request.mode != PlanMode::Destroy {
        return Vec::new();
    }
    let structure = &parts.observer.values.structure;
    let stays = |address: &Instance| {
        let resource = structure.resource_id(&address.of()).map(|it| structure.resource(it));
        let node = resource.and_then(|it| it.instance(&address.key));
        node.is_some_and(|it| matches!(parts.progress.part(it), Part::Excluded | Part::Untargeted))
    };
    let recorded = parts.inputs.state.instances().map(|it| it.0);
    recorded.filter(|it| it.resource.mode == Mode::Data && !stays(it)).collect()
}

/// The outputs of modules that have a value: they are made anew in every plan that asks for them.
pub(super) fn module_outputs(parts: &Parts<'_, '_>) -> Vec<(ModuleInstance, Str)> {
    if parts.inputs.request.mode == PlanMode::Destroy {
        return Vec::new();
    }
    let structure = &parts.observer.values.structure;
    let asked = &parts.concluded.asked_for;
    let is_asked =
        |node| parts.progress.is_evaluated(node) || asked.binary_search(&(node,)).is_ok();
    let mut found = Vec::new();
    for module in structure.modules.iter().filter(|it| !it.address.is_root() && !it.pending) {
        for (name, &node) in module.outputs.iter() {
            let has_value = || parts.observer.values.value(node).is_ok_and(|it| !it.is_null());
            if is_asked(node) && has_value() {
                found.push((module.address.clone(), name.clone()));
            }
        }
    }
    found
}

/// What was met so far.
#[derive(Default)]
struct Found {
    seen: FxHashSet<(ModuleInstance, Option<ResourceName>, What, String)>,
    resources: BTreeMap<(String, String), Path>,
}

impl Found {
    /// Follows references until nothing new is met.
    fn follow(&mut self, search: &Search<'_, '_>, start: Vec<Reached>) {
        let mut open = start;
        while let Some(next) = open.pop() {
            let path = ShowPath(&next.rest).to_string();
            let key = (next.module.clone(), next.owner.clone(), next.what.clone(), path.clone());
            if !self.seen.insert(key) {
                continue;
            }
            if let What::Resource(resource, key) = &next.what {
                let (module, resource, key) = (next.module.clone(), resource.clone(), key.clone());
                let address = Instance { module, resource, key };
                self.resources.insert((address.to_string(), path), next.rest.clone());
            }
            open.extend(search.behind(&next));
        }
    }
}

/// Something that is referred to, and a path into it.
struct Reached {
    module: ModuleInstance,
    /// Whose `each` and `count` it is.
    owner: Option<ResourceName>,
    what: What,
    rest: Path,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum What {
    Variable(Str),
    Local(Str),
    Output(Str, InstanceKey, Str),
    Module(Str, InstanceKey),
    /// The key set of the owner.
    Repetition,
    Resource(ResourceName, InstanceKey),
}

struct Search<'s, 'a> {
    inputs: &'s Inputs<'a>,
    pool: &'s Pool,
}

impl Search<'_, '_> {
    fn config(&self, module: &ModuleInstance) -> Option<&Module> {
        self.inputs.config.module_of(module).map(|it| &**it)
    }

    /// Returns what a thing's own definition refers to.
    fn behind(&self, reached: &Reached) -> Vec<Reached> {
        let module = &reached.module;
        let Some(config) = self.config(module) else { return Vec::new() };
        match &reached.what {
            What::Variable(name) => self.input(module, name),
            What::Local(name) => match config.locals.get(name) {
                Some(local) => references(module, None, &[uses::of_value(&local.value)]),
                None => Vec::new(),
            },
            What::Output(call, key, name) => self.output(&child(module, call, key), name),
            What::Module(call, key) => {
                let inside = child(module, call, key);
                let Some(config) = self.config(&inside) else { return Vec::new() };
                config.outputs.keys().flat_map(|name| self.output(&inside, name)).collect()
            }
            What::Repetition => {
                let block = reached.owner.as_ref().and_then(|it| config.resources.get(it));
                match block.map(|it| &it.besides.repetition) {
                    Some(Repetition::ForEach(it) | Repetition::Count(it)) => {
                        references(module, None, &[uses::of_value(it)])
                    }
                    _ => Vec::new(),
                }
            }
            What::Resource(name, _) => match config.resources.get(name) {
                Some(block) => self.resource(module, block, &reached.rest),
                None => Vec::new(),
            },
        }
    }

    fn output(&self, module: &ModuleInstance, name: &Str) -> Vec<Reached> {
        match self.config(module).and_then(|it| it.outputs.get(name)) {
            Some(output) => references(module, None, &[uses::of_value(&output.value)]),
            None => Vec::new(),
        }
    }

    /// What the caller of a module gives for a variable.
    fn input(&self, module: &ModuleInstance, name: &Str) -> Vec<Reached> {
        let Some(((call, _), outer)) = module.0.split_last() else { return Vec::new() };
        let outer = ModuleInstance(outer.iter().cloned().collect());
        let given = self.config(&outer).and_then(|it| it.calls.get(call)?.inputs.get(name));
        match given {
            Some(input) => references(&outer, None, &[uses::of_value(&input.value)]),
            None => Vec::new(),
        }
    }

    /// What the part of a block refers to that a path leads to.
    fn resource(
        &self,
        module: &ModuleInstance,
        block: &Resource,
        path: &[PathStep],
    ) -> Vec<Reached> {
        let schema =
            self.pool.resource_schema(&block.provider_source, block.name.mode, &block.name.kind);
        let Some(schema) = schema else { return Vec::new() };
        let found = part(&block.body, &schema.block, path);
        references(module, Some(&block.name), &found)
    }
}

fn child(module: &ModuleInstance, call: &Str, key: &InstanceKey) -> ModuleInstance {
    let inside = std::iter::once((call.clone(), key.clone()));
    ModuleInstance(module.0.iter().cloned().chain(inside).collect())
}

/// Returns the expressions of the part of a body that a path leads to.
fn part<'b>(body: &'b Body, schema: &BlockSchema, path: &[PathStep]) -> Vec<Use<'b>> {
    let Some((step, rest)) = path.split_first() else { return uses::of_body(body, Role::Value) };
    let name = match step {
        PathStep::Attribute(name) => name.clone(),
        PathStep::Index(key) => match key.as_str() {
            Some(name) => name.into(),
            None => return Vec::new(),
        },
    };
    if schema.attributes.contains_key(&name) {
        let written = body.attributes.iter().filter(|it| it.name.text == name);
        return written.map(|it| uses::of_value(&it.value)).collect();
    }
    let Some(nested) = schema.blocks.get(&name) else { return Vec::new() };
    let single = matches!(nested.nesting, Nesting::Single | Nesting::Group);
    let rest = match rest.split_first() {
        // Which of several blocks an index means is not looked into.
        Some((PathStep::Index(_), rest)) if !single => rest,
        _ => rest,
    };
    let mut found = Vec::new();
    for block in &body.blocks {
        if block.kind.text == name {
            found.extend(part(&block.body, &nested.block, rest));
        } else if &*block.kind.text == "dynamic"
            && block.labels.first().is_some_and(|it| it.text == name)
        {
            found.extend(uses::of_body(&block.body, Role::Value));
        }
    }
    found
}

fn references(
    module: &ModuleInstance,
    owner: Option<&ResourceName>,
    uses: &[Use<'_>],
) -> Vec<Reached> {
    let mut reached = Vec::new();
    for it in uses {
        let (references, _) = it.references();
        reached.extend(references.iter().filter_map(|it| reach(module, owner, it)));
    }
    reached
}

fn reach(
    module: &ModuleInstance,
    owner: Option<&ResourceName>,
    reference: &Reference<'_>,
) -> Option<Reached> {
    let mut steps = reference.rest;
    let mut own_key = || match steps.split_first() {
        Some((Step::Index(..) | Step::LegacyIndex(..) | Step::Splat(_), rest)) => {
            let key = instance_key(&steps[0]);
            // Behind a key that is not written out nothing more can be told.
            steps = if key.is_some() { rest } else { &[] };
            key.unwrap_or_default()
        }
        _ => InstanceKey::None,
    };
    let what = match reference.subject {
        Subject::Variable(name) => What::Variable(name.clone()),
        Subject::Local(name) => What::Local(name.clone()),
        Subject::EachKey | Subject::EachValue | Subject::CountIndex => {
            owner?;
            What::Repetition
        }
        Subject::Resource(name) => What::Resource(name.to_owned(), own_key()),
        Subject::Module(call) => {
            let key = own_key();
            match steps.split_first() {
                Some((Step::Attribute(output), rest)) => {
                    steps = rest;
                    What::Output(call.clone(), key, output.text.clone())
                }
                _ => What::Module(call.clone(), key),
            }
        }
        _ => return None,
    };
    let owner = matches!(what, What::Repetition).then(|| owner.cloned()).flatten();
    Some(Reached {
        module: module.clone(),
        owner,
        what,
        rest: steps.iter().map_while(Step::as_written).collect(),
    })
}

fn instance_key(step: &Step) -> Option<InstanceKey> {
    match step {
        Step::LegacyIndex(it) => Some(InstanceKey::Int(it.index as i64)),
        Step::Index(it) => match &it.key.expr {
            Expr::String(text) => Some(InstanceKey::Str(text.clone())),
            Expr::Number(number) => number.as_i64().map(InstanceKey::Int),
            _ => None,
        },
        _ => None,
    }
}
