//! The arguments of a key provider or a method, evaluated before anything else is.

use std::collections::BTreeMap;

use crate::config::early::StaticModule;
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::syntax::{Attribute, AttributeSchema, Expr, Expression};
use crate::value::{Type, Value, convert};

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
    // That a passphrase is a secret is what it is for.
    let value = place.evaluate(expression, what)?.to_plain();
    let wrong = |why: &str| {
        Diagnostic::error("Unsuitable value type")
            .detail(format!("Inappropriate value for \"{}\": {why}.", argument.name))
            .at(expression.span)
    };
    if !value.is_wholly_known() {
        return Err(wrong("the value must be known before there is a plan").into());
    }
    Ok(convert(&value, ty).map_err(|why| wrong(&why.to_string()))?)
}

fn missing(name: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Missing required argument")
        .detail(format!("The argument {name:?} is required, but no definition was found."))
        .at(at)
}
