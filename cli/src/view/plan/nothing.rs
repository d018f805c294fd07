//! A plan in which nothing is to be done.

use entail::world::{PRODUCT, PROGRAM};
use std::io::{self, Write};

use entail::request::PlanMode;

use super::super::style::Paint;
use super::Screen;

impl Screen<'_> {
    /// Says that there is nothing to do. What takes no part comes first: nothing is known of it.
    pub(super) fn nothing(&self, out: &mut dyn Write, has_drift: bool) -> io::Result<()> {
        let style = self.style();
        if has_drift && self.plan.mode == PlanMode::RefreshOnly && !self.plan.errored {
            // The drift itself has said what applying would do.
            return self.left_out(out);
        }
        if has_drift {
            writeln!(out, "{}", style.rule())?;
        }
        if self.plan.errored {
            let head = style.paint(&[Paint::Bold, Paint::Red], "Planning failed.");
            let rest = format!(" {PRODUCT} encountered an error while generating this plan.");
            writeln!(out, "\n{head}{}\n", style.bold(&rest))?;
            return self.left_out(out);
        }
        self.left_out(out)?;
        self.untargeted(out)?;
        let (rest, text) = if self.is_partial() {
            self.nothing_in_part(has_drift)
        } else {
            self.nothing_at_all(has_drift)
        };
        let head = style.paint(&[Paint::Bold, Paint::Green], "No changes.");
        writeln!(out, "\n{head}{}\n", style.bold(rest))?;
        writeln!(out, "{}", style.wrap(&text))
    }

    /// Returns what is said of a plan that looks at everything.
    fn nothing_at_all(&self, has_drift: bool) -> (&'static str, String) {
        match self.plan.mode {
            PlanMode::RefreshOnly => (
                " Your infrastructure still matches the configuration.",
                format!(
                    "{PRODUCT} has checked that the real remote objects still match the result of your most recent changes, and \
                     found no differences."
                ),
            ),
            PlanMode::Destroy => (
                " No objects need to be destroyed.",
                format!(
                    "Either you have not created any objects yet or the existing objects were already deleted outside of {PRODUCT}."
                ),
            ),
            PlanMode::Normal => (
                " Your infrastructure matches the configuration.",
                match has_drift {
                    true => self.drift_alone(),
                    false => format!(
                        "{PRODUCT} has compared your real infrastructure against your configuration and found no differences, so no \
                         changes are needed."
                    ),
                },
            ),
        }
    }

    /// Returns what is said of a plan that leaves something out, or does not read data sources again.
    fn nothing_in_part(&self, has_drift: bool) -> (&'static str, String) {
        let (rest, text) = match self.plan.mode {
            PlanMode::RefreshOnly => (
                " What takes part in this plan still matches the configuration.",
                format!(
                    "{PRODUCT} has checked that the real remote objects that take part still match the result of your most recent \
                     changes, and found no differences."
                ),
            ),
            PlanMode::Destroy => (
                " No objects need to be destroyed.",
                "No object that takes part in this plan exists.".to_owned(),
            ),
            PlanMode::Normal => (
                " What takes part in this plan matches the configuration.",
                match has_drift {
                    true => self.drift_alone(),
                    false => format!(
                        "{PRODUCT} has compared the real objects that take part against your configuration and found no differences, \
                         so no changes are needed."
                    ),
                },
            ),
        };
        (rest, text + self.data_not_read())
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
