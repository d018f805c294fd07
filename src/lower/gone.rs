//! Module instances that only the state has: the call that made them, and what an expression in them refers to outside.

use entail_rules::Node;

use super::structure::{ModuleId, Structure};
use crate::address::{InstanceKey, ModuleInstance};
use crate::config::{Config, Module, ModuleCall};
use crate::expression::{Subject, references_of};
use crate::syntax::Expression;

/// A module instance that the configuration no longer has, although its call is still there.
pub struct GoneModule<'a> {
    /// Its address.
    pub address: ModuleInstance,
    /// What its module declares.
    pub config: &'a Module,
    /// The call.
    pub call: &'a ModuleCall,
    /// The key of the instance.
    pub key: InstanceKey,
    /// The module instance in which the call is written.
    pub caller: Caller<'a>,
}

/// A module instance in which a call is written.
pub enum Caller<'a> {
    /// The configuration has it.
    Declared(ModuleId),
    /// The configuration no longer has it.
    Gone(Box<GoneModule<'a>>),
}

impl<'a> GoneModule<'a> {
    /// Returns the module instance at an address. `None` if the configuration has that instance, or no such call any more.
    pub fn at(
        structure: &Structure,
        config: &'a Config,
        address: &ModuleInstance,
    ) -> Option<GoneModule<'a>> {
        let mut declared = Structure::ROOT;
        let mut gone: Option<GoneModule<'a>> = None;
        for (depth, (name, key)) in address.0.iter().enumerate() {
            let above = ModuleInstance(address.0[..depth].into());
            if gone.is_none()
                && let Some(id) = structure.call_in(declared, name)
                && let Some(next) = structure.call(id).instances.get(key)
            {
                declared = *next;
                continue;
            }
            let caller = match gone {
                Some(it) => Caller::Gone(Box::new(it)),
                None => Caller::Declared(declared),
            };
            gone = Some(GoneModule::called(config, caller, &above, (name, key))?);
        }
        gone
    }

    /// Returns the instance with this key of a call, which is written in `above`.
    pub fn called(
        config: &'a Config,
        caller: Caller<'a>,
        above: &ModuleInstance,
        (name, key): (&str, &InstanceKey),
    ) -> Option<GoneModule<'a>> {
        let call = config.module_of(above)?.calls.get(name)?;
        let address = above.child(&call.name.text, key.clone());
        let own = config.module_of(&address)?;
        Some(GoneModule { address, config: own, call, key: key.clone(), caller })
    }

    /// Collects the nodes outside that the value of an expression in this module instance depends on.
    pub fn depends_on(
        &self,
        structure: &Structure,
        expression: &Expression,
        found: &mut Vec<Node>,
    ) {
        for reference in references_of(expression).0 {
            match reference.subject {
                Subject::Variable(name) => {
                    let Some(input) = self.call.inputs.get(name) else { continue };
                    self.caller.depends_on(structure, &input.value, found);
                }
                Subject::Local(name) => {
                    let Some(local) = self.config.locals.get(name) else { continue };
                    self.depends_on(structure, &local.value, found);
                }
                _ => {}
            }
        }
    }
}

impl Caller<'_> {
    fn depends_on(&self, structure: &Structure, expression: &Expression, found: &mut Vec<Node>) {
        match self {
            Caller::Gone(module) => module.depends_on(structure, expression, found),
            Caller::Declared(module) => found.extend(named_in(structure, *module, expression)),
        }
    }
}

/// Returns the nodes that an expression in a declared module instance refers to, each as a whole.
pub fn named_in(
    structure: &Structure,
    module: ModuleId,
    expression: &Expression,
) -> impl Iterator<Item = Node> {
    let references = references_of(expression).0.into_iter();
    references.filter_map(move |it| structure.whole(module, it.subject))
}
