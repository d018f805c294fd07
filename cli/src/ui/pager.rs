//! Long results at a terminal go through a pager, as `git` and `man` do it: `PAGER` names it, `NO_PAGER` forbids it.

use std::io::Write;
use std::process::{Command, Stdio};

use entail::world::World;

use super::Ui;

/// What shows long texts where nothing names a pager.
const USUAL: &str = "less";

impl Ui {
    /// Holds what is said from now on for people at a terminal, until the command ends: then it goes through a pager where it is
    /// longer than the screen.
    pub fn hold(&self) {
        if self.out_is_terminal && !self.manner.json && named(&self.world).is_some() {
            self.streams().held.get_or_insert_default();
        }
    }

    /// Shows what was held.
    pub(super) fn page(&self) {
        let Some(text) = self.streams().held.take() else { return };
        let lines = text.iter().filter(|it| **it == b'\n').count();
        let pager = named(&self.world).filter(|_| lines >= self.rows);
        if !pager.is_some_and(|it| show(&it, &text)) {
            self.put_held(&text);
        }
    }
}

/// Returns the command line of the pager; nothing where there is to be none.
fn named(world: &World) -> Option<String> {
    let is_set = |name: &str| world.variable(name).is_some_and(|it| !it.is_empty());
    if is_set("NO_PAGER") || is_set("TF_IN_AUTOMATION") || world.variable("TERM") == Some("dumb") {
        return None;
    }
    match world.environment.get("PAGER") {
        Some(named) => Some(named.to_owned()).filter(|it| !it.trim().is_empty() && *it != "cat"),
        None => Some(USUAL.to_owned()),
    }
}

/// Shows a text in the pager. Returns whether it was shown: a pager that cannot be started, or is none, shows nothing.
fn show(pager: &str, text: &[u8]) -> bool {
    let mut command = Command::new("sh");
    command.args(["-c", pager]).stdin(Stdio::piped());
    // Colours as they are, no clearing of the screen, and gone at once where all fits.
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // Whoever has read enough leaves before the end.
        input.write_all(text).unwrap_or_default();
    }
    // A shell that finds no such program says so with 127, or 126.
    child.wait().is_ok_and(|it| !matches!(it.code(), Some(126 | 127)))
}

#[cfg(test)]
mod tests {
    use entail::world::World;

    use super::{named, show};

    fn world(variables: &[(&str, &str)]) -> World {
        let mut world = World::of_this_process();
        world.environment = variables.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
        world
    }

    #[test]
    fn the_environment_names_or_forbids_the_pager() {
        assert_eq!(named(&world(&[])).as_deref(), Some("less"));
        assert_eq!(named(&world(&[("PAGER", "more -d")])).as_deref(), Some("more -d"));
        for forbidding in [("NO_PAGER", "1"), ("PAGER", ""), ("PAGER", "cat"), ("TERM", "dumb")] {
            assert_eq!(named(&world(&[forbidding])), None, "{forbidding:?}");
        }
    }

    #[test]
    fn a_pager_that_is_none_shows_nothing() {
        assert!(!show("this-is-no-program-at-all 2>/dev/null", b"text"));
        assert!(show("cat >/dev/null", b"text"));
        assert!(show("true", &vec![b'x'; 1 << 20]), "it may leave early");
    }
}
