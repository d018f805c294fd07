//! `version`: what this program is.

use std::collections::BTreeMap;

use clap::ArgAction;
use entail::world::PROGRAM;

use crate::ui::Ui;
use crate::view::COMPATIBLE_VERSION;

/// Show the current version
///
/// Prints the version of this program, and of OpenTofu whose formats it reads and writes.
#[derive(clap::Args, Debug)]
pub struct VersionArgs {
    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// Prints the version; `selections` are the providers that the lock file has chosen.
pub fn run(ui: &Ui, args: &VersionArgs, selections: &BTreeMap<String, String>) -> u8 {
    let own = env!("CARGO_PKG_VERSION");
    let platform = entail::install::Platform::current().to_string();
    if args.json {
        let document = serde_json::json!({
            "terraform_version": COMPATIBLE_VERSION,
            "entail_version": own,
            "platform": platform,
            "provider_selections": selections,
        });
        ui.json(&format!("{document:#}\n"));
        return 0;
    }
    // Programs that call it by another's name read the first line.
    let mut text = match PROGRAM.is_in_place_of_another() {
        true => format!("OpenTofu v{COMPATIBLE_VERSION}\non {platform}\nby entail v{own}\n"),
        false => {
            format!(
                "entail v{own}\non {platform}\ncompatible with OpenTofu v{COMPATIBLE_VERSION}\n"
            )
        }
    };
    for (provider, version) in selections {
        text.push_str(&format!("+ provider {provider} v{version}\n"));
    }
    ui.out(&text);
    0
}
