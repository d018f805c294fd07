//! Help as text, from the tables that clap derives: flags with a single dash, as they are written.

use clap::{Arg, Command as Grammar};

use super::flags::is_switch;
use crate::view::style::wrap;

const WIDTH: usize = 78;
/// The column where the descriptions of flags begin.
const INDENT: usize = 26;

/// The commands one works with every day, in the order of use.
const MAIN: [&str; 5] = ["init", "validate", "plan", "apply", "destroy"];
/// What only this program has.
const OWN: [&str; 9] =
    ["why", "whatif", "impact", "diff", "minimal", "unused", "log", "query", "facts"];

/// Returns the list of commands.
pub fn overview(grammar: &Grammar) -> String {
    let line = |it: &Grammar| {
        format!(
            "  {:12}  {}\n",
            it.get_name(),
            it.get_about().map(ToString::to_string).unwrap_or_default()
        )
    };
    let named = |names: &[&str]| {
        names.iter().filter_map(|it| grammar.find_subcommand(it)).map(line).collect::<String>()
    };
    let mut others: Vec<_> = grammar
        .get_subcommands()
        .filter(|it| {
            !it.is_hide_set() && !MAIN.contains(&it.get_name()) && !OWN.contains(&it.get_name())
        })
        .collect();
    others.sort_by_key(|it| it.get_name().to_owned());
    format!(
        "Usage: entail [global options] <subcommand> [args]\n\n\
         Main commands:\n{}\n\
         Questions about a plan:\n{}\n\
         All other commands:\n{}\n\
         Global options (use these before the subcommand, if any):\n  \
           -chdir=DIR    Switch to a different working directory before executing the\n                given subcommand.\n  \
           -help         Show this help output, or the help for a specified subcommand.\n  \
           -version      An alias for the \"version\" subcommand.\n",
        named(&MAIN),
        named(&OWN),
        others.into_iter().map(line).collect::<String>(),
    )
}

/// Returns the help of one command.
pub fn command(name: &str, grammar: &Grammar) -> String {
    let subcommands: Vec<_> = grammar.get_subcommands().filter(|it| !it.is_hide_set()).collect();
    let nested = if subcommands.is_empty() { "" } else { " <subcommand>" };
    let mut out = format!(
        "Usage: entail [global options] {name}{nested} [options]{}\n\n",
        positionals(grammar)
    );
    let about = grammar
        .get_long_about()
        .or(grammar.get_about())
        .map(ToString::to_string)
        .unwrap_or_default();
    out.push_str(&indent(&wrap(&about, WIDTH - 2), 2));
    out.push('\n');
    let flags: Vec<_> = grammar.get_opts().filter(|it| !it.is_hide_set()).collect();
    if !flags.is_empty() {
        out.push_str("\nOptions:\n\n");
        out.push_str(&flags.into_iter().map(flag).collect::<Vec<_>>().join("\n"));
    }
    if !subcommands.is_empty() {
        out.push_str("\nSubcommands:\n");
        for it in subcommands {
            out.push_str(&format!(
                "    {:18}  {}\n",
                it.get_name(),
                it.get_about().map(ToString::to_string).unwrap_or_default()
            ));
        }
    }
    out
}

fn positionals(grammar: &Grammar) -> String {
    grammar
        .get_positionals()
        .filter_map(|it| it.get_value_names()?.first())
        .map(|it| format!(" {it}"))
        .collect()
}

fn flag(flag: &Arg) -> String {
    let name = flag.get_long().unwrap_or_default();
    let is_on = flag.get_default_values().first().is_some_and(|it| it == "true");
    let value = flag.get_value_names().and_then(<[_]>::first).map_or("VALUE", |it| it.as_str());
    let form = match is_switch(flag) {
        true if is_on => format!("-{name}=false"),
        true => format!("-{name}"),
        false => format!("-{name}={value}"),
    };
    let text =
        flag.get_long_help().or(flag.get_help()).map(ToString::to_string).unwrap_or_default();
    let text = indent(&wrap(&format!("{}.", text.trim_end_matches('.')), WIDTH - INDENT), INDENT);
    let gap = INDENT.saturating_sub(form.chars().count() + 2);
    if gap > 0 {
        format!("  {form}{:gap$}{}\n", "", text.trim_start())
    } else {
        format!("  {form}\n{text}\n")
    }
}

fn indent(text: &str, by: usize) -> String {
    text.lines()
        .map(|it| if it.is_empty() { String::new() } else { format!("{:by$}{it}", "") })
        .collect::<Vec<_>>()
        .join("\n")
}
