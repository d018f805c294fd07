//! Arithmetic of binary floating-point numbers: exact results, then one rounding to nearest, ties to even.

use std::cmp::Ordering;

use num_bigint::BigUint;
use num_traits::{One, Zero};

/// The largest magnitude of a power of two: beyond it numbers become infinite, or zero.
///
/// Go's limit is 2³¹; this one keeps the decimal text of a number under 200 000 digits. [`parse`] refuses numbers beyond it, and so
/// do operators ([`Number::is_beyond`](super::Number::is_beyond)), so that nothing becomes infinite unnoticed.
pub(super) const MAX_EXPONENT: i64 = 1 << 18;

/// A number that is neither zero nor infinite: `±mantissa × 2^exponent`.
#[derive(Clone, Debug)]
pub(super) struct Finite {
    pub negative: bool,
    /// Not zero.
    pub mantissa: BigUint,
    pub exponent: i64,
}

/// Any number.
#[derive(Clone, Debug)]
pub(super) enum Float {
    Zero { negative: bool },
    Finite(Finite),
    Infinity { negative: bool },
}

impl Finite {
    /// The position of its highest bit: the number is below `2^top` and at least half of that.
    pub fn top(&self) -> i64 {
        self.mantissa.bits() as i64 + self.exponent
    }

    /// Compares magnitudes.
    pub fn compare_magnitude(&self, other: &Finite) -> Ordering {
        self.top().cmp(&other.top()).then_with(|| {
            let low = self.exponent.min(other.exponent);
            self.scaled_to(low).cmp(&other.scaled_to(low))
        })
    }

    /// Its mantissa at a lower exponent.
    pub fn scaled_to(&self, exponent: i64) -> BigUint {
        &self.mantissa << (self.exponent - exponent).max(0) as u64
    }

    /// The whole number nearest to it towards zero, and whether that is exact.
    pub fn truncated(&self) -> (BigUint, bool) {
        if self.exponent >= 0 {
            return (self.scaled_to(0), true);
        }
        let cut = self.exponent.unsigned_abs();
        let is_exact = self.mantissa.trailing_zeros().unwrap_or(0) >= cut;
        (&self.mantissa >> cut, is_exact)
    }

    /// How many bits of mantissa it needs.
    pub fn width(&self) -> u64 {
        self.mantissa.bits() - self.mantissa.trailing_zeros().unwrap_or(0)
    }
}

impl Float {
    pub fn whole(negative: bool, magnitude: BigUint) -> Float {
        if magnitude.is_zero() {
            return Float::Zero { negative };
        }
        Float::Finite(Finite { negative, mantissa: magnitude, exponent: 0 })
    }

    pub fn is_negative(&self) -> bool {
        match self {
            Float::Zero { negative } | Float::Infinity { negative } => *negative,
            Float::Finite(it) => it.negative,
        }
    }

    pub fn negated(self) -> Float {
        match self {
            Float::Zero { negative } => Float::Zero { negative: !negative },
            Float::Infinity { negative } => Float::Infinity { negative: !negative },
            Float::Finite(it) => Float::Finite(Finite { negative: !it.negative, ..it }),
        }
    }

    /// The sum, exact. `None` for infinities that cancel.
    pub fn add(self, other: Float) -> Option<Float> {
        Some(match (self, other) {
            (Float::Infinity { negative: a }, Float::Infinity { negative: b }) if a != b => {
                return None;
            }
            (it @ Float::Infinity { .. }, _) | (_, it @ Float::Infinity { .. }) => it,
            (Float::Zero { negative: a }, Float::Zero { negative: b }) => {
                Float::Zero { negative: a && b }
            }
            (it, Float::Zero { .. }) | (Float::Zero { .. }, it) => it,
            (Float::Finite(a), Float::Finite(b)) => add_finite(&a, &b),
        })
    }

    /// The product, exact. `None` for zero times infinity.
    pub fn multiply(self, other: Float) -> Option<Float> {
        let negative = self.is_negative() != other.is_negative();
        Some(match (self, other) {
            (Float::Infinity { .. }, Float::Zero { .. })
            | (Float::Zero { .. }, Float::Infinity { .. }) => return None,
            (Float::Infinity { .. }, _) | (_, Float::Infinity { .. }) => {
                Float::Infinity { negative }
            }
            (Float::Zero { .. }, _) | (_, Float::Zero { .. }) => Float::Zero { negative },
            (Float::Finite(a), Float::Finite(b)) => Float::Finite(Finite {
                negative,
                mantissa: a.mantissa * b.mantissa,
                exponent: a.exponent + b.exponent,
            }),
        })
    }

    /// The quotient, rounded. `None` for 0/0 and ∞/∞.
    pub fn divide(self, other: Float, precision: u64) -> Option<Float> {
        let negative = self.is_negative() != other.is_negative();
        Some(match (self, other) {
            (Float::Zero { .. }, Float::Zero { .. })
            | (Float::Infinity { .. }, Float::Infinity { .. }) => return None,
            (Float::Zero { .. }, _) | (_, Float::Infinity { .. }) => Float::Zero { negative },
            (_, Float::Zero { .. }) | (Float::Infinity { .. }, _) => Float::Infinity { negative },
            (Float::Finite(a), Float::Finite(b)) => divide_finite(negative, &a, &b, precision),
        })
    }

    /// Rounds to `precision` bits, nearest, ties to even; too large becomes infinite and too small zero.
    pub fn round(self, precision: u64) -> Float {
        match self {
            Float::Finite(it) => round_finite(it, precision),
            it => it,
        }
    }
}

fn add_finite(a: &Finite, b: &Finite) -> Float {
    let exponent = a.exponent.min(b.exponent);
    let (x, y) = (a.scaled_to(exponent), b.scaled_to(exponent));
    if a.negative == b.negative {
        return Float::Finite(Finite { negative: a.negative, mantissa: x + y, exponent });
    }
    match x.cmp(&y) {
        Ordering::Equal => Float::Zero { negative: false },
        Ordering::Greater => {
            Float::Finite(Finite { negative: a.negative, mantissa: x - y, exponent })
        }
        Ordering::Less => Float::Finite(Finite { negative: b.negative, mantissa: y - x, exponent }),
    }
}

fn divide_finite(negative: bool, a: &Finite, b: &Finite, precision: u64) -> Float {
    // Two bits more than wanted, and a last one that says whether anything was cut off, decide the rounding.
    let shift = (precision + 2 + b.mantissa.bits()).saturating_sub(a.mantissa.bits());
    let numerator = &a.mantissa << shift;
    let quotient = &numerator / &b.mantissa;
    let is_inexact = &quotient * &b.mantissa != numerator;
    let mut mantissa = quotient << 1u8;
    if is_inexact {
        mantissa.set_bit(0, true);
    }
    let exponent = a.exponent - b.exponent - shift as i64 - 1;
    Float::Finite(Finite { negative, mantissa, exponent }).round(precision)
}

fn round_finite(it: Finite, precision: u64) -> Float {
    let Finite { negative, mut mantissa, mut exponent } = it;
    let width = mantissa.bits();
    if width > precision {
        let cut = width - precision;
        let half = mantissa.bit(cut - 1);
        let rest = mantissa.trailing_zeros().unwrap_or(0) < cut - 1;
        mantissa >>= cut;
        exponent += cut as i64;
        if half && (rest || mantissa.bit(0)) {
            mantissa += BigUint::one();
        }
    }
    let zeros = mantissa.trailing_zeros().unwrap_or(0);
    mantissa >>= zeros;
    exponent += zeros as i64;
    let it = Finite { negative, mantissa, exponent };
    match it.top() {
        top if top > MAX_EXPONENT => Float::Infinity { negative },
        top if top < -MAX_EXPONENT => Float::Zero { negative },
        _ => Float::Finite(it),
    }
}

/// Why a text is not read as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// It is no number.
    NoNumber,
    /// It is a number with too large or too small an exponent.
    OutOfRange,
}

/// Reads decimal text (`-1.5e-3`, `.5`, `5.`, `Inf`) and rounds it to `precision` bits.
///
/// # Errors
///
/// If it is no number, or one that would become infinite or zero.
pub(super) fn parse(text: &str, precision: u64) -> Result<Float, Unread> {
    if let Some(it) = special(text) {
        return Ok(it);
    }
    let decimal = Decimal::of(text).ok_or(Unread::NoNumber)?;
    if decimal.digits.is_empty() {
        return Ok(Float::Zero { negative: decimal.negative });
    }
    if decimal.is_far_out_of_range() {
        return Err(Unread::OutOfRange);
    }
    let exponent5 = decimal.exponent10;
    match scale(decimal.without_fives().ok_or(Unread::NoNumber)?, exponent5, precision) {
        Some(it @ Float::Finite(_)) => Ok(it),
        _ => Err(Unread::OutOfRange),
    }
}

/// Reads an infinity.
fn special(text: &str) -> Option<Float> {
    let (negative, text) = sign(text);
    matches!(text, "Inf" | "inf").then_some(Float::Infinity { negative })
}

/// Splits the sign off.
fn sign(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    }
}

/// The parts of decimal text: `±digits × 2^exponent2 × 10^exponent10`.
struct Decimal {
    negative: bool,
    /// Without zeros in front; empty for zero.
    digits: String,
    exponent2: i64,
    exponent10: i64,
}

impl Decimal {
    /// Takes text apart. `None` if it is no number.
    fn of(text: &str) -> Option<Decimal> {
        let (negative, text) = sign(text);
        let end = text.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(text.len());
        let (whole, fraction) = text[..end].split_once('.').unwrap_or((&text[..end], ""));
        if fraction.contains('.') || whole.len() + fraction.len() == 0 {
            return None;
        }
        let (exponent2, exponent10) = parse_exponent(&text[end..])?;
        let whole = whole.trim_start_matches('0');
        let digits = match whole {
            "" => fraction.trim_start_matches('0').to_owned(),
            _ => format!("{whole}{fraction}"),
        };
        let exponent10 = exponent10.saturating_sub(fraction.len() as i64);
        Some(Decimal { negative, digits, exponent2, exponent10 })
    }

    /// Returns whether the count of the digits alone shows that the number is out of range.
    ///
    /// Reading them takes time that grows with the square of the count: 12 s for 2,000,000 digits.
    fn is_far_out_of_range(&self) -> bool {
        // The number is below `10^top`, and at least a tenth of that, each times `2^exponent2`.
        let top = self.digits.len() as i64 + self.exponent10;
        let bits = |digits: i64| digits as f64 * std::f64::consts::LOG2_10 + self.exponent2 as f64;
        let farthest = (MAX_EXPONENT + 2) as f64;
        bits(top - 1) > farthest
            || bits(top) < -farthest
            || self.exponent10.unsigned_abs() > FARTHEST_POWER
    }

    /// Returns the number divided by its power of five.
    fn without_fives(&self) -> Option<Finite> {
        let mantissa = BigUint::parse_bytes(self.digits.as_bytes(), 10)?;
        let exponent = self.exponent2.saturating_add(self.exponent10);
        Some(Finite { negative: self.negative, mantissa, exponent })
    }
}

/// The largest power of five that is computed.
const FARTHEST_POWER: u64 = 2 * MAX_EXPONENT as u64;

/// An exponent that is out of range with any number of digits in memory.
const FARTHEST: i64 = 1 << 50;

/// The power of two (`p`) and of ten (`e`) that the text after the digits asks for.
fn parse_exponent(text: &str) -> Option<(i64, i64)> {
    let Some(letter) = text.chars().next() else { return Some((0, 0)) };
    let number = text.get(1..)?;
    let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
    if digits.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    // Digits that do not fit are as far out of range as those that just do.
    let most = if number.starts_with('-') { -FARTHEST } else { FARTHEST };
    let exponent: i64 = number.parse().unwrap_or(most).clamp(-FARTHEST, FARTHEST);
    match letter {
        'e' | 'E' => Some((0, exponent)),
        'p' | 'P' => Some((exponent, 0)),
        _ => None,
    }
}

/// Multiplies by a power of five and rounds once; `None` where that is far out of range.
fn scale(it: Finite, exponent5: i64, precision: u64) -> Option<Float> {
    if it.top().unsigned_abs() > 1 << 31 || exponent5.unsigned_abs() > FARTHEST_POWER {
        return None;
    }
    let power = Finite {
        negative: false,
        mantissa: BigUint::from(5u8).pow(exponent5.unsigned_abs() as u32),
        exponent: 0,
    };
    let it = Float::Finite(it);
    match exponent5 {
        0.. => Some(it.multiply(Float::Finite(power))?.round(precision)),
        _ => it.divide(Float::Finite(power), precision),
    }
}
