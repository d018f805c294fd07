//! Whether module calls give what their modules need.

use crate::diagnostic::Diagnostics;

use super::super::{Config, Module, ModuleCall, Variant, suggest};
use super::problems;

/// Compares the inputs of every call in a module with the variables of the called module.
pub(super) fn check_inputs(
    config: &Config,
    variant: &Variant,
    module: &Module,
    problems: &mut Diagnostics,
) {
    let mut last = 0;
    for call in module.calls.values() {
        for child in config.called_in_order(variant, &call.name.text, &mut last) {
            check_call(call, child, problems);
        }
    }
}

fn check_call(call: &ModuleCall, child: &Module, problems: &mut Diagnostics) {
    let required = child.variables.values().filter(|it| it.default.is_none());
    for it in required.filter(|it| !call.inputs.contains_key(&it.name.text)) {
        let problem = problems::missing_input(&it.name.text, call.body_span);
        problems.push(problem.within(call.declared));
    }
    let names = call.inputs.values().map(|it| &it.name);
    for name in names.filter(|it| !child.variables.contains_key(&it.text)) {
        let free =
            child.variables.keys().filter(|it| !call.inputs.contains_key(it)).map(|it| &**it);
        let near = suggest(&name.text, free);
        problems.push(problems::unknown_input(&name.text, near, name.span));
    }
    for kind in &call.besides.unexpected {
        problems.push(problems::unexpected_block(&kind.text, kind.span));
    }
}
