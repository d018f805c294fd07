//! Templates as functions: `templatefile` and `templatestring`.

use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape, files};
use crate::diagnostic::{Diagnostic, Sources};
use crate::syntax::{self, Expression};
use crate::value::{Kind, Marks, Str, Value};

use super::super::evaluate::evaluate_template;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "templatefile",
        description: "Fills in a template that stands in a file.",
        parameters: &[Parameter::string("path").or_marked(), Parameter::any("vars")],
        variadic: None,
        returns: Returns::Nullable(Shape::Any),
        body: templatefile,
    },
    Function {
        name: "templatestring",
        description: "Fills in a template that is given as text.",
        parameters: &[Parameter::string("data").or_marked(), Parameter::any("vars").or_marked()],
        variadic: None,
        returns: Returns::Nullable(Shape::Any),
        body: templatestring,
    },
];

/// Templates may render templates this deep, unless the environment says otherwise.
const USUAL_DEPTH: u32 = 1024;

fn greatest_depth(call: &Call<'_>) -> Result<u32, Failure> {
    const NAME: &str = "TF_TEMPLATE_RECURSION_DEPTH";
    match call.scope.world().variable(NAME) {
        None => Ok(USUAL_DEPTH),
        Some(text) => text
            .parse()
            .map_err(|error| Failure::call(format!("invalid value for {NAME}: {error}"))),
    }
}

fn templatefile(call: &Call<'_>) -> CallResult {
    let (path, marks) = (call.text(0), call.argument(0).marks());
    let limit = greatest_depth(call)?;
    if call.depth > limit {
        return Err(Failure::call(format!(
            "maximum recursion depth {limit} reached in {path} ... "
        )));
    }
    let text = files::text_of(path, &marks, call.scope.world())?;
    render(call, Some(path), &text, &marks)
}

fn templatestring(call: &Call<'_>) -> CallResult {
    let limit = greatest_depth(call)?;
    if call.depth > limit {
        return Err(Failure::call(format!(
            "maximum recursion depth {limit} reached in templatestring ... "
        )));
    }
    render(call, None, call.text(0), &call.argument(0).marks())
}

/// Renders a template; `name` is that of its file.
fn render(call: &Call<'_>, name: Option<&str>, text: &str, marks: &Marks) -> CallResult {
    let sources = Sources::default();
    let file = sources.add(name.unwrap_or("NoFileNeeded"), text.into());
    // What the evaluator says of values is discreet; names and places are those of the file, or of the text.
    let tell = |problems: Vec<Diagnostic>| {
        let failure = Failure::call(sentence(&problems, &sources));
        if marks.is_secret() { failure } else { failure.discreet() }
    };
    let template = syntax::parse_template(file, text).map_err(|problems| tell(problems.0))?;
    let variables = variables(call)?;
    check_references(&template, &variables, name, &sources)?;
    let (value, problems) = evaluate_template(&template, call.scope, &variables, call.depth + 1);
    if problems.has_errors() {
        // The innermost of nested templates says what is wrong.
        let limit = problems.iter().find_map(|it| {
            it.detail.split_once("maximum recursion depth").map(|it| it.1.to_owned())
        });
        return Err(match limit {
            Some(rest) => Failure::call(format!(
                "maximum recursion depth{}",
                rest.trim_end_matches('.').trim_end_matches(" ..").to_owned() + " ... "
            )),
            None => tell(problems.0),
        });
    }
    Ok(value.mark(marks))
}

fn variables(call: &Call<'_>) -> Result<Vec<(Str, Value)>, Failure> {
    let given = call.argument(1);
    if !matches!(given.ty().kind(), Kind::Map(_) | Kind::Object(_)) {
        return Err(Failure::argument(1, "invalid vars value: must be a map"));
    }
    let marks = given.marks();
    let mut variables = Vec::new();
    for (name, value) in given.entries() {
        if !syntax::is_identifier(&name) {
            return Err(Failure::argument(
                1,
                format!(
                    "invalid template variable name {name:?}: must start with a letter, followed by zero or more letters, digits, \
                     and underscores"
                ),
            ));
        }
        variables.push((name, value.clone().mark(&marks)));
    }
    Ok(variables)
}

fn check_references(
    template: &Expression,
    variables: &[(Str, Value)],
    name: Option<&str>,
    sources: &Sources,
) -> Result<(), Failure> {
    let mut missing = None;
    syntax::references(template, &mut |root, _, _| {
        if missing.is_none() && !variables.iter().any(|it| it.0 == root.text) {
            missing = Some(root.clone());
        }
    });
    let Some(root) = missing else { return Ok(()) };
    let place = match name {
        Some(_) => format!(", referenced at {}", range(sources, root.span)),
        None => String::new(),
    };
    Err(Failure::argument(1, format!("vars map does not contain key {:?}{place}", root.text)))
}

/// `file:line,column-column`
fn range(sources: &Sources, span: crate::diagnostic::Span) -> String {
    let name = sources.get(span.file()).map(|it| it.name.clone()).unwrap_or_default();
    let (start, end) =
        (sources.position(span.file(), span.start()), sources.position(span.file(), span.end()));
    if start.line == end.line {
        return format!("{name}:{},{}-{}", start.line, start.column, end.column);
    }
    format!("{name}:{},{}-{},{}", start.line, start.column, end.line, end.column)
}

/// Several problems as one phrase: the first in full.
fn sentence(problems: &[Diagnostic], sources: &Sources) -> String {
    let Some(first) = problems.iter().find(|it| it.is_error()) else {
        return "unknown problem".to_owned();
    };
    let place = first.subject.map(|it| format!("{}: ", range(sources, it))).unwrap_or_default();
    let more = match problems.len() - 1 {
        0 => String::new(),
        count => format!(", and {count} other diagnostic(s)"),
    };
    format!("{place}{}; {}{more}", first.summary, first.detail)
}
