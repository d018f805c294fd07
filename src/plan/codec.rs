//! The compact form in which a saved plan keeps values, paths and addresses: unknowns and marks included, each type once.
//!
//! Only the version that wrote it reads it, so nothing here is stable; what is read may still be damaged and is never
//! trusted.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::address::{Instance, ProviderInstance};
use crate::stack::deeper;
use crate::state::names;
use crate::value::{
    Kind, Marks, Number, Path, PathStep, Refinement, Sequence, Str, Type, Unknown, Value, json,
};

/// How deep values may nest in a file that is read: deeper than expressions can make them.
const MAX_DEPTH: u32 = 5_000;

/// Writes one document; types and texts are written once and numbered.
#[derive(Debug, Default)]
pub struct Encoder {
    body: Vec<u8>,
    types: Vec<Type>,
    type_numbers: FxHashMap<Type, u64>,
    texts: Vec<Str>,
    text_numbers: FxHashMap<Str, u64>,
}

impl Encoder {
    /// Returns the document: types, texts, body.
    pub fn finish(self) -> Vec<u8> {
        let mut head = Encoder::default();
        head.number(self.types.len() as u64);
        for ty in &self.types {
            head.bytes(json::type_to_json(*ty).as_bytes());
        }
        head.number(self.texts.len() as u64);
        for text in &self.texts {
            head.bytes(text.as_bytes());
        }
        let mut out = head.body;
        out.extend_from_slice(&self.body);
        out
    }

    /// Writes a number in as few bytes as it needs.
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.body.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.body.push(number as u8);
    }

    /// Writes a truth value.
    pub fn flag(&mut self, flag: bool) {
        self.body.push(u8::from(flag));
    }

    /// Writes bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.body.extend_from_slice(bytes);
    }

    /// Writes a text that does not repeat.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Writes a text that may occur again.
    pub fn name(&mut self, text: &str) {
        let number = match self.text_numbers.get(text) {
            Some(number) => *number,
            None => {
                let (text, number) = (Str::from(text), self.texts.len() as u64);
                self.texts.push(text.clone());
                self.text_numbers.insert(text, number);
                number
            }
        };
        self.number(number);
    }

    /// Writes a list.
    pub fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Encoder, &T)) {
        self.number(items.len() as u64);
        for item in items {
            each(self, item);
        }
    }

    /// Writes something that may be absent.
    pub fn option<T>(&mut self, item: Option<T>, each: impl FnOnce(&mut Encoder, T)) {
        self.flag(item.is_some());
        if let Some(item) = item {
            each(self, item);
        }
    }

    /// Writes an instance's address.
    pub fn instance(&mut self, address: &Instance) {
        self.text(&address.to_string());
    }

    /// Writes a provider configuration and the key of an instance of it.
    pub fn provider(&mut self, instance: &ProviderInstance) {
        self.name(&instance.to_string());
    }

    /// Writes a path.
    pub fn path(&mut self, path: &Path) {
        self.list(path, |this, step| match step {
            PathStep::Attribute(name) => {
                this.flag(false);
                this.name(name);
            }
            PathStep::Index(key) => {
                this.flag(true);
                this.value(key);
            }
        });
    }

    fn ty(&mut self, ty: Type) {
        let next = self.types.len() as u64;
        let number = *self.type_numbers.entry(ty).or_insert(next);
        if number == next {
            self.types.push(ty);
        }
        self.number(number);
    }

    /// Writes a value.
    pub fn value(&mut self, value: &Value) {
        deeper(|| self.value_here(value));
    }

    fn value_here(&mut self, value: &Value) {
        match value {
            Value::Null(ty) => {
                self.body.push(0);
                self.ty(*ty);
            }
            Value::Unknown(it) => {
                self.body.push(1);
                self.ty(it.ty);
                self.refinement(&it.refinement);
            }
            Value::Bool(it) => self.body.push(2 + u8::from(*it)),
            Value::Number(Number::Int(it)) => {
                self.body.push(4);
                self.number(((it << 1) ^ (it >> 63)) as u64);
            }
            Value::Number(it) => {
                self.body.push(5);
                self.big(it);
            }
            Value::String(it) => {
                self.body.push(6);
                self.text(it);
            }
            Value::List(it) => self.sequence(7, it),
            Value::Set(it) => self.sequence(8, it),
            Value::Map(it) => {
                self.body.push(9);
                self.ty(it.element);
                self.list(&it.entries, |this, (key, value)| {
                    this.name(key);
                    this.value(value);
                });
            }
            Value::Tuple(it) => {
                self.body.push(10);
                self.list(&it.items, Encoder::value);
            }
            Value::Object(it) => {
                self.body.push(11);
                self.ty(it.ty);
                it.values.iter().for_each(|value| self.value(value));
            }
            Value::Marked(it) => {
                self.body.push(12);
                // What a value was read from concerns only the run that traced it.
                self.flag(it.marks().sensitive);
                self.flag(it.marks().ephemeral);
                self.value(it.value());
            }
        }
    }

    fn sequence(&mut self, tag: u8, it: &Sequence) {
        self.body.push(tag);
        self.ty(it.element);
        self.list(&it.items, Encoder::value);
    }

    fn big(&mut self, number: &Number) {
        match number.is_infinite() {
            true if number.sign() < 0 => self.text("-inf"),
            true => self.text("inf"),
            false => self.text(&number.to_string()),
        }
    }

    fn refinement(&mut self, it: &Refinement) {
        // Only policies know of documents, and no plan holds what they make.
        let Refinement { not_null, prefix, lower, upper, min_length, max_length, document: _ } = it;
        self.flag(*not_null);
        self.option(prefix.as_deref(), Encoder::text);
        for bound in [lower, upper] {
            self.option(bound.as_ref(), |this, (number, is_possible)| {
                this.big(number);
                this.flag(*is_possible);
            });
        }
        for length in [min_length, max_length] {
            self.option(*length, Encoder::number);
        }
    }
}

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
    pub fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
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
