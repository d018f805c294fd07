//! Encryption of states, plans, journals and logs: the `encryption` block and `TF_ENCRYPTION` become the seal of a world.
//!
//! Envelopes are OpenTofu's: each program opens what the other has sealed. Arguments are evaluated before there is a plan; keys are
//! asked for when something is sealed or opened.

mod arguments;
mod envelope;
mod keys;
mod methods;
mod problems;
mod program;
mod sealing;
mod settings;

use std::collections::HashMap;
use std::sync::Arc;

use crate::backend::seal::Seals;
use crate::config::early::StaticModule;
use crate::diagnostic::Diagnostics;

use keys::Keyring;
use methods::Method;
use sealing::{Encryption, Target};
use settings::Settings;

/// Lets the world of a root module seal as that says, and `TF_ENCRYPTION` over it. Returns warnings; the first module counts.
///
/// # Errors
///
/// If what is said makes no sense, or needs what is known later only.
pub fn install(root: &StaticModule) -> Result<Diagnostics, Diagnostics> {
    let world = &root.context().world;
    let block = root.module().encryption.as_ref();
    let own = block.map(|it| Settings::read(&it.body)).transpose()?;
    let text = world.variable("TF_ENCRYPTION").filter(|it| !it.trim().is_empty());
    let given = text.map(|it| Settings::of_environment(it, &root.context().sources)).transpose()?;
    let settings = match (own, given) {
        (None, None) => return Ok(Diagnostics::new()),
        (Some(own), Some(given)) => own.overridden(given),
        (own, given) => own.or(given).unwrap_or_default(),
    };
    let mut warnings = Diagnostics::new();
    for method in settings.methods.iter().filter(|it| it.named.0 == "unencrypted") {
        warnings.push(problems::unencrypted(method.declared));
    }
    let seals = Seals::of(world);
    if seals.is_installed() {
        return Ok(warnings);
    }
    match encryption(&settings, root) {
        Ok(it) => seals.install(it),
        Err(mut found) => {
            found.extend(warnings);
            return Err(found);
        }
    }
    Ok(warnings)
}

/// Returns what is wrong with the block of a root module by itself, before anything in it is evaluated.
pub fn check(root: &StaticModule) -> Diagnostics {
    let block = root.module().encryption.as_ref();
    let read = block.map(|it| Settings::read(&it.body)).transpose();
    read.err().unwrap_or_default()
}

fn encryption(settings: &Settings, root: &StaticModule) -> Result<Encryption, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut target = |name: String, said: Option<&settings::Target>| {
        found.take(said.map(|it| evaluated(&name, it, settings, root)).transpose()).flatten()
    };
    let state = target("state".into(), settings.state.as_ref());
    let plan = target("plan".into(), settings.plan.as_ref());
    let remote = target("remote.default".into(), settings.remote.as_ref());
    let mut remotes = HashMap::new();
    for (address, said) in &settings.remotes {
        let name = format!("remote.remote_state_datasource.{address}");
        remotes.extend(target(name, Some(said)).map(|it| (address.clone(), it)));
    }
    let encryption = Encryption { state, plan, remote, remotes };
    if found.has_errors() { Err(found.once()) } else { Ok(encryption) }
}

/// Evaluates what something is sealed with.
fn evaluated(
    name: &str,
    said: &settings::Target,
    settings: &Settings,
    root: &StaticModule,
) -> Result<Target, Diagnostics> {
    let mut keys = Keyring::default();
    let mut methods: Vec<Method> = Vec::new();
    for (named, at) in said.methods()? {
        let part = settings.methods.iter().find(|it| it.named == *named);
        let part = part.ok_or_else(|| problems::undeclared_method(named, *at))?;
        let method = Method::read(part, root)?;
        if method.is_plain() && said.enforced {
            return Err(problems::forbidden(*at).into());
        }
        if let Some(key) = &method.keys {
            keys.add(settings, root, (key, part.declared), &mut Vec::new())?;
            if let Some(length) = keys.check(key)? {
                let fits = method.check(length);
                fits.map_err(|why| problems::no_method_data(why.words(), part.declared))?;
            }
        }
        methods.push(method);
    }
    let world = root.context().world.as_ref().clone();
    Ok(Target { name: name.into(), methods, keys: Arc::new(keys), world, now: Default::default() })
}
