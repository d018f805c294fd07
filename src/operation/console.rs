//! `console`: expressions in the scope of the root module, with the values that the state holds.

use super::attributes;
use super::session::Session;
use crate::address::{Instance, InstanceKey, Keyed, Module};
use crate::config::check::references_problems;
use crate::config::inputs::RootVariables;
use crate::config::uses::of_value;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::print::format_value;
use crate::expression::{self, is_type_call, is_type_function, unknown_function};
use crate::lower::structure::{ResourceId, Style};
use crate::lower::trace::Repetitions;
use crate::lower::{Moved, Structure};
use crate::observe::pool::Pool;
use crate::observe::values::Values;
use crate::operation::apply::stored_value;
use crate::planner::{self, Inputs};
use crate::request::Request;
use crate::state::State;
use crate::syntax;

/// What `help` answers.
pub const HELP: &str = "\
Every line is an expression of the OpenTofu language, and its value is printed. Resources have the
values that the state holds, as far as there is one: \"aws_instance.foo.id\" is the id of that
instance. What is not in the state is only known after apply.

A line that leaves a bracket open, or ends in a backslash, goes on in the next one.
To leave, type \"exit\" or use Control-C or Control-D.";

/// Puts together what expressions can refer to.
///
/// # Errors
///
/// If blocks wait for each other. Whatever else is wrong in the configuration is in the table's problems.
pub fn open<'a>(
    session: &'a Session,
    pool: &'a Pool,
    state: &State,
    variables: &'a RootVariables,
) -> Result<Values<'a>, Diagnostics> {
    let (request, moves) = (Request::default(), Moved::default());
    let inputs = Inputs {
        repetitions: Repetitions::NONE,
        followed: None,
        config: &session.config,
        graph: &session.graph,
        state,
        moved: &moves.moved,
        moves: &moves,
        request: &request,
        variables,
        world: &session.world,
        workspace: &session.workspace,
        sources: &session.sources,
    };
    let structure = planner::structure(&inputs)?.lowered.structure;
    let mut values = Values::new(
        &session.config,
        structure,
        &variables.values,
        &session.world,
        &session.sources,
    );
    values.workspace = &session.workspace;
    values.pool = Some(pool);
    values.planning = false;
    values.plan_time = None;
    for id in 0..values.structure.resources.len() {
        fill_in(&mut values, pool, state, ResourceId(id as u32));
    }
    for module in values.structure.modules.iter().filter(|it| !it.pending) {
        for &node in module.besides.locals.values().chain(module.outputs.values()) {
            // What is wrong is reported to the table.
            let _ = values.value(node);
        }
    }
    Ok(values)
}

/// Gives a resource the instances that the state has, and their values.
fn fill_in(values: &mut Values<'_>, pool: &Pool, state: &State, id: ResourceId) {
    let resource = values.structure.resource(id);
    let repeats = matches!(resource.style, Style::Count | Style::ForEach);
    if let Some(schema) = pool.schema_of(resource) {
        values.learn(id, schema);
    }
    let resource = values.structure.resource(id);
    let stored =
        state.resources.get(&resource.address).into_iter().flat_map(|it| it.instances.keys());
    let fits = |key: &InstanceKey| match resource.style {
        Style::Count => matches!(key, InstanceKey::Int(_)),
        Style::ForEach => matches!(key, InstanceKey::Str(_)),
        Style::Single | Style::Enabled => *key == InstanceKey::None,
    };
    let mut found = Keyed::new();
    for key in stored.filter(|it| fits(it)) {
        let address: Instance = resource.address.instance(key.clone());
        if let (Some(node), Some(value)) =
            (resource.instance(key), stored_value(pool, state, &address))
        {
            values.record(node, value);
            found.insert(key.clone(), node);
        }
    }
    if repeats {
        let resource = &mut values.structure.resources[id.index()];
        // Without any, nothing says how many there will be.
        resource.besides.pending =
            if found.is_empty() { resource.besides.repetition } else { None };
        resource.instances = found;
    }
}

/// Evaluates what was typed and returns what to print.
pub fn answer(values: &Values<'_>, pool: &Pool, text: &str) -> Result<String, Diagnostics> {
    let file = values.sources.add("<console-input>", text.into());
    let expression = syntax::parse_expression(file, text, 0)?;
    let mut found = references_problems(values.config, &Module::default(), &expression);
    found.extend(attributes::unsupported(values.config.root(), pool, &[of_value(&expression)]));
    syntax::calls(&expression, &mut |name, _, span| {
        if &*name.text == "plantimestamp" {
            found.push(unknown_function(name, span));
        }
    });
    if found.has_errors() {
        return Err(found);
    }
    let scope = values.scope(Structure::ROOT).in_console();
    let (value, found) = expression::evaluate(&expression, &scope);
    if found.has_errors() {
        return Err(found);
    }
    if is_type_call(&expression) {
        return Ok(value.as_str().map_or_else(|| format_value(&value), str::to_owned));
    }
    let mut has_type = false;
    syntax::calls(&expression, &mut |name, _, _| has_type |= is_type_function(&name.text));
    if has_type {
        return Err(misused_type().into());
    }
    Ok(format_value(&value))
}

fn misused_type() -> Diagnostic {
    Diagnostic::error("Invalid use of type function")
        .detail("The console-only \"type\" function cannot be used as part of an expression.")
}

/// Lines that belong together: as long as a bracket is open, or a line ends in a backslash.
#[derive(Debug, Default)]
pub struct Lines {
    open: [i64; 3],
    text: Vec<String>,
}

impl Lines {
    /// Takes a line; returns all that belongs together once it is complete, and else how deep it is.
    pub fn take(&mut self, line: &str) -> Result<String, usize> {
        let line = line.trim();
        let goes_on = line.ends_with('\\') && !line.ends_with("\\\\");
        let line = line.strip_suffix('\\').unwrap_or(line);
        if !line.is_empty() {
            let opened = syntax::open_brackets(line);
            self.open.iter_mut().zip(opened).for_each(|(open, more)| *open += more);
            self.text.push(line.to_owned());
        }
        let depth = self.open.iter().sum::<i64>() + i64::from(goes_on);
        if depth > 0 && self.open.iter().all(|it| *it >= 0) {
            return Err(depth as usize);
        }
        self.open = [0; 3];
        Ok(std::mem::take(&mut self.text).join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_on_while_a_bracket_is_open() {
        let mut lines = Lines::default();
        assert_eq!(lines.take("f("), Err(1));
        assert_eq!(lines.take("[1,"), Err(2));
        assert_eq!(lines.take("])"), Ok("f(\n[1,\n])".to_owned()));
        assert_eq!(lines.take("1 + \\"), Err(1));
        assert_eq!(lines.take("2"), Ok("1 + \n2".to_owned()));
        assert_eq!(lines.take("\"${a}{\""), Ok("\"${a}{\"".to_owned()));
        assert_eq!(lines.take(")("), Ok(")(".to_owned()));
    }
}
