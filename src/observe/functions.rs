//! Functions of providers, as expressions call them: `provider::NAME::FUNCTION`.

use std::sync::Arc;

use futures_util::FutureExt;
use tokio::runtime::{Builder, Handle, RuntimeFlavor};

use super::pool::Pool;
use crate::config::Module;
use crate::config::check::unknown_function_provider;
use crate::diagnostic::Diagnostic;
use crate::expression::functions::Failure;
use crate::schema::FunctionSignature;
use crate::syntax::Name;
use crate::value::Value;

/// Splits the whole name of a function into the provider's local name and its own.
fn parts(name: &Name) -> Option<(&str, &str)> {
    name.text.strip_prefix("provider::")?.split_once("::")
}

/// Returns what a function takes and gives; nothing where the provider's schema has no such function.
///
/// # Errors
///
/// If the module requires no such provider.
pub fn signature(
    pool: Option<&Pool>,
    module: &Module,
    name: &Name,
) -> Result<Option<Arc<FunctionSignature>>, Diagnostic> {
    let (provider, own) = parts(name).unwrap_or_default();
    if !module.required_providers.contains_key(provider) {
        return Err(unknown_function_provider(provider, name.span));
    }
    let schema = pool.and_then(|it| it.schema(&module.provider_of(provider)));
    // A function of an aliased configuration is that of the provider.
    let own = own.rsplit("::").next().unwrap_or(own);
    Ok(schema.and_then(|it| it.functions.get(own)).cloned())
}

/// The provider has no such function.
pub fn not_found(name: &Name) -> Diagnostic {
    Diagnostic::error("Function not found in provider")
        .detail(format!("Function {:?} was not registered by provider", &*name.text))
        .at(name.span)
}

/// Calls a function; the provider need not be configured.
///
/// # Errors
///
/// What the provider says of an argument or the call.
pub fn call(
    pool: Option<&Pool>,
    module: &Module,
    name: &Name,
    arguments: &[Value],
) -> Result<Value, Failure> {
    let (local, own) = parts(name).unwrap_or_default();
    let own = own.rsplit("::").next().unwrap_or(own);
    let Some(provider) = pool.and_then(|it| it.unconfigured(&module.provider_of(local))) else {
        return Err(Failure::call("the provider is not available"));
    };
    let mut answer = provider.call(own, arguments);
    // What is part of this program answers at once; another process takes a moment.
    let answer = match (&mut answer).now_or_never() {
        Some(answer) => answer,
        None => wait(answer).ok_or_else(|| Failure::call("the provider cannot be asked here"))?,
    };
    answer.map_err(|(argument, words)| match argument {
        Some(at) => Failure::argument(at, words),
        None => Failure::call(words),
    })
}

/// Waits where the evaluator, which is no async code, needs the answer now.
fn wait<T>(answer: impl Future<Output = T>) -> Option<T> {
    match Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
            Some(tokio::task::block_in_place(|| handle.block_on(answer)))
        }
        Ok(_) => None,
        Err(_) => Some(Builder::new_current_thread().enable_all().build().ok()?.block_on(answer)),
    }
}
