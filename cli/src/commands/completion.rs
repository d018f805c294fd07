//! `completion`: lets a shell complete commands and flags.

use clap::CommandFactory;
use clap_complete::Shell;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::world::PROGRAM;

use super::{Cli, words};
use crate::complete::shells;
use crate::ui::Ui;

/// Write a completion script for a shell
///
/// Prints a script for `bash`, `elvish`, `fish`, `powershell` or `zsh`. In bash, fish and zsh it completes addresses, workspaces,
/// relations, rules, files of plans and values of flags as well as commands and flags.
#[derive(clap::Args, Debug)]
pub struct CompletionArgs {
    /// The shell
    #[arg(value_name = "SHELL", hide = true)]
    pub words: Vec<String>,
}

/// Prints the script.
pub fn run(ui: &Ui, args: &CompletionArgs) -> Result<u8, Diagnostics> {
    let detail = "The completion command expects exactly one argument: bash, elvish, fish, powershell or zsh.";
    let [shell] = words(&args.words, "Invalid number of arguments", detail)?;
    if let Some(script) = shells::script(shell) {
        let name = PROGRAM.name();
        let function = name.replace(|it: char| !it.is_ascii_alphanumeric(), "_");
        ui.exact(&script.replace("PROGRAM", name).replace("FUNCTION", &function));
        return Ok(0);
    }
    let shell: Shell = shell.parse().map_err(|_| unknown_shell(shell))?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), PROGRAM.name(), &mut script);
    ui.exact(&String::from_utf8_lossy(&script));
    Ok(0)
}

fn unknown_shell(name: &str) -> Diagnostic {
    Diagnostic::error("Unknown shell").detail(format!(
        "There is no completion for `{name}`: choose bash, elvish, fish, powershell or zsh."
    ))
}
