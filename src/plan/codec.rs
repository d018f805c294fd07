//! The compact form in which a saved plan keeps values, paths and addresses: unknowns and marks included, each type once.
//!
//! Only the version that wrote it reads it, so nothing here is stable; what is read may still be damaged and is never
//! trusted.

use rustc_hash::FxHashMap;

use crate::address::{Instance, ProviderInstance};
use crate::stack::deeper;
use crate::value::{Number, Path, PathStep, Refinement, Sequence, Str, Type, Value, json};

mod decode;

pub use self::decode::{Damaged, Decoder, Read};

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
    pub fn list<'t, T: 't>(
        &mut self,
        items: impl IntoIterator<Item = &'t T, IntoIter: ExactSizeIterator>,
        mut each: impl FnMut(&mut Encoder, &T),
    ) {
        let items = items.into_iter();
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
