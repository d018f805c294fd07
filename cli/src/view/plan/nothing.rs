//! A plan in which nothing is to be done.

use entail::world::PROGRAM;
use std::io::{self, Write};

use entail::request::PlanMode;

use super::super::PRODUCT;
use super::super::style::Paint;
use super::Screen;

impl Screen<'_> {
    /// Says that there is nothing to do.
    pub(super) fn nothing(&self, out: &mut dyn Write, has_drift: bool) -> io::Result<()> {
        let style = self.style();
        if has_drift && self.plan.mode == PlanMode::RefreshOnly && !self.plan.errored {
            // The drift itself has said what applying would do.
            return Ok(());
        }
        if has_drift {
            writeln!(out, "{}", style.rule())?;
        }
        let (head, rest, text) = match self.plan.mode {
            _ if self.plan.errored => {
                let head = style.paint(&[Paint::Bold, Paint::Red], "Planning failed.").into_owned();
                let rest = format!(" {PRODUCT} encountered an error while generating this plan.");
                return writeln!(out, "\n{head}{}\n", style.bold(&rest));
            }
            PlanMode::RefreshOnly => (
                "No changes.",
                " Your infrastructure still matches the configuration.",
                format!(
                    "{PRODUCT} has checked that the real remote objects still match the result of your most recent changes, and \
                     found no differences."
                ),
            ),
            PlanMode::Destroy => (
                "No changes.",
                " No objects need to be destroyed.",
                format!(
                    "Either you have not created any objects yet or the existing objects were already deleted outside of {PRODUCT}."
                ),
            ),
            PlanMode::Normal => (
                "No changes.",
                " Your infrastructure matches the configuration.",
                match has_drift {
                    true => self.drift_alone(),
                    false => format!(
                        "{PRODUCT} has compared your real infrastructure against your configuration and found no differences, so no \
                         changes are needed."
                    ),
                },
            ),
        };
        writeln!(
            out,
            "\n{}{}\n",
            style.paint(&[Paint::Bold, Paint::Green], head),
            style.bold(rest)
        )?;
        writeln!(out, "{}", style.wrap(&text))
    }

    fn drift_alone(&self) -> String {
        if self.plan.is_applyable() {
            return "Your configuration already matches the changes detected above, so applying this plan will only update the state \
                    to include the changes detected above and won't change any real infrastructure."
                .to_owned();
        }
        let suggestion = if self.look.in_automation {
            ".".to_owned()
        } else {
            format!(":\n  {PROGRAM} apply -refresh-only")
        };
        format!(
            "Your configuration already matches the changes detected above. If you'd like to update the {PRODUCT} state to match, \
             create and apply a refresh-only plan{suggestion}"
        )
    }
}
