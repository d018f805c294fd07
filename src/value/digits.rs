//! Decimal text of binary floating-point numbers: the fewest digits that read back, or a given count.

use num_bigint::BigUint;
use num_traits::One;

use super::float::Finite;

/// How a number is written, as the verbs of Go's `fmt` name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `1.5e+00` (`%e`)
    Scientific,
    /// `1.5` (`%f`)
    Fixed,
    /// Scientific for very small and very large exponents, else fixed (`%g`).
    General,
}

/// Decimal digits without sign: `0.d₁d₂… × 10^exponent`.
#[derive(Clone, Debug)]
struct Decimal {
    /// Digits `0`–`9` as ASCII, without trailing zeros.
    digits: Vec<u8>,
    exponent: i64,
}

/// Writes a number, without sign; `None` digits means the fewest that read back at `precision` bits.
pub(super) fn text(
    number: &Finite,
    precision: u64,
    notation: Notation,
    digits: Option<usize>,
) -> String {
    let mut decimal = Decimal::exact(&number.mantissa, number.exponent);
    let count = match digits {
        None => {
            shorten(&mut decimal, number, precision);
            match notation {
                Notation::Scientific => decimal.digits.len().saturating_sub(1),
                Notation::Fixed => (decimal.digits.len() as i64 - decimal.exponent).max(0) as usize,
                Notation::General => decimal.digits.len(),
            }
        }
        Some(count) => {
            let kept = match notation {
                Notation::Scientific => 1 + count as i64,
                Notation::Fixed => decimal.exponent + count as i64,
                Notation::General => count.max(1) as i64,
            };
            decimal.round(kept);
            if notation == Notation::General { count.max(1) } else { count }
        }
    };
    decimal.write(notation, count, digits.is_none())
}

/// Writes zero, without sign.
pub(super) fn zero(notation: Notation, digits: Option<usize>) -> String {
    let decimal = Decimal { digits: Vec::new(), exponent: 0 };
    let count = match (notation, digits) {
        (Notation::General, Some(count)) => count.max(1),
        (_, count) => count.unwrap_or(0),
    };
    decimal.write(notation, count, digits.is_none())
}

impl Decimal {
    /// The exact decimal expansion of `mantissa × 2^exponent`.
    fn exact(mantissa: &BigUint, exponent: i64) -> Decimal {
        let (whole, places) = match exponent {
            0.. => (mantissa << exponent as u64, 0),
            _ => (mantissa * BigUint::from(5u8).pow(exponent.unsigned_abs() as u32), -exponent),
        };
        let mut digits = whole.to_str_radix(10).into_bytes();
        let exponent = digits.len() as i64 - places;
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        Decimal { digits, exponent }
    }

    fn at(&self, index: usize) -> u8 {
        self.digits.get(index).copied().unwrap_or(b'0')
    }

    /// Keeps `count` digits, rounding to nearest and ties to even.
    fn round(&mut self, count: i64) {
        if count < 0 {
            self.clear();
        } else if (count as usize) < self.digits.len() {
            let count = count as usize;
            let is_half = self.digits[count] == b'5' && count + 1 == self.digits.len();
            let up = match is_half {
                true => count > 0 && (self.digits[count - 1] - b'0') % 2 == 1,
                false => self.digits[count] >= b'5',
            };
            if up { self.round_up(count) } else { self.round_down(count) }
        }
    }

    fn round_down(&mut self, count: usize) {
        self.digits.truncate(count);
        self.trim();
    }

    fn round_up(&mut self, count: usize) {
        self.digits.truncate(count);
        while self.digits.last() == Some(&b'9') {
            self.digits.pop();
        }
        match self.digits.last_mut() {
            Some(last) => *last += 1,
            None => {
                self.digits.push(b'1');
                self.exponent += 1;
            }
        }
    }

    fn trim(&mut self) {
        while self.digits.last() == Some(&b'0') {
            self.digits.pop();
        }
        if self.digits.is_empty() {
            self.exponent = 0;
        }
    }

    fn clear(&mut self) {
        self.digits.clear();
        self.exponent = 0;
    }

    fn write(&self, notation: Notation, count: usize, is_shortest: bool) -> String {
        match notation {
            Notation::Scientific => self.scientific(count),
            Notation::Fixed => self.fixed(count),
            Notation::General => self.general(count, is_shortest),
        }
    }

    fn general(&self, count: usize, is_shortest: bool) -> String {
        let len = self.digits.len();
        let threshold = match () {
            () if is_shortest => 6,
            () if count > len && len as i64 >= self.exponent => len,
            () => count,
        };
        let exponent = self.exponent - 1;
        if exponent < -4 || exponent >= threshold as i64 {
            return self.scientific(count.min(len).saturating_sub(1));
        }
        let count = if count as i64 > self.exponent { len } else { count };
        self.fixed((count as i64 - self.exponent).max(0) as usize)
    }

    fn scientific(&self, places: usize) -> String {
        let mut text = String::with_capacity(places + 8);
        text.push(self.at(0) as char);
        if places > 0 {
            text.push('.');
            text.extend((1..=places).map(|index| self.at(index) as char));
        }
        let exponent = if self.digits.is_empty() { 0 } else { self.exponent - 1 };
        let sign = if exponent < 0 { '-' } else { '+' };
        text.push_str(&format!("e{sign}{:02}", exponent.unsigned_abs()));
        text
    }

    fn fixed(&self, places: usize) -> String {
        let mut text = String::with_capacity(places + self.exponent.max(0) as usize + 2);
        match self.exponent {
            1.. => text.extend((0..self.exponent as usize).map(|index| self.at(index) as char)),
            _ => text.push('0'),
        }
        if places > 0 {
            text.push('.');
            text.extend((0..places as i64).map(|place| match self.exponent + place {
                index @ 0.. => self.at(index as usize) as char,
                _ => '0',
            }));
        }
        text
    }
}

/// Cuts digits off as long as the text still reads back as the same number of `precision` bits.
///
/// Digit by digit it is compared with the two numbers halfway to the neighbours; the first place where rounding down
/// or up stays between them ends the text.
fn shorten(decimal: &mut Decimal, number: &Finite, precision: u64) {
    let widen = precision as i64 + 1 - number.mantissa.bits() as i64;
    let mantissa = if widen >= 0 {
        &number.mantissa << widen as u64
    } else {
        &number.mantissa >> widen.unsigned_abs()
    };
    let exponent = number.exponent - widen;
    let lower = Decimal::exact(&(&mantissa - BigUint::one()), exponent);
    let upper = Decimal::exact(&(&mantissa + BigUint::one()), exponent);
    // An even mantissa is what both halfway numbers round to.
    let is_inclusive = !mantissa.bit(1);
    for index in 0..decimal.digits.len() {
        let (low, digit, high) = (lower.at(index), decimal.digits[index], upper.at(index));
        let down = low != digit || is_inclusive && index + 1 == lower.digits.len();
        let up =
            digit != high && (is_inclusive || digit + 1 < high || index + 1 < upper.digits.len());
        match (down, up) {
            (true, true) => return decimal.round(index as i64 + 1),
            (true, false) => return decimal.round_down(index + 1),
            (false, true) => return decimal.round_up(index + 1),
            (false, false) => {}
        }
    }
}
