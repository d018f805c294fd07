//! The commands: one file each – arguments, one workflow, one view.

use clap::{Parser, Subcommand};
use entail::diagnostic::{Diagnostic, Diagnostics, Sort};

use crate::arguments::groups::{OutputArgs, ViewArgs};
use crate::ui::{Manner, Ui};

pub mod apply;
pub mod completion;
pub mod console;
pub mod destroy;
pub mod diff;
mod documents;
pub mod facts;
pub mod fmt;
pub mod force_unlock;
pub mod get;
pub mod graph;
pub mod impact;
pub mod import;
pub mod init;
pub mod log;
pub mod login;
#[cfg(feature = "lsp")]
pub mod lsp;
pub mod man;
pub mod metadata;
pub mod minimal;
pub mod output;
pub mod plan;
pub mod policy;
pub mod present;
pub mod providers;
pub mod query;
pub mod refresh;
pub mod show;
pub mod state;
pub mod subject;
pub mod taint;
pub mod test;
pub mod unused;
pub mod validate;
pub mod version;
pub mod whatif;
pub mod why;
pub mod workspace;

/// Plans and applies configurations, and says why
#[derive(Parser, Debug)]
#[command(
    name = "entail",
    disable_help_flag = true,
    disable_help_subcommand = true,
    disable_version_flag = true,
    args_override_self = true,
    subcommand_required = true
)]
pub struct Cli {
    /// How things look.
    #[command(flatten)]
    pub view: ViewArgs,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Every command.
#[derive(Subcommand, Debug)]
#[command(disable_help_flag = true, disable_help_subcommand = true)]
#[expect(missing_docs, reason = "the structs say it")]
pub enum Command {
    Init(init::InitArgs),
    Validate(validate::ValidateArgs),
    Plan(plan::PlanArgs),
    Apply(apply::ApplyArgs),
    Destroy(destroy::DestroyArgs),
    Why(why::WhyArgs),
    Whatif(whatif::WhatifArgs),
    Impact(impact::ImpactArgs),
    Diff(diff::DiffArgs),
    Minimal(minimal::MinimalArgs),
    Unused(unused::UnusedArgs),
    Query(query::QueryArgs),
    Facts(facts::FactsArgs),
    Completion(completion::CompletionArgs),
    Console(console::ConsoleArgs),
    #[command(hide = true)]
    Env(workspace::WorkspaceArgs),
    Fmt(fmt::FmtArgs),
    ForceUnlock(force_unlock::ForceUnlockArgs),
    Get(get::GetArgs),
    Graph(graph::GraphArgs),
    Import(import::ImportArgs),
    Log(log::LogArgs),
    Login(login::LoginArgs),
    Logout(login::LogoutArgs),
    #[cfg(feature = "lsp")]
    Lsp(lsp::LspArgs),
    #[command(hide = true)]
    Man(man::ManArgs),
    Metadata(metadata::MetadataArgs),
    Output(output::OutputArgs),
    Policy(policy::PolicyArgs),
    Providers(providers::ProvidersArgs),
    Refresh(refresh::RefreshArgs),
    Show(show::ShowArgs),
    State(state::StateArgs),
    Taint(taint::TaintArgs),
    Test(test::TestArgs),
    Untaint(taint::UntaintArgs),
    Version(version::VersionArgs),
    Workspace(workspace::WorkspaceArgs),
}

/// Returns the words if there are as many as the command takes, else its complaint.
pub fn words<'a, const N: usize>(
    given: &'a [String],
    summary: &str,
    detail: &str,
) -> Result<&'a [String; N], Diagnostic> {
    given.try_into().map_err(|_| miscounted(summary, detail))
}

/// Returns the only word, if there is one, else the command's complaint.
pub fn at_most_one<'a>(
    given: &'a [String],
    summary: &str,
    detail: &str,
) -> Result<Option<&'a str>, Diagnostic> {
    match given {
        [] => Ok(None),
        [word] => Ok(Some(word)),
        _ => Err(miscounted(summary, detail)),
    }
}

/// Says that there are more words, or fewer, than a command takes: its synopsis is shown with it.
pub fn miscounted(summary: &str, detail: &str) -> Diagnostic {
    Diagnostic::error(summary).detail(detail).sort(Sort::Miscounted)
}

/// Refuses words where a command takes none.
pub fn no_words(given: &[String]) -> Result<(), Diagnostic> {
    let detail = "Too many command line arguments. Did you mean to use -chdir?";
    words::<0>(given, "Unexpected argument", detail).map(|_| ())
}

/// Sets how the command speaks.
fn begin(ui: &mut Ui, output: &OutputArgs, show_sensitive: bool) -> Result<(), Diagnostics> {
    let OutputArgs { messages, input } = output;
    let manner =
        Manner { json: messages.json, show_sensitive, silent: !input, ..Manner::default() };
    Ok(ui.begin(manner, messages.json_into.as_deref())?)
}

/// Sets that the command says nothing but its result.
fn silence(ui: &mut Ui, input: bool) -> Result<(), Diagnostics> {
    Ok(ui.begin(Manner { silent: !input, ..Manner::default() }, None)?)
}
