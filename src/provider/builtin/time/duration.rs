//! Durations as Go writes them: `1h30m`, `1.5s`, `-300ms`.

/// Returns a duration in nanoseconds; nothing where the text is none, or too long for 64 bits.
pub(super) fn parse(text: &str) -> Option<i64> {
    let (is_negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut sum: u64 = 0;
    while !rest.is_empty() {
        sum = sum.checked_add(part(&mut rest)?).filter(|it| *it <= 1 << 63)?;
    }
    if is_negative { Some((sum as i64).wrapping_neg()) } else { i64::try_from(sum).ok() }
}

/// Takes one number with its unit.
fn part(rest: &mut &str) -> Option<u64> {
    let whole = take_while(rest, |it| it.is_ascii_digit());
    let fraction = match rest.strip_prefix('.') {
        Some(after) => {
            *rest = after;
            take_while(rest, |it| it.is_ascii_digit())
        }
        None => "",
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let unit: u64 = match take_while(rest, |it| it != '.' && !it.is_ascii_digit()) {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    };
    let whole: u64 =
        if whole.is_empty() { 0 } else { whole.parse().ok().filter(|it| *it <= 1 << 63)? };
    let product = whole.checked_mul(unit).filter(|it| *it <= 1 << 63)?;
    // No unit has more than 13 digits, so further digits of the fraction count for nothing.
    let digits = &fraction[..fraction.len().min(18)];
    let scale = 10_f64.powi(digits.len() as i32);
    let beyond = if digits.is_empty() {
        0
    } else {
        (digits.parse::<u64>().ok()? as f64 * (unit as f64 / scale)) as u64
    };
    product.checked_add(beyond)
}

fn take_while<'a>(rest: &mut &'a str, is_part: impl Fn(char) -> bool) -> &'a str {
    let end = rest.find(|it| !is_part(it)).unwrap_or(rest.len());
    let (taken, after) = rest.split_at(end);
    *rest = after;
    taken
}
