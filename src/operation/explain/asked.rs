//! What a question is about: anything that has an address.

use entail_rules::Node;

use super::context::ExplainContext;
use crate::address::{Instance, InstanceKey, ModuleInstance, Resource};
use crate::diagnostic::{Diagnostic, FileId};
use crate::lower::Structure;
use crate::lower::structure::{CallId, ModuleId, NodeKind, ResourceId, ResourceNode};
use crate::syntax::{Expr, Step, parse_expression};
use crate::value::{Path, PathStep};

/// What is asked of.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// An object, an output of the root module, a provider instance: something that is decided about.
    Decided(Node),
    /// An attribute of an object.
    Attribute(Node, Path),
    /// A variable, a local value, an output, or a part of one.
    Value(Node, Path),
    /// A check.
    Check(Node),
    /// A resource: all of its instances.
    Resource(ResourceId),
    /// A module instance.
    Module(ModuleId),
    /// A module call: all of its instances.
    Call(CallId),
    /// A module, or an instance of one, that only the state has. A step without a key stands for every instance.
    Gone(ModuleInstance),
}

impl Asked {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// If nothing has it.
    pub fn read(text: &str, context: &ExplainContext) -> Result<Asked, Diagnostic> {
        let text = text.trim();
        let found = whole(text, context).or_else(|| Asked::moved(text, context));
        if let Some(found) = found.or_else(|| without_keys(text, context)) {
            return Ok(found);
        }
        // Of `a.b["c.d"].e`, the longest beginning that is one.
        let ends = text.char_indices().rev().filter(|it| matches!(it.1, '.' | '[')).map(|it| it.0);
        for end in ends {
            let Some(path) = path(&text[end..]) else { continue };
            match whole(&text[..end], context) {
                Some(Asked::Decided(node) | Asked::Value(node, _)) => {
                    return match context.structure.kind(node) {
                        NodeKind::Object(..) => Ok(Asked::Attribute(node, path)),
                        NodeKind::Variable(..) | NodeKind::Local(..) | NodeKind::Output(..) => {
                            Ok(Asked::Value(node, path))
                        }
                        _ => Err(unknown(text, context)),
                    };
                }
                // A whole without its key is no value of that name.
                Some(_) => break,
                None => {}
            }
        }
        Err(unknown(text, context))
    }

    /// Returns what has an address that a `moved` block gave up.
    pub fn moved(text: &str, context: &ExplainContext) -> Option<Asked> {
        let moves = || context.formerly.iter();
        if let Ok(old) = text.parse::<Instance>()
            && let Some((_, new)) = moves().find(|it| it.0 == old)
        {
            return whole(&new.to_string(), context);
        }
        if let Ok(old) = text.parse::<Resource>()
            && let Some((_, new)) = moves().find(|it| it.0.of() == old)
        {
            return whole(&new.of().to_string(), context);
        }
        let module: ModuleInstance =
            text.parse().ok().filter(|it: &ModuleInstance| !it.is_root())?;
        let (old, new) = moves().find(|it| it.0.module.0.starts_with(&module.0))?;
        // What follows the module that moved is the same before and after.
        let rest = old.module.0.len() - module.0.len();
        let length = new.module.0.len().checked_sub(rest)?;
        let moved = ModuleInstance(new.module.0[..length].into());
        (moved != module && !moved.is_root()).then(|| whole(&moved.to_string(), context))?
    }

    /// Returns the node that decisions are about, where there is one.
    pub fn node(&self) -> Option<Node> {
        match self {
            Asked::Decided(node)
            | Asked::Attribute(node, _)
            | Asked::Value(node, _)
            | Asked::Check(node) => Some(*node),
            Asked::Resource(_) | Asked::Module(_) | Asked::Call(_) | Asked::Gone(_) => None,
        }
    }

    /// Returns the objects that it stands for: instances, and what stands for instances that are not known yet.
    pub fn objects(&self, context: &ExplainContext) -> Vec<Node> {
        let structure = &context.structure;
        let of = |id: ResourceId| {
            let resource = structure.resource(id);
            let all = resource.instances.values().chain(resource.besides.others.values());
            all.copied().chain(resource.besides.pending).collect::<Vec<_>>()
        };
        let within = |id: ModuleId| {
            let around = &structure.module(id).address.0;
            let all = structure.resources.iter().enumerate();
            let inner = all.filter(|it| it.1.address.module.0.starts_with(around));
            inner.flat_map(|it| of(ResourceId(it.0 as u32))).collect::<Vec<_>>()
        };
        let gone = |module: &ModuleInstance| {
            let all = structure.resources.iter().enumerate();
            let inner = all.filter(|it| is_named(module, &it.1.address.module));
            inner.flat_map(|it| of(ResourceId(it.0 as u32))).collect::<Vec<_>>()
        };
        let found = match self {
            Asked::Decided(node) | Asked::Attribute(node, _) => vec![*node],
            Asked::Resource(id) => of(*id),
            Asked::Module(id) => within(*id),
            Asked::Call(id) => {
                let call = structure.call(*id);
                let around = &structure.module(call.parent).address;
                gone(&around.child(&call.name, InstanceKey::None))
            }
            Asked::Gone(module) => gone(module),
            Asked::Value(..) | Asked::Check(_) => Vec::new(),
        };
        let is_object = |it: &Node| {
            matches!(structure.kind(*it), NodeKind::Object(..) | NodeKind::Pending(_))
                && context.is_there(*it)
        };
        found.into_iter().filter(is_object).collect()
    }
}

fn whole(text: &str, context: &ExplainContext) -> Option<Asked> {
    if let Some(node) = context.find(text) {
        return Some(Asked::Decided(node));
    }
    let structure = &context.structure;
    if let Some(found) = of_module(text, structure) {
        return Some(found);
    }
    let resource = |it: Resource| structure.resource_id(&it);
    if let Some(id) = text.parse().ok().and_then(resource) {
        let node = structure.resource(id);
        let mut all = node.instances.values().chain(node.besides.others.values());
        return all
            .any(|it| context.is_there(*it))
            .then_some(Asked::Resource(id))
            .or_else(|| is_declared(node, structure).then_some(Asked::Resource(id)));
    }
    let module: ModuleInstance = text.parse().ok().filter(|it: &ModuleInstance| !it.is_root())?;
    if let Some(id) = structure.module_id(&module)
        && !structure.module(id).pending
    {
        return Some(Asked::Module(id));
    }
    let (outer, name, key) = module.parent()?;
    let outer = structure.module_id(&outer).filter(|it| structure.stands(*it));
    let call = outer.and_then(|it| structure.call_in(it, &name));
    if let Some(call) = call.filter(|_| key == InstanceKey::None) {
        return Some(Asked::Call(call));
    }
    let gone = Asked::Gone(module);
    (!gone.objects(context).is_empty()).then_some(gone)
}

/// The resource or the call of an instance whose keys are not known, because what they depend on is excluded.
fn without_keys(text: &str, context: &ExplainContext) -> Option<Asked> {
    let structure = &context.structure;
    let instance = text.parse::<Instance>().ok();
    let resource = instance.as_ref().and_then(|it| structure.resource_id(&it.of()));
    if let Some(id) = resource.filter(|it| context.skips_keys(*it)) {
        return Some(Asked::Resource(id));
    }
    let mut module = match instance {
        Some(instance) => instance.module,
        None => text.parse().ok()?,
    };
    while let Some((outer, name, _)) = module.parent() {
        let around = structure.module_id(&outer).filter(|it| structure.stands(*it));
        let call = around.and_then(|it| structure.call_in(it, &name));
        if let Some(call) = call.filter(|it| context.skips_keys_of_call(*it)) {
            return Some(Asked::Call(call));
        }
        module = outer;
    }
    None
}

/// Whether a module instance is named, or lies in what is named: a step without a key names every instance.
fn is_named(named: &ModuleInstance, module: &ModuleInstance) -> bool {
    named.0.len() <= module.0.len()
        && named.0.iter().zip(module.0.iter()).all(|(named, step)| {
            named.0 == step.0 && (named.1 == InstanceKey::None || named.1 == step.1)
        })
}

/// Whether a resource has a block in a module instance that is there, or may be.
fn is_declared(resource: &ResourceNode, structure: &Structure) -> bool {
    resource.declared && resource.module.is_none_or(|it| structure.stands(it))
}

/// A variable, a local value, an output or a check: of the root module, or after the address of a module instance.
fn of_module(text: &str, structure: &Structure) -> Option<Asked> {
    let (rest, last) = text.rsplit_once('.')?;
    let (module, word) = match rest.rsplit_once('.') {
        Some((module, word)) if ["var", "local", "output", "check"].contains(&word) => {
            (module.parse().ok()?, word)
        }
        _ if ["var", "local", "output", "check"].contains(&rest) => {
            (ModuleInstance::default(), rest)
        }
        _ => (rest.parse().ok().filter(|it: &ModuleInstance| !it.is_root())?, "output"),
    };
    let id = structure.module_id(&module).filter(|it| structure.stands(*it))?;
    let module = structure.module(id);
    match word {
        "var" => module.variables.get(last).map(|it| Asked::Value(*it, Path::new())),
        "local" => module.besides.locals.get(last).map(|it| Asked::Value(*it, Path::new())),
        "check" => module.besides.checks.get(last).map(|it| Asked::Check(*it)),
        _ => module.outputs.get(last).map(|it| Asked::Value(*it, Path::new())),
    }
}

/// Reads `.a["b"][0]` as a path.
fn path(text: &str) -> Option<Path> {
    let expression = parse_expression(FileId(0), &format!("x{text}"), 0).ok()?;
    let Expr::Traversal(it) = &expression.expr else { return None };
    let step = |it: &Step| match it {
        Step::Attribute(name) => Some(PathStep::Attribute(name.text.clone())),
        Step::Index(it) => it.key.as_literal().map(PathStep::Index),
        Step::LegacyIndex(it) => Some(PathStep::index(it.index as usize)),
        Step::Splat(_) => None,
    };
    it.steps().iter().map(step).collect()
}

fn unknown(address: &str, context: &ExplainContext) -> Diagnostic {
    let structure = &context.structure;
    let names = (0..structure.nodes.len() as u32).map(Node).filter(|it| {
        matches!(
            structure.kind(*it),
            NodeKind::Object(..)
                | NodeKind::Pending(_)
                | NodeKind::Variable(..)
                | NodeKind::Local(..)
                | NodeKind::Check(..)
                | NodeKind::Output(..)
        )
    });
    let most = 2.max(address.len() / 5);
    let near = names
        .filter(|it| context.is_there(*it))
        .map(|it| structure.name(it))
        .filter(|it| it.len().abs_diff(address.len()) <= most)
        .map(|it| (strsim::levenshtein(&it, address), it))
        .filter(|it| it.0 <= most)
        .min();
    let hint = near.map_or_else(String::new, |it| format!(" Did you mean {}?", it.1));
    Diagnostic::error("Nothing has that address")
        .detail(format!("{address} is neither declared nor in the state.{hint}"))
}
