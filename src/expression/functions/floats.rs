//! Logarithm and power of 64-bit floats, rounded the same on every machine: results are compared with those of earlier runs.

/// The natural logarithm, by the series of `log((1 + s) / (1 - s))` after `x = 2^k * (1 + f)` (fdlibm's method).
pub(super) fn ln(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x.is_infinite() {
        return x;
    }
    const LN_2_HIGH: f64 = 0.6931471803691238;
    const LN_2_LOW: f64 = 1.9082149292705877e-10;
    const SERIES: [f64; 7] = [
        0.6666666666666735,
        0.3999999999940942,
        0.2857142874366239,
        0.22222198432149784,
        0.1818357216161805,
        0.15313837699209373,
        0.14798198605116586,
    ];
    let (mut fraction, mut exponent) = split(x);
    if fraction < std::f64::consts::FRAC_1_SQRT_2 {
        fraction *= 2.0;
        exponent -= 1;
    }
    let (f, k) = (fraction - 1.0, f64::from(exponent));
    let s = f / (2.0 + f);
    let (s2, s4) = (s * s, s * s * s * s);
    let odd = s2 * (SERIES[0] + s4 * (SERIES[2] + s4 * (SERIES[4] + s4 * SERIES[6])));
    let even = s4 * (SERIES[1] + s4 * (SERIES[3] + s4 * SERIES[5]));
    let (rest, half) = (odd + even, 0.5 * f * f);
    k * LN_2_HIGH - ((half - (s * (half + rest) + k * LN_2_LOW)) - f)
}

/// e raised to a power: the power is halved until a short series does, and the result squared as often.
fn exponential(x: f64) -> f64 {
    const LN_2_HIGH: f64 = 0.693147180559663;
    const LN_2_LOW: f64 = 2.8235290563031577e-13;
    /// One by 8!, by 7! and so on.
    const SERIES: [f64; 8] =
        [1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0];
    let exponent = (x * std::f64::consts::LOG2_E).round_ties_even();
    let rest = (-exponent).mul_add(LN_2_HIGH, x);
    let rest = (-exponent).mul_add(LN_2_LOW, rest) / 16.0;
    let series = SERIES.into_iter().reduce(|sum, next| sum.mul_add(rest, next)).unwrap_or(1.0);
    let mut less_one = rest * series;
    for _ in 0..3 {
        less_one *= less_one + 2.0;
    }
    join((less_one + 2.0).mul_add(less_one, 1.0), exponent as i64)
}

/// A number as `fraction * 2^exponent`, the fraction from 1/2 up to 1. Neither zero nor infinite.
fn split(x: f64) -> (f64, i32) {
    // Numbers too small for a whole mantissa are made larger first.
    let (x, shift) = if x.abs() < f64::MIN_POSITIVE { (x * 2.0_f64.powi(52), -52) } else { (x, 0) };
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1022;
    (f64::from_bits((bits & !(0x7ff << 52)) | (1022 << 52)), exponent + shift)
}

/// `fraction * 2^exponent`
fn join(fraction: f64, exponent: i64) -> f64 {
    let exponent = exponent.clamp(-2200, 2200) as i32;
    // In two steps, so that neither factor is out of range before the result is.
    let first = exponent / 2;
    fraction * 2.0_f64.powi(first) * 2.0_f64.powi(exponent - first)
}

/// The powers that need no multiplying: of and to zero, one and infinity, and square roots.
fn power_without_work(base: f64, exponent: f64) -> Option<f64> {
    let odd = |it: f64| it.abs() < 9_007_199_254_740_992.0 && it.rem_euclid(2.0) == 1.0;
    Some(match (base, exponent) {
        (_, 0.0) | (1.0, _) => 1.0,
        (_, 1.0) => base,
        (base, exponent) if base.is_nan() || exponent.is_nan() => f64::NAN,
        (0.0, exponent) => {
            let size = if exponent < 0.0 { f64::INFINITY } else { 0.0 };
            if odd(exponent) { size.copysign(base) } else { size }
        }
        (base, exponent) if exponent.is_infinite() => match (base.abs(), exponent > 0.0) {
            (1.0, _) => 1.0,
            (size, up) if (size < 1.0) == up => 0.0,
            _ => f64::INFINITY,
        },
        (base, exponent) if base.is_infinite() => {
            let size = if exponent < 0.0 { 0.0 } else { f64::INFINITY };
            if base < 0.0 && odd(exponent) { -size } else { size }
        }
        (base, 0.5) => base.sqrt(),
        (base, -0.5) => 1.0 / base.sqrt(),
        _ => return None,
    })
}

/// A number raised to a power, whole powers by squaring.
pub(super) fn power(base: f64, exponent: f64) -> f64 {
    if let Some(known) = power_without_work(base, exponent) {
        return known;
    }
    let (mut whole, mut part) = (exponent.abs().trunc(), exponent.abs().fract());
    if part != 0.0 && base < 0.0 {
        return f64::NAN;
    }
    if whole >= 9.223372036854776e+18 {
        // The power is even and huge.
        return match base.abs() < 1.0 {
            _ if base == -1.0 => 1.0,
            small if small == (exponent > 0.0) => 0.0,
            _ => f64::INFINITY,
        };
    }
    let mut result = 1.0;
    if part != 0.0 {
        if part > 0.5 {
            part -= 1.0;
            whole += 1.0;
        }
        result = exponential(part * ln(base));
    }
    let (mut square, square_exponent) = split(base);
    let (mut left, mut result_exponent, mut square_shift) =
        (whole as i64, 0_i64, i64::from(square_exponent));
    while left != 0 {
        if !(-(1 << 12)..=1 << 12).contains(&square_shift) {
            result_exponent += square_shift;
            break;
        }
        if left & 1 == 1 {
            result *= square;
            result_exponent += square_shift;
        }
        square *= square;
        square_shift <<= 1;
        if square < 0.5 {
            square += square;
            square_shift -= 1;
        }
        left >>= 1;
    }
    if exponent < 0.0 {
        return join(1.0 / result, -result_exponent);
    }
    join(result, result_exponent)
}
