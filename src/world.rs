//! The outside, as one value: clock, randomness, environment, and the folders that paths are relative to.
//!
//! `operation` makes a [`World`] and hands it down; nothing below reads these things in any other way.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Clock, randomness, environment and folders of one run.
#[derive(Clone, Debug)]
pub struct World {
    /// The process's working directory when it started (`path.cwd`), before any `-chdir`.
    pub cwd: PathBuf,
    /// The folder of the root module, which relative paths of functions start from. Equals the directory `-chdir` names.
    pub root: PathBuf,
    /// The environment variables.
    pub environment: BTreeMap<String, String>,
    /// A fixed clock for tests; `None` is the real one.
    pub fixed_time: Option<chrono::DateTime<chrono::Utc>>,
}

impl World {
    /// Returns the real world of this process.
    pub fn of_this_process() -> World {
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        World {
            root: cwd.clone(),
            cwd,
            environment: std::env::vars_os()
                .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
                .collect(),
            fixed_time: None,
        }
    }

    /// Returns the time now, in UTC.
    pub fn now(&self) -> chrono::DateTime<chrono::Utc> {
        self.fixed_time.unwrap_or_else(chrono::Utc::now)
    }

    /// Fills `bytes` with random bytes of the operating system.
    pub fn random(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }

    /// Returns a random version 4 UUID as text.
    pub fn uuid(&self) -> String {
        let mut bytes = [0; 16];
        self.random(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }

    /// Returns an environment variable, unless it is unset or empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|it| !it.is_empty())
    }
}
