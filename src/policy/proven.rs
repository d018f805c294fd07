//! Whether every verdict has a proof that holds.

use super::judge::Judged;
use super::model::Model;
use super::proof::Explainer;
use super::proof::check::check;
use crate::error::{Error, ErrorContext};

/// Checks the proof of every verdict, down to what was told, by a second reading of the rules.
///
/// # Errors
///
/// What does not follow.
pub fn check_all(judged: &Judged, model: &Model<'_>) -> Result<(), Error> {
    let Judged { program, database, report } = judged;
    let core = |_: &str, _: &[u64]| Vec::new();
    let explainer = Explainer { program, database, model, core: &core, deepest: usize::MAX };
    for verdict in &report.verdicts {
        let proof = explainer.proof(verdict.row.0, verdict.row.1);
        check(&proof, program, database, model)
            .context(format_args!("{} of {:?}", verdict.name, verdict.address))?;
    }
    Ok(())
}
