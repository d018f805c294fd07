//! Values as whole numbers: the same value always has the same number, so that a column of values joins like any other.
//!
//! A word of a value says more besides: whether the value is a secret, and whether a part of it is not known yet. A secret
//! equals what is equal to it and no secret; what is not known yet may be equal to anything, but the element of one place
//! is equal to itself. A text that is written where a provider may want a bool or a number may be equal to these.

use std::hash::Hasher;

use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHasher};

use super::{loose, narrow};
use crate::expression::print::format_line;
use crate::value::unknown::known_equality;
use crate::value::{Kind, Marks, Number, Value};

/// Set in every word of a value.
const VALUE: u64 = 1 << 63;

/// Set where the value must not be shown.
const SECRET: u64 = 1 << 62;

/// Set where a part of the value is not known yet.
const OPEN: u64 = 1 << 61;

/// Set where a text is written that reads as a bool or a number, and nobody knows what its provider makes of it.
const LOOSE: u64 = 1 << 60;

/// Set where such a text may lie within.
const LOOSE_WITHIN: u64 = 1 << 59;

/// Set where the value has a place of its own, so that it equals itself whatever is not known of it.
const PLACED: u64 = 1 << 58;

/// Set for bools and numbers.
const SCALAR: u64 = 1 << 57;

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

/// Returns whether what a word stands for is equal to itself.
pub fn is_one(word: u64) -> bool {
    !is_open(word) || word & PLACED != 0
}

/// Returns whether a word stands for a text that may become a bool or a number, or has such texts in it.
pub fn is_loose(word: u64) -> bool {
    is_value(word) && word & (LOOSE | LOOSE_WITHIN) != 0
}

/// Returns whether a word may equal one of another type.
pub fn has_twins(word: u64) -> bool {
    is_value(word) && word & (LOOSE | SCALAR) != 0
}

/// Returns the word by which one is looked up: being a secret, and where it is from, make no difference to what is equal.
pub fn key(word: u64) -> u64 {
    if is_value(word) { word & !(SECRET | LOOSE | LOOSE_WITHIN) } else { word }
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
    /// The numbers of values that have a place.
    placed: FxHashMap<Vec<u64>, u32>,
    /// Whether some text may become a bool or a number.
    has_loose: bool,
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
        if matches!(bare, Value::Bool(_) | Value::Number(_)) {
            word |= SCALAR;
        }
        if marks.is_secret() {
            word |= SECRET;
        }
        if !bare.is_wholly_known() {
            word |= OPEN;
        }
        word
    }

    /// Returns the word of a value that is written for a provider: of its texts nobody knows whether they become bools or
    /// numbers.
    pub fn word_as_written(&self, value: &Value) -> u64 {
        if let Value::Unknown(it) = value.bare() {
            return self.word(&loose::unknown_as_written(it).mark(&value.marks()));
        }
        let word = self.word(value);
        let loose = match loose::may_convert(value) {
            false => return word,
            true if matches!(value.bare(), Value::String(_)) => LOOSE,
            true => LOOSE_WITHIN,
        };
        self.known.lock().has_loose = true;
        word | loose
    }

    /// Returns the word of a value of which a part is not known yet, and which is always the same at this place.
    pub fn word_at(&self, place: Vec<u64>, word: u64) -> u64 {
        let mut known = self.known.lock();
        let Some(value) = known.get(word) else { return word };
        let at_place = known.placed.get(&place).copied();
        let number = match at_place.filter(|it| known.values[*it as usize] == value) {
            Some(number) => number,
            None => {
                let number = known.values.len() as u32;
                known.values.push(value);
                known.placed.insert(place, number);
                number
            }
        };
        word & !u64::from(u32::MAX) | u64::from(number) | PLACED
    }

    /// Returns the words of other types that a word may be equal to.
    pub fn twins(&self, word: u64) -> Vec<u64> {
        if !has_twins(word) || !self.known.lock().has_loose {
            return Vec::new();
        }
        let value = self.known.lock().get(word);
        let twins = value.map_or(Vec::new(), |it| loose::twins(&it));
        twins.iter().map(|it| self.word(it)).collect()
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
        if key(one) == key(other) && is_one(one) {
            return Some(true);
        }
        if (one | other) & LOOSE != 0 && self.twins(one).contains(&key(other)) {
            return None;
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

    /// Returns the word of what is known of something that two words stand for.
    pub fn narrower(&self, one: u64, other: u64) -> u64 {
        match (is_open(one), is_open(other)) {
            // A text that may become something else gives way to what it is compared with.
            (false, false) if one & LOOSE != 0 => other,
            (false, _) => one,
            (true, false) => other,
            (true, true) if key(one) == key(other) => one,
            (true, true) => {
                let known = self.known.lock();
                let (Some(a), Some(b)) = (known.get(one), known.get(other)) else { return one };
                drop(known);
                let both = narrow::both(&a, &b);
                // Where one of them says it all, it stays the one of its place.
                let same = [(one, a), (other, b)].into_iter().find(|it| it.1 == both);
                same.map_or_else(|| self.word(&both), |it| it.0)
            }
        }
    }

    /// Writes a value for people, in one line: texts as they are, other values as one would write them; nothing of a secret.
    pub fn show(&self, word: u64) -> String {
        if is_secret(word) {
            return "(sensitive)".to_owned();
        }
        let Some(value) = self.known.lock().get(word) else { return word.to_string() };
        match &value {
            it if !it.is_known() => "(known after apply)".to_owned(),
            Value::String(text) => text.to_string(),
            it if !it.is_wholly_known() => "(known after apply)".to_owned(),
            it => format_line(it),
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
