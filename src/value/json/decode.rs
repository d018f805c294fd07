//! JSON text to values.

use super::read::{Reader, Start};
use super::types::read_type;
use crate::error::{Error, ErrorContext};
use crate::value::common_type::common_type;
use crate::value::objects::object_like;
use crate::value::{Kind, Map, Number, PathError, PathStep, Str, Type, Value, convert, nfc};

/// Decodes JSON text as a value of type `ty`.
///
/// Attributes that the text lacks are null, those that the type lacks an error. Where `ty` is `Dynamic`, the text holds
/// `{"value":…,"type":…}`. A string is read where a number or bool is wanted and the other way round, as far as it converts.
pub fn from_json(text: &str, ty: Type) -> Result<Value, PathError> {
    decode(text, ty, Extra::Refused)
}

/// Decodes a stored object with the type of today's schema: attributes that the type lacks are dropped, at every depth
/// except within `Dynamic` parts, and those that the text lacks are null.
pub fn from_stored_json(text: &str, ty: Type) -> Result<Value, PathError> {
    decode(text, ty, Extra::Dropped)
}

/// Decodes JSON text as a value of the type that it implies: objects and tuples.
///
/// The error is a phrase without a full stop.
pub fn from_json_implied(text: &str) -> Result<Value, Error> {
    let mut reader = Reader::new(text);
    let value = implied(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Returns the type that JSON text implies; null is `Dynamic`.
pub fn implied_type(text: &str) -> Result<Type, Error> {
    from_json_implied(text).map(|it| it.ty())
}

/// What becomes of attributes that the type lacks.
#[derive(Clone, Copy)]
enum Extra {
    Refused,
    Dropped,
}

/// An error whose path is still in reverse: each level adds its step on the way out.
struct Failure(PathError);

type Decoded<T> = Result<T, Failure>;

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure(PathError { path: Vec::new(), message })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        error.to_string().into()
    }
}

impl Failure {
    fn inside(mut self, step: PathStep) -> Failure {
        self.0.path.push(step);
        self
    }
}

struct Decoder<'a> {
    reader: Reader<'a>,
    extra: Extra,
}

fn decode(text: &str, ty: Type, extra: Extra) -> Result<Value, PathError> {
    let result = Decoder { reader: Reader::new(text), extra }.document(ty);
    result.map_err(|Failure(mut error)| {
        error.path.reverse();
        error
    })
}

impl Decoder<'_> {
    fn document(mut self, ty: Type) -> Decoded<Value> {
        let value = self.value(ty.without_optional())?;
        self.reader.end()?;
        Ok(value)
    }

    fn value(&mut self, ty: Type) -> Decoded<Value> {
        let start = self.reader.start()?;
        if start == Start::Null {
            self.reader.null()?;
            return Ok(Value::Null(ty));
        }
        match ty.kind() {
            Kind::Dynamic => self.wrapped(),
            Kind::Bool => self.bool(start),
            Kind::Number => self.number(start),
            Kind::String => self.string(start),
            Kind::List(element) => {
                let (element, items) = self.items(*element)?;
                Ok(Value::list(element, items))
            }
            Kind::Set(element) => {
                let (element, items) = self.items(*element)?;
                Ok(Value::set(element, items))
            }
            Kind::Map(element) => self.map(*element),
            Kind::Tuple(types) => self.tuple(types),
            Kind::Object(_) => self.object(ty),
        }
    }

    fn bool(&mut self, start: Start) -> Decoded<Value> {
        match start {
            Start::Bool => Ok(Value::Bool(self.reader.bool()?)),
            Start::String => {
                let text = Value::from(&*self.reader.string()?);
                convert(&text, Type::BOOL).map_err(Failure)
            }
            _ => Err("bool is required".to_owned().into()),
        }
    }

    fn number(&mut self, start: Start) -> Decoded<Value> {
        let number = match start {
            Start::Number => number_of(self.reader.number()?)?,
            Start::String => number_of(&self.reader.string()?)?,
            _ => return Err("number is required".to_owned().into()),
        };
        Ok(Value::Number(number))
    }

    fn string(&mut self, start: Start) -> Decoded<Value> {
        Ok(match start {
            Start::String => Value::string(self.reader.string()?),
            Start::Number => Value::string(self.reader.number()?),
            Start::Bool => Value::from(if self.reader.bool()? { "true" } else { "false" }),
            _ => return Err("string is required".to_owned().into()),
        })
    }

    fn items(&mut self, element: Type) -> Decoded<(Type, Vec<Value>)> {
        self.reader.enter_array()?;
        let mut items = Vec::new();
        while self.reader.next_item(items.is_empty())? {
            let at = items.len();
            items.push(self.value(element).map_err(|it| it.inside(PathStep::index(at)))?);
        }
        Ok((unify_element_type(element, &mut items)?, items))
    }

    fn map(&mut self, element: Type) -> Decoded<Value> {
        self.reader.enter_object()?;
        let (mut keys, mut items): (Vec<Str>, Vec<Value>) = (Vec::new(), Vec::new());
        while let Some(key) = self.reader.next_key(keys.is_empty())? {
            items.push(self.value(element).map_err(|it| it.inside(PathStep::key(&key)))?);
            keys.push(nfc(&key));
        }
        let element = unify_element_type(element, &mut items)?;
        if keys.is_sorted_by(|a, b| a < b) {
            return Ok(Value::Map(
                Map { element, entries: keys.into_iter().zip(items).collect() }.into(),
            ));
        }
        Ok(Value::map(element, keys.into_iter().zip(items)))
    }

    fn tuple(&mut self, types: &[Type]) -> Decoded<Value> {
        self.reader.enter_array()?;
        let mut items = Vec::with_capacity(types.len());
        while self.reader.next_item(items.is_empty())? {
            let at = items.len();
            let Some(ty) = types.get(at) else {
                return Err(format!("too many tuple elements (need {})", types.len()).into());
            };
            items.push(self.value(*ty).map_err(|it| it.inside(PathStep::index(at)))?);
        }
        match items.len() == types.len() {
            true => Ok(Value::tuple(items)),
            false => Err(format!("not enough tuple elements (need {})", types.len()).into()),
        }
    }

    fn object(&mut self, ty: Type) -> Decoded<Value> {
        self.reader.enter_object()?;
        let attributes = ty.attributes();
        let mut values: Vec<Option<Value>> = vec![None; attributes.len()];
        let mut is_first = true;
        // Writers sort by name as types do, so the next attribute is nearly always the one that follows.
        let mut next = 0;
        while let Some(key) = self.reader.next_key(is_first)? {
            is_first = false;
            let found = match attributes.get(next) {
                Some((name, ..)) if **name == *key => Some(next),
                _ => ty.attribute_index(&key),
            };
            let Some(at) = found else {
                match self.extra {
                    Extra::Refused => {
                        return Err(format!("unsupported attribute {:?}", &*key).into());
                    }
                    Extra::Dropped => drop(self.reader.skip()?),
                }
                continue;
            };
            next = at + 1;
            let (name, ty, _) = &attributes[at];
            values[at] =
                Some(self.value(*ty).map_err(|it| it.inside(PathStep::Attribute(name.clone())))?);
        }
        let filled = values
            .into_iter()
            .zip(attributes)
            .map(|(value, it)| value.unwrap_or(Value::Null(it.1)));
        Ok(match ty.has_dynamic() {
            false => Value::object_of(ty, filled.collect()),
            true => object_like(ty, filled.collect()),
        })
    }

    /// `{"value":…,"type":…}`, in either order.
    fn wrapped(&mut self) -> Decoded<Value> {
        self.reader.enter_object()?;
        let (mut ty, mut text) = (None, None);
        let mut is_first = true;
        while let Some(key) = self.reader.next_key(is_first)? {
            is_first = false;
            match &*key {
                "type" => {
                    let decoded = read_type(&mut self.reader);
                    ty = Some(decoded.context("failed to decode type for dynamic value")?);
                }
                "value" => text = Some(self.reader.skip()?),
                key => return Err(format!("invalid key {key:?} in dynamically-typed value").into()),
            }
        }
        let ty = ty.ok_or_else(|| "missing type in dynamically-typed value".to_owned())?;
        let text = text.ok_or_else(|| "missing value in dynamically-typed value".to_owned())?;
        Decoder { reader: self.reader.within(text), extra: Extra::Refused }.document(ty)
    }
}

/// The element type of a collection whose elements may be `Dynamic` in the type asked for.
fn unify_element_type(element: Type, items: &mut [Value]) -> Decoded<Type> {
    if !element.has_dynamic() || items.is_empty() {
        return Ok(element);
    }
    common_type(items).ok_or_else(|| "all elements must have the same type".to_owned().into())
}

/// Reads the text of a number.
fn number_of(text: &str) -> Result<Number, Error> {
    if let Some(number) = Number::parse(text) {
        return Ok(number);
    }
    if Number::is_out_of_range(text) {
        return Err("the number is too large or too small".into());
    }
    Err("a number is required".into())
}

fn implied(reader: &mut Reader<'_>) -> Result<Value, Error> {
    Ok(match reader.start()? {
        Start::Null => {
            reader.null()?;
            Value::NULL
        }
        Start::Bool => Value::Bool(reader.bool()?),
        Start::Number => Value::Number(number_of(reader.number()?)?),
        Start::String => Value::string(reader.string()?),
        Start::Array => {
            reader.enter_array()?;
            let mut items = Vec::new();
            while reader.next_item(items.is_empty())? {
                items.push(implied(reader)?);
            }
            Value::tuple(items)
        }
        Start::Object => {
            reader.enter_object()?;
            let mut attributes: Vec<(Str, Value)> = Vec::new();
            while let Some(key) = reader.next_key(attributes.is_empty())? {
                attributes.push((nfc(&key), implied(reader)?));
            }
            object_without_duplicates(attributes)?
        }
    })
}

/// A name may come twice with values of one type; the last one counts.
fn object_without_duplicates(mut attributes: Vec<(Str, Value)>) -> Result<Value, Error> {
    attributes.sort_by(|a, b| a.0.cmp(&b.0));
    for pair in attributes.windows(2) {
        if pair[0].0 == pair[1].0 && pair[0].1.ty() != pair[1].1.ty() {
            return Err(format!("duplicate {:?} property in JSON object", &*pair[0].0).into());
        }
    }
    Ok(Value::object(attributes))
}
