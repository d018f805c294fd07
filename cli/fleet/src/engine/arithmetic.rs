//! What rules compute, over columns: as the library computes it of single rows. What has no value is null.

use datafusion::arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, cast, lit, try_cast, when};
use datafusion::prelude::ident;
use entail::datalog::check::{Arithmetic, Comparison, Value};

/// Whole numbers of 64 bits, so that no result is too large.
const WIDE: DataType = DataType::Decimal128(19, 0);

/// Returns what the column of a variable is called.
pub fn variable(number: usize) -> String {
    format!("v{number}")
}

/// Returns a value over the columns of variables.
///
/// # Errors
///
/// For a text that is put together, or a node in a tense: no rule with one is concluded by columns.
pub fn value(of: &Value, constant: &dyn Fn(u64) -> Expr) -> Result<Expr> {
    match of {
        Value::Variable(it) => Ok(ident(variable(*it))),
        Value::Word(it) => Ok(constant(*it)),
        Value::Arithmetic(operator, left, right) => {
            computed(*operator, value(left, constant)?, value(right, constant)?)
        }
        Value::InTense(..) | Value::Message(_) => {
            Err(DataFusionError::Internal("a value that columns cannot hold".to_owned()))
        }
    }
}

/// Returns whether a value may be missing.
pub fn may_be_null(of: &Value) -> bool {
    matches!(of, Value::Arithmetic(..))
}

fn computed(operator: Arithmetic, left: Expr, right: Expr) -> Result<Expr> {
    let wide = |it: &Expr| cast(it.clone(), WIDE);
    let narrow = |it: Expr| try_cast(it, DataType::Int64);
    let null = || lit(datafusion::scalar::ScalarValue::Int64(None));
    // What cannot be divided by, and what is never more than 64 bits divided by.
    let divisor = || {
        let is_special = right.clone().eq(lit(0_i64)).or(right.clone().eq(lit(-1_i64)));
        when(is_special, null()).otherwise(right.clone())
    };
    let is_negative_one = right.clone().eq(lit(-1_i64));
    Ok(match operator {
        Arithmetic::Add => narrow(wide(&left) + wide(&right)),
        Arithmetic::Subtract => narrow(wide(&left) - wide(&right)),
        Arithmetic::Multiply => narrow(wide(&left) * wide(&right)),
        Arithmetic::Divide => {
            let negated = narrow(cast(lit(0_i64), WIDE) - wide(&left));
            when(is_negative_one, negated).otherwise(left / divisor()?)?
        }
        Arithmetic::Remainder => {
            let is_least = left.clone().eq(lit(i64::MIN));
            let of_one = when(is_least, null()).otherwise(lit(0_i64))?;
            when(is_negative_one, of_one).otherwise(left % divisor()?)?
        }
    })
}

/// Returns a comparison of two values: signed, as the library compares.
pub fn compared(comparison: Comparison, left: Expr, right: Expr) -> Expr {
    match comparison {
        Comparison::Equal => left.eq(right),
        Comparison::NotEqual => left.not_eq(right),
        Comparison::Less => left.lt(right),
        Comparison::LessOrEqual => left.lt_eq(right),
        Comparison::Greater => left.gt(right),
        Comparison::GreaterOrEqual => left.gt_eq(right),
    }
}
