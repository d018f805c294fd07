//! Provisioners that are plugins.

use crate::config::Provisioner;
use crate::diagnostic::Diagnostics;
use crate::execute::Context;
use crate::expression::Scope;
use crate::expression::body::decode_body;
use crate::observe::problems::of_provider;
use crate::observe::provisioners::Provisioners;
use crate::provider::ProviderDiagnostic;
use crate::provider::plugin::ProvisionerPlugin;
use crate::value::convert::convert;
use crate::value::{Type, Value};

/// Checks the arguments of a provisioner. The plugin is asked for its judgement if nothing else is wrong with them.
///
/// Nothing is checked in a folder that is not trusted: no program is started there.
pub(super) async fn check(
    plugin: &ProvisionerPlugin,
    provisioner: &Provisioner,
    (plugins, scope): (&Provisioners, &dyn Scope),
) -> Diagnostics {
    if !plugins.world().is_trusted {
        return Diagnostics::new();
    }
    let schema = match plugin.schema().await {
        Ok(it) => it,
        Err(found) => {
            let found = found.iter().map(|it| of_provider(it, None, None));
            return found.collect::<Vec<_>>().into();
        }
    };
    let (config, mut problems) = decode_body(&provisioner.body, schema, scope, &[]);
    if problems.has_errors() {
        return problems;
    }
    let found = plugin.validate(&config.to_plain()).await;
    problems.extend(found.iter().map(|it| of_provider(it, None, Some(&provisioner.body))));
    problems
}

/// Runs a provisioner and tells of its output. Returns its own words, which may be warnings.
pub(super) async fn run(
    ctx: &Context<'_>,
    plugin: &ProvisionerPlugin,
    (config, connection): (&Value, Option<&Value>),
    tell: impl Fn(&str),
) -> Vec<ProviderDiagnostic> {
    match as_strings(connection) {
        Ok(connection) => plugin.provision(config, &connection, ctx.stop, tell).await,
        Err(problem) => vec![problem],
    }
}

/// Returns a connection as the protocol has it: a map of strings, or null where there is none.
fn as_strings(connection: Option<&Value>) -> Result<Value, ProviderDiagnostic> {
    let ty = Type::map(Type::STRING);
    let Some(connection) = connection else { return Ok(Value::Null(ty)) };
    convert(connection, ty).map_err(|why| {
        let detail = format!("The connection cannot be given to the provisioner: {why}.");
        ProviderDiagnostic::error("Invalid connection", detail)
    })
}
