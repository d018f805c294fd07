//! `variable`, `locals` and `output`.

use crate::diagnostic::{Diagnostic, Span};
use crate::expression::{Constraint, typed, with_defaults};
use crate::syntax::{Block, Expr, Expression, Name, ObjectKey};
use crate::value::{Kind, Marks, Str, Type, Value};

use super::condition::{self, missing_expression};
use super::decode::{Decoder, Schema};
use super::types;
use super::{Condition, Local, Output, Variable, call, problems, suggest};

const VARIABLE: Schema = Schema {
    attributes: &[
        "description",
        "default",
        "type",
        "sensitive",
        "ephemeral",
        "const",
        "deprecated",
        "nullable",
    ],
    required: &[],
    blocks: &[("validation", &[])],
};
const OUTPUT: Schema = Schema {
    attributes: &[
        "description",
        "value",
        "type",
        "depends_on",
        "sensitive",
        "ephemeral",
        "deprecated",
    ],
    required: &["value"],
    blocks: &[("precondition", &[]), ("postcondition", &[])],
};

/// A `variable` block as far as it was written, so that an override can replace part of it.
#[derive(Clone, Debug)]
pub(super) struct VariableBlock {
    pub name: Name,
    pub declared: Span,
    pub ty: Option<Constraint>,
    pub default: Option<(Value, Span)>,
    pub description: Option<Str>,
    pub sensitive: Option<bool>,
    pub ephemeral: Option<bool>,
    pub nullable: Option<bool>,
    pub deprecated: Option<Str>,
    pub constant: Option<bool>,
    pub validations: Vec<Condition>,
}

/// An `output` block as far as it was written.
#[derive(Clone, Debug)]
pub(super) struct OutputBlock {
    pub name: Name,
    pub declared: Span,
    pub value: Option<Expression>,
    pub ty: Option<Expression>,
    pub description: Option<Str>,
    pub sensitive: Option<bool>,
    pub ephemeral: Option<bool>,
    pub deprecated: Option<Str>,
    pub depends_on: Vec<Expression>,
    pub preconditions: Vec<Condition>,
}

/// Reads a `variable` block.
pub(super) fn variable(decoder: &mut Decoder, block: &Block) -> Option<VariableBlock> {
    let content = decoder.content(block, &VARIABLE);
    let name = block.labels.first()?.clone();
    decoder.check_name(&name, "Invalid variable name");
    if call::is_reserved(&name.text) {
        decoder.report(problems::reserved_variable(&name.text, name.span));
    }
    let description = content.literal("description").and_then(|it| decoder.text(it));
    let ty = content.get("type").map(|it| types::variable_type(decoder, &it.value));
    let sensitive = content.literal("sensitive").and_then(|it| decoder.flag(it));
    let deprecated = content.literal("deprecated").and_then(|it| decoder.text(it));
    if deprecated.as_ref().is_some_and(|it| it.trim().is_empty()) {
        decoder.report(problems::empty_deprecation(
            "Invalid `deprecated` value",
            "variable",
            name.span,
        ));
    }
    let ephemeral = content.literal("ephemeral").and_then(|it| decoder.flag(it));
    let nullable = content.literal("nullable").and_then(|it| decoder.flag(it));
    let constant = content.literal("const").and_then(|it| decoder.flag(it));
    let default = content.literal("default").and_then(|it| {
        if let Some(ty) = &ty {
            warn_of_ignored_attributes(decoder, &it.value, ty.ty, &mut String::new());
        }
        Some((decoder.constant(&it.value)?, it.value.span))
    });
    let validations: Vec<Condition> =
        content.blocks.iter().filter_map(|it| condition::condition(decoder, it)).collect();
    for it in &validations {
        condition::check_validation(decoder, &name.text, it);
    }
    let declared = block.header;
    Some(VariableBlock {
        name,
        declared,
        ty,
        default,
        description,
        sensitive,
        ephemeral,
        nullable,
        deprecated,
        constant,
        validations,
    })
}

impl Variable {
    /// Returns what its block marks its value with.
    pub fn marks(&self) -> Marks {
        Marks { sensitive: self.sensitive, ephemeral: self.ephemeral, ..Marks::default() }
    }
}

impl VariableBlock {
    /// Completes the block: what is not written takes its usual value, and the default is converted to the type.
    pub fn finish(self, decoder: &mut Decoder) -> Variable {
        let is_typed = self.ty.is_some();
        let Constraint { ty, defaults } = self.ty.clone().unwrap_or(Constraint::ANY);
        let nullable = self.nullable.unwrap_or(true);
        let default = self.default.map(|(value, at)| {
            let value = with_defaults(&value, ty, defaults.as_ref()).unwrap_or_else(|why| {
                let detail = format!("This default value is not compatible with the variable's type constraint: {why}.");
                decoder.report(problems::invalid_default(detail, at));
                Value::unknown(Type::DYNAMIC)
            });
            if !nullable && value.is_null() {
                decoder.report(problems::invalid_default("A null default value is not valid when nullable=false.".into(), at));
            }
            value
        });
        Variable {
            name: self.name,
            declared: self.declared,
            ty,
            is_typed,
            type_defaults: defaults,
            default,
            description: self.description,
            sensitive: self.sensitive.unwrap_or(false),
            ephemeral: self.ephemeral.unwrap_or(false),
            nullable,
            deprecated: self.deprecated,
            constant: self.constant,
            validations: self.validations,
        }
    }
}

/// Warns of attributes in a default that its type drops: mostly they are misspelt.
fn warn_of_ignored_attributes(
    decoder: &mut Decoder,
    expression: &Expression,
    ty: Type,
    path: &mut String,
) {
    match (&expression.expr, ty.kind()) {
        (Expr::Object(items), Kind::Object(known)) => {
            for item in items {
                let name = match &item.key {
                    ObjectKey::Name(name) => name.clone(),
                    ObjectKey::Expression(it) => match &it.expr {
                        Expr::String(text) => Name::new(text.clone(), it.span),
                        _ => continue,
                    },
                };
                match ty.attribute_index(&name.text) {
                    Some(at) => beneath(path, &format!(".{}", name.text), |path| {
                        warn_of_ignored_attributes(decoder, &item.value, known[at].1, path);
                    }),
                    None => {
                        let known = known.iter().map(|it| &*it.0);
                        let problem = ignored_attribute(path, &name, suggest(&name.text, known));
                        decoder.report(problem.within(expression.span));
                    }
                }
            }
        }
        (Expr::Object(items), Kind::Map(element)) => {
            for item in items {
                let key = match &item.key {
                    ObjectKey::Name(name) => name.text.to_string(),
                    ObjectKey::Expression(it) => {
                        it.as_static_string().map_or("...".to_owned(), |it| it.to_string())
                    }
                };
                beneath(path, &format!("[{key:?}]"), |path| {
                    warn_of_ignored_attributes(decoder, &item.value, *element, path);
                });
            }
        }
        (Expr::Tuple(items), kind) => {
            for (index, item) in items.iter().enumerate() {
                let element = match kind {
                    Kind::List(it) | Kind::Set(it) => *it,
                    Kind::Tuple(elements) if index < elements.len() => elements[index],
                    _ => return,
                };
                beneath(path, &format!("[{index}]"), |path| {
                    warn_of_ignored_attributes(decoder, item, element, path);
                });
            }
        }
        _ => {}
    }
}

/// Goes one step further down a path, and back.
fn beneath(path: &mut String, step: &str, work: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push_str(step);
    work(path);
    path.truncate(length);
}

/// An attribute that the type of the object at `path` does not have.
fn ignored_attribute(path: &str, name: &Name, meant: Option<&str>) -> Diagnostic {
    let owner = match path {
        "" => "The object type for this variable".to_owned(),
        path => format!("The object type for {path}"),
    };
    let suggestion = meant.map(|it| format!(" Did you mean to set attribute {it:?} instead?"));
    let suggestion = suggestion.unwrap_or_default();
    problems::ignored_attribute(&owner, &name.text, &suggestion, name.span)
}

/// Reads a `locals` block.
pub(super) fn locals(decoder: &mut Decoder, block: &Block) -> Vec<Local> {
    let attributes = decoder.attributes(&block.body);
    for it in &attributes {
        decoder.check_name(&it.name, "Invalid local value name");
    }
    attributes.into_iter().map(|it| Local { name: it.name, value: it.value }).collect()
}

/// Reads an `output` block.
pub(super) fn output(decoder: &mut Decoder, block: &Block) -> Option<OutputBlock> {
    let content = decoder.content(block, &OUTPUT);
    let name = block.labels.first()?.clone();
    decoder.check_name(&name, "Invalid output name");
    let description = content.literal("description").and_then(|it| decoder.text(it));
    let sensitive = content.literal("sensitive").and_then(|it| decoder.flag(it));
    let deprecated = content.literal("deprecated").and_then(|it| decoder.text(it));
    if deprecated.as_ref().is_some_and(|it| it.trim().is_empty()) {
        let at = content.get("deprecated").map_or(block.header, |it| it.value.span);
        decoder.report(problems::empty_deprecation(
            "Invalid `deprecated` attribute",
            "output value",
            at,
        ));
    }
    let ephemeral = content.literal("ephemeral").and_then(|it| decoder.flag(it));
    let depends_on = content.get("depends_on").map(|it| decoder.traversals(it)).unwrap_or_default();
    let mut preconditions = Vec::new();
    for inner in &content.blocks {
        match &*inner.kind.text {
            "precondition" => preconditions.extend(condition::condition(decoder, inner)),
            _ => decoder.report(problems::postcondition_on_output(inner.kind.span)),
        }
    }
    let missing = (!decoder.file.is_override).then(|| missing_expression(block));
    let value = content.value("value").or(missing);
    let ty = content.get("type").and_then(|it| types::output_type(decoder, &it.value));
    Some(OutputBlock {
        name,
        declared: block.header,
        value,
        ty,
        description,
        sensitive,
        ephemeral,
        deprecated,
        depends_on,
        preconditions,
    })
}

impl Output {
    /// Returns what its block marks its value with.
    pub fn marks(&self) -> Marks {
        Marks { sensitive: self.sensitive, ephemeral: self.ephemeral, ..Marks::default() }
    }
}

impl OutputBlock {
    /// Completes the block.
    pub fn finish(self) -> Option<Output> {
        Some(Output {
            name: self.name,
            declared: self.declared,
            value: match self.ty {
                Some(ty) => typed(self.value?, ty),
                None => self.value?,
            },
            description: self.description,
            sensitive: self.sensitive.unwrap_or(false),
            ephemeral: self.ephemeral.unwrap_or(false),
            deprecated: self.deprecated,
            depends_on: self.depends_on,
            preconditions: self.preconditions,
        })
    }
}
