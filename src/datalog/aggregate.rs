//! Aggregates: over numbers as they are, and over rows and values of which some are only possible.

use crate::value::unknown::refined;
use crate::value::{Marks, Number, Refinement, Type, Value};

use super::check::Aggregate;
use super::values::{self, Values};
use super::walk::Reached;

/// One thing that is counted.
pub(super) struct Counted {
    /// What is computed over: of `count`, what makes it another one; nothing where each counts.
    value: Option<Value>,
    /// Whether it is there for certain.
    is_certain: bool,
    /// Whether it may turn out to be the same as another one.
    may_coincide: bool,
    /// Whether it may turn out to be more than one, or none: it stands for what is not known yet.
    is_several: bool,
    /// Whether how often it is there must not be shown.
    is_secret: bool,
}

impl Counted {
    /// - `several`: whether a word of the row stands for several things.
    pub(super) fn of_row(
        row: &[u64],
        column: Option<usize>,
        is_certain: bool,
        known: &Values,
        several: &dyn Fn(usize) -> bool,
    ) -> Counted {
        let is_several = match column {
            // However many there are, of anything else they have the same.
            Some(it) if !values::is_open(row[it]) => several(it),
            _ => (0..row.len()).any(several),
        };
        Counted {
            value: column.map(|it| known.value(row[it]).unwrap_or(Value::int(row[it] as i64))),
            is_certain: is_certain && !(0..row.len()).any(several),
            may_coincide: row.iter().any(|it| values::is_open(*it)),
            is_several,
            is_secret: row.iter().any(|it| values::is_secret(*it)),
        }
    }

    pub(super) fn of_value(value: Option<&Value>, reached: &Reached, _: &Values) -> Counted {
        Counted {
            value: value.cloned(),
            is_certain: reached.is_certain,
            may_coincide: value.is_some_and(|it| !it.is_wholly_known()),
            is_several: reached.is_several,
            is_secret: reached.value.contains_sensitive(),
        }
    }
}

/// Computes an aggregate over numbers; `min` and `max` of none are nothing.
pub(super) fn of_numbers(
    function: Aggregate,
    mut numbers: impl Iterator<Item = i64>,
) -> Option<u64> {
    let result = match function {
        Aggregate::Count => i64::try_from(numbers.count()).ok(),
        Aggregate::Min => numbers.min(),
        Aggregate::Max => numbers.max(),
        Aggregate::Sum => numbers.try_fold(0_i64, i64::checked_add),
    };
    result.map(i64::cast_unsigned)
}

/// Computes an aggregate, and whether there is one for certain. Where rows are only possible it is unknown, within bounds.
pub(super) fn compute(function: Aggregate, all: &[Counted]) -> Option<(Value, bool)> {
    let marks = match all.iter().any(|it| it.is_secret) {
        true => Marks::sensitive(),
        false => Marks::default(),
    };
    let (value, is_certain) = match function {
        Aggregate::Count => (count(all), true),
        Aggregate::Sum => (sum(all), true),
        Aggregate::Min | Aggregate::Max => {
            if all.is_empty() {
                return None;
            }
            (extreme(function, all), all.iter().any(|it| it.is_certain))
        }
    };
    Some((value.mark(&marks), is_certain))
}

fn count(all: &[Counted]) -> Value {
    let mut seen: Vec<&Value> = Vec::new();
    let (mut least, mut most, mut open) = (0_u64, 0_u64, false);
    let mut certain: Vec<&Value> = Vec::new();
    for it in all {
        let Some(value) = &it.value else {
            most += 1;
            least += u64::from(it.is_certain && !it.may_coincide);
            open |= it.is_certain && it.may_coincide;
            continue;
        };
        if it.may_coincide {
            most += 1;
            open |= it.is_certain;
            continue;
        }
        if !seen.contains(&value) {
            seen.push(value);
            most += 1;
        }
        if it.is_certain && !certain.contains(&value) {
            certain.push(value);
            least += 1;
        }
    }
    // Something is there for certain, whatever it turns out to be.
    let least = if open { least.max(1) } else { least };
    let is_bounded = !all.iter().any(|it| it.is_several);
    between(Some(number(least)), is_bounded.then(|| number(most)))
}

fn number(count: u64) -> Number {
    Number::Int(count as i64)
}

/// A number between two bounds; the number itself where they are the same.
fn between(lower: Option<Number>, upper: Option<Number>) -> Value {
    if let (Some(one), Some(other)) = (&lower, &upper)
        && one == other
    {
        return Value::Number(one.clone());
    }
    let refinement = Refinement {
        not_null: true,
        lower: lower.map(|it| (it, true)),
        upper: upper.map(|it| (it, true)),
        ..Refinement::default()
    };
    refined(Type::NUMBER, refinement)
}

fn sum(all: &[Counted]) -> Value {
    let (mut lower, mut upper) = (Number::Int(0), Number::Int(0));
    let of_several = |sign: i32| {
        let is_one = |it: &Value| it.as_number().is_some_and(|it| it.sign() == sign);
        all.iter().any(|it| it.is_several && it.value.as_ref().is_some_and(is_one))
    };
    for it in all {
        let Some(number) = it.value.as_ref().and_then(Value::as_number) else {
            return between(None, None);
        };
        let is_positive = number.sign() >= 0;
        // A row that may be another one counts once in the end.
        let is_certain = it.is_certain && !it.may_coincide;
        if is_certain || !is_positive {
            let Some(next) = lower.add(number) else { return between(None, None) };
            lower = next;
        }
        if is_certain || is_positive {
            let Some(next) = upper.add(number) else { return between(None, None) };
            upper = next;
        }
    }
    between(Some(lower).filter(|_| !of_several(-1)), Some(upper).filter(|_| !of_several(1)))
}

fn extreme(function: Aggregate, all: &[Counted]) -> Value {
    let is_better = |one: &Number, other: &Number| match function {
        Aggregate::Min => one.compare(other).is_lt(),
        _ => one.compare(other).is_gt(),
    };
    let best = |numbers: &mut dyn Iterator<Item = &Counted>| {
        let mut best: Option<Number> = None;
        for it in numbers {
            let number = it.value.as_ref().and_then(Value::as_number)?;
            if best.as_ref().is_none_or(|best| is_better(number, best)) {
                best = Some(number.clone());
            }
        }
        best
    };
    if all.iter().any(|it| it.value.as_ref().and_then(Value::as_number).is_none()) {
        return between(None, None);
    }
    let furthest = best(&mut all.iter());
    let nearest = best(&mut all.iter().filter(|it| it.is_certain));
    match function {
        Aggregate::Min => between(furthest, nearest),
        _ => between(nearest, furthest),
    }
}
