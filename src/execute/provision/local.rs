//! `local-exec`: a command of this machine.

use super::command::Command;
use super::{list, text};
use crate::execute::Context;
use crate::provider::ProviderDiagnostic;
use crate::value::Value;
use crate::value::text::shown;

/// Runs the command and tells of its output.
pub(super) async fn local_exec(
    ctx: &Context<'_>,
    config: &Value,
    tell: impl Fn(&str),
) -> Result<(), ProviderDiagnostic> {
    let command = text(config, "command");
    if !config.is_wholly_known() || command.is_empty() {
        return Err(ProviderDiagnostic::error(
            "Invalid local-exec provisioner command",
            "The command must be a non-empty string.",
        ));
    }
    let items = |name: &str| config.get(name).map(Value::entries).unwrap_or_default();
    let mut words: Vec<String> = list(config.get("interpreter"));
    if words.is_empty() {
        words = vec!["/bin/sh".into(), "-c".into()];
    }
    words.push(command.clone());
    let environment = items("environment")
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_string(), value.as_str()?.to_owned())))
        .collect();
    let folder_shown = text(config, "working_dir");
    let run =
        Command { words, environment, folder: ctx.world.root.join(&folder_shown), folder_shown };
    match config.get("quiet").and_then(Value::as_bool) {
        Some(true) => tell("local-exec: Executing: Suppressed by quiet=true"),
        _ => tell(&format!(
            "Executing: [{}]",
            run.words.iter().map(|it| shown(it)).collect::<Vec<_>>().join(" ")
        )),
    }
    run.run(ctx.stop, tell).await.map_err(|(why, output)| {
        ProviderDiagnostic::error(
            "local-exec provisioner error",
            format!("Error running command '{command}': {why}. Output: {output}"),
        )
    })
}
