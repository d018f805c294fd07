//! What takes no part in a plan, and how to ask why.

use entail::world::PROGRAM;
use std::io::{self, Write};

use entail::plan::{LeftOut, NotLookedAt};
use entail::request::PlanMode;
use entail::value::text::shell_word;

use super::Screen;

impl Screen<'_> {
    /// The flags that make the same plan again.
    fn flags(&self) -> String {
        let targets = self.plan.targets.iter().map(|it| format!(" -target={}", shell_word(it)));
        let excludes = self.plan.excludes.iter().map(|it| format!(" -exclude={}", shell_word(it)));
        let mode = if self.plan.mode == PlanMode::Destroy { " -destroy" } else { "" };
        let all: Vec<String> = targets.chain(excludes).collect();
        let (shown, more) =
            if all.len() > MOST_FLAGS { (&all[..MOST_FLAGS], " ...") } else { (&all[..], "") };
        format!("{mode}{}{more}", shown.concat())
    }

    /// Says what takes no part, one line per thing that the request names.
    pub(super) fn left_out(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.plan.left_out.is_empty() {
            return Ok(());
        }
        let title = match self.plan.mode {
            PlanMode::Destroy => "Left out, with what it rests on:",
            _ => "Left out, with everything that depends on it:",
        };
        writeln!(out, "\n{}", self.style().bold(title))?;
        for root in &self.plan.left_out {
            writeln!(out, "  {}", left_out_line(root))?;
        }
        Ok(())
    }

    /// Says how many objects no target needs.
    pub(super) fn untargeted(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.plan.not_looked_at.untargeted {
            0 => Ok(()),
            number => {
                let title = "Left out, because no -target needs it:";
                writeln!(out, "\n{}\n  {}", self.style().bold(title), objects(number))
            }
        }
    }

    /// Says how to ask why something is left out.
    pub(super) fn ask_why(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(first) = self.plan.left_out.first().filter(|_| !self.look.in_automation) else {
            return Ok(());
        };
        let example = first.objects.first().unwrap_or(&first.root);
        writeln!(
            out,
            "\nTo see why something is left out, run:\n    {PROGRAM} why {}{}",
            shell_word(example),
            self.flags()
        )
    }

    /// Returns whether the run leaves out objects, or uses what is recorded of data sources.
    pub(super) fn is_partial(&self) -> bool {
        !self.plan.left_out.is_empty() || self.plan.not_looked_at != NotLookedAt::default()
    }

    /// Says that data sources were not read again.
    pub(super) fn data_not_read(&self) -> &'static str {
        match self.plan.not_looked_at.data {
            0 => "",
            1 => " 1 data source was not read again: its recorded result serves.",
            _ => " Data sources were not read again: their recorded results serve.",
        }
    }
}

fn objects(number: usize) -> String {
    if number == 1 { "1 object".to_owned() } else { format!("{number} objects") }
}

/// The most flags that are repeated in a hint; a request with more came from a file.
const MOST_FLAGS: usize = 5;

/// One line for something that is left out: its address, how many objects, and where it is asked for unless that is plain.
fn left_out_line(root: &LeftOut) -> String {
    let objects = objects(root.objects.len());
    let origin = if root.flag == format!("-exclude={}", root.root) {
        String::new()
    } else {
        format!(", {}", root.flag)
    };
    format!("{} ({objects}{origin})", root.root)
}
