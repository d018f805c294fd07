//! The arguments of a key provider or a method, evaluated before anything else is.

use std::collections::BTreeMap;

use crate::backend::shape::{self, Setting, Shape, Unfit};
use crate::config::early::StaticModule;
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::syntax::{Attribute, AttributeSchema, Block, BlockSchema, Expr, Expression};
use crate::value::{Str, Type, Value, convert};

use super::problems;
use super::settings::{Named, Part, reference};

/// An argument that a kind takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Argument {
    pub name: &'static str,
    pub required: bool,
    pub form: Form,
}

/// What the value of an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Number,
    Texts,
    Numbers,
    /// The name of a key provider.
    Keys,
}

impl Argument {
    pub const fn optional(name: &'static str, form: Form) -> Argument {
        Argument { name, required: false, form }
    }

    pub const fn required(name: &'static str, form: Form) -> Argument {
        Argument { name, required: true, form }
    }
}

impl Form {
    /// The type of a value; nothing where it is no value.
    fn ty(self) -> Option<Type> {
        match self {
            Form::Text => Some(Type::STRING),
            Form::Number => Some(Type::NUMBER),
            Form::Texts => Some(Type::list(Type::STRING)),
            Form::Numbers => Some(Type::list(Type::NUMBER)),
            Form::Keys => None,
        }
    }
}

/// The arguments of one part.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    values: BTreeMap<&'static str, Value>,
    /// The key provider that is named, and where.
    pub keys: Option<(Named, Span)>,
}

impl Arguments {
    /// Evaluates the arguments of a part.
    ///
    /// - `what`: what messages call it, as `encryption.method.aes_gcm.main`.
    pub fn read(
        place: &StaticModule,
        part: &Part,
        what: &str,
        known: &[Argument],
    ) -> Result<Arguments, Diagnostics> {
        let mut found = Diagnostics::new();
        let mut written: BTreeMap<&str, Attribute> = BTreeMap::new();
        let mut named: BTreeMap<&str, Expression> = BTreeMap::new();
        for body in &part.bodies {
            let schema: Vec<AttributeSchema<'_>> =
                known.iter().map(|it| AttributeSchema { name: it.name, required: false }).collect();
            let (content, problems) = body.content(&schema, &[]);
            found.extend(problems);
            for attribute in content.attributes {
                let Some(argument) = known.iter().find(|it| it.name == &*attribute.name.text)
                else {
                    continue;
                };
                if argument.form == Form::Keys {
                    // In JSON both `"${key_provider.a.b}"` and the bare text name one.
                    let bare = match &attribute.value.expr {
                        Expr::Wrapped(inner) => Some((**inner).clone()),
                        _ => found.take(body.bare(argument.name)).flatten(),
                    };
                    named.extend(bare.map(|it| (argument.name, it)));
                }
                written.insert(argument.name, attribute);
            }
        }
        let mut arguments = Arguments::default();
        for argument in known {
            let Some(attribute) = written.get(argument.name) else {
                if argument.required {
                    found.push(missing(argument.name, part.declared));
                }
                continue;
            };
            match argument.form.ty() {
                None => match named.get(argument.name).and_then(|it| reference(it, "key_provider"))
                {
                    Some(it) => arguments.keys = Some((it, attribute.value.span)),
                    None => found.push(problems::no_key(attribute.value.span)),
                },
                Some(ty) => {
                    let value = found.take(evaluate(place, argument, &attribute.value, ty, what));
                    arguments.values.extend(value.map(|it| (argument.name, it)));
                }
            }
        }
        if found.has_errors() { Err(found.once()) } else { Ok(arguments) }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name).filter(|it| !it.is_null())
    }

    /// Returns a text that is not empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str).filter(|it| !it.is_empty())
    }

    /// Returns a whole number.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(Value::as_int)
    }

    /// Returns the texts of a list.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let items = self.get(name).map(|it| it.children().collect::<Vec<_>>()).unwrap_or_default();
        items.iter().filter_map(|it| it.as_str()).map(str::to_owned).collect()
    }

    /// Returns the numbers of a list as bytes.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        let items = self.get(name).map(|it| it.children().collect::<Vec<_>>()).unwrap_or_default();
        items.iter().filter_map(|it| it.as_int()).filter_map(|it| u8::try_from(it).ok()).collect()
    }
}

fn evaluate(
    place: &StaticModule,
    argument: &Argument,
    expression: &Expression,
    ty: Type,
    what: &str,
) -> Result<Value, Diagnostics> {
    let value = known(place, argument.name, expression, what)?;
    let wrong = |why: &str| problems::unsuitable(argument.name, why, expression.span);
    Ok(convert(&value, ty).map_err(|why| wrong(&why.to_string()))?)
}

/// Evaluates what must be known.
fn known(
    place: &StaticModule,
    name: &str,
    expression: &Expression,
    what: &str,
) -> Result<Value, Diagnostics> {
    // That a passphrase is a secret is what it is for.
    let value = place.evaluate(expression, what)?.to_plain();
    match value.is_wholly_known() {
        true => Ok(value.into()),
        false => {
            let why = "the value must be known before there is a plan";
            Err(problems::unsuitable(name, why, expression.span).into())
        }
    }
}

/// Evaluates the arguments of a part that is a service: such kinds say what they take as backends do. What is written as a block is
/// an object here, and may be written once.
pub(super) fn of_service(
    place: &StaticModule,
    part: &Part,
    what: &str,
    settings: &[Setting],
) -> Result<shape::Arguments, Diagnostics> {
    let (nested, plain): (Vec<&Setting>, Vec<&Setting>) =
        settings.iter().partition(|it| matches!(it.shape, Shape::Blocks(_)));
    let attributes: Vec<AttributeSchema<'_>> =
        plain.iter().map(|it| AttributeSchema { name: it.name, required: false }).collect();
    let blocks: Vec<BlockSchema<'_>> =
        nested.iter().map(|it| BlockSchema { kind: it.name, labels: &[] }).collect();
    let mut found = Diagnostics::new();
    let mut written: BTreeMap<&str, Attribute> = BTreeMap::new();
    let mut arguments = shape::Arguments::new();
    for body in &part.bodies {
        let (content, problems) = body.content(&attributes, &blocks);
        found.extend(problems);
        let known = |name: &str| plain.iter().find(|it| it.name == name);
        written.extend(
            content.attributes.into_iter().filter_map(|it| Some((known(&it.name.text)?.name, it))),
        );
        for setting in &nested {
            let mut own = content.blocks.iter().filter(|it| *it.kind.text == *setting.name);
            let Some(block) = own.next() else { continue };
            let value = found.take(object(place, setting, block, what));
            arguments.extend(value.map(|it| (setting.name.to_owned(), it)));
            found.extend(own.map(|it| problems::block_twice(setting.name, it.header)));
        }
    }
    for setting in plain {
        let Some(attribute) = written.get(setting.name) else { continue };
        let value = found.take(set(place, setting, &attribute.value, what));
        arguments.extend(value.map(|it| (setting.name.to_owned(), it)));
    }
    if found.has_errors() { Err(found.once()) } else { Ok(arguments) }
}

fn set(
    place: &StaticModule,
    setting: &Setting,
    expression: &Expression,
    what: &str,
) -> Result<Value, Diagnostics> {
    let value = known(place, setting.name, expression, what)?;
    setting.read(&value).map_err(|why| {
        let why = match why {
            Unfit::Unknown => "there is no such argument".to_owned(),
            Unfit::Type(why) => why,
            Unfit::Empty(_) => "the value must not be empty".to_owned(),
        };
        problems::unsuitable(setting.name, &why, expression.span).into()
    })
}

/// Evaluates a block as an object.
fn object(
    place: &StaticModule,
    setting: &Setting,
    block: &Block,
    what: &str,
) -> Result<Value, Diagnostics> {
    let Shape::Blocks(members) = setting.shape else { return Ok(Value::NULL) };
    let schema: Vec<AttributeSchema<'_>> =
        members.iter().map(|it| AttributeSchema { name: it.name, required: false }).collect();
    let (content, mut found) = block.body.content(&schema, &[]);
    let mut values: Vec<(Str, Value)> = Vec::new();
    for member in members {
        let attribute = content.attributes.iter().find(|it| *it.name.text == *member.name);
        let value = attribute.map(|it| set(place, member, &it.value, what)).transpose();
        let value = found.take(value).flatten();
        let value = value.unwrap_or_else(|| Value::Null(member.shape.ty()));
        values.push((Str::from(member.name), value));
    }
    if found.has_errors() { Err(found) } else { Ok(Value::object(values)) }
}

pub(super) fn missing(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Missing required argument")
        .detail(format!("The argument {name:?} is required, but no definition was found."))
        .at(at)
}
