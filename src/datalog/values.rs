//! Values as whole numbers: the same value always has the same number, so that a column of values joins like any other.
//!
//! A word of a value says two things besides: whether the value is a secret, and whether a part of it is not known yet. A
//! secret equals what is equal to it and no secret; what is not known yet may be equal to anything.

use std::hash::Hasher;

use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHasher};

use crate::expression::print::format_value;
use crate::value::unknown::known_equality;
use crate::value::{Kind, Marks, Number, Value};

/// Set in every word of a value.
const VALUE: u64 = 1 << 63;

/// Set where the value must not be shown.
const SECRET: u64 = 1 << 62;

/// Set where a part of the value is not known yet.
const OPEN: u64 = 1 << 61;

/// Returns whether a word stands for a value.
pub fn is_value(word: u64) -> bool {
    word & VALUE != 0
}

/// Returns whether a word stands for a value that must not be shown.
pub fn is_secret(word: u64) -> bool {
    word & (VALUE | SECRET) == VALUE | SECRET
}

/// Returns whether a word stands for a value of which a part is not known yet.
pub fn is_open(word: u64) -> bool {
    word & (VALUE | OPEN) == VALUE | OPEN
}

/// Returns the word of the same value that must not be shown.
pub fn secret(word: u64) -> u64 {
    if is_value(word) { word | SECRET } else { word }
}

/// Returns the word by which one is looked up: being a secret makes no difference to what is equal.
pub fn key(word: u64) -> u64 {
    if is_value(word) { word & !SECRET } else { word }
}

/// Values, each with a number: its position. Shared by whoever holds the rows.
#[derive(Debug, Default)]
pub struct Values {
    known: Mutex<Known>,
}

#[derive(Clone, Debug, Default)]
struct Known {
    values: Vec<Value>,
    numbers: FxHashMap<u64, Vec<u32>>,
}

impl Clone for Values {
    fn clone(&self) -> Values {
        Values { known: Mutex::new(self.known.lock().clone()) }
    }
}

impl Values {
    /// Returns the word of a value.
    pub fn word(&self, value: &Value) -> u64 {
        let marks = value.deep_marks();
        let plain;
        let bare = match value.contains_marked() {
            true => {
                plain = value.to_plain();
                &*plain
            }
            false => value,
        };
        let mut word = VALUE | u64::from(self.known.lock().number(bare));
        if marks.is_secret() {
            word |= SECRET;
        }
        if !bare.is_wholly_known() {
            word |= OPEN;
        }
        word
    }

    /// Returns the word of a text.
    pub fn text(&self, text: &str) -> u64 {
        self.word(&Value::string(text))
    }

    /// Returns the word of a number.
    pub fn number(&self, number: i64) -> u64 {
        self.word(&Value::int(number))
    }

    /// Returns the value of a word, marked where it is a secret.
    pub fn value(&self, word: u64) -> Option<Value> {
        let value = is_value(word).then(|| self.known.lock().get(word))??;
        Some(if is_secret(word) { value.mark(&Marks::sensitive()) } else { value })
    }

    /// Returns the text of a word, where it is one.
    pub fn as_text(&self, word: u64) -> Option<String> {
        self.known.lock().get(word)?.as_str().map(str::to_owned)
    }

    /// Returns whether two words stand for the same: nothing where that is not known yet.
    pub fn same(&self, one: u64, other: u64) -> Option<bool> {
        if key(one) == key(other) && !is_open(one) {
            return Some(true);
        }
        if !is_open(one) && !is_open(other) {
            return Some(false);
        }
        if !is_value(one) || !is_value(other) {
            return Some(false);
        }
        let known = self.known.lock();
        known_equality(&known.get(one)?, &known.get(other)?)
    }

    /// Writes a value for people: texts as they are, other values as one would write them; nothing of a secret.
    pub fn show(&self, word: u64) -> String {
        if is_secret(word) {
            return "(sensitive)".to_owned();
        }
        let Some(value) = self.known.lock().get(word) else { return word.to_string() };
        match &value {
            it if !it.is_known() => "(known after apply)".to_owned(),
            Value::String(text) => text.to_string(),
            it if !it.is_wholly_known() => "(known after apply)".to_owned(),
            it => format_value(it),
        }
    }
}

impl Known {
    fn get(&self, word: u64) -> Option<Value> {
        self.values.get((word & u64::from(u32::MAX)) as usize).cloned()
    }

    fn number(&mut self, value: &Value) -> u32 {
        let mut hasher = FxHasher::default();
        hash(value, &mut hasher);
        let same = self.numbers.entry(hasher.finish()).or_default();
        if let Some(known) = same.iter().find(|it| self.values[**it as usize] == *value) {
            return *known;
        }
        let number = self.values.len() as u32;
        same.push(number);
        self.values.push(value.clone());
        number
    }
}

/// Values that are equal hash alike.
fn hash(value: &Value, into: &mut FxHasher) {
    match value {
        Value::Null(_) => into.write_u8(0),
        Value::Unknown(_) => into.write_u8(1),
        Value::Bool(it) => into.write_u8(2 + u8::from(*it)),
        Value::Number(it) => hash_number(it, into),
        Value::String(it) => into.write(it.as_bytes()),
        Value::Map(it) => {
            into.write_u8(5);
            it.entries.iter().for_each(|(name, value)| {
                into.write(name.as_bytes());
                hash(value, into);
            });
        }
        Value::Object(it) => {
            into.write_u8(6);
            if let Kind::Object(attributes) = it.ty.kind() {
                attributes.iter().for_each(|it| into.write(it.0.as_bytes()));
            }
            it.values.iter().for_each(|it| hash(it, into));
        }
        Value::Marked(it) => hash(it.value(), into),
        Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
            into.write_u8(7);
            value.children().for_each(|it| hash(it, into));
        }
    }
}

fn hash_number(number: &Number, into: &mut FxHasher) {
    into.write_u8(4);
    match number.as_i64() {
        Some(it) => into.write_i64(it),
        None => into.write_u64(number.to_f64().to_bits()),
    }
}
