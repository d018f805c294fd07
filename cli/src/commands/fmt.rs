//! `fmt`: writes configuration in the standard style.

use clap::ArgAction;

/// Reformat your configuration in the standard style
///
/// Formats files, the files of directories, or the standard input (`-`). Prints the names of files that change.
#[derive(clap::Args, Debug)]
pub struct FmtArgs {
    /// Do not print names
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    pub list: bool,

    /// Do not write files
    #[arg(long, action = ArgAction::Set, default_value_t = true)]
    pub write: bool,

    /// Print what changes
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub diff: bool,

    /// Write nothing; exit with 3 where a file would change
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub check: bool,

    /// Go into subdirectories
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub recursive: bool,

    /// Files and directories
    #[arg(value_name = "[TARGET...]", hide = true)]
    pub words: Vec<String>,
}
