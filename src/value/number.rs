//! Numbers: binary floats with a 512-bit mantissa, printed with the fewest digits that read back.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{One, ToPrimitive};

use super::digits;
pub use super::digits::Notation;
use super::float::{self, Finite, Float, Unread};

/// Bits of mantissa of every number that does not come from a 64-bit float.
pub const PRECISION: u32 = 512;

/// A number. Whole numbers that fit are `Int`; a `Big` holds such a number only where it came from a 64-bit float
/// that shows fewer digits. Ask [`Number::as_i64`] rather than match.
///
/// Two numbers are equal when their text is, and `-0` equals `0`.
#[derive(Clone, Debug)]
pub enum Number {
    /// A whole number of 64 bits.
    Int(i64),
    /// Anything else.
    Big(Arc<Big>),
}

/// A number that is not a small whole number.
#[derive(Clone, Debug)]
pub enum Big {
    /// `mantissa × 2^exponent`, mantissa odd and at most `precision` bits wide.
    Finite {
        /// The mantissa with its sign.
        mantissa: BigInt,
        /// The power of two.
        exponent: i64,
        /// Bits of mantissa it was rounded to: 512, or 53 for what came from a 64-bit float. Decides the digits shown.
        precision: u32,
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
    /// Reads decimal text: digits with an optional sign, point and exponent, or `Inf`. Returns `None` also for a number that is
    /// [out of range](Number::is_out_of_range).
    pub fn parse(text: &str) -> Option<Number> {
        match text.parse::<i64>() {
            Ok(it) if it != 0 || !text.starts_with('-') => Some(Number::Int(it)),
            _ => Some(Number::of(float::parse(text, PRECISION.into()).ok()?, PRECISION)),
        }
    }

    /// Returns whether text is a number whose exponent is too large or too small to be computed with.
    pub fn is_out_of_range(text: &str) -> bool {
        float::parse(text, PRECISION.into()).err() == Some(Unread::OutOfRange)
    }

    /// Returns whether this result of arithmetic is infinite, although nothing that it was computed from is.
    pub fn is_beyond(&self, operands: &[&Number]) -> bool {
        self.is_infinite() && !operands.iter().any(|it| it.is_infinite())
    }

    /// Returns the number that a 64-bit float stands for, shown with the digits of a 64-bit float. `None` for NaN.
    pub fn from_f64(number: f64) -> Option<Number> {
        let negative = number.is_sign_negative();
        if number.is_nan() {
            return None;
        }
        if number.is_infinite() {
            return Some(Number::Big(Arc::new(Big::Infinity { negative })));
        }
        let bits = number.to_bits();
        let (field, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
        let (mantissa, exponent) =
            if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
        let float = match mantissa {
            0 => Float::Zero { negative },
            _ => Float::Finite(Finite { negative, mantissa: mantissa.into(), exponent }),
        };
        Some(Number::of(float.round(53), 53))
    }

    /// Returns a whole number of any size, rounded to 512 bits.
    pub fn from_bigint(number: &BigInt) -> Number {
        let float = Float::whole(number.sign() == Sign::Minus, number.magnitude().clone());
        Number::of(float.round(PRECISION.into()), PRECISION)
    }

    /// Returns a whole number of any size with all of its digits.
    pub fn exact(number: &BigInt) -> Number {
        let float = Float::whole(number.sign() == Sign::Minus, number.magnitude().clone());
        let bits = u32::try_from(number.bits()).unwrap_or(u32::MAX).max(PRECISION);
        Number::of(float, bits)
    }

    /// Returns an infinity.
    pub fn infinity(negative: bool) -> Number {
        Number::Big(Arc::new(Big::Infinity { negative }))
    }

    /// Returns the sum. `None` where infinities cancel.
    pub fn add(&self, other: &Number) -> Option<Number> {
        if let (Number::Int(a), Number::Int(b)) = (self, other)
            && let Some(sum) = a.checked_add(*b)
        {
            return Some(Number::Int(sum));
        }
        let precision = self.precision().max(other.precision());
        Some(Number::of(self.float().add(other.float())?.round(precision.into()), precision))
    }

    /// Returns the difference. `None` where infinities cancel.
    pub fn sub(&self, other: &Number) -> Option<Number> {
        if let (Number::Int(a), Number::Int(b)) = (self, other)
            && let Some(difference) = a.checked_sub(*b)
        {
            return Some(Number::Int(difference));
        }
        self.add(&other.neg())
    }

    /// Returns the product. `None` for zero times infinity.
    pub fn mul(&self, other: &Number) -> Option<Number> {
        if let (Number::Int(a), Number::Int(b)) = (self, other)
            && let Some(product) = a.checked_mul(*b)
            && (product != 0 || (*a >= 0 && *b >= 0))
        {
            return Some(Number::Int(product));
        }
        let product = self.float().multiply(other.float())?.round(PRECISION.into());
        let needed = match &product {
            Float::Finite(it) => it.width() as u32,
            _ => 0,
        };
        Some(Number::of(product, self.precision().max(other.precision()).max(needed)))
    }

    /// Returns the quotient; division by zero gives an infinity. `None` for 0/0 and ∞/∞.
    pub fn div(&self, other: &Number) -> Option<Number> {
        if let (Number::Int(a), Number::Int(b)) = (self, other)
            && *a != 0
            && a.checked_rem(*b) == Some(0)
        {
            return a.checked_div(*b).map(Number::Int);
        }
        let precision = self.precision().max(other.precision());
        Some(Number::of(self.float().divide(other.float(), precision.into())?, precision))
    }

    /// Returns the remainder of a division that rounds towards zero; `x % 0` is `x`. `None` where an infinity is involved.
    pub fn rem(&self, other: &Number) -> Option<Number> {
        if let (Number::Int(a), Number::Int(b)) = (self, other)
            && let Some(remainder) = a.checked_rem(*b)
        {
            return Some(Number::Int(remainder));
        }
        if self.is_infinite() || other.is_infinite() {
            return None;
        }
        if other.sign() == 0 {
            return Some(self.clone());
        }
        let precision = u64::from(self.precision());
        let quotient = match self.div(other)?.float() {
            Float::Finite(it) => {
                Float::whole(it.negative && it.truncated().0 != BigUint::ZERO, it.truncated().0)
            }
            _ => Float::Zero { negative: false },
        };
        let product = quotient.round(precision).multiply(other.float())?.round(precision);
        Some(Number::of(self.float().add(product.negated())?.round(precision), self.precision()))
    }

    /// Returns the number with the other sign. `-0` is not `0`.
    pub fn neg(&self) -> Number {
        match self {
            Number::Int(it) if *it != 0 && *it != i64::MIN => Number::Int(-it),
            _ => Number::of(self.float().negated(), self.precision()),
        }
    }

    /// Returns the number without its sign.
    pub fn abs(&self) -> Number {
        if self.float().is_negative() { self.neg() } else { self.clone() }
    }

    /// Returns the greatest whole number that is not greater.
    pub fn floor(&self) -> Number {
        self.whole_towards(true)
    }

    /// Returns the least whole number that is not less.
    pub fn ceil(&self) -> Number {
        self.whole_towards(false)
    }

    fn whole_towards(&self, down: bool) -> Number {
        match self.float() {
            Float::Finite(it) => {
                let (mut magnitude, is_exact) = it.truncated();
                if !is_exact && it.negative == down {
                    magnitude += BigUint::one();
                }
                let negative = it.negative && magnitude != BigUint::ZERO;
                Number::of(
                    Float::whole(negative, magnitude).round(self.precision().into()),
                    self.precision(),
                )
            }
            Float::Zero { .. } => Number::Int(0),
            Float::Infinity { .. } => self.clone(),
        }
    }

    /// Returns -1, 0 or 1. Of `-0` it is 0.
    pub fn sign(&self) -> i32 {
        match self.float() {
            Float::Zero { .. } => 0,
            it if it.is_negative() => -1,
            _ => 1,
        }
    }

    /// Compares by value; `-0` is equal to `0`.
    pub fn compare(&self, other: &Number) -> Ordering {
        if let (Number::Int(a), Number::Int(b)) = (self, other) {
            return a.cmp(b);
        }
        let signs = self.sign().cmp(&other.sign());
        let magnitudes = || match (self.float(), other.float()) {
            (Float::Finite(a), Float::Finite(b)) => a.compare_magnitude(&b),
            (Float::Infinity { .. }, Float::Finite(_)) => Ordering::Greater,
            (Float::Finite(_), Float::Infinity { .. }) => Ordering::Less,
            _ => Ordering::Equal,
        };
        signs.then_with(|| if self.sign() < 0 { magnitudes().reverse() } else { magnitudes() })
    }

    /// Returns whether it is whole. Infinities are not.
    pub fn is_integer(&self) -> bool {
        match self {
            Number::Int(_) => true,
            Number::Big(it) => match &**it {
                Big::Finite { exponent, .. } => *exponent >= 0,
                Big::NegativeZero => true,
                Big::Infinity { .. } => false,
            },
        }
    }

    /// Returns whether it is an infinity.
    pub fn is_infinite(&self) -> bool {
        matches!(self, Number::Big(it) if matches!(**it, Big::Infinity { .. }))
    }

    /// Returns the number as a 64-bit whole number, if it is one.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Number::Int(it) => Some(*it),
            Number::Big(_) => self.as_bigint()?.to_i64(),
        }
    }

    /// Returns the number as a size or index, if it is one.
    pub fn as_usize(&self) -> Option<usize> {
        usize::try_from(self.as_i64()?).ok()
    }

    /// Returns the number as a whole number of any size, if it is one.
    pub fn as_bigint(&self) -> Option<BigInt> {
        match self {
            Number::Int(it) => Some((*it).into()),
            Number::Big(_) if self.is_integer() => Some(self.truncated()?),
            Number::Big(_) => None,
        }
    }

    /// Returns the number without its fraction. `None` for infinities.
    pub fn truncated(&self) -> Option<BigInt> {
        match self.float() {
            Float::Zero { .. } => Some(BigInt::ZERO),
            Float::Finite(it) => Some(BigInt::from_biguint(
                if it.negative { Sign::Minus } else { Sign::Plus },
                it.truncated().0,
            )),
            Float::Infinity { .. } => None,
        }
    }

    /// Returns the nearest 64-bit float.
    pub fn to_f64(&self) -> f64 {
        match self {
            Number::Int(it) => *it as f64,
            Number::Big(it) => match &**it {
                Big::NegativeZero => -0.0,
                Big::Infinity { negative: true } => f64::NEG_INFINITY,
                Big::Infinity { negative: false } => f64::INFINITY,
                // Rust reads decimal text with correct rounding.
                Big::Finite { .. } => {
                    self.text(Notation::Scientific, Some(800)).parse().unwrap_or(f64::NAN)
                }
            },
        }
    }

    /// Writes the number; without `digits`, with the fewest that read back.
    pub fn text(&self, notation: Notation, digits: Option<usize>) -> String {
        let (negative, text) = match self.float() {
            Float::Zero { negative } => (negative, digits::zero(notation, digits)),
            Float::Finite(it) => {
                (it.negative, digits::text(&it, self.precision().into(), notation, digits))
            }
            Float::Infinity { negative } => {
                return if negative { "-Inf" } else { "+Inf" }.to_owned();
            }
        };
        if negative { format!("-{text}") } else { text }
    }

    fn precision(&self) -> u32 {
        match self {
            Number::Big(it) if let Big::Finite { precision, .. } = &**it => *precision,
            _ => PRECISION,
        }
    }

    fn float(&self) -> Float {
        match self {
            Number::Int(it) => Float::whole(*it < 0, it.unsigned_abs().into()),
            Number::Big(it) => match &**it {
                Big::NegativeZero => Float::Zero { negative: true },
                Big::Infinity { negative } => Float::Infinity { negative: *negative },
                Big::Finite { mantissa, exponent, .. } => Float::Finite(Finite {
                    negative: mantissa.sign() == Sign::Minus,
                    mantissa: mantissa.magnitude().clone(),
                    exponent: *exponent,
                }),
            },
        }
    }

    /// Packs a number that is already rounded to `precision`.
    fn of(float: Float, precision: u32) -> Number {
        let it = match float {
            Float::Zero { negative: false } => return Number::Int(0),
            Float::Zero { negative: true } => return Number::Big(Arc::new(Big::NegativeZero)),
            Float::Infinity { negative } => return Number::infinity(negative),
            Float::Finite(it) => it,
        };
        let sign = if it.negative { Sign::Minus } else { Sign::Plus };
        if it.top() <= i64::from(precision.min(64))
            && let (magnitude, true) = it.truncated()
            && let Some(small) = BigInt::from_biguint(sign, magnitude).to_i64()
        {
            return Number::Int(small);
        }
        let zeros = it.mantissa.trailing_zeros().unwrap_or(0);
        let mantissa = BigInt::from_biguint(sign, it.mantissa >> zeros);
        Number::Big(Arc::new(Big::Finite {
            mantissa,
            exponent: it.exponent + zeros as i64,
            precision,
        }))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a == b,
            (Number::Big(a), Number::Big(b)) => match (&**a, &**b) {
                (
                    Big::Finite { mantissa: m, exponent: e, precision: p },
                    Big::Finite { mantissa: n, exponent: f, precision: q },
                ) => {
                    m == n && e == f
                        || p != q
                            && !self.is_integer()
                            && !other.is_integer()
                            && same_text(self, other)
                }
                (Big::NegativeZero, Big::NegativeZero) => true,
                (Big::Infinity { negative: x }, Big::Infinity { negative: y }) => x == y,
                _ => false,
            },
            (Number::Int(small), Number::Big(_)) => other.as_i64() == Some(*small),
            (Number::Big(_), Number::Int(small)) => self.as_i64() == Some(*small),
        }
    }
}

fn same_text(a: &Number, b: &Number) -> bool {
    a.to_string() == b.to_string()
}

/// Prints without exponent, with the fewest digits that read back: `0.3`, `1000`, `-0`, `+Inf`.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(it) => write!(f, "{it}"),
            Number::Big(_) => f.write_str(&self.text(Notation::Fixed, None)),
        }
    }
}

impl From<i64> for Number {
    fn from(it: i64) -> Number {
        Number::Int(it)
    }
}
