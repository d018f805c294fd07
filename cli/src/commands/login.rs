//! `login` and `logout`: credentials of a remote host.

/// Obtain and save credentials for a remote host
#[derive(clap::Args, Debug)]
pub struct LoginArgs {
    /// The host
    #[arg(value_name = "HOST", hide = true)]
    pub words: Vec<String>,
}

/// Remove locally-stored credentials for a remote host
#[derive(clap::Args, Debug)]
pub struct LogoutArgs {
    /// The host
    #[arg(value_name = "HOST", hide = true)]
    pub words: Vec<String>,
}
