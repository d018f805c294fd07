//! `random_integer` and `random_shuffle`: the kinds that a seed makes repeatable.

use super::source::Source;
use super::{KEEPERS, below, size};
use crate::provider::builtin::attribute::{Attribute, text, text_list, whole};
use crate::provider::builtin::fields::{Fields, Read};
use crate::provider::builtin::resource::{Kind, Problem};
use crate::value::{Type, Value};
use crate::world::World;

pub(super) struct RandomInteger;

impl Kind for RandomInteger {
    fn name(&self) -> &'static str {
        "random_integer"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                text("id").kept(),
                KEEPERS,
                whole("max").required().replaces(),
                whole("min").required().replaces(),
                whole("result").kept(),
                text("seed").optional().replaces(),
            ]
        }
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        let (min, max) =
            (planned.whole("min").unwrap_or_default(), planned.whole("max").unwrap_or_default());
        if min > max {
            return Err(no_integer(format!(
                "The minimum, {min}, is greater than the maximum, {max}."
            )));
        }
        let count = max
            .checked_sub(min)
            .and_then(|it| it.checked_add(1))
            .ok_or_else(|| no_integer(format!("The range {min} to {max} is too wide.")))?;
        let drawn = match seed(planned) {
            Some(seed) => Source::of(seed).below(count).unwrap_or_default(),
            None => below(world, count as usize) as i64,
        };
        if seed(planned).is_none() {
            planned.set("seed", Value::Null(Type::STRING));
        }
        planned.set("result", Value::int(min + drawn));
        planned.set_text("id", (min + drawn).to_string());
        Ok(())
    }

    fn import(&self, _: &World, id: &str, object: &mut Fields) -> Option<Result<(), Problem>> {
        Some(import_integer(id, object))
    }
}

fn import_integer(id: &str, object: &mut Fields) -> Result<(), Problem> {
    let bad = |detail: String| Problem::error("Import Random Integer Error", detail);
    let parts: Vec<&str> = id.split(',').collect();
    if parts.len() != 3 && parts.len() != 4 {
        return Err(bad(format!(
            "An id is written RESULT,MIN,MAX or RESULT,MIN,MAX,SEED, not {id:?}."
        )));
    }
    for (name, text) in ["result", "min", "max"].into_iter().zip(&parts) {
        let number = text
            .parse::<i64>()
            .map_err(|_| bad(format!("The {name} in the id, {text:?}, is no whole number.")))?;
        object.set(name, Value::int(number));
    }
    object.set_text("id", parts[0]);
    if let Some(seed) = parts.get(3) {
        object.set_text("seed", seed);
    }
    Ok(())
}

fn seed(planned: &Fields) -> Option<&str> {
    planned.text("seed").filter(|it| !it.is_empty())
}

fn no_integer(detail: String) -> Problem {
    Problem::error("Create Random Integer Error", detail)
}

pub(super) struct RandomShuffle;

impl Kind for RandomShuffle {
    fn name(&self) -> &'static str {
        "random_shuffle"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                text("id").kept(),
                text_list("input").required().replaces(),
                KEEPERS,
                text_list("result").kept(),
                whole("result_count").optional().replaces(),
                text("seed").optional().replaces(),
            ]
        }
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        let input: Vec<Value> = planned.get("input").children().cloned().collect();
        let count = planned.whole("result_count").map_or(Ok(input.len()), size)?;
        let mut source = seed(planned).map(Source::of);
        let mut result: Vec<Value> = Vec::new();
        while result.len() < count && !input.is_empty() {
            let order = match &mut source {
                Some(source) => source.permutation(input.len()),
                None => permutation(world, input.len()),
            };
            result.extend(order.iter().take(count - result.len()).map(|it| input[*it].clone()));
        }
        planned.set_text("id", "-");
        planned.set("result", Value::list(Type::STRING, result));
        Ok(())
    }
}

/// Returns the numbers of 0..n in random order.
fn permutation(world: &World, n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, below(world, i + 1));
    }
    order
}
