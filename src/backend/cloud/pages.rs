//! Lists that come in pages: each page names the marker of the next one, and no marker may come twice.

use std::collections::BTreeSet;

use super::trouble::Trouble;

/// The markers of one list.
#[derive(Debug, Default)]
pub struct Markers {
    /// The marker of the page to ask for; `None` for the first page.
    pub next: Option<String>,
    seen: BTreeSet<String>,
}

impl Markers {
    /// Takes the marker that a page names. Returns whether there is another page.
    ///
    /// - `marker`: `None` or empty on the last page.
    /// - `service`, `at`: what should answer, and where, for messages.
    ///
    /// # Errors
    ///
    /// If the marker came before, so that the list would never end.
    pub fn follow(
        &mut self,
        marker: Option<String>,
        service: &str,
        at: &str,
    ) -> Result<bool, Trouble> {
        self.next = marker.filter(|it| !it.is_empty());
        let Some(marker) = &self.next else { return Ok(false) };
        if self.seen.insert(marker.clone()) { Ok(true) } else { Err(endless(service, at)) }
    }
}

/// A page leads back to one that was read.
fn endless(service: &str, at: &str) -> Trouble {
    let text = format!(
        "what answers at {at} gives a list whose pages lead back to earlier ones, as {service} never does: check the endpoint's address"
    );
    Trouble::denied(200, "", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows markers in turn. Returns whether each leads on, until one is refused.
    fn follow(all: &[&str]) -> Vec<bool> {
        let mut markers = Markers::default();
        let markers_of = all.iter().map(|it| Some((*it).to_owned()));
        markers_of.map_while(|it| markers.follow(it, "S3", "here").ok()).collect()
    }

    #[test]
    fn a_list_ends_with_a_page_without_a_marker() {
        assert_eq!(follow(&["a", "b", ""]), [true, true, false]);
        let last = Markers::default().follow(None, "S3", "here");
        assert_eq!(last.ok(), Some(false));
    }

    #[test]
    fn a_marker_that_came_before_is_refused() {
        assert_eq!(follow(&["a", "a"]), [true]);
        assert_eq!(follow(&["a", "b", "c", "b"]), [true, true, true]);
    }
}
