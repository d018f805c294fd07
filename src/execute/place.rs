//! The place of the state while a plan is carried out: whose lock must be held, and where snapshots go in between.

use std::time::Duration;

use crate::backend::Snapshots;
use crate::diagnostic::Diagnostic;
use crate::world::World;

/// The variable that says how often the state is stored, in seconds.
const VARIABLE: &str = "TF_STATE_PERSIST_INTERVAL";
/// How often it is where nothing is said, and the least that may be said: other programs have the same.
const LEAST_SECONDS: u64 = 20;

/// The place of the state.
#[derive(Debug)]
pub struct Place<'a> {
    /// The place itself.
    pub backend: &'a Snapshots,
    /// The lineage of what is stored, where nothing was before.
    pub lineage: &'a str,
    /// How often the state is stored while steps are finished. Never where it lies beside its journal: whatever takes the one away
    /// takes both.
    pub interval: Option<Duration>,
}

impl Place<'_> {
    /// Returns the place of a run.
    ///
    /// # Errors
    ///
    /// If what the environment says of the interval makes no sense.
    pub fn of<'a>(
        backend: &'a Snapshots,
        lineage: &'a str,
        world: &World,
    ) -> Result<Place<'a>, Diagnostic> {
        let seconds = match world.variable(VARIABLE) {
            None => LEAST_SECONDS,
            Some(text) => text
                .parse()
                .ok()
                .filter(|it| *it >= LEAST_SECONDS)
                .ok_or_else(|| no_interval(text))?,
        };
        let interval = backend.is_remote().then_some(Duration::from_secs(seconds));
        Ok(Place { backend, lineage, interval })
    }
}

/// The variable holds no number, or too small a one.
fn no_interval(text: &str) -> Diagnostic {
    Diagnostic::error("Invalid interval of stored states").detail(format!(
        "The environment variable {VARIABLE} says after how many seconds a remote state is stored while steps are carried out. It is \
         {text:?}, and must be a whole number of at least {LEAST_SECONDS}. Nothing was begun. Unset it for {LEAST_SECONDS} seconds."
    ))
}
