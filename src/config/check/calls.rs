//! Whether module calls give what their modules need.

use std::sync::Arc;

use crate::address::{Module as ModuleAddr, ModuleInstance};
use crate::diagnostic::Diagnostics;

use super::super::{Config, Module, suggest};
use super::problems;

/// Compares the inputs of every call in a module with the variables of the called module.
pub(super) fn check_inputs(
    config: &Config,
    address: &ModuleAddr,
    module: &Arc<Module>,
    problems: &mut Diagnostics,
) {
    for call in module.calls.values() {
        let Some(child) = called(config, address, module, &call.name.text) else { continue };
        let required = child.variables.values().filter(|it| it.default.is_none());
        for it in required.filter(|it| !call.inputs.contains_key(&it.name.text)) {
            problems
                .push(problems::missing_input(&it.name.text, call.body_span).within(call.declared));
        }
        for name in call
            .inputs
            .values()
            .map(|it| &it.name)
            .filter(|it| !child.variables.contains_key(&it.text))
        {
            let free =
                child.variables.keys().filter(|it| !call.inputs.contains_key(*it)).map(|it| &**it);
            problems.push(problems::unknown_input(
                &name.text,
                suggest(&name.text, free),
                name.span,
            ));
        }
    }
}

/// Returns the module that a call leads to: of several under one path the one that this caller has.
fn called<'c>(
    config: &'c Config,
    address: &ModuleAddr,
    module: &Arc<Module>,
    name: &str,
) -> Option<&'c Arc<Module>> {
    let path = address.child(name);
    let is_own = |outer: &ModuleInstance| {
        config.variants.get(outer).is_some_and(|it| Arc::ptr_eq(it.module(), module))
    };
    let own = config
        .variants
        .iter()
        .find(|(at, _)| at.module() == path && at.parent().is_some_and(|it| is_own(&it.0)));
    own.map(|it| it.1.module()).or_else(|| config.module(&path))
}
