//! Msgpack to values.

use super::{PLAIN_UNKNOWN, REFINED_UNKNOWN, key};
use crate::error::Error;
use crate::value::json::type_from_json;
use crate::value::objects::object_like;
use crate::value::unknown::refined;
use crate::value::{Kind, Number, PathError, PathStep, Refinement, Str, Type, Value, nfc, text_of};

/// The most bytes that may be told of an unknown value.
const REFINEMENT: usize = 1024;

/// Reads a value of type `ty`; nothing may follow it.
pub fn from_msgpack(bytes: &[u8], ty: Type) -> Result<Value, PathError> {
    read(&mut Reader { bytes, at: 0, broken: Broken::Refused }, ty)
}

/// Like [`from_msgpack`], but bytes of a string that are not UTF-8 are read as U+FFFD, one for each; returns also whether
/// there were any.
pub fn from_msgpack_lossy(bytes: &[u8], ty: Type) -> Result<(Value, bool), PathError> {
    let mut reader = Reader { bytes, at: 0, broken: Broken::Replaced { any: false } };
    let value = read(&mut reader, ty)?;
    Ok((value, matches!(reader.broken, Broken::Replaced { any: true })))
}

fn read(reader: &mut Reader<'_>, ty: Type) -> Result<Value, PathError> {
    let result = value(reader, ty).and_then(|it| match reader.at == reader.bytes.len() {
        true => Ok(it),
        false => Err("there is more than one value".to_owned().into()),
    });
    result.map_err(|Failure(mut error)| {
        error.path.reverse();
        error
    })
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

impl From<&str> for Failure {
    fn from(message: &str) -> Failure {
        message.to_owned().into()
    }
}

impl Failure {
    fn inside(mut self, step: impl FnOnce() -> PathStep) -> Failure {
        self.0.path.push(step());
        self
    }
}

/// What stands at the front, its own bytes passed.
enum Token<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Large(u64),
    Float(f64),
    Text(&'a [u8]),
    Array(usize),
    Map(usize),
    Extension(u8, &'a [u8]),
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    broken: Broken,
}

/// What becomes of strings that are not UTF-8.
enum Broken {
    Refused,
    Replaced { any: bool },
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Decoded<&'a [u8]> {
        let end = self.at.checked_add(count).filter(|it| *it <= self.bytes.len());
        let end = end.ok_or("the bytes end too early")?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// Reads an unsigned number of `count` bytes, at most 8.
    fn unsigned(&mut self, count: usize) -> Decoded<u64> {
        Ok(self.take(count)?.iter().fold(0, |sum, it| sum << 8 | u64::from(*it)))
    }

    fn length(&mut self, count: usize) -> Decoded<usize> {
        Ok(self.unsigned(count)? as usize)
    }

    fn text(&mut self, count: usize) -> Decoded<Token<'a>> {
        let length = self.length(count)?;
        Ok(Token::Text(self.take(length)?))
    }

    fn extension(&mut self, length: usize) -> Decoded<Token<'a>> {
        let kind = self.take(1)?[0];
        Ok(Token::Extension(kind, self.take(length)?))
    }

    fn token(&mut self) -> Decoded<Token<'a>> {
        let tag = self.take(1)?[0];
        Ok(match tag {
            0x00..=0x7f => Token::Int(tag.into()),
            0x80..=0x8f => Token::Map((tag & 0x0f).into()),
            0x90..=0x9f => Token::Array((tag & 0x0f).into()),
            0xa0..=0xbf => Token::Text(self.take((tag & 0x1f).into())?),
            0xc0 => Token::Null,
            0xc2 => Token::Bool(false),
            0xc3 => Token::Bool(true),
            0xc4 | 0xd9 => self.text(1)?,
            0xc5 | 0xda => self.text(2)?,
            0xc6 | 0xdb => self.text(4)?,
            0xc7 => self.length(1).and_then(|it| self.extension(it))?,
            0xc8 => self.length(2).and_then(|it| self.extension(it))?,
            0xc9 => self.length(4).and_then(|it| self.extension(it))?,
            0xca => Token::Float(f32::from_bits(self.unsigned(4)? as u32).into()),
            0xcb => Token::Float(f64::from_bits(self.unsigned(8)?)),
            0xcc => Token::Int(self.unsigned(1)? as i64),
            0xcd => Token::Int(self.unsigned(2)? as i64),
            0xce => Token::Int(self.unsigned(4)? as i64),
            0xcf => match self.unsigned(8)? {
                it if it <= i64::MAX as u64 => Token::Int(it as i64),
                it => Token::Large(it),
            },
            0xd0 => Token::Int((self.unsigned(1)? as u8 as i8).into()),
            0xd1 => Token::Int((self.unsigned(2)? as u16 as i16).into()),
            0xd2 => Token::Int((self.unsigned(4)? as u32 as i32).into()),
            0xd3 => Token::Int(self.unsigned(8)? as i64),
            0xd4..=0xd8 => self.extension(1 << (tag - 0xd4))?,
            0xdc => Token::Array(self.length(2)?),
            0xdd => Token::Array(self.length(4)?),
            0xde => Token::Map(self.length(2)?),
            0xdf => Token::Map(self.length(4)?),
            0xe0..=0xff => Token::Int((tag as i8).into()),
            0xc1 => return Err("there is a byte that msgpack does not know".into()),
        })
    }

    /// Room for as many elements as there can be: each has at least one byte.
    fn room<T>(&self, length: usize) -> Vec<T> {
        Vec::with_capacity(length.min(self.bytes.len() - self.at))
    }

    /// Passes over whatever stands at the front. What is told of an unknown value is small, so this goes not deep.
    fn skip(&mut self) -> Decoded<()> {
        let mut left = 1_usize;
        while left > 0 {
            left -= 1;
            match self.token()? {
                Token::Array(length) => left += length,
                Token::Map(length) => left += length * 2,
                _ => {}
            }
        }
        Ok(())
    }
}

fn text(bytes: &[u8]) -> Decoded<&str> {
    std::str::from_utf8(bytes).map_err(|_| "a string is not UTF-8".into())
}

fn value(reader: &mut Reader<'_>, ty: Type) -> Decoded<Value> {
    let token = reader.token()?;
    match (token, ty.kind()) {
        (Token::Null, _) => Ok(Value::Null(ty)),
        (Token::Extension(kind, inside), _) => unknown(kind, inside, ty),
        (Token::Array(2), Kind::Dynamic) => dynamic(reader),
        (_, Kind::Dynamic) => Err("a type and a value are required".into()),
        (Token::Bool(it), Kind::Bool) => Ok(Value::Bool(it)),
        (_, Kind::Bool) => Err("bool is required".into()),
        (token, Kind::Number) => number(token),
        (Token::Text(it), Kind::String) => string(reader, it),
        (_, Kind::String) => Err("string is required".into()),
        (Token::Array(length), Kind::List(element)) => {
            Ok(Value::list(*element, items(reader, length, *element)?))
        }
        (Token::Array(length), Kind::Set(element)) => {
            Ok(Value::set(*element, items(reader, length, *element)?))
        }
        (Token::Array(length), Kind::Tuple(types)) if length == types.len() => tuple(reader, types),
        (Token::Array(_), Kind::Tuple(types)) => {
            Err(format!("a tuple of length {} is required", types.len()).into())
        }
        (Token::Map(length), Kind::Map(element)) => map(reader, length, *element),
        (Token::Map(length), Kind::Object(_)) => object(reader, length, ty),
        (_, Kind::List(_)) => Err("a list is required".into()),
        (_, Kind::Set(_)) => Err("a set is required".into()),
        (_, Kind::Tuple(_)) => Err("a tuple is required".into()),
        (_, Kind::Map(_)) => Err("a map is required".into()),
        (_, Kind::Object(_)) => Err("an object is required".into()),
    }
}

fn string(reader: &mut Reader<'_>, bytes: &[u8]) -> Decoded<Value> {
    let text = match (text(bytes), &mut reader.broken) {
        (Err(_), Broken::Replaced { any }) => {
            *any = true;
            nfc(&text_of(bytes))
        }
        (text, _) => nfc(text?),
    };
    Ok(Value::String(text))
}

fn number(token: Token<'_>) -> Decoded<Value> {
    let number = match token {
        Token::Int(it) => Some(Number::Int(it)),
        Token::Large(it) => Some(Number::from_bigint(&it.into())),
        Token::Float(it) => Number::from_f64(it),
        Token::Text(it) => Number::parse(text(it)?),
        _ => None,
    };
    number.map(Value::Number).ok_or_else(|| "number is required".into())
}

fn dynamic(reader: &mut Reader<'_>) -> Decoded<Value> {
    let Token::Text(ty) = reader.token()? else {
        return Err("a type and a value are required".into());
    };
    let ty = type_from_json(text(ty)?)?;
    value(reader, ty)
}

fn items(reader: &mut Reader<'_>, length: usize, element: Type) -> Decoded<Vec<Value>> {
    let mut items = reader.room(length);
    for at in 0..length {
        items.push(value(reader, element).map_err(|it| it.inside(|| PathStep::index(at)))?);
    }
    Ok(items)
}

fn tuple(reader: &mut Reader<'_>, types: &[Type]) -> Decoded<Value> {
    let mut items = Vec::with_capacity(types.len());
    for (at, ty) in types.iter().enumerate() {
        items.push(value(reader, *ty).map_err(|it| it.inside(|| PathStep::index(at)))?);
    }
    Ok(Value::tuple(items))
}

fn name<'a>(reader: &mut Reader<'a>) -> Decoded<&'a str> {
    match reader.token()? {
        Token::Text(it) => text(it),
        _ => Err("the keys of a map must be strings".into()),
    }
}

fn map(reader: &mut Reader<'_>, length: usize, element: Type) -> Decoded<Value> {
    let mut entries: Vec<(Str, Value)> = reader.room(length);
    for _ in 0..length {
        let name = nfc(name(reader)?);
        let item = value(reader, element).map_err(|it| it.inside(|| PathStep::key(&name)))?;
        entries.push((name, item));
    }
    Ok(Value::map(element, entries))
}

fn object(reader: &mut Reader<'_>, length: usize, ty: Type) -> Decoded<Value> {
    let attributes = ty.attributes();
    let mut values: Vec<Option<Value>> = vec![None; attributes.len()];
    for next in 0..length {
        let name = name(reader)?;
        // Most providers keep the order of names.
        let at = match attributes.get(next) {
            Some(it) if &*it.0 == name => next,
            _ => {
                ty.attribute_index(name).ok_or_else(|| format!("unsupported attribute {name:?}"))?
            }
        };
        let item = value(reader, attributes[at].1)
            .map_err(|it| it.inside(|| PathStep::attribute(name)))?;
        values[at] = Some(item);
    }
    let missing = values.iter().position(Option::is_none);
    if let Some(at) = missing {
        return Err(format!("missing required attribute {:?}", &*attributes[at].0).into());
    }
    Ok(object_like(ty, values.into_iter().flatten().collect()))
}

fn unknown(kind: u8, inside: &[u8], ty: Type) -> Decoded<Value> {
    if inside.len() <= 1 {
        return Ok(Value::unknown(ty));
    }
    if kind != REFINED_UNKNOWN {
        let known = [PLAIN_UNKNOWN, REFINED_UNKNOWN];
        return Err(format!("extension {kind} is none of {known:?}").into());
    }
    if inside.len() > REFINEMENT {
        return Err("too much is told of an unknown value".into());
    }
    let mut reader = Reader { bytes: inside, at: 0, broken: Broken::Refused };
    let Token::Map(length) = reader.token()? else {
        return Err("what is told of an unknown value is not a map".into());
    };
    let mut told = Refinement::default();
    let mut is_null = false;
    for _ in 0..length {
        let Token::Int(at) = reader.token()? else {
            return Err("what is told of an unknown value has a key that is not a number".into());
        };
        is_null |= refine(&mut reader, at as u64, ty, &mut told)?;
    }
    Ok(if is_null { Value::Null(ty) } else { refined(ty, told) })
}

/// Takes one thing that is told; returns whether it is that the value will be null.
fn refine(reader: &mut Reader<'_>, at: u64, ty: Type, told: &mut Refinement) -> Decoded<bool> {
    let misplaced = || {
        Failure::from(format!("what is told of an unknown {} does not fit it", ty.friendly_name()))
    };
    match at {
        key::NULL => {
            let Token::Bool(is_null) = reader.token()? else { return Err(misplaced()) };
            told.not_null = !is_null;
            return Ok(is_null);
        }
        key::PREFIX if ty == Type::STRING => {
            let Token::Text(it) = reader.token()? else { return Err(misplaced()) };
            told.prefix = Some(nfc(text(it)?));
        }
        key::LOWER if ty == Type::NUMBER => told.lower = Some(bound(reader)?),
        key::UPPER if ty == Type::NUMBER => told.upper = Some(bound(reader)?),
        key::MIN_LENGTH if ty.is_collection() => told.min_length = Some(length(reader)?),
        key::MAX_LENGTH if ty.is_collection() => told.max_length = Some(length(reader)?),
        key::PREFIX..=key::MAX_LENGTH => return Err(misplaced()),
        _ => reader.skip()?,
    }
    Ok(false)
}

fn bound(reader: &mut Reader<'_>) -> Decoded<(Number, bool)> {
    let wrong = "a bound is not a number and whether it counts";
    let Token::Array(2) = reader.token()? else { return Err(wrong.into()) };
    let Value::Number(it) = number(reader.token()?)? else { return Err(wrong.into()) };
    match reader.token()? {
        Token::Bool(inclusive) => Ok((it, inclusive)),
        _ => Err(wrong.into()),
    }
}

fn length(reader: &mut Reader<'_>) -> Decoded<u64> {
    match reader.token()? {
        Token::Int(it) if it >= 0 => Ok(it as u64),
        _ => Err("a length is not a whole number".into()),
    }
}
