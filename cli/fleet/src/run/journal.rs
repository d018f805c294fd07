//! What a run has done, noted stack by stack, so that one that was killed is taken up where it stopped.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::PathBuf;

use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::world::World;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::report::{Ran, Status};
use super::{Doing, Options};
use crate::index::configuration_mark;
use crate::settings::Settings;
use crate::stacks::Stack;

/// The journal of a run. It is locked as long as the run goes on.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    done: BTreeMap<String, Line>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    /// What stands for the configuration that was run.
    mark: String,
    ran: Ran,
}

/// The first line: what was asked. What was done for another question is of no use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    filter: Option<String>,
}

impl Journal {
    /// Opens the journal beside `fleet.hcl`, and takes up what a run that was killed has left.
    ///
    /// # Errors
    ///
    /// If another run goes on, or the file cannot be used.
    pub fn open(
        world: &World,
        settings: &Settings,
        options: &Options,
    ) -> Result<Journal, Diagnostics> {
        let name = match options.doing {
            Doing::Plan => "plan.journal",
            Doing::Apply => "apply.journal",
        };
        let folder = world.root.join(&settings.root).join(".terraform").join("fleet");
        let path = folder.join(name);
        let failed = |why: &dyn std::fmt::Display| unusable(&path, why);
        std::fs::create_dir_all(&folder).map_err(|it| failed(&it))?;
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .map_err(|it| failed(&it))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(another(&path).into()),
            Err(TryLockError::Error(why)) => return Err(failed(&why).into()),
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|it| failed(&it))?;
        let head = Head { filter: options.filter.clone() };
        let mut lines = text.lines();
        let is_same =
            lines.next().and_then(|it| serde_json::from_str(it).ok()) == Some(head.clone());
        let mut done = BTreeMap::new();
        if is_same && !options.is_anew {
            // The last line may be torn.
            let read = lines.filter_map(|it| serde_json::from_str::<Line>(it).ok());
            done.extend(read.map(|it| (it.ran.stack.clone(), it)));
        } else {
            file.set_len(0).map_err(|it| failed(&it))?;
            let head = serde_json::to_string(&head).map_err(|it| failed(&it))?;
            file.write_all(format!("{head}\n").as_bytes()).map_err(|it| failed(&it))?;
        }
        Ok(Journal { path, file: Mutex::new(file), done })
    }

    /// Returns what an earlier run has done with a stack, unless its configuration is another now.
    pub fn recall(&self, stack: &Stack) -> Option<Ran> {
        let line = self.done.get(&stack.name)?;
        let mark = configuration_mark(stack);
        (line.mark == mark).then(|| line.ran.clone())
    }

    /// Notes what was done with a stack. What failed is run again.
    pub fn note(&self, stack: &Stack, ran: &Ran) {
        if !matches!(ran.status, Status::Changed | Status::Unchanged) {
            return;
        }
        let mark = configuration_mark(stack);
        let line = Line { mark, ran: ran.clone() };
        let Ok(text) = serde_json::to_string(&line) else { return };
        let mut file = self.file.lock();
        // Where it cannot be noted, the stack is planned again, and nothing is to be done.
        let _ = file.write_all(format!("\n{text}\n").as_bytes()).and_then(|()| file.sync_data());
    }

    /// The run is over: nothing is left to be taken up.
    pub fn end(self) {
        // A journal that stays is taken up for nothing.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn unusable(path: &std::path::Path, why: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::error("Cannot note what is done")
        .detail(format!("The journal {} cannot be used: {why}.", path.display()))
}

fn another(path: &std::path::Path) -> Diagnostic {
    Diagnostic::error("Another run goes on").detail(format!(
        "Another `entail fleet` runs the stacks of this fleet: it holds {}. Wait for its end.",
        path.display()
    ))
}
