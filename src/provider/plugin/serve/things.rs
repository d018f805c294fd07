//! A world of things, a file each, that outlives the plugin: for tests that compare it with a state.
//!
//! `ENTAIL_PLUGIN_WORLD` names the folder. The beginning of a thing's name says how its creation goes; where that waits for something,
//! a file `NAME.begun` tells that it does.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::watch;

use crate::world::World;

/// How often it is looked whether a file is there.
const PAUSE: Duration = Duration::from_millis(10);

/// The things that exist.
pub(super) struct Things {
    folder: PathBuf,
    stopped: watch::Sender<bool>,
}

/// What came of creating a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// It exists.
    Whole,
    /// It exists, and something about it is left undone.
    Part,
    /// It does not exist.
    Nothing,
}

impl Things {
    /// Returns the things of the folder that the environment names, if any.
    pub(super) fn of(world: &World) -> Option<Things> {
        let folder = PathBuf::from(world.variable("ENTAIL_PLUGIN_WORLD")?);
        Some(Things { folder, stopped: watch::Sender::new(false) })
    }

    /// Asks creations that wait to end.
    pub(super) fn stop(&self) {
        self.stopped.send_replace(true);
    }

    fn file(&self, name: &str, kind: &str) -> PathBuf {
        self.folder.join(format!("{name}.{kind}"))
    }

    fn write(&self, name: &str, kind: &str) {
        // A test that misses it says so.
        let _ = std::fs::write(self.file(name, kind), "");
    }

    /// Returns whether a thing exists.
    pub(super) fn has(&self, name: &str) -> bool {
        self.file(name, "thing").exists()
    }

    /// Takes a thing away.
    pub(super) fn remove(&self, name: &str) {
        let _ = std::fs::remove_file(self.file(name, "thing"));
    }

    /// Creates a thing. One whose name begins with
    ///
    /// - `dies` exists before this process ends without an answer;
    /// - `honours` waits for the request to stop, and is a part of a thing then;
    /// - `cancels` waits for it, and does not exist then;
    /// - `falls` waits for it, exists, and ends this process;
    /// - `ignores` waits for the file `NAME.go`, whatever is asked.
    pub(super) async fn create(&self, name: &str) -> Made {
        let begins_with = |word: &str| name.starts_with(word);
        let waits_for_stop = ["honours", "cancels", "falls"].into_iter().any(begins_with);
        if waits_for_stop || begins_with("ignores") {
            self.write(name, "begun");
        }
        if waits_for_stop {
            // The sender lives as long as this.
            let _ = self.stopped.subscribe().wait_for(|it| *it).await;
        }
        while begins_with("ignores") && !self.file(name, "go").exists() {
            tokio::time::sleep(PAUSE).await;
        }
        if begins_with("cancels") {
            return Made::Nothing;
        }
        self.write(name, "thing");
        if begins_with("dies") || begins_with("falls") {
            std::process::exit(2);
        }
        if begins_with("honours") { Made::Part } else { Made::Whole }
    }
}
