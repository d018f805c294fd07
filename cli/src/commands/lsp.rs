//! `lsp`: serves an editor.

use std::io::BufReader;

use clap::ArgAction;
use entail::diagnostic::Diagnostics;
use entail::world::World;

use super::no_words;
use crate::lsp::serve;
use crate::standard;

/// Serve an editor with the language server protocol
///
/// Speaks over standard input and output: an editor starts it. Checks what is being written as `validate` and `policy` do,
/// completes, explains, finds, renames and formats; docs/editors.md says how editors are set up.
#[derive(clap::Args, Debug)]
pub struct LspArgs {
    /// How they are connected: editors often say so, and there is one way.
    #[arg(long, action = ArgAction::Set, default_value_t = false, hide = true)]
    pub stdio: bool,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}

/// Serves until the editor says that it is done.
pub fn run(world: &World, args: &LspArgs) -> Result<u8, Diagnostics> {
    no_words(&args.words)?;
    serve(world, BufReader::new(standard::input()), standard::protocol())
}
