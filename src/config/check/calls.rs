//! Whether module calls give what their modules need.

use crate::address::Module as ModuleAddr;
use crate::diagnostic::Diagnostics;

use super::super::{Config, Module, suggest};
use super::problems;

/// Compares the inputs of every call in a module with the variables of the called module.
pub(super) fn check_inputs(
    config: &Config,
    address: &ModuleAddr,
    module: &Module,
    problems: &mut Diagnostics,
) {
    for call in module.calls.values() {
        let Some(child) = config.module(&address.child(&call.name.text)) else { continue };
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
