//! What takes no part in a plan, and how to ask why.

use entail::world::PROGRAM;
use std::io::{self, Write};

use entail::plan::LeftOut;
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
        let Some(first) = self.plan.left_out.first() else { return Ok(()) };
        let title = match self.plan.mode {
            PlanMode::Destroy => "Left out, with what it rests on:",
            _ => "Left out, with everything that depends on it:",
        };
        writeln!(out, "\n{}", self.style().bold(title))?;
        for root in &self.plan.left_out {
            writeln!(out, "  {}", left_out_line(root))?;
        }
        match self.look.in_automation {
            true => Ok(()),
            false => {
                let example = first.objects.first().unwrap_or(&first.root);
                writeln!(
                    out,
                    "\nTo see why something is left out, run:\n    {PROGRAM} why {}{}",
                    shell_word(example),
                    self.flags()
                )
            }
        }
    }
}

/// The most flags that are repeated in a hint; a request with more came from a file.
const MOST_FLAGS: usize = 5;

/// One line for something that is left out: its address, how many objects, and where it is asked for unless that is plain.
fn left_out_line(root: &LeftOut) -> String {
    let objects = match root.objects.len() {
        1 => "1 object".to_owned(),
        number => format!("{number} objects"),
    };
    let origin = if root.flag == format!("-exclude={}", root.root) {
        String::new()
    } else {
        format!(", {}", root.flag)
    };
    format!("{} ({objects}{origin})", root.root)
}
