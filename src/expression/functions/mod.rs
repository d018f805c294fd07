//! Every function of the language: one table, one file per family.
//!
//! A [`Function`] says what it takes and gives; [`Function::invoke`] deals with null, unknown and marked arguments the same
//! way for all, so that a body sees only what it asked for.

use std::borrow::Cow;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::value::{Marks, Type, Value};

use super::Scope;

pub use failure::{Failure, Words};
use failure::{are_few, fits};
pub use reference::markdown;

pub(super) use maps::redacted;

mod charsets;
mod failure;
mod checks;
mod cidr;
mod collections;
mod csv;
mod dates;
mod encoding;
mod files;
mod floats;
mod formats;
mod glob;
mod graphemes;
mod gzip;
mod hashes;
mod lists;
mod maps;
mod marking;
mod numbers;
mod re2;
mod reference;
mod regexes;
mod rsa;
mod sets;
mod strings;
mod templates;
mod types;
pub(crate) mod yaml;

/// A function.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence or two.
    pub description: &'static str,
    /// What it takes.
    pub parameters: &'static [Parameter],
    /// What it takes any number of, after these.
    pub variadic: Option<Parameter>,
    /// What it gives.
    pub returns: Returns,
    /// Its work.
    pub body: fn(&Call<'_>) -> Result<Value, Failure>,
}

/// The type of a result.
#[derive(Clone, Copy)]
pub enum Returns {
    /// Always of this type, and never null.
    Always(Shape),
    /// Of this type, or null; or nobody says that it is never null.
    Nullable(Shape),
    /// It depends on the arguments, which may be unknown. Never null.
    Computed(fn(&[Value]) -> Result<Type, Failure>),
    /// It depends on the arguments, and may be null.
    NullableComputed(fn(&[Value]) -> Result<Type, Failure>),
}

/// The types that parameters have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Shape {
    Any,
    Bool,
    Number,
    String,
    ListOfAny,
    ListOfBool,
    ListOfNumber,
    ListOfString,
    SetOfAny,
    SetOfString,
    MapOfAny,
    MapOfListOfString,
}

impl Shape {
    /// Returns the type.
    pub fn ty(self) -> Type {
        match self {
            Shape::Any => Type::DYNAMIC,
            Shape::Bool => Type::BOOL,
            Shape::Number => Type::NUMBER,
            Shape::String => Type::STRING,
            Shape::ListOfAny => Type::list(Type::DYNAMIC),
            Shape::ListOfBool => Type::list(Type::BOOL),
            Shape::ListOfNumber => Type::list(Type::NUMBER),
            Shape::ListOfString => Type::list(Type::STRING),
            Shape::SetOfAny => Type::set(Type::DYNAMIC),
            Shape::SetOfString => Type::set(Type::STRING),
            Shape::MapOfAny => Type::map(Type::DYNAMIC),
            Shape::MapOfListOfString => Type::map(Type::list(Type::STRING)),
        }
    }
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What arguments are converted to.
    pub shape: Shape,
    /// Takes null.
    pub null: bool,
    /// Takes unknown values of known type.
    pub unknown: bool,
    /// Takes values of unknown type.
    pub dynamic: bool,
    /// Takes marked values, and looks after their marks itself.
    pub marked: bool,
    /// What is marked here marks an unknown result, too: the marks matter to messages alone.
    pub told: bool,
    /// What it means, where the name does not say it.
    pub about: Option<&'static str>,
}

impl Parameter {
    /// A parameter of this type that takes nothing special.
    pub const fn new(name: &'static str, shape: Shape) -> Parameter {
        Parameter {
            name,
            shape,
            null: false,
            unknown: false,
            dynamic: false,
            marked: false,
            told: false,
            about: None,
        }
    }

    /// A parameter of any type.
    pub const fn any(name: &'static str) -> Parameter {
        Parameter::new(name, Shape::Any)
    }

    /// A string.
    pub const fn string(name: &'static str) -> Parameter {
        Parameter::new(name, Shape::String)
    }

    /// A number.
    pub const fn number(name: &'static str) -> Parameter {
        Parameter::new(name, Shape::Number)
    }

    /// The same, with a sentence on what it means.
    pub const fn about(self, about: &'static str) -> Parameter {
        Parameter { about: Some(about), ..self }
    }

    /// The same, that takes null.
    pub const fn or_null(self) -> Parameter {
        Parameter { null: true, ..self }
    }

    /// The same, that takes unknown values.
    pub const fn or_unknown(self) -> Parameter {
        Parameter { unknown: true, ..self }
    }

    /// The same, that takes values of unknown type.
    pub const fn or_untyped(self) -> Parameter {
        Parameter { dynamic: true, ..self }
    }

    /// The same, that takes marked values.
    pub const fn or_marked(self) -> Parameter {
        Parameter { marked: true, ..self }
    }

    /// The same, that takes marked values so that its messages do not tell what is secret.
    pub const fn or_secret(self) -> Parameter {
        Parameter { marked: true, told: true, ..self }
    }

    /// The same, that takes all of these.
    pub const fn or_anything(self) -> Parameter {
        self.or_null().or_unknown().or_untyped().or_marked()
    }
}

/// One call: converted arguments, and what is around it.
pub struct Call<'c> {
    /// The arguments, of the parameters' types.
    pub arguments: &'c [Value],
    /// The type that the result will have.
    pub ty: Type,
    /// Clock, files, and whether impure functions wait.
    pub scope: &'c dyn Scope,
    /// How many templates are being rendered around this call.
    pub depth: u32,
}

impl Call<'_> {
    /// Returns an argument; null where there are fewer.
    pub fn argument(&self, at: usize) -> &Value {
        self.arguments.get(at).unwrap_or(&Value::NULL)
    }

    /// Returns the text of a string argument.
    pub fn text(&self, at: usize) -> &str {
        self.argument(at).as_str().unwrap_or("")
    }

    /// Returns an argument that must be a whole number, for use as a count or position.
    pub fn int(&self, at: usize) -> Result<i64, Failure> {
        let whole =
            "value must be a whole number, between -9223372036854775808 and 9223372036854775807";
        self.argument(at).as_int().ok_or_else(|| Failure::argument(at, whole))
    }
}

/// What a function returns.
pub type CallResult = Result<Value, Failure>;

impl Function {
    /// Returns the parameter that takes the argument at a position.
    pub fn parameter(&self, at: usize) -> Option<&Parameter> {
        self.parameters.get(at).or(self.variadic.as_ref())
    }

    /// Calls it with arguments of the parameters' types.
    pub fn invoke(&self, arguments: &[Value], scope: &dyn Scope, depth: u32) -> CallResult {
        let rule = |at| self.parameter(at).map(Rule::from);
        let Prepared { arguments, marks, untyped, unknown } = prepare(arguments, rule)?;
        // What is not known may come from any part of any argument.
        let with_all = |marks: Marks| marks.union(&Marks::provenance_of(arguments.iter()));
        if untyped {
            return Ok(Value::unknown(Type::DYNAMIC).mark(&with_all(marks)));
        }
        let (ty, never_null) = match self.returns {
            Returns::Always(shape) => (shape.ty(), true),
            Returns::Nullable(shape) => (shape.ty(), false),
            Returns::Computed(compute) => (compute(&arguments)?, true),
            Returns::NullableComputed(compute) => (compute(&arguments)?, false),
        };
        let value = match unknown {
            true => Value::unknown(ty),
            false => (self.body)(&Call { arguments: &arguments, ty, scope, depth })?,
        };
        let is_exact = self.selects() && arguments.iter().all(Value::is_known);
        let marks = if value.is_known() || is_exact { marks } else { with_all(marks) };
        Ok(if never_null { not_null(value) } else { value }.mark(&marks))
    }

    /// Returns whether the result is one part of an argument, with the marks of that part and of what chose it, unknown or not.
    fn selects(&self) -> bool {
        matches!(self.name, "element" | "lookup")
    }

    /// Returns the type of the result as far as the arguments' types do not decide it.
    pub fn usual_type(&self) -> Type {
        let parameters = self.parameters.iter().chain(&self.variadic);
        // An argument of unknown type makes the result one, where nobody looks closer.
        if parameters.clone().any(|it| it.shape == Shape::Any && !it.dynamic) {
            return Type::DYNAMIC;
        }
        let unknown: Vec<Value> = parameters.map(|it| Value::unknown(it.shape.ty())).collect();
        match self.returns {
            Returns::Always(shape) | Returns::Nullable(shape) => shape.ty(),
            Returns::Computed(compute) | Returns::NullableComputed(compute) => {
                compute(&unknown).unwrap_or(Type::DYNAMIC)
            }
        }
    }

    /// Returns what follows the name in a description of a call: `(number, base)`.
    pub fn signature(&self) -> String {
        let names = self.parameters.iter().map(|it| it.name.to_owned());
        let more = self.variadic.iter().map(|it| format!("{}...", it.name));
        format!("({})", names.chain(more).collect::<Vec<_>>().join(", "))
    }
}

/// What one argument may be.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub null: bool,
    pub unknown: bool,
    pub dynamic: bool,
    pub marked: bool,
    pub told: bool,
}

impl From<&Parameter> for Rule {
    fn from(it: &Parameter) -> Rule {
        let Parameter { null, unknown, dynamic, marked, told, .. } = *it;
        Rule { null, unknown, dynamic, marked, told }
    }
}

/// Arguments made ready for a body.
pub(super) struct Prepared<'a> {
    /// Without the marks that the body does not want to see.
    pub arguments: Cow<'a, [Value]>,
    /// Those marks, for the result.
    pub marks: Marks,
    /// One is of unknown type: so is the result.
    pub untyped: bool,
    /// One is unknown: so is the result.
    pub unknown: bool,
}

/// Checks arguments against what their parameters take.
pub(super) fn prepare(
    arguments: &[Value],
    rule: impl Fn(usize) -> Option<Rule>,
) -> Result<Prepared<'_>, Failure> {
    let mut ready = Prepared {
        arguments: Cow::Borrowed(arguments),
        marks: Marks::default(),
        untyped: false,
        unknown: false,
    };
    for (at, value) in arguments.iter().enumerate() {
        let Some(rule) = rule(at) else { continue };
        if !ready.untyped && value.is_null() && !rule.null {
            return Err(Failure::argument(at, "argument must not be null"));
        }
        // A null of no type is known all the same: what takes null takes it too.
        ready.untyped |= value.ty() == Type::DYNAMIC && !rule.dynamic && !value.is_null();
        ready.unknown |= !value.is_known() && !rule.unknown;
        if rule.marked {
            // What is unknown loses its marks in the real program, unless they matter to messages alone.
            if !value.is_known() {
                let marks = value.marks();
                let kept = if rule.told { marks } else { marks.provenance() };
                ready.marks = ready.marks.union(&kept);
            }
        } else if value.contains_marked() {
            ready.arguments.to_mut()[at] = ready.marks.take(value.to_marked()).into();
        }
    }
    Ok(ready)
}

/// Adds to an unknown value that it will not be null.
pub(super) fn not_null(value: Value) -> Value {
    crate::value::unknown::not_null(&value)
}

static TABLE: LazyLock<FxHashMap<&'static str, &'static Function>> = LazyLock::new(|| {
    let families: [&[Function]; 16] = [
        checks::FUNCTIONS,
        cidr::FUNCTIONS,
        collections::FUNCTIONS,
        dates::FUNCTIONS,
        encoding::FUNCTIONS,
        files::FUNCTIONS,
        formats::FUNCTIONS,
        hashes::FUNCTIONS,
        lists::FUNCTIONS,
        maps::FUNCTIONS,
        marking::FUNCTIONS,
        numbers::FUNCTIONS,
        regexes::FUNCTIONS,
        sets::FUNCTIONS,
        strings::FUNCTIONS,
        templates::FUNCTIONS,
    ];
    families
        .into_iter()
        .flatten()
        .chain(types::FUNCTIONS)
        .chain(yaml::FUNCTIONS)
        .map(|it| (it.name, it))
        .collect()
});

/// A function that looks at its arguments' expressions, so that calling it is the evaluator's business.
pub struct Special {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// What it takes.
    pub parameters: &'static [Parameter],
    /// What it takes any number of.
    pub variadic: Option<Parameter>,
    /// What it gives.
    pub returns: Shape,
}

/// The functions that look at expressions and are not in the table.
pub const SPECIAL: &[Special] = &[
    Special {
        name: "can",
        description: "Returns whether the expression can be evaluated without an error.",
        parameters: &[Parameter::any("expression")],
        variadic: None,
        returns: Shape::Bool,
    },
    Special {
        name: "try",
        description: "Returns the value of the first argument that can be evaluated without an error.",
        parameters: &[],
        variadic: Some(Parameter::any("expressions")),
        returns: Shape::Any,
    },
];

/// Functions of earlier versions, kept so that a call says what to write instead.
pub const REMOVED: &[&str] = &["list", "map"];

/// Returns a function by its name, without `core::`.
pub fn find(name: &str) -> Option<&'static Function> {
    TABLE.get(name).copied()
}

/// Returns every function, sorted by name.
pub fn all() -> Vec<&'static Function> {
    let mut all: Vec<_> = TABLE.values().copied().collect();
    all.sort_by_key(|it| it.name);
    all
}

/// Returns the function whose name is nearest to one that does not exist, where one is near.
pub fn nearest(name: &str) -> Option<&'static str> {
    let near = TABLE.keys().map(|it| (strsim::levenshtein(it, name), *it)).min()?;
    (near.0 < 3).then_some(near.1)
}
