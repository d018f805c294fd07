//! The archive of a plan, whose parts can be unpacked and read side by side.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use std::path::Path;

use zip::ZipArchive;

use super::{MOST_UNPACKED, PlanExtras, not_a_plan, read_document, unpack};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::plan::Plan;
use crate::state::{State, read};

/// The archive of a plan. Its parts can be unpacked and read side by side.
pub struct Packed(Vec<u8>);

impl Packed {
    pub(super) fn new(bytes: Vec<u8>) -> Packed {
        Packed(bytes)
    }

    /// Unpacks one entry of what the plan rests on; nothing where there is none. It may be part of an archive that
    /// [`unpack`](Packed::unpack) refuses.
    pub fn fact(&self, name: &str) -> Option<Vec<u8>> {
        let mut zip = ZipArchive::new(Cursor::new(&*self.0)).ok()?;
        let entry = zip.by_name(&format!("facts/{name}")).ok()?;
        let mut content = Vec::new();
        entry.take(MOST_UNPACKED).read_to_end(&mut content).ok()?;
        Some(content)
    }

    /// Unpacks all of it.
    ///
    /// - `path`: the name of the file, for the error.
    ///
    /// # Errors
    ///
    /// If it is not one archive with the entries of a plan that this version has made.
    pub fn unpack(&self, path: &Path) -> Result<Unpacked, Diagnostic> {
        unpack(&self.0, MOST_UNPACKED).map_err(|why| not_a_plan(path, &why))
    }
}

/// What the archive of a plan holds.
pub struct Unpacked {
    /// The plan itself.
    pub(super) document: Vec<u8>,
    /// The state that the plan starts from, and the one before the refresh.
    pub(super) states: [Vec<u8>; 2],
    /// Everything else, but what the plan's own entry says.
    pub(super) extras: PlanExtras,
}

impl Unpacked {
    /// Returns an entry of what the plan rests on; empty where there is none.
    pub fn fact(&self, name: &str) -> &[u8] {
        self.extras.facts.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Reads the plan, and what else is asked for or must be the same when it is carried out.
    ///
    /// - `path`: the name of the file, for the error.
    ///
    /// # Errors
    ///
    /// If the plan or a state is damaged.
    pub fn plan(&self, path: &Path) -> Result<(Plan, BTreeMap<String, String>), Diagnostic> {
        self.contents().map_err(|why| not_a_plan(path, &why))
    }

    /// The error is a phrase without a full stop.
    fn contents(&self) -> Result<(Plan, BTreeMap<String, String>), Error> {
        let state = |text: &[u8]| -> Result<State, Error> {
            let state = read::read(text).map_err(|problems| {
                let why = problems.iter().next().map(ToString::to_string).unwrap_or_default();
                format!("failed to read the state in the plan file: {why}")
            })?;
            Ok(state.unwrap_or_default())
        };
        let [prior, previous] = &self.states;
        let prior_state = state(prior)?;
        // Where the refresh found nothing, they are the same.
        let previous_state = if prior == previous { prior_state.clone() } else { state(previous)? };
        read_document(&self.document, (prior_state, previous_state))
    }

    /// Returns everything but the plan.
    ///
    /// - `settings`: what the plan's own entry says.
    pub fn into_extras(self, settings: BTreeMap<String, String>) -> PlanExtras {
        PlanExtras { settings, ..self.extras }
    }

    pub(super) fn read(self) -> Result<(Plan, PlanExtras), Error> {
        let (plan, settings) = self.contents()?;
        Ok((plan, self.into_extras(settings)))
    }
}
