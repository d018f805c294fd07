//! A configuration in which nothing is decided: every block once, every value unknown of its type.

use std::collections::BTreeMap;
use std::sync::Arc;

use entail_rules::Node;
use rustc_hash::FxHashMap;

use super::rounds::Round;
use crate::address::{InstanceKey, Keyed, Mode, Module as ModuleAddr, ModuleInstance};
use crate::config;
use crate::lower::blocks::Modules;
use crate::lower::structure::{
    CallId, CallNode, ModuleNode, NodeKind, ResourceId, Structure, Style,
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
    let mut values = Values::new(
        &session.config,
        structure(&session.graph.modules, round),
        variables,
        &session.world,
        &session.sources,
    );
    values.workspace = &session.workspace;
    values.pool = Some(pool);
    values.plan_time = None;
    values.is_validating = true;
    // Many modules have the same code.
    let mut types: FxHashMap<usize, Type> = FxHashMap::default();
    for (id, call) in values.structure.calls.iter().enumerate() {
        let Some(module) = call.instances.get(&InstanceKey::None) else { continue };
        let module = &values.structure.module(*module).config;
        let of = |it: &config::Module| {
            Type::object(it.outputs.keys().map(|it| (it.clone(), Type::DYNAMIC)).collect())
        };
        let outputs = *types.entry(Arc::as_ptr(module).addr()).or_insert_with(|| of(module));
        values.call_types[id] = match call.style {
            Style::Count => Type::list(outputs),
            Style::ForEach => Type::map(outputs),
            Style::Single | Style::Enabled => outputs,
        };
    }
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

/// Every module call, resource and value once. What repeats has no instances, and stands for itself.
///
/// The modules come in the order of the round.
fn structure(modules: &Modules, round: &Round) -> Structure {
    let chosen = || round.chosen.iter().map(|it| &modules[*it]);
    let mut structure = Structure::with_room(chosen().map(|it| &*it.config));
    for (&number, code) in round.chosen.iter().zip(chosen()) {
        let (path, module) = (&code.variant.path, &code.config);
        let parent = code.caller.and_then(|(outer, _)| {
            let outer = round.ids[outer.index()]?;
            let call: CallId = *structure.module(outer).calls.get(path.0.last()?)?;
            Some((outer, call))
        });
        let id = structure.add_module(ModuleNode {
            parent,
            pending: parent.is_some(),
            ..ModuleNode::new(instance(path), path.clone(), module.clone())
        });
        debug_assert_eq!(round.ids[number.index()], Some(id));
        if let Some((_, call)) = parent {
            structure.calls[call.index()].instances.insert(InstanceKey::None, id);
        }
        for (name, call) in &module.calls {
            let call_id = CallId(structure.calls.len() as u32);
            let keys = structure.add(NodeKind::CallKeys(call_id));
            let style = Style::of(&call.repetition);
            structure.calls.push(CallNode {
                parent: id,
                name: name.clone(),
                style,
                keys,
                all: keys,
                inside: keys,
                given: Default::default(),
                instances: Keyed::new(),
                pending: true,
                named: Default::default(),
            });
            structure.modules[id.index()].calls.insert(name.clone(), call_id);
        }
        let is_needed = round.fresh.contains(&number) || is_looked_into(module);
        for place in 0..if is_needed { module.resources.len() } else { 0 } {
            let resource = structure.declare(id, place);
            let style = structure.resource(resource).style;
            let repeats = matches!(style, Style::Count | Style::ForEach);
            let node: Node = match repeats {
                true => structure.add(NodeKind::Pending(resource)),
                false => structure.add_instance(resource, InstanceKey::None),
            };
            let known = &mut structure.resources[resource.index()];
            known.collection = Some(node);
            if repeats {
                known.pending = Some(node);
                known.repetition = Some(node);
            }
        }
    }
    structure
}

/// Whether what a module gives to others or says of its variables may name something in it.
fn is_looked_into(module: &config::Module) -> bool {
    !module.calls.is_empty() || module.variables.values().any(|it| !it.validations.is_empty())
}
