//! Operating system and processor, as registries call them: `linux_amd64`.

use std::fmt;

/// What a plugin is built for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Platform {
    /// `linux`
    pub system: String,
    /// `amd64`
    pub processor: String,
}

impl Platform {
    /// Returns what this program is built for.
    pub fn current() -> Platform {
        let system = match std::env::consts::OS {
            "macos" => "darwin",
            it => it,
        };
        let processor = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            it => it,
        };
        Platform { system: system.to_owned(), processor: processor.to_owned() }
    }

    /// Reads `linux_amd64`. The error says what is wrong.
    pub fn parse(text: &str) -> Result<Platform, &'static str> {
        let (system, processor) = text
            .split_once('_')
            .filter(|it| !it.1.contains('_'))
            .ok_or("must be two words separated by an underscore")?;
        if system.contains(char::is_whitespace) {
            return Err("OS portion must not contain whitespace");
        }
        if processor.contains(char::is_whitespace) {
            return Err("architecture portion must not contain whitespace");
        }
        Ok(Platform { system: system.to_owned(), processor: processor.to_owned() })
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.system, self.processor)
    }
}
