//! The last lines that a plugin wrote to its standard error, for messages about its end.

use std::collections::VecDeque;

use parking_lot::Mutex;

/// How many lines are kept while all is well.
const USUAL: usize = 12;
/// How many lines of a crash are kept.
const CRASH: usize = 100;
/// Longer lines are cut.
const WIDTH: usize = 2000;

/// The last lines. Once a crash begins, its first lines are kept instead.
#[derive(Debug, Default)]
pub(super) struct Tail(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<String>,
    is_crash: bool,
}

impl Tail {
    /// Takes a line.
    pub fn push(&self, line: &str) {
        let mut kept = self.0.lock();
        if !kept.is_crash && (line.starts_with("panic: ") || line.starts_with("fatal error: ")) {
            kept.is_crash = true;
            kept.lines.clear();
        }
        if kept.is_crash && kept.lines.len() >= CRASH {
            return;
        }
        if !kept.is_crash && kept.lines.len() >= USUAL {
            kept.lines.pop_front();
        }
        kept.lines.push_back(line.chars().take(WIDTH).collect());
    }

    /// Returns what was kept, and whether it is a crash.
    pub fn text(&self) -> (String, bool) {
        let kept = self.0.lock();
        let lines: Vec<&str> = kept.lines.iter().map(String::as_str).collect();
        (lines.join("\n"), kept.is_crash)
    }

    /// Returns the lines that are no records of a log: what a program says that is no plugin.
    pub fn plain(&self) -> String {
        let kept = self.0.lock();
        let plain: Vec<&str> =
            kept.lines.iter().map(String::as_str).filter(|it| !it.starts_with('{')).collect();
        plain.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::Tail;

    #[test]
    fn the_last_lines_are_kept_and_of_a_crash_the_first() {
        let tail = Tail::default();
        (0..20).for_each(|it| tail.push(&format!("line {it}")));
        assert!(tail.text().0.starts_with("line 8\n"));
        tail.push("panic: boom");
        tail.push("{\"@level\":\"debug\"}");
        (0..200).for_each(|it| tail.push(&format!("frame {it}")));
        let (text, is_crash) = tail.text();
        assert!(is_crash && text.starts_with("panic: boom\n") && text.ends_with("frame 97"));
        assert!(tail.plain().starts_with("panic: boom\nframe 0\n"));
    }
}
