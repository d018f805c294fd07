//! How often something of a pattern is there: `{2}`, `{2,}`, `{2,3}`.

/// Reads `{2}`, `{2,}` or `{2,3}`: its length and numbers; `None` where the brace is a literal.
pub(super) fn counted(text: &str) -> Option<(usize, u32, Option<u32>)> {
    let end = text.find('}')?;
    let inner = &text[1..end];
    let number = |it: &str| {
        (!it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
            .then(|| it.parse().unwrap_or(u32::MAX))
    };
    let (low, high) = match inner.split_once(',') {
        None => {
            let count = number(inner)?;
            (count, Some(count))
        }
        Some((low, "")) => (number(low)?, None),
        Some((low, high)) => (number(low)?, Some(number(high)?)),
    };
    Some((end + 1, low, high))
}
