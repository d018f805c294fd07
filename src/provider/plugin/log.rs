//! What plugins log, to where `TF_LOG`, `TF_LOG_PROVIDER` and `TF_LOG_PATH` say.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt as _;

use parking_lot::Mutex;
use serde_json::{Map, Value as Json};

use crate::world::World;
use crate::world::terminal::Form;

/// How much is told, from most to least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
    Off,
}

impl Level {
    fn of(text: &str) -> Option<Level> {
        Some(match text.to_ascii_uppercase().as_str() {
            "TRACE" | "JSON" => Level::Trace,
            "DEBUG" => Level::Debug,
            "INFO" => Level::Info,
            "WARN" => Level::Warn,
            "ERROR" => Level::Error,
            "OFF" => Level::Off,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Level::Trace => "TRACE",
            Level::Debug => "DEBUG",
            Level::Info => "INFO",
            Level::Warn => "WARN",
            Level::Error => "ERROR",
            Level::Off => "OFF",
        }
    }
}

/// Where log lines of one plugin go.
#[derive(Debug)]
pub(super) struct Log {
    level: Level,
    is_json: bool,
    plugin: String,
    file: Option<Mutex<File>>,
}

impl Log {
    /// Opens the log for a plugin of this file name.
    pub fn of(world: &World, plugin: &str) -> Log {
        let asked = world.variable("TF_LOG_PROVIDER").or(world.variable("TF_LOG"));
        // A word that is no level asks for everything, as with OpenTofu.
        let level = asked.map_or(Level::Off, |it| Level::of(it).unwrap_or(Level::Trace));
        let path = world.variable("TF_LOG_PATH").filter(|_| level != Level::Off);
        let file = path.and_then(|it| {
            File::options().create(true).append(true).mode(0o600).open(world.root.join(it)).ok()
        });
        Log {
            level,
            is_json: asked.is_some_and(|it| it.eq_ignore_ascii_case("json")),
            plugin: plugin.to_owned(),
            file: file.map(Mutex::new),
        }
    }

    /// Returns whether nothing is to be logged.
    pub fn is_off(&self) -> bool {
        self.level == Level::Off
    }

    /// Takes a line that the plugin wrote.
    pub fn line(&self, line: &str) {
        if let Some(text) = self.shown(line) {
            self.write(&text);
        }
    }

    fn write(&self, text: &str) {
        let line = format!("{text}\n");
        // Where the log cannot be written there is no place to say so.
        let _ = match &self.file {
            Some(file) => file.lock().write_all(line.as_bytes()),
            None => {
                let form = if self.is_json { Form::Json } else { Form::Text };
                std::io::stderr().write_all(form.clean(&line).as_bytes())
            }
        };
    }

    fn shown(&self, line: &str) -> Option<String> {
        if self.is_off() {
            return None;
        }
        let record = line
            .starts_with('{')
            .then(|| serde_json::from_str::<Map<String, Json>>(line).ok())
            .flatten();
        let (level, text) = match &record {
            Some(it) => (level_of(it), message(it, &self.plugin)),
            None => {
                let (level, rest) = bracketed(line);
                (level, format!("provider.{}: {rest}", self.plugin))
            }
        };
        if level < self.level {
            return None;
        }
        if self.is_json && record.is_some() {
            return Some(line.to_owned());
        }
        let time = record
            .as_ref()
            .and_then(|it| it.get("@timestamp")?.as_str())
            .map(|it| format!("{it} "))
            .unwrap_or_default();
        Some(format!("{time}[{}] {text}", level.name()))
    }
}

fn level_of(record: &Map<String, Json>) -> Level {
    let level = record.get("@level").and_then(Json::as_str).and_then(Level::of);
    level.unwrap_or(Level::Debug)
}

/// `[WARN]` at the front of a line; without it the line is for debugging.
fn bracketed(line: &str) -> (Level, &str) {
    let found = line
        .strip_prefix('[')
        .and_then(|it| it.split_once(']'))
        .and_then(|(level, rest)| Some((Level::of(level)?, rest.trim_start())));
    found.unwrap_or((Level::Debug, line))
}

fn message(record: &Map<String, Json>, plugin: &str) -> String {
    let text = |name: &str| record.get(name).and_then(Json::as_str).unwrap_or_default();
    let mut out = format!("provider.{plugin}: {}", text("@message"));
    let further = record.iter().filter(|it| !it.0.starts_with('@') || *it.0 == "@module");
    for (at, (name, value)) in further.enumerate() {
        out.push_str(if at == 0 { ": " } else { " " });
        out.push_str(name);
        out.push('=');
        match value {
            Json::String(it) if !it.contains(' ') && !it.is_empty() => out.push_str(it),
            other => out.push_str(&other.to_string()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::Log;
    use crate::world::World;

    fn check(variables: &[(&str, &str)], line: &str) -> Option<String> {
        let environment = variables.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
        let world = World { environment, ..World::of_this_process() };
        Log::of(&world, "plugin").shown(line)
    }

    const RECORD: &str = r#"{"@level":"info","@message":"made","@timestamp":"T","id":"a b","n":1}"#;

    #[test]
    fn a_record_is_shown_from_its_level_on() {
        assert_eq!(check(&[], RECORD), None);
        assert_eq!(check(&[("TF_LOG", "WARN")], RECORD), None);
        let shown = Some("T [INFO] provider.plugin: made: id=\"a b\" n=1".to_owned());
        assert_eq!(check(&[("TF_LOG", "info")], RECORD), shown);
        assert_eq!(check(&[("TF_LOG", "ERROR"), ("TF_LOG_PROVIDER", "TRACE")], RECORD), shown);
        assert_eq!(check(&[("TF_LOG", "JSON")], RECORD), Some(RECORD.to_owned()));
    }

    #[test]
    fn other_lines_say_their_level_in_brackets_or_are_for_debugging() {
        assert_eq!(
            check(&[("TF_LOG", "WARN")], "[ERROR] no"),
            Some("[ERROR] provider.plugin: no".to_owned())
        );
        assert_eq!(check(&[("TF_LOG", "INFO")], "chatter"), None);
        assert_eq!(
            check(&[("TF_LOG", "DEBUG")], "chatter"),
            Some("[DEBUG] provider.plugin: chatter".to_owned())
        );
    }
}
