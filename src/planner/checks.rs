//! The `check` blocks, and the list of everything that has conditions.

use entail_rules::Node;

use super::Inputs;
use crate::address::ConfigResource;
use crate::diagnostic::{Diagnostic, Severity, Sort};
use crate::expression::values_of;
use crate::lower::structure::{ModuleId, NodeKind};
use crate::observe::Observer;
use crate::observe::conditions::{self, ConditionResult, Kind, Status};

/// What of a `check` block is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// It is judged.
    Now,
    /// It rests on what failed: nothing is known of it.
    Unsound,
    /// Nothing.
    Not,
}

/// Checks the `check` blocks, as far as the rules say; failures are warnings.
pub fn check_blocks(observer: &Observer<'_>, looks: impl Fn(Node) -> Looks) {
    for module in 0..observer.values.structure.modules.len() {
        let node = &observer.values.structure.modules[module];
        for (name, check) in &node.config.checks {
            let looks = node.besides.checks.get(name).map_or(Looks::Not, |it| looks(*it));
            if looks == Looks::Not {
                continue;
            }
            let address = conditions::check_address(&node.address, name);
            let block = config_name(&address);
            if let Some(message) = observer.checks.scoped_failure(&address) {
                let outcome = ConditionResult {
                    status: Status::Fail,
                    message: Some(message),
                    problems: Default::default(),
                };
                observer.checks.record(Kind::Check, &block, &address, 0, &outcome);
                continue;
            }
            if looks == Looks::Unsound {
                observer.checks.expect(Kind::Check, &block, &address);
                continue;
            }
            let scope = observer.values.scope(ModuleId(module as u32));
            for (index, condition) in check.asserts.iter().enumerate() {
                let mut outcome =
                    conditions::check(condition, &scope, "Check block assertion failed")
                        .of(&address);
                // What failed is told last.
                if outcome.status == Status::Fail
                    && let Some(failure) = outcome.problems.0.last_mut()
                {
                    failure.sort = Sort::CheckBlock;
                }
                observer.checks.record(Kind::Check, &block, &address, index, &outcome);
                if outcome.status == Status::Unknown {
                    let mut undecided = Diagnostic::warning("Check block assertion known after apply")
                        .detail("The condition could not be evaluated at this time, a result will be known when this plan is applied.")
                        .at(condition.condition.span)
                        .sort(Sort::CheckBlock)
                        .failing(&address, Severity::Error);
                    undecided.values = values_of(&condition.condition, &scope, &[], false, false);
                    observer.values.report([undecided]);
                }
                observer.values.report(outcome.told(true));
            }
        }
    }
}

/// Lists every block with conditions, be it that nothing of it was checked in this run.
///
/// - `is_whole`: whether every value was evaluated, so that a block without objects has none.
/// - `awaiting`: what has conditions that are listed, judged or not.
pub(super) fn declare(
    inputs: &Inputs<'_>,
    observer: &Observer<'_>,
    is_whole: bool,
    awaiting: &[(Node,)],
) {
    for (path, module) in inputs.config.all() {
        let named = |kind: &str, name: &str| match path.is_root() {
            true => format!("{kind}.{name}"),
            false => format!("{path}.{kind}.{name}"),
        };
        let declare = |kind, block| observer.checks.declare(kind, block, is_whole);
        for it in module.resources.values().filter(|it| it.besides.lifecycle.has_conditions()) {
            let block = ConfigResource { module: path.clone(), resource: it.name.clone() };
            declare(Kind::Resource, block.to_string());
        }
        for it in module.outputs.values().filter(|it| !it.preconditions.is_empty()) {
            declare(Kind::Output, named("output", &it.name.text));
        }
        for it in module.variables.values().filter(|it| !it.validations.is_empty()) {
            declare(Kind::Variable, named("var", &it.name.text));
        }
        for name in module.checks.keys() {
            declare(Kind::Check, named("check", name));
        }
    }
    for &(node,) in awaiting {
        let (kind, address) = match observer.values.structure.kind(node) {
            NodeKind::Output(_, name) => (Kind::Output, format!("output.{name}")),
            NodeKind::Object(id, key) => {
                let resource = observer.values.structure.resource(*id);
                (Kind::Resource, resource.address.instance(key.clone()).to_string())
            }
            _ => continue,
        };
        observer.checks.expect(kind, &config_name(&address), &address);
    }
}

/// An address without its instance keys.
pub(super) fn config_name(address: &str) -> String {
    let mut out = String::with_capacity(address.len());
    let mut depth = 0;
    for c in address.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}
