//! Numbers: binary floats with a 512-bit mantissa, printed with the fewest digits that read back.

use std::sync::Arc;

/// A number. Whole numbers that fit are `Int`; no `Big` holds such a number (except negative zero).
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// A whole number of 64 bits.
    Int(i64),
    /// Anything else.
    Big(Arc<Big>),
}

/// A number that is not a small whole number.
#[derive(Clone, Debug, PartialEq)]
pub enum Big {
    /// `mantissa × 2^exponent`, mantissa odd and at most 512 bits wide.
    Finite {
        /// The mantissa with its sign.
        mantissa: num_bigint::BigInt,
        /// The power of two.
        exponent: i64,
    },
    /// `-0`
    NegativeZero,
    /// `1/0`, or `-1/0` where negative.
    Infinity {
        /// Whether it is below all numbers.
        negative: bool,
    },
}

impl Number {
    /// Returns the number as a 64-bit whole number, if it is one.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Number::Int(it) => Some(*it),
            Number::Big(it) => matches!(**it, Big::NegativeZero).then_some(0),
        }
    }
}

impl Number {
    /// Reads decimal text: whole numbers of 64 bits exactly, anything else by way of a 64-bit float.
    pub fn parse(text: &str) -> Option<Number> {
        if let Ok(it) = text.parse::<i64>() {
            return Some(Number::Int(it));
        }
        let float: f64 = text.parse().ok().filter(|it: &f64| it.is_finite())?;
        if float.fract() == 0.0 && float.abs() < 9e15 {
            return Some(Number::Int(float as i64));
        }
        let (bits, mut exponent) = (float.to_bits(), (float.to_bits() >> 52 & 0x7ff) as i64 - 1075);
        let mut mantissa = (bits & ((1 << 52) - 1) | 1 << 52) as i64;
        let zeros = mantissa.trailing_zeros();
        mantissa >>= zeros;
        exponent += i64::from(zeros);
        Some(Number::Big(Arc::new(Big::Finite { mantissa: mantissa.into(), exponent })))
    }
}
