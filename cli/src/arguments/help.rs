//! Help as text, from the tables that clap derives: flags with a single dash, as they are written.

use std::collections::BTreeMap;

use clap::{Arg, Command as Grammar, CommandFactory};

use entail::world::PROGRAM;

use super::examples;
use super::flags::is_switch;
use crate::commands::Cli;
use crate::external;
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
pub fn overview(grammar: &Grammar, environment: &BTreeMap<String, String>) -> String {
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
        "Usage: {PROGRAM} [global options] <subcommand> [args]\n\n\
         Main commands:\n{}\n\
         Questions about a plan:\n{}\n\
         All other commands:\n{}\n{}\
         Global options (use these before the subcommand, if any):\n  \
           -chdir=DIR    Switch to a different working directory before executing the\n                given subcommand.\n  \
           -help         Show this help output, or the help for a specified subcommand.\n  \
           -version      An alias for the \"version\" subcommand.\n{}",
        named(&MAIN),
        named(&OWN),
        others.into_iter().map(line).collect::<String>(),
        programs(environment),
        everywhere(),
    )
}

/// The commands that are programs of their own, as far as they are there.
fn programs(environment: &BTreeMap<String, String>) -> String {
    let found = external::all(environment);
    if found.is_empty() {
        return String::new();
    }
    let lines = found.iter().map(|it| {
        let about = if it == "fleet" { "Asks, judges and runs many stacks" } else { "" };
        format!("{}\n", format!("  {it:12}  {about}").trim_end())
    });
    format!("Commands of other programs:\n{}\n", lines.collect::<String>())
}

/// Returns the line that says how a command is called.
pub fn synopsis(name: &str) -> String {
    let all = Cli::command();
    let inner = |it: &Grammar, name: &str| it.find_subcommand(name).cloned();
    let found = name.split(' ').try_fold(all, |it, name| inner(&it, name));
    found.map_or(String::new(), |it| usage(name, &it))
}

fn usage(name: &str, grammar: &Grammar) -> String {
    let nested = if grammar.has_subcommands() { " <subcommand>" } else { "" };
    format!("Usage: {PROGRAM} [global options] {name}{nested} [options]{}\n", positionals(grammar))
}

/// Returns the help of one command.
pub fn command(name: &str, grammar: &Grammar) -> String {
    let subcommands: Vec<_> = grammar.get_subcommands().filter(|it| !it.is_hide_set()).collect();
    let mut out = format!("{}\n", usage(name, grammar));
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
    if subcommands.is_empty() {
        out.push_str(&everywhere());
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
    out.push_str(&shown_examples(name));
    out
}

/// The flags that every command takes.
fn everywhere() -> String {
    let names: Vec<String> = Cli::command()
        .get_opts()
        .filter(|it| it.is_global_set() && !it.is_hide_set())
        .map(|it| format!("-{}", form(it)))
        .collect();
    let text = format!("Every command takes these, too: {}.", names.join(", "));
    format!("\n{}\n", wrap(&text, WIDTH))
}

fn shown_examples(name: &str) -> String {
    let lines = examples::of(name).iter();
    let lines: String =
        lines.map(|(line, does)| format!("  {PROGRAM} {line}\n      {does}.\n")).collect();
    if lines.is_empty() { lines } else { format!("\nExamples:\n\n{lines}") }
}

fn positionals(grammar: &Grammar) -> String {
    grammar
        .get_positionals()
        // What stands behind `--` is named with what stands before it.
        .filter(|it| !it.is_last_set())
        .filter_map(|it| it.get_value_names()?.first())
        // What takes no words has a place for them all the same, to complain of them.
        .filter(|it| !it.is_empty() && *it != "WORDS")
        .map(|it| format!(" {it}"))
        .collect()
}

/// A flag as it is written, without its dash.
fn form(flag: &Arg) -> String {
    let name = flag.get_long().unwrap_or_default();
    let is_on = flag.get_default_values().first().is_some_and(|it| it == "true");
    let value = flag.get_value_names().and_then(<[_]>::first).map_or("VALUE", |it| it.as_str());
    match is_switch(flag) {
        true if is_on => format!("{name}=false"),
        true => name.to_owned(),
        false => format!("{name}={value}"),
    }
}

fn flag(flag: &Arg) -> String {
    let form = format!("-{}", form(flag));
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
