//! Files of a folder, and which of them change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use entail::execute::Stop;

/// How long is waited between two looks.
const PAUSE: Duration = Duration::from_millis(300);

/// The files of a folder as they were.
pub struct Watched {
    root: PathBuf,
    seen: BTreeMap<PathBuf, Option<(SystemTime, u64)>>,
}

impl Watched {
    /// Looks at a folder and those in it, hidden ones left out.
    pub fn of(root: &Path) -> Watched {
        let mut seen = BTreeMap::new();
        look(root, Path::new(""), &mut seen);
        Watched { root: root.to_owned(), seen }
    }

    /// Waits for changes. Returns the files that were made, changed or deleted; nothing where it was asked to stop.
    pub fn changes(&self, stop: &Stop) -> Option<BTreeSet<PathBuf>> {
        loop {
            if stop.asked() > 0 {
                return None;
            }
            std::thread::sleep(PAUSE);
            let changed = self.differing(&Watched::of(&self.root));
            if !changed.is_empty() {
                return Some(changed);
            }
        }
    }

    fn differing(&self, now: &Watched) -> BTreeSet<PathBuf> {
        let paths = self.seen.keys().chain(now.seen.keys());
        paths.filter(|it| self.seen.get(*it) != now.seen.get(*it)).cloned().collect()
    }
}

fn look(folder: &Path, shown: &Path, seen: &mut BTreeMap<PathBuf, Option<(SystemTime, u64)>>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        let path = shown.join(&name);
        match entry.metadata() {
            Ok(found) if found.is_dir() => look(&entry.path(), &path, seen),
            Ok(found) => {
                seen.insert(path, found.modified().ok().map(|it| (it, found.len())));
            }
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_changed_or_deleted_differs() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("written");
        };
        std::fs::create_dir(folder.path().join("in")).expect("made");
        write("kept", "a");
        write("in/changed", "a");
        write("gone", "a");
        let before = Watched::of(folder.path());
        write("in/changed", "ab");
        write("new", "a");
        write(".hidden", "a");
        std::fs::remove_file(folder.path().join("gone")).expect("removed");
        let changed = before.differing(&Watched::of(folder.path()));
        let changed: Vec<String> = changed.iter().map(|it| it.display().to_string()).collect();
        assert_eq!(changed, ["gone", "in/changed", "new"]);
    }
}
