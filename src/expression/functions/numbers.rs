//! Functions of numbers.

use num_bigint::{BigInt, Sign};

use super::super::size::OUT_OF_RANGE;
use super::floats::{ln, power};
use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape};
use crate::value::{Number, Type, Value};

const NUM: Parameter = Parameter::number("num");

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "abs",
        description: "Returns the number without its sign.",
        parameters: &[NUM.or_untyped()],
        variadic: None,
        returns: Returns::Always(Shape::Number),
        body: |call| Ok(Value::Number(number(call, 0).abs())),
    },
    Function {
        name: "ceil",
        description: "Rounds up to the next whole number.",
        parameters: &[NUM],
        variadic: None,
        returns: Returns::Always(Shape::Number),
        body: |call| Ok(Value::Number(plain_zero(number(call, 0).ceil()))),
    },
    Function {
        name: "floor",
        description: "Rounds down to the next whole number.",
        parameters: &[NUM],
        variadic: None,
        returns: Returns::Always(Shape::Number),
        body: |call| Ok(Value::Number(plain_zero(number(call, 0).floor()))),
    },
    Function {
        name: "log",
        description: "Returns the logarithm of a number to a base, at the precision of a 64-bit float.",
        parameters: &[NUM, Parameter::number("base")],
        variadic: None,
        returns: Returns::Always(Shape::Number),
        body: |call| result_of(ln(float(call, 0)?) / ln(float(call, 1)?)),
    },
    Function {
        name: "pow",
        description: "Raises a number to a power, at the precision of a 64-bit float.",
        parameters: &[NUM, Parameter::number("power")],
        variadic: None,
        returns: Returns::Always(Shape::Number),
        body: |call| result_of(power(float(call, 0)?, float(call, 1)?)),
    },
    Function {
        name: "signum",
        description: "Returns -1, 0 or 1: the sign of a whole number.",
        parameters: &[NUM],
        variadic: None,
        returns: Returns::Always(Shape::Number),
        body: signum,
    },
    Function {
        name: "max",
        description: "Returns the greatest of the numbers.",
        parameters: &[],
        variadic: Some(Parameter::number("numbers").or_untyped()),
        returns: Returns::Always(Shape::Number),
        body: |call| extreme(call, std::cmp::Ordering::Greater),
    },
    Function {
        name: "min",
        description: "Returns the least of the numbers.",
        parameters: &[],
        variadic: Some(Parameter::number("numbers").or_untyped()),
        returns: Returns::Always(Shape::Number),
        body: |call| extreme(call, std::cmp::Ordering::Less),
    },
    Function {
        name: "parseint",
        description: "Reads text as a whole number in a base from 2 to 62.",
        parameters: &[Parameter::any("number"), Parameter::number("base")],
        variadic: None,
        returns: Returns::Computed(parseint_type),
        body: parseint,
    },
    Function {
        name: "sum",
        description: "Adds all numbers of a list, set or tuple.",
        parameters: &[Parameter::any("list")],
        variadic: None,
        returns: Returns::Always(Shape::Number),
        body: sum,
    },
    Function {
        name: "range",
        description: "Returns the numbers from a start (0 where left out) up to a limit, which is left out, in steps.",
        parameters: &[],
        variadic: Some(Parameter::number("params")),
        returns: Returns::Always(Shape::ListOfNumber),
        body: range,
    },
];

fn number(call: &Call<'_>, at: usize) -> Number {
    call.argument(at).as_number().cloned().unwrap_or(Number::Int(0))
}

/// Turns a negative zero into zero.
fn plain_zero(number: Number) -> Number {
    if number.as_i64() == Some(0) { Number::Int(0) } else { number }
}

/// Returns a number as a 64-bit float, unless it is too large for one. Infinity is none too large.
fn float(call: &Call<'_>, at: usize) -> Result<f64, Failure> {
    let number = number(call, at);
    let float = number.to_f64();
    match float.is_infinite() && !number.is_infinite() {
        false => Ok(float),
        true => {
            let most = f64::MAX;
            Err(Failure::call(format!("value must be between -{most:.6} and {most:.6} inclusive")))
        }
    }
}

fn result_of(result: f64) -> CallResult {
    Number::from_f64(result)
        .map(Value::Number)
        .ok_or_else(|| Failure::call("the result is not a number"))
}

fn signum(call: &Call<'_>) -> CallResult {
    call.int(0).map_err(Failure::of_call).map(|it| Value::int(it.signum()))
}

fn extreme(call: &Call<'_>, wanted: std::cmp::Ordering) -> CallResult {
    let mut best: Option<&Number> = None;
    for it in call.arguments.iter().filter_map(Value::as_number) {
        if best.is_none_or(|best| it.compare(best) == wanted) {
            best = Some(it);
        }
    }
    best.cloned().map(Value::Number).ok_or_else(|| Failure::call("must pass at least one number"))
}

fn parseint_type(arguments: &[Value]) -> Result<Type, Failure> {
    match arguments[0].ty() {
        it if it == Type::STRING => Ok(Type::NUMBER),
        other => Err(Failure::argument(
            0,
            format!("first argument must be a string, not {}", other.friendly_name()),
        )),
    }
}

fn parseint(call: &Call<'_>) -> CallResult {
    let base = call.int(1)?;
    if !(2..=62).contains(&base) {
        return Err(Failure::argument(1, "base must be a whole number between 2 and 62 inclusive"));
    }
    let text = call.text(0);
    match whole_number(text, base as u32) {
        Some(it) if it.is_infinite() => Err(Failure::call(OUT_OF_RANGE)),
        Some(it) => Ok(Value::Number(it)),
        None => {
            Err(Failure::argument(0, format!("cannot parse {text:?} as a base {base} integer")))
        }
    }
}

/// Reads a whole number: digits, then small letters, then capital letters; up to base 36 both mean the same. It is infinite
/// if it is out of range.
fn whole_number(text: &str, base: u32) -> Option<Number> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (Sign::Minus, &text[1..]),
        b'+' => (Sign::Plus, &text[1..]),
        _ => (Sign::Plus, text),
    };
    if digits.is_empty() {
        return None;
    }
    let digit = |byte: u8| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'z' => byte - b'a' + 10,
            b'A'..=b'Z' if base <= 36 => byte - b'A' + 10,
            b'A'..=b'Z' => byte - b'A' + 36,
            _ => return None,
        };
        (u32::from(digit) < base).then_some(digit)
    };
    let digits: Vec<u8> = digits.bytes().map(digit).collect::<Option<_>>()?;
    let zeros = digits.iter().take_while(|it| **it == 0).count();
    // Multiplying out takes the square of the length, so a number beyond the largest is not.
    let bits = (digits.len() - zeros).saturating_sub(1) as f64 * f64::from(base).log2();
    if bits > f64::from(MOST_BITS) {
        return Some(Number::infinity(sign == Sign::Minus));
    }
    Some(Number::exact(&BigInt::from_radix_be(sign, &digits[zeros..], base)?))
}

/// More bits than the largest number has.
const MOST_BITS: u32 = (1 << 18) + 2;

fn sum(call: &Call<'_>) -> CallResult {
    const WRONG: &str = "argument must be list, set, or tuple of number values";
    let list = call.argument(0);
    let ty = list.ty();
    if ty.is_primitive() {
        return Err(Failure::argument(0, "cannot sum noniterable"));
    }
    if list.children().next().is_none() {
        return Err(Failure::argument(0, "cannot sum an empty list"));
    }
    if !ty.is_sequence() {
        return Err(Failure::argument(
            0,
            format!("argument must be list, set, or tuple. Received {}", ty.friendly_name()),
        ));
    }
    if !list.is_wholly_known() {
        return Ok(Value::unknown(Type::NUMBER));
    }
    let mut total: Option<Number> = None;
    for item in list.children() {
        if item.is_null() {
            return Err(Failure::argument(0, WRONG));
        }
        let item = crate::value::convert::convert(item, Type::NUMBER)
            .map_err(|_| Failure::argument(0, WRONG))?;
        let Some(item) = item.as_number() else { return Err(Failure::argument(0, WRONG)) };
        total = Some(match total {
            None => item.clone(),
            Some(total) => {
                let sum = total
                    .add(item)
                    .ok_or_else(|| Failure::call("can't compute sum of opposing infinities"))?;
                if sum.is_beyond(&[&total, item]) {
                    return Err(Failure::call(OUT_OF_RANGE));
                }
                sum
            }
        });
    }
    Ok(total.map_or(Value::unknown(Type::NUMBER), Value::Number))
}

fn range(call: &Call<'_>) -> CallResult {
    use std::cmp::Ordering::{Greater, Less};
    let zero = Number::Int(0);
    let given: Vec<Number> = (0..call.arguments.len()).map(|at| number(call, at)).collect();
    let toward =
        |start: &Number, end: &Number| Number::Int(if end.compare(start) == Less { -1 } else { 1 });
    let (start, end, step) = match &given[..] {
        [end] => (zero.clone(), end.clone(), toward(&zero, end)),
        [start, end] => (start.clone(), end.clone(), toward(start, end)),
        [start, end, step] => (start.clone(), end.clone(), step.clone()),
        _ => return Err(Failure::call("must have one, two, or three arguments")),
    };
    let down = step.sign() < 0;
    match (down, end.compare(&start)) {
        (true, Greater) => {
            return Err(Failure::argument(1, "end must be less than start when step is negative"));
        }
        (false, Less) => {
            return Err(Failure::argument(
                1,
                "end must be greater than start when step is positive",
            ));
        }
        _ => {}
    }
    let mut values = Vec::new();
    let mut at = start;
    while at.compare(&end) == if down { Greater } else { Less } {
        if values.len() >= 1024 {
            return Err(Failure::call(
                "more than 1024 values were generated; either decrease the difference between start and end or use a smaller step",
            ));
        }
        values.push(Value::Number(at.clone()));
        at = at
            .add(&step)
            .ok_or_else(|| Failure::call("can't compute sum of opposing infinities"))?;
    }
    Ok(Value::list(Type::NUMBER, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_with_too_many_digits_is_not_multiplied_out() {
        let long = "7".repeat(3_000_000);
        assert!(whole_number(&long, 10).is_some_and(|it| it.is_infinite()));
        assert_eq!(whole_number(&format!("-{long}"), 62), Some(Number::infinity(true)));
        assert_eq!(whole_number(&format!("{long}x"), 10), None);
        assert_eq!(
            whole_number(&format!("{}ff", "0".repeat(1_000_000)), 16),
            Some(Number::Int(255))
        );
        assert_eq!(whole_number("-Zz", 62), Some(Number::Int(-(61 * 62 + 35))));
        assert_eq!(whole_number("000", 2), Some(Number::Int(0)));
    }
}
