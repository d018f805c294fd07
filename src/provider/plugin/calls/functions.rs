//! Calls of functions.

use super::{Complaints, Plugin, one};
use crate::provider::plugin::values::{decode, encode};
use crate::provider::plugin::wire::entail::plugin as msg;
use crate::value::Value;

pub(super) async fn call(
    plugin: &Plugin,
    name: &str,
    arguments: &[Value],
) -> Result<Value, (Option<usize>, String)> {
    let told = |found: Complaints| {
        let texts: Vec<String> =
            found.into_iter().map(|it| format!("{}: {}", it.summary, it.detail)).collect();
        (None, texts.join("\n"))
    };
    let announced = plugin.announced().await.map_err(told)?;
    let signature = announced
        .schema
        .functions
        .get(name)
        .ok_or_else(|| (None, format!("the provider has no function named {name:?}")))?;
    if !plugin.world.is_trusted {
        return Ok(Value::unknown(signature.returns));
    }
    let (process, _) = plugin.ready().await.map_err(told)?;
    let types =
        signature.parameters.iter().chain(signature.variadic.iter().cycle().take(arguments.len()));
    let arguments =
        arguments.iter().zip(types).filter_map(|(it, parameter)| encode(it, parameter.ty));
    let request = msg::call_function::Request { name: name.into(), arguments: arguments.collect() };
    let answer =
        process.call("CallFunction", |it| it.call(request)).await.map_err(|it| told(one(it)))?;
    if let Some(error) = answer.error {
        let at = error.function_argument.and_then(|it| usize::try_from(it).ok());
        return Err((at, error.text));
    }
    decode(answer.result, signature.returns).map_err(|error| {
        (None, format!("the provider gave a result that is not of the type it announced: {error}"))
    })
}
