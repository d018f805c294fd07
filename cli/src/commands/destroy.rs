//! `destroy`: `apply -destroy` under a name of its own.

use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::request::PlanMode;
use entail::workflow::options::ApplyOptions;
use entail::world::PROGRAM;
use entail::world::World;

use super::apply::ApplyArgs;
use crate::arguments::request::replaces_only_normally;
use crate::ui::Ui;

/// Destroy previously-created infrastructure
///
/// Plans to destroy everything that the configuration manages, asks for approval, and destroys it.
#[derive(clap::Args, Debug)]
pub struct DestroyArgs {
    /// What `apply` takes.
    #[command(flatten)]
    pub apply: ApplyArgs,
}

impl DestroyArgs {
    /// Returns what is asked, or what is wrong with the flags.
    pub fn options(&self, ui: &Ui, world: &World) -> Result<ApplyOptions, Diagnostics> {
        let mut options = self.apply.options(ui, world)?;
        match options.request.mode {
            PlanMode::Normal if !options.request.replaces.is_empty() => {
                return Err(replaces_only_normally().into());
            }
            PlanMode::Normal => {
                options.request.mode = PlanMode::Destroy;
            }
            PlanMode::Destroy => {
                return Err(invalid_mode(&format!(
                    "The -destroy option is not valid for \"{PROGRAM} destroy\", because this command always runs in destroy mode."
                )));
            }
            PlanMode::RefreshOnly => {
                return Err(invalid_mode(&format!(
                    "The -refresh-only option is not valid for \"{PROGRAM} destroy\"."
                )));
            }
        }
        match &options.plan {
            Some(_) => Err(plan_given()),
            None => Ok(options),
        }
    }
}

fn invalid_mode(detail: &str) -> Diagnostics {
    Diagnostic::error("Invalid mode option").detail(detail).into()
}

/// A saved plan says itself whether it destroys.
fn plan_given() -> Diagnostics {
    Diagnostic::error("Destroy can't be called with a plan file")
        .detail(format!(
            "If this plan was created using plan -destroy, apply it with:\n  {PROGRAM} apply PLAN"
        ))
        .into()
}
