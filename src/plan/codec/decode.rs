//! Reading what the encoder wrote, or what became of it: nothing of it is trusted.

use std::sync::Arc;

use crate::address::{Instance, ProviderInstance};
use crate::stack::deeper;
use crate::state::names;
use crate::value::{
    Kind, Marks, Number, Path, PathStep, Refinement, Sequence, Str, Type, Unknown, Value, json,
};

/// How deep values may nest in a file that is read: deeper than expressions can make them.
const MAX_DEPTH: u32 = 5_000;

/// Why a document cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// What reading gives.
pub type Read<T> = Result<T, Damaged>;

/// Reads one document.
#[derive(Debug)]
pub struct Decoder<'a> {
    rest: &'a [u8],
    types: Vec<Type>,
    texts: Vec<Str>,
    /// The last provider instance that was read, and its name: it serves many objects.
    last_provider: Option<(Str, Arc<ProviderInstance>)>,
}

impl<'a> Decoder<'a> {
    /// Returns a reader of a document.
    pub fn new(document: &'a [u8]) -> Read<Decoder<'a>> {
        let mut this =
            Decoder { rest: document, types: Vec::new(), texts: Vec::new(), last_provider: None };
        this.types = this.list(|this| json::type_from_json(&this.text()?).map_err(|_| Damaged))?;
        this.texts = this.list(Decoder::text)?;
        Ok(this)
    }

    /// Returns whether nothing is left.
    pub fn is_finished(&self) -> bool {
        self.rest.is_empty()
    }

    /// Checks that nothing is left.
    pub fn finish(self) -> Read<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(Damaged) }
    }

    fn byte(&mut self) -> Read<u8> {
        let (first, rest) = self.rest.split_first().ok_or(Damaged)?;
        self.rest = rest;
        Ok(*first)
    }

    /// Reads a number.
    pub fn number(&mut self) -> Read<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Damaged)
    }

    /// Reads a truth value.
    pub fn flag(&mut self) -> Read<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Damaged),
        }
    }

    /// Reads bytes.
    pub fn bytes(&mut self) -> Read<&'a [u8]> {
        let length = usize::try_from(self.number()?).map_err(|_| Damaged)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Damaged)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// Reads a text that does not repeat.
    pub fn text(&mut self) -> Read<Str> {
        std::str::from_utf8(self.bytes()?).map(Str::from).map_err(|_| Damaged)
    }

    /// Reads a text that may occur again.
    pub fn name(&mut self) -> Read<Str> {
        let number = self.number()? as usize;
        self.texts.get(number).cloned().ok_or(Damaged)
    }

    /// Reads the length of a list.
    fn length(&mut self) -> Read<u64> {
        let length = self.number()?;
        // Every item takes a byte at least, so a damaged length asks for no more memory than there is text.
        if length > self.rest.len() as u64 { Err(Damaged) } else { Ok(length) }
    }

    /// Reads a list.
    pub fn list<T, L: FromIterator<T>>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<L> {
        (0..self.length()?).map(|_| each(self)).collect()
    }

    /// Reads something that may be absent.
    pub fn option<T>(&mut self, each: impl FnOnce(&mut Self) -> Read<T>) -> Read<Option<T>> {
        if self.flag()? { each(self).map(Some) } else { Ok(None) }
    }

    /// Reads an instance's address.
    pub fn instance(&mut self) -> Read<Instance> {
        names::instance(&self.text()?).ok_or(Damaged)
    }

    /// Reads a provider configuration and the key of an instance of it.
    pub fn provider(&mut self) -> Read<Arc<ProviderInstance>> {
        let name = self.name()?;
        if let Some((last, instance)) = &self.last_provider
            && *last == name
        {
            return Ok(instance.clone());
        }
        let (config, key) = names::provider(&name).ok_or(Damaged)?;
        let instance = Arc::new(ProviderInstance { config, key });
        self.last_provider = Some((name, instance.clone()));
        Ok(instance)
    }

    /// Reads a path.
    pub fn path(&mut self) -> Read<Path> {
        self.list(|this| match this.flag()? {
            false => Ok(PathStep::Attribute(this.name()?)),
            true => Ok(PathStep::Index(this.value()?)),
        })
    }

    fn ty(&mut self) -> Read<Type> {
        let number = self.number()? as usize;
        self.types.get(number).copied().ok_or(Damaged)
    }

    /// Reads a value.
    pub fn value(&mut self) -> Read<Value> {
        self.value_at(0)
    }

    fn value_at(&mut self, depth: u32) -> Read<Value> {
        if depth > MAX_DEPTH {
            return Err(Damaged);
        }
        deeper(|| self.value_here(depth))
    }

    fn value_here(&mut self, depth: u32) -> Read<Value> {
        Ok(match self.byte()? {
            0 => Value::Null(self.ty()?),
            1 => {
                let ty = self.ty()?;
                Value::Unknown(Arc::new(Unknown { ty, refinement: self.refinement()? }))
            }
            2 => Value::Bool(false),
            3 => Value::Bool(true),
            4 => {
                let number = self.number()?;
                Value::int((number >> 1) as i64 ^ -((number & 1) as i64))
            }
            5 => Value::Number(self.big()?),
            6 => Value::String(self.text()?),
            7 => {
                Value::List(Arc::new(Sequence { element: self.ty()?, items: self.values(depth)? }))
            }
            8 => Value::Set(Arc::new(Sequence { element: self.ty()?, items: self.values(depth)? })),
            9 => Value::map(self.ty()?, self.entries(depth)?),
            10 => Value::tuple(self.values(depth)?),
            11 => self.object(depth)?,
            12 => {
                let marks =
                    Marks { sensitive: self.flag()?, ephemeral: self.flag()?, ..Marks::default() };
                self.value_at(depth + 1)?.mark(&marks)
            }
            _ => return Err(Damaged),
        })
    }

    // Plain loops: their frames are small, and values nest.

    fn values(&mut self, depth: u32) -> Read<Vec<Value>> {
        let mut values = Vec::new();
        for _ in 0..self.length()? {
            values.push(self.value_at(depth + 1)?);
        }
        Ok(values)
    }

    fn entries(&mut self, depth: u32) -> Read<Vec<(Str, Value)>> {
        let mut entries = Vec::new();
        for _ in 0..self.length()? {
            entries.push((self.name()?, self.value_at(depth + 1)?));
        }
        Ok(entries)
    }

    fn object(&mut self, depth: u32) -> Read<Value> {
        let ty = self.ty()?;
        let Kind::Object(attributes) = ty.kind() else { return Err(Damaged) };
        let mut values = Vec::with_capacity(attributes.len());
        for _ in attributes {
            values.push(self.value_at(depth + 1)?);
        }
        Ok(Value::object_of(ty, values.into()))
    }

    fn big(&mut self) -> Read<Number> {
        match &*self.text()? {
            "inf" => Ok(Number::infinity(false)),
            "-inf" => Ok(Number::infinity(true)),
            text => Number::parse(text).ok_or(Damaged),
        }
    }

    fn refinement(&mut self) -> Read<Refinement> {
        let bound = |this: &mut Self| Ok((this.big()?, this.flag()?));
        Ok(Refinement {
            not_null: self.flag()?,
            prefix: self.option(Decoder::text)?,
            lower: self.option(bound)?,
            upper: self.option(bound)?,
            min_length: self.option(Decoder::number)?,
            max_length: self.option(Decoder::number)?,
            document: None,
        })
    }
}
