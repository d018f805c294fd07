//! Names that are misspelt: what a problem says was meant, written in the place of what is there.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::problems::Problem;
use super::{Edit, Place};

/// Returns what mends a problem that says which name was meant.
///
/// - `text`: the text in which the problem is.
pub(super) fn mended(problem: &Problem, text: &str) -> Option<(String, Edit)> {
    static MEANT: LazyLock<Regex> = LazyLock::new(|| {
        let names = "(?:the [a-z]+ resource |to set attribute )?[\"`]?([A-Za-z_@][\\w.-]*)[\"`]?";
        Regex::new(&format!("Did you mean {names}(?: instead)?\\?")).expect("a valid expression")
    });
    let meant = MEANT.captures(&problem.message)?.get(1)?.as_str();
    let place = &problem.place.range;
    let written = text.get(place.clone())?;
    let range = misspelt(written, meant)?;
    let old = &written[range.clone()];
    let range = place.start + range.start..place.start + range.end;
    let place = Place { path: problem.place.path.clone(), range };
    Some((format!("Change {old} to {meant}"), Edit { place, text: meant.to_owned() }))
}

/// The part of what is written that another name stands for: as many names joined by dots, and the most similar ones.
fn misspelt(written: &str, meant: &str) -> Option<Range<usize>> {
    static NAME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[A-Za-z_][\w-]*").expect("a valid expression"));
    let count = meant.split('.').count();
    let names: Vec<Range<usize>> = NAME.find_iter(written).map(|it| it.range()).collect();
    let bare = meant.trim_start_matches('@');
    let candidates = names.windows(count).map(|it| it[0].start..it[count - 1].end);
    let distance = |it: &Range<usize>| strsim::damerau_levenshtein(&written[it.clone()], bare);
    let nearest = candidates.filter(|it| written[it.clone()] != *bare).min_by_key(distance)?;
    // What has nothing in common with it is something else.
    let most = bare.chars().count().max(2) / 2;
    (distance(&nearest) <= most).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, meant: &str) -> Option<String> {
        misspelt(written, meant).map(|it| written[it].to_owned())
    }

    #[test]
    fn the_part_that_is_misspelt_is_found() {
        assert_eq!(check("sensitve", "sensitive").as_deref(), Some("sensitve"));
        assert_eq!(check("var.nmae", "name").as_deref(), Some("nmae"));
        assert_eq!(check("  ouptut {", "output").as_deref(), Some("ouptut"));
        let address = check("terraform_data.basse.id", "terraform_data.base");
        assert_eq!(address.as_deref(), Some("terraform_data.basse"));
        assert_eq!(check("var.colour", "xyz"), None);
        assert_eq!(check("", "name"), None);
    }
}
