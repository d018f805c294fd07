//! What the symbols of a plan mean.

use std::io::{self, Write};

use entail::plan::{Action, Change};

use super::render::Renderer;

/// The order in which symbols are explained, and how.
const LEGEND: [(Action, &str); 8] = [
    (Action::Create, "create"),
    (Action::Update, "update in-place (current -> planned)"),
    (Action::Delete, "destroy"),
    (Action::DeleteThenCreate, "destroy and then create replacement"),
    (Action::CreateThenDelete, "create replacement and then destroy"),
    (Action::Read, "read (data resources)"),
    (Action::ForgetThenCreate, "forget and then create replacement"),
    (Action::Forget, "forget"),
];

/// Explains the symbols of the changes that are shown, a line each.
pub fn write(out: &mut dyn Write, renderer: &Renderer, shown: &[&Change]) -> io::Result<()> {
    for (action, text) in
        LEGEND.iter().filter(|it| shown.iter().any(|change| change.action == it.0))
    {
        let mut symbol = String::new();
        renderer.symbol(&mut symbol, *action);
        // The one symbol that is too wide for its column.
        let symbol =
            if *action == Action::ForgetThenCreate { symbol.trim_start() } else { &symbol };
        writeln!(out, "{symbol} {text}")?;
    }
    Ok(())
}
