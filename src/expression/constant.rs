//! Expressions that may refer to nothing: defaults, versions and the like.

use std::sync::LazyLock;

use super::{Ask, Declared, Scope, Subject, evaluate, problems};
use crate::diagnostic::{Diagnostics, Span};
use crate::syntax::{self, Expression};
use crate::value::Value;
use crate::world::World;

/// Returns the value of an expression that may compute anything, but refer to nothing and call nothing: variable
/// defaults, flags, versions, the values of variable files.
///
/// # Errors
///
/// If it refers to something (a bare word such as `yes` is a reference too), calls something, or fails.
pub fn evaluate_constant(expression: &Expression) -> Result<Value, Diagnostics> {
    let mut problems = Diagnostics::new();
    syntax::references(expression, &mut |root, _, _| {
        problems.push(problems::no_variables(root.span))
    });
    syntax::calls(expression, &mut |name, _, _| problems.push(problems::no_functions(name.span)));
    if problems.has_errors() {
        return Err(problems);
    }
    let (value, problems) = evaluate(expression, &Nothing);
    if problems.has_errors() { Err(problems) } else { Ok(value) }
}

/// The scope of expressions that may refer to nothing.
struct Nothing;

// Nothing that can be evaluated here looks at the world, so an empty one does.
static NOWHERE: LazyLock<World> = LazyLock::new(|| World {
    cwd: ".".into(),
    root: ".".into(),
    environment: Default::default(),
    fixed_time: None,
    given: Default::default(),
    files: Default::default(),
    kept: Default::default(),
    stop: Default::default(),
    is_trusted: true,
});

impl Scope for Nothing {
    fn declared(&self, _: Declared<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        Err(problems::no_variables(ask.span).into())
    }

    fn absent(&self, _: Subject<'_>, span: Span) -> Result<Value, Diagnostics> {
        Err(problems::no_variables(span).into())
    }

    fn world(&self) -> &World {
        &NOWHERE
    }
}
