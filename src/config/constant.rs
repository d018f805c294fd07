//! Constant expressions: everything may be computed, nothing may be referred to and no function called.

use crate::diagnostic::{Diagnostics, Span};
use crate::expression::{self, Scope, Subject};
use crate::syntax::{self, Expression};
use crate::value::Value;
use crate::world::World;

use super::problems;

/// A scope without names.
struct ConstantScope {
    world: World,
}

impl Scope for ConstantScope {
    fn lookup(&self, _: &Subject, _: Option<&Value>, span: Span) -> Result<Value, Diagnostics> {
        Err(problems::variables_not_allowed(span).into())
    }

    fn world(&self) -> &World {
        &self.world
    }
}

/// Evaluates a constant expression: variable defaults, flags, the values of variable files.
pub fn evaluate(expression: &Expression) -> Result<Value, Diagnostics> {
    if let Some(problem) = what_is_not_constant(expression) {
        return Err(problem);
    }
    // Nothing that can be evaluated here looks at the world, so an empty one does.
    let world = World {
        cwd: "".into(),
        root: "".into(),
        environment: Default::default(),
        fixed_time: None,
    };
    let (value, problems) = expression::evaluate(expression, &ConstantScope { world });
    if problems.has_errors() { Err(problems) } else { Ok(value) }
}

/// Finds references and calls. A bare word such as `yes` is a reference too.
fn what_is_not_constant(expression: &Expression) -> Option<Diagnostics> {
    let mut problems = Diagnostics::new();
    syntax::references(expression, &mut |root, _, _| {
        problems.push(problems::variables_not_allowed(root.span))
    });
    syntax::calls(expression, &mut |name, _, _| {
        problems.push(problems::functions_not_allowed(name.span))
    });
    if problems.is_empty() { None } else { Some(problems) }
}
