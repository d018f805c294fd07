//! The log of runs beside a state: a line for each, sealed like everything that leaves the program.
//!
//! It is told here alone where the log lies. No state and no journal rests on it: whatever is wrong with it, runs go on.

use std::io;
use std::path::{Path, PathBuf};

use super::Snapshots;
use crate::backend::Snapshot;
use crate::backend::files;
use crate::backend::seal::Part;
use crate::backend::workspace;
use crate::diagnostic::Diagnostic;

/// How long a log grows before it is put aside, in bytes. The one that was put aside before goes then.
const LONGEST: u64 = 8 << 20;

/// What the log holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// The lines that can be read, oldest first.
    pub lines: Vec<String>,
    /// How many others there are: torn where a run was killed while it wrote, or sealed in another way.
    pub damaged: usize,
}

impl Snapshots {
    /// Returns the file of the log, as messages name it.
    pub fn log_file(&self) -> PathBuf {
        let with = |path: &Path, suffix: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        match self.store.file(&self.workspace) {
            Some(file) => with(&file, ".log"),
            // A state that is not on this machine has its log where its journal is: in the working directory.
            None => {
                let folder = workspace::data_folder(&self.world).join("logs");
                let folder = folder.strip_prefix(&self.world.root).unwrap_or(&folder).to_path_buf();
                with(&folder.join(&self.workspace), ".log")
            }
        }
    }

    /// Adds the line of a run that is over.
    ///
    /// # Errors
    ///
    /// A warning, if it cannot be written.
    pub fn append_run(&self, line: &str) -> Result<(), Diagnostic> {
        let shown = self.log_file();
        let path = self.world.root.join(&shown);
        let append = || -> io::Result<()> {
            let sealed = self.seals.seal(Part::Line, line.as_bytes());
            let sealed = sealed.map_err(|it| io::Error::other(it.detail))?;
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            if std::fs::metadata(&path).is_ok_and(|it| it.is_file() && it.len() > LONGEST) {
                std::fs::rename(&path, older(&path))?;
            }
            files::append_line(&path, &sealed)
        };
        append().map_err(|why| not_logged(&shown, &why))
    }

    /// Returns the latest serial that the log has of the lineage of a state that was read.
    pub(super) fn logged(&self, snapshot: &Snapshot) -> Option<u64> {
        #[derive(serde::Deserialize)]
        struct Line {
            #[serde(default)]
            lineage: String,
            serial: Option<u64>,
        }
        let lineage = &snapshot.state.as_ref()?.lineage;
        let runs = self.runs().ok()?;
        let lines = runs.lines.iter().filter_map(|it| serde_json::from_str::<Line>(it).ok());
        lines.filter(|it| it.lineage == *lineage).filter_map(|it| it.serial).max()
    }

    /// Reads the log.
    ///
    /// # Errors
    ///
    /// If there is one that cannot be read.
    pub fn runs(&self) -> Result<Runs, Diagnostic> {
        let shown = self.log_file();
        let path = self.world.root.join(&shown);
        let mut runs = Runs::default();
        for file in [older(&path), path] {
            let bytes = files::read(&file).map_err(|why| unreadable(&shown, &why))?;
            let bytes = bytes.unwrap_or_default();
            for line in bytes.split(|it| *it == b'\n').filter(|it| !it.is_empty()) {
                let opened = self.seals.open(Part::Line, line).ok();
                match opened.and_then(|it| String::from_utf8(it.into_owned()).ok()) {
                    Some(line) => runs.lines.push(line),
                    None => runs.damaged += 1,
                }
            }
        }
        Ok(runs)
    }
}

/// Where a log is put that has grown long.
fn older(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    name.into()
}

/// The run is over and its state is what it is; only the log lacks it.
fn not_logged(path: &Path, why: &io::Error) -> Diagnostic {
    Diagnostic::warning("Run not logged").detail(format!(
        "This run could not be added to the log {:?}: {why}. The state does not rest on the log, and nothing else is lost. Mend the file or move it away; the next run begins a new one.",
        path.display().to_string()
    ))
}

fn unreadable(path: &Path, why: &io::Error) -> Diagnostic {
    Diagnostic::error("Failed to read the log").detail(format!(
        "The log {:?} cannot be read: {why}. No state rests on it: mend the file or move it away, and the next run begins a new one.",
        path.display().to_string()
    ))
}
