//! Expressions that may refer to nothing: defaults, versions and the like.

use std::sync::LazyLock;

use super::{Scope, Subject, evaluate, problems};
use crate::diagnostic::{Diagnostics, Span};
use crate::syntax::{self, Expression};
use crate::value::{Type, Value};
use crate::world::World;

/// Returns the value of an expression that may refer to nothing and call nothing: a default, a version.
pub fn evaluate_constant(expression: &Expression) -> (Value, Diagnostics) {
    let mut problems = Diagnostics::new();
    syntax::references(expression, &mut |_, _, span| problems.push(problems::no_variables(span)));
    syntax::calls(expression, &mut |_, _, span| problems.push(problems::no_functions(span)));
    if problems.has_errors() {
        return (Value::unknown(Type::DYNAMIC), problems);
    }
    evaluate(expression, &Nothing)
}

/// The scope of expressions that may refer to nothing.
struct Nothing;

static NOWHERE: LazyLock<World> = LazyLock::new(|| World {
    cwd: ".".into(),
    root: ".".into(),
    environment: Default::default(),
    fixed_time: None,
});

impl Scope for Nothing {
    fn lookup(&self, _: &Subject, _: Option<&Value>, span: Span) -> Result<Value, Diagnostics> {
        Err(problems::no_variables(span).into())
    }

    fn world(&self) -> &World {
        &NOWHERE
    }
}
