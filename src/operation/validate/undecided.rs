//! A configuration in which nothing is decided: every block once, every value unknown of its type.

use std::collections::BTreeMap;
use std::sync::Arc;

use entail_rules::Node;
use rustc_hash::FxHashMap;

use super::rounds::Round;
use crate::address::{InstanceKey, Keyed, Mode, Module as ModuleAddr, ModuleInstance};
use crate::config;
use crate::lower::blocks::{ModuleCode, Modules};
use crate::lower::structure::{
    CallId, CallNode, ModuleId, ModuleNode, NodeKind, ResourceId, Structure, Style,
};
use crate::observe::pool::Pool;
use crate::observe::values::Values;
use crate::operation::session::Session;
use crate::operation::variables::unknown_of;
use crate::schema::{self, BlockSchema};
use crate::value::{Marks, Str, Type, Value};

/// Returns the variables of the root module, unknown of their types.
pub(super) fn variables(root: &config::Module) -> BTreeMap<Str, Value> {
    root.variables.iter().map(|(name, it)| (name.clone(), unknown_of(it))).collect()
}

/// Returns the instance that stands for all instances of a module.
fn instance(path: &ModuleAddr) -> ModuleInstance {
    ModuleInstance(path.0.iter().map(|it| (it.clone(), InstanceKey::None)).collect())
}

/// Returns what expressions can refer to.
pub(super) fn values<'a>(
    session: &'a Session,
    round: &Round,
    pool: &'a Pool,
    variables: &'a BTreeMap<Str, Value>,
) -> Values<'a> {
    let (structure, call_types) = structure(&session.graph.modules, round);
    let (world, sources) = (&session.world, &session.sources);
    let mut values = Values::new(&session.config, structure, variables, world, sources);
    values.call_types = call_types;
    values.workspace = &session.workspace;
    values.pool = Some(pool);
    values.plan_time = None;
    values.is_validating = true;
    for module in values.structure.modules.iter().filter(|it| it.parent.is_some()) {
        for (name, &node) in module.variables.iter() {
            values.record(node, unknown_of(&module.config.variables[name]));
        }
    }
    settle_objects(&mut values, pool);
    values
}

fn settle_objects(values: &mut Values<'_>, pool: &Pool) {
    // Many resources share a schema: they share the value, too.
    let mut unknown: FxHashMap<usize, Value> = FxHashMap::default();
    for id in 0..values.structure.resources.len() {
        let resource = &values.structure.resources[id];
        let name = &resource.address.resource;
        let Some(block) = values.structure.block(ResourceId(id as u32)) else { continue };
        let Some(schema) = pool.resource_schema(&block.provider_source, name.mode, &name.kind)
        else {
            continue;
        };
        let value = match resource.style {
            Style::Enabled => Value::unknown(schema.block.ty()),
            _ => unknown
                .entry(Arc::as_ptr(schema) as usize)
                .or_insert_with(|| unknown_object(&schema.block))
                .clone(),
        };
        let value =
            if name.mode == Mode::Ephemeral { value.mark(&Marks::ephemeral()) } else { value };
        if let Some(&node) = resource.instances.get(&InstanceKey::None) {
            values.record(node, value);
        }
        values.learn(ResourceId(id as u32), schema);
    }
}

/// An object with every attribute unknown; unknown as a whole where nothing in it will be marked.
fn unknown_object(schema: &BlockSchema) -> Value {
    let whole = Value::unknown(schema.ty());
    let attributes = schema.ty().attributes().iter().map(|it| (it.0.clone(), Value::unknown(it.1)));
    let object = Value::object(attributes);
    if schema::sensitive_paths(schema, &object).is_empty() && !schema::has_deprecations(schema) {
        whole
    } else {
        schema::mark_sensitive(&object, schema)
    }
}

/// Every module call, resource and value once, in the modules in which something is looked at; and the type of each call. What
/// repeats has no instances, and stands for itself.
///
/// The modules come in the order of the round.
fn structure(modules: &Modules, round: &Round) -> (Structure, Vec<Type>) {
    let standing = round.standing().map(|it| &*modules[it].config);
    let mut structure = Structure::with_room(standing);
    // Many modules have the same code.
    let mut outputs: FxHashMap<*const config::Module, Type> = FxHashMap::default();
    let mut call_types = Vec::new();
    for &number in &round.chosen {
        let ModuleCode { variant, config: module, caller, .. } = &modules[number];
        let parent = caller.and_then(|(outer, block)| {
            let place = block as usize - modules[outer].first_call();
            let outer = round.module(outer)?;
            Some((outer, structure.module(outer).besides.calls.get(place)?))
        });
        if let Some((_, call)) = parent {
            let outputs = *outputs.entry(Arc::as_ptr(module)).or_insert_with(|| given_by(module));
            call_types[call.index()] = match structure.call(call).style {
                Style::Count => Type::list(outputs),
                Style::ForEach => Type::map(outputs),
                Style::Single | Style::Enabled => outputs,
            };
        }
        let Some(id) = round.module(number) else { continue };
        let made = structure.add_module(ModuleNode {
            parent,
            pending: parent.is_some(),
            ..ModuleNode::new(instance(&variant.path), variant.path.clone(), module.clone())
        });
        debug_assert_eq!(made, id);
        if let Some((_, call)) = parent {
            structure.calls[call.index()].instances.insert(InstanceKey::None, id);
        }
        add_calls(&mut structure, id, module);
        call_types.resize(structure.calls.len(), Type::DYNAMIC);
        add_resources(&mut structure, id, module);
    }
    (structure, call_types)
}

/// The type of what a module gives.
fn given_by(module: &config::Module) -> Type {
    Type::object(module.outputs.keys().map(|it| (it.clone(), Type::DYNAMIC)).collect())
}

fn add_calls(structure: &mut Structure, module: ModuleId, code: &config::Module) {
    for (place, (name, call)) in code.calls.into_iter().enumerate() {
        let id = CallId(structure.calls.len() as u32);
        let keys = structure.add(NodeKind::CallKeys(id));
        structure.add_call(CallNode {
            parent: module,
            name: name.clone(),
            place: place as u32,
            style: Style::of(&call.repetition),
            keys,
            all: keys,
            inside: None,
            given: Default::default(),
            instances: Keyed::new(),
            pending: true,
            named: Default::default(),
        });
    }
}

fn add_resources(structure: &mut Structure, module: ModuleId, code: &config::Module) {
    for place in 0..code.resources.len() {
        let resource = structure.declare(module, place);
        let style = structure.resource(resource).style;
        let repeats = matches!(style, Style::Count | Style::ForEach);
        let node: Node = match repeats {
            true => structure.add(NodeKind::Pending(resource)),
            false => structure.add_instance(resource, InstanceKey::None),
        };
        let known = &mut structure.resources[resource.index()];
        known.collection = Some(node);
        if repeats {
            known.besides.pending = Some(node);
            known.besides.repetition = Some(node);
        }
    }
}
