//! `random_string` and `random_password`: characters of up to four classes.

use std::sync::Arc;

use async_trait::async_trait;

use super::{KEEPERS, below, size};
use crate::provider::builtin::attribute::{Attribute, Preset, ReplaceCase, flag, text, whole};
use crate::provider::builtin::fields::{Fields, Read, at};
use crate::provider::builtin::resource::{Kind, Problem};
use crate::provider::builtin::rules::{at_least, invalid_value};
use crate::provider::builtin::table::Source;
use crate::value::Value;
use crate::world::World;

/// A class of characters: the argument that switches it on, the one that asks for some, and the characters.
const CLASSES: [(&str, &str, &str); 4] = [
    ("upper", "min_upper", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("lower", "min_lower", "abcdefghijklmnopqrstuvwxyz"),
    ("numeric", "min_numeric", "0123456789"),
    ("special", "min_special", "!@#$%&*()-_=+[]{}<>:?"),
];

/// What a hash is made of; bcrypt looks at no more.
const HASHED_BYTES: usize = 72;

/// A written hash: version, cost and salt, then the digest.
const HASH_BYTES: usize = 60;
const SALTED_BYTES: usize = 29;
/// The shortest text that is looked at as a hash.
const SHORTEST_HASH: usize = 59;

/// The cost of a hash.
const HASH_COST: u32 = 10;

const LENGTH: Attribute = whole("length").required().replaces();
const NUMBER: Attribute =
    flag("number").optional().computed().deprecated("Use numeric instead.").replaces();
const NUMERIC: Attribute = flag("numeric").optional().computed().replaces();
const OVERRIDE: Attribute = text("override_special").optional().replaces_when(is_other_alphabet);

const fn class(name: &'static str) -> Attribute {
    flag(name).preset(Preset::Flag(true)).replaces()
}

const fn least(name: &'static str) -> Attribute {
    whole(name).preset(Preset::Whole(0)).replaces()
}

/// Old versions stored an empty alphabet where none was given: its removal changes nothing.
fn is_other_alphabet(case: &ReplaceCase<'_>) -> bool {
    case.config.is_known() && !(case.config.is_null() && case.prior.as_str() == Some(""))
}

pub(super) struct RandomString;

impl Kind for RandomString {
    fn name(&self) -> &'static str {
        "random_string"
    }

    fn version(&self) -> u64 {
        2
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                text("id").kept(),
                KEEPERS,
                LENGTH,
                class("lower"),
                least("min_lower"),
                least("min_numeric"),
                least("min_special"),
                least("min_upper"),
                NUMBER,
                NUMERIC,
                OVERRIDE,
                text("result").kept(),
                class("special"),
                class("upper"),
            ]
        }
    }

    fn check(&self, config: &Value, found: &mut Vec<Problem>) {
        check(config, &["number", "numeric"], found);
    }

    fn complete_plan(&self, config: &Value, planned: &mut Fields) -> Result<(), Problem> {
        mirror_number(config, planned)
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        let result = draw(world, planned)?;
        planned.set_text("id", &result);
        planned.set_text("result", result);
        Ok(())
    }

    fn upgrade(&self, _: &World, version: u64, object: &mut Fields) -> Option<Result<(), Problem>> {
        (version == 1).then(|| {
            fill_in(object);
            Ok(())
        })
    }

    fn import(&self, _: &World, id: &str, object: &mut Fields) -> Option<Result<(), Problem>> {
        object.set_text("id", id);
        object.set_text("result", id);
        fill_in(object);
        Some(Ok(()))
    }
}

pub(super) struct RandomPassword;

impl Kind for RandomPassword {
    fn name(&self) -> &'static str {
        "random_password"
    }

    fn version(&self) -> u64 {
        3
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                text("bcrypt_hash").kept().sensitive(),
                text("id").kept(),
                KEEPERS,
                LENGTH,
                class("lower"),
                least("min_lower"),
                least("min_numeric"),
                least("min_special"),
                least("min_upper"),
                NUMBER,
                NUMERIC,
                OVERRIDE,
                text("result").kept().sensitive(),
                class("special"),
                class("upper"),
            ]
        }
    }

    fn check(&self, config: &Value, found: &mut Vec<Problem>) {
        check(config, &["number", "numeric"], found);
    }

    fn complete_plan(&self, config: &Value, planned: &mut Fields) -> Result<(), Problem> {
        mirror_number(config, planned)
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        let result = draw(world, planned)?;
        planned.set_text("bcrypt_hash", hash(&result)?);
        planned.set_text("id", "none");
        planned.set_text("result", result);
        Ok(())
    }

    fn upgrade(&self, _: &World, version: u64, object: &mut Fields) -> Option<Result<(), Problem>> {
        (version < 3).then(|| {
            fill_in(object);
            let result = object.text("result").unwrap_or_default();
            let is_good = match version {
                0 => false,
                1 => true,
                _ => fits(result, object.text("bcrypt_hash").unwrap_or_default())?,
            };
            if !is_good {
                let hash = hash(result)?;
                object.set_text("bcrypt_hash", hash);
            }
            Ok(())
        })
    }

    fn import(&self, _: &World, id: &str, object: &mut Fields) -> Option<Result<(), Problem>> {
        object.set_text("id", "none");
        object.set_text("result", id);
        fill_in(object);
        Some(hash(id).map(|it| object.set_text("bcrypt_hash", it)))
    }
}

/// The ephemeral `random_password`.
pub(super) struct EphemeralPassword;

#[async_trait]
impl Source for EphemeralPassword {
    fn name(&self) -> &'static str {
        "random_password"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                text("bcrypt_hash").computed().sensitive(),
                whole("length").required(),
                flag("lower").optional().computed(),
                whole("min_lower").optional().computed(),
                whole("min_numeric").optional().computed(),
                whole("min_special").optional().computed(),
                whole("min_upper").optional().computed(),
                flag("numeric").optional().computed(),
                text("override_special").optional(),
                text("result").computed().sensitive(),
                flag("special").optional().computed(),
                flag("upper").optional().computed(),
            ]
        }
    }

    fn check(&self, config: &Value, found: &mut Vec<Problem>) {
        check(config, &["numeric"], found);
    }

    async fn read(
        &self,
        world: &Arc<World>,
        _: &Value,
        result: &mut Fields,
    ) -> Result<(), Problem> {
        fill_in_classes(result);
        let password = draw(world, result)?;
        result.set_text("bcrypt_hash", hash(&password)?);
        result.set_text("result", password);
        Ok(())
    }
}

/// The length must be positive and hold what the classes ask for; not all classes may be off.
fn check(config: &Value, numerics: &[&str], found: &mut Vec<Problem>) {
    at_least(config, "length", 1, found);
    let asked = CLASSES.map(|(_, least, _)| least);
    let sum = asked
        .iter()
        .fold(0_i64, |sum, it| sum.saturating_add(config.whole(it).unwrap_or_default()));
    if config.whole("length").is_some_and(|it| it < sum) && !config.any_unknown(&asked) {
        found.push(invalid_value(
            "length",
            format!("The argument length must be at least {sum}, the sum of {}.", asked.join(", ")),
        ));
    }
    let is_off = |name: &str| config.flag(name) == Some(false);
    if ["special", "upper", "lower"].into_iter().all(is_off) {
        let off = numerics.iter().filter(|it| is_off(it));
        found.extend(off.map(|it| {
            let detail = format!("At least one of special, upper, lower, {it} must be true.");
            Problem::error("Invalid Attribute Combination", detail).at(at(it))
        }));
    }
}

/// `number` is the old name of `numeric`: both have the same value, true when neither is given.
fn mirror_number(config: &Value, planned: &mut Fields) -> Result<(), Problem> {
    let (number, numeric) = (config.member("number"), config.member("numeric"));
    let value = match (number.is_null(), numeric.is_null()) {
        (false, false) => {
            let is_on = |it: &Value| it.as_bool().unwrap_or_default();
            return if is_on(number) == is_on(numeric) {
                Ok(())
            } else {
                Err(contradicting_numbers())
            };
        }
        (false, true) => number.clone(),
        (true, false) => numeric.clone(),
        (true, true) => Value::Bool(true),
    };
    planned.set("number", value.clone());
    planned.set("numeric", value);
    Ok(())
}

/// Draws a text: what each class asks for, the rest from all classes that are on, in random order.
fn draw(world: &World, object: &Fields) -> Result<String, Problem> {
    let special = object.text("override_special").filter(|it| !it.is_empty());
    let mut all: Vec<char> = Vec::new();
    let mut drawn: Vec<char> = Vec::new();
    for (switch, least, characters) in CLASSES {
        let characters: Vec<char> =
            if switch == "special" { special.unwrap_or(characters) } else { characters }
                .chars()
                .collect();
        for _ in 0..size(object.whole(least).unwrap_or_default())? {
            drawn.push(characters[below(world, characters.len())]);
        }
        if object.flag(switch).unwrap_or_default() {
            all.extend(characters);
        }
    }
    let length = size(object.whole("length").unwrap_or_default())?;
    if all.is_empty() || drawn.len() > length {
        return Err(Problem::error(
            "Random Read Error",
            "No class of characters is on, or more are asked for than the length allows.",
        ));
    }
    while drawn.len() < length {
        drawn.push(all[below(world, all.len())]);
    }
    for i in (1..length).rev() {
        drawn.swap(i, below(world, i + 1));
    }
    Ok(drawn.into_iter().collect())
}

/// Gives what is null in an old or imported object its default.
fn fill_in(object: &mut Fields) {
    if object.get("length").is_null() {
        let length = object.text("result").unwrap_or_default().len();
        object.set("length", Value::int(length as i64));
    }
    if object.get("number").is_null() {
        object.set("number", true);
    }
    let number = object.get("number").clone();
    object.set("numeric", number);
    fill_in_classes(object);
}

fn fill_in_classes(object: &mut Fields) {
    for (switch, least, _) in CLASSES {
        if object.get(switch).is_null() {
            object.set(switch, true);
        }
        if object.get(least).is_null() {
            object.set(least, Value::int(0));
        }
    }
}

fn hash(text: &str) -> Result<String, Problem> {
    let bytes = &text.as_bytes()[..text.len().min(HASHED_BYTES)];
    let parts = bcrypt::hash_with_result(bytes, HASH_COST)
        .map_err(|why| Problem::error("Hash Generation Error", why.to_string()))?;
    Ok(parts.format_for_version(bcrypt::Version::TwoA))
}

/// Returns whether a stored hash is that of a text. As in the plugin, what follows the salt may be anything, if it is long enough.
fn fits(text: &str, hash: &str) -> Result<bool, Problem> {
    let bytes = &text.as_bytes()[..text.len().min(HASHED_BYTES)];
    if let Ok(is_same) = bcrypt::verify(bytes, hash) {
        return Ok(is_same);
    }
    let well_formed = match hash.get(..SALTED_BYTES) {
        Some(salted) if hash.len() >= SHORTEST_HASH => {
            format!("{salted}{}", ".".repeat(HASH_BYTES - SALTED_BYTES))
        }
        _ => hash.to_owned(),
    };
    let unreadable = |why: bcrypt::BcryptError| {
        Problem::error(
            "Version 3 State Upgrade Error",
            format!("The stored hash cannot be compared: {why}."),
        )
    };
    bcrypt::verify(bytes, &well_formed).map(|_| false).map_err(unreadable)
}

fn contradicting_numbers() -> Problem {
    Problem::error(
        "Number and numeric are both configured with different values",
        "Number is deprecated, use numeric instead",
    )
}
