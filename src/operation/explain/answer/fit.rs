//! How much of an answer is shown, and how places are written in it.

use crate::explain::render::{Line, short};

/// The most lines of an answer without `-full`.
const MOST: usize = 10;

/// Returns lines whose places have no columns, each place once.
pub fn shortened(mut lines: Vec<Line>) -> Vec<Line> {
    for line in &mut lines {
        let mut places: Vec<String> = Vec::new();
        for place in &line.origins {
            let place = short(place);
            if !places.iter().any(|it| it == place) {
                places.push(place.to_owned());
            }
        }
        line.origins = places;
    }
    lines
}

/// Shortens an answer to ten lines: what stands nearest to the answer and where each cause begins is kept.
///
/// - `whole`: the flag that shows all of it.
pub fn fit(lines: Vec<Line>, whole: &str) -> Vec<Line> {
    if lines.len() <= MOST {
        return lines;
    }
    let begins = |at: usize| lines.get(at + 1).is_none_or(|next| next.depth <= lines[at].depth);
    let rank = |at: usize| match lines[at].depth {
        0 => 0,
        1 => 1,
        _ if begins(at) => 2,
        _ => 3,
    };
    let mut kept: Vec<usize> = (0..lines.len()).collect();
    kept.sort_by_key(|at| (rank(*at), *at));
    kept.truncate(MOST - 1);
    kept.sort_unstable();
    let left_out = lines.len() - kept.len();
    let mut deepest = 0;
    let mut shown: Vec<Line> = Vec::with_capacity(MOST);
    for at in kept {
        let depth = lines[at].depth.min(deepest + 1);
        deepest = depth;
        shown.push(Line { depth, ..lines[at].clone() });
    }
    shown.push(Line {
        depth: 1,
        text: format!("… {left_out} more lines: {whole} shows them"),
        is_reason: false,
        origins: Vec::new(),
    });
    shown
}

#[cfg(test)]
mod tests {
    use super::{MOST, fit};
    use crate::explain::render::Line;

    fn chain(length: usize) -> Vec<Line> {
        let line =
            |depth| Line { depth, text: depth.to_string(), is_reason: true, origins: vec![] };
        (0..length).map(line).collect()
    }

    #[test]
    fn a_long_answer_keeps_its_ends() {
        assert_eq!(fit(chain(MOST), "-full"), chain(MOST));
        let short = fit(chain(30), "-full");
        assert_eq!(short.len(), MOST);
        let texts: Vec<&str> = short.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts[..3], ["0", "1", "2"]);
        assert_eq!(texts[MOST - 1], "… 21 more lines: -full shows them");
        assert!(texts.contains(&"29"), "the cause where it begins is kept: {texts:?}");
        assert!(short.windows(2).all(|it| it[1].depth <= it[0].depth + 1));
    }
}
