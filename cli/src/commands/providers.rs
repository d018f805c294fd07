//! `providers …`: which providers a configuration needs, and their plugins.

use std::path::PathBuf;

use clap::{ArgAction, Subcommand};

use crate::arguments::groups::VariableArgs;

/// Show the providers required for this configuration
///
/// Prints the requirements of every module and of the state, and where each provider comes from.
#[derive(clap::Args, Debug)]
pub struct ProvidersArgs {
    /// Where the tests lie
    #[arg(long, value_name = "DIR", default_value = "tests", hide_default_value = true)]
    pub test_directory: PathBuf,

    /// Also list every provider instance, and what each serves
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub instances: bool,

    /// Write JSON
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// What to do.
    #[command(subcommand)]
    pub command: Option<ProvidersCommand>,
}

/// What to do with providers.
#[derive(Subcommand, Debug)]
#[command(disable_help_flag = true, disable_help_subcommand = true)]
#[expect(missing_docs, reason = "the structs say it")]
pub enum ProvidersCommand {
    Lock(LockArgs),
    Mirror(MirrorArgs),
    Schema(SchemaArgs),
}

/// Write out dependency locks for the configured providers
#[derive(clap::Args, Debug)]
pub struct LockArgs {
    /// Take plugins from this directory
    #[arg(long, value_name = "DIR")]
    pub fs_mirror: Option<PathBuf>,

    /// Take plugins from this network mirror
    #[arg(long, value_name = "URL")]
    pub net_mirror: Option<String>,

    /// Take plugins from this registry of container images
    #[arg(long, value_name = "TEMPLATE")]
    pub oci_mirror: Option<String>,

    /// A platform to lock for, such as linux_amd64. May be repeated
    #[arg(long, value_name = "OS_ARCH", action = ArgAction::Append)]
    pub platform: Vec<String>,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// Providers
    #[arg(value_name = "[PROVIDER...]", hide = true)]
    pub words: Vec<String>,
}

/// Save local copies of all required provider plugins
#[derive(clap::Args, Debug)]
pub struct MirrorArgs {
    /// A platform to fetch for, such as linux_amd64. May be repeated
    #[arg(long, value_name = "OS_ARCH", action = ArgAction::Append)]
    pub platform: Vec<String>,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// The directory
    #[arg(value_name = "DIR", hide = true)]
    pub words: Vec<String>,
}

/// Show schemas for the providers used in the configuration
#[derive(clap::Args, Debug)]
pub struct SchemaArgs {
    /// Write JSON; must be given
    #[arg(long, action = ArgAction::Set, default_value_t = false)]
    pub json: bool,

    /// Variables of the root module.
    #[command(flatten)]
    pub variables: VariableArgs,

    /// Nothing else is expected.
    #[arg(hide = true)]
    pub words: Vec<String>,
}
