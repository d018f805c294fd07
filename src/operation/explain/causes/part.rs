//! What a value can come from: objects and their attributes, variables, locals, outputs, and the keys by which blocks repeat.

use entail_rules::Node;

use crate::address::InstanceKey;
use crate::lower::Structure;
use crate::lower::structure::{CallId, ModuleId, NodeKind, ResourceId};
use crate::value::{Path, ShowPath};

/// What repeats by keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A resource.
    Resource(ResourceId),
    /// A module call.
    Call(CallId),
}

/// Something that a value comes from, or has come to.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// An object as a whole: what is done with it.
    Object(Node),
    /// An attribute of an object, or all of it where the path is empty.
    Attribute(Node, Path),
    /// A variable, a local value or an output, or a part of it.
    Value(Node, Path),
    /// The keys of what repeats; with a key, what stands behind that one, or a part of that.
    Keys(Owner, Option<(InstanceKey, Path)>),
    /// A condition or another expression of a check, by its number.
    Check(Node),
}

impl Part {
    /// Returns the node that it is, or is a part of; nothing where it is keys.
    pub fn node(&self) -> Option<Node> {
        match self {
            Part::Object(node)
            | Part::Attribute(node, _)
            | Part::Value(node, _)
            | Part::Check(node) => Some(*node),
            Part::Keys(..) => None,
        }
    }

    /// Returns what it is called.
    pub fn name(&self, structure: &Structure) -> String {
        let with = |node: Node, path: &Path| {
            let name = match structure.kind(node) {
                // What reads it writes `module.m.name`, what asks for it may write either.
                NodeKind::Output(module, name) if *module != Structure::ROOT => {
                    format!("{}.{name}", structure.module(*module).address)
                }
                _ => structure.name(node),
            };
            format!("{name}{}", ShowPath(path))
        };
        match self {
            Part::Object(node) | Part::Check(node) => structure.name(*node),
            Part::Attribute(node, path) | Part::Value(node, path) => with(*node, path),
            Part::Keys(owner, at) => {
                let of = match owner {
                    Owner::Resource(id) => structure.resource(*id).address.to_string(),
                    Owner::Call(id) => structure.call_name(*id),
                };
                match at {
                    None => format!("the keys of {of}"),
                    Some((key, path)) => {
                        let shown = ShowPath(path);
                        format!("each.value{shown} of {of}{}", key_shown(key))
                    }
                }
            }
        }
    }
}

fn key_shown(key: &InstanceKey) -> String {
    match key {
        InstanceKey::None => String::new(),
        InstanceKey::Int(it) => format!("[{it}]"),
        InstanceKey::Str(it) => format!("[{:?}]", &**it),
    }
}

/// Where an expression stands: what its names mean.
#[derive(Clone, Debug)]
pub struct Context {
    /// The module instance.
    pub module: ModuleId,
    /// What repeats around it, and the instance it is read for.
    pub owner: Option<(Owner, InstanceKey)>,
}
