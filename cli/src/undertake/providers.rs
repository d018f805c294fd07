//! `providers`: the providers that a configuration needs, as a tree, and on demand who serves what.

use std::sync::Arc;

use entail::backend::local::Choice;
use entail::diagnostic::Diagnostics;
use entail::operation::plan;
use entail::operation::requirements::{self, Lacking, Need, Required, Served};
use entail::operation::session::Session;
use entail::request::Request;
use entail::state::State;
use entail::world::World;
use serde_json::{Value as Json, json};

use super::{read_state, root_variables, with_room};
use crate::commands::providers::ProvidersArgs;
use crate::ui::Ui;

/// Prints what is needed.
pub fn run(ui: &mut Ui, world: &Arc<World>, args: &ProvidersArgs) -> Result<u8, Diagnostics> {
    ui.begin(Default::default(), None)?;
    let ui = &*ui;
    with_room(|_| {
        let mut session = Session::open(world.clone(), ui.sources.clone(), &Choice::default())?;
        ui.diagnostics(std::mem::take(&mut session.warnings));
        let state = read_state(ui, &session)?.state.unwrap_or_default();
        let plugins = session.supply.plugins()?;
        let required = requirements::required(&session, plugins);
        let needs = (required, requirements::of_state(&state, plugins));
        let served = match args.instances {
            true => {
                let request =
                    Request { variables: args.variables.sources()?, ..Request::default() };
                let variables = root_variables(ui, &session, &request)?;
                let known = plan::whatif(&session, &request, State::clone(&state), &variables)?;
                Some((requirements::instances(&session, &known), requirements::lacking(&known)))
            }
            false => None,
        };
        match args.json {
            true => ui.out(&format!("{:#}\n", document(&needs, served.as_ref()))),
            false => ui.out(&text(&needs, served.as_ref())),
        }
        Ok(0)
    })?
}

fn text(
    (required, in_state): &(Required, Vec<Need>),
    instances: Option<&(Vec<Served>, Vec<Lacking>)>,
) -> String {
    let mut text = "\nProviders required by configuration:\n.\n".to_owned();
    tree(required, "", &mut text);
    text.push('\n');
    if !in_state.is_empty() {
        text.push_str("Providers required by state:\n\n");
        for need in in_state {
            text.push_str(&format!("    {}\n\n", line(need)));
        }
    }
    let Some((served, lacking)) = instances else { return text };
    text.push_str("Provider instances:\n");
    for it in served {
        let place = if it.place.is_empty() { "not written" } else { &it.place };
        text.push_str(&format!("\n    {}  ({place})\n", it.instance));
        if it.objects.is_empty() {
            text.push_str("        serves nothing\n");
        }
        it.objects.iter().for_each(|it| text.push_str(&format!("        {it}\n")));
    }
    if !lacking.is_empty() {
        text.push_str("\nServed by no provider instance:\n\n");
        let lines = lacking.iter().map(|it| format!("    {}  wants {}\n", it.object, it.wants));
        text.extend(lines);
    }
    text.push('\n');
    text
}

fn line(need: &Need) -> String {
    let versions = match &*need.versions {
        "" => String::new(),
        versions => format!(" {versions}"),
    };
    format!("provider[{}]{versions}  ({}: {})", need.provider, need.origin, need.reason)
}

fn tree(module: &Required, indent: &str, text: &mut String) {
    let count = module.providers.len() + module.modules.len();
    let branch = |index: usize| match index + 1 == count {
        true => ("└── ", "    "),
        false => ("├── ", "│   "),
    };
    for (index, need) in module.providers.iter().enumerate() {
        text.push_str(&format!("{indent}{}{}\n", branch(index).0, line(need)));
    }
    for (index, child) in module.modules.iter().enumerate() {
        let (mark, space) = branch(module.providers.len() + index);
        text.push_str(&format!("{indent}{mark}{}\n", child.name));
        tree(child, &format!("{indent}{space}"), text);
    }
}

fn document(
    (required, in_state): &(Required, Vec<Need>),
    instances: Option<&(Vec<Served>, Vec<Lacking>)>,
) -> Json {
    let mut document = json!({
        "configuration": of_module(required),
        "state": in_state.iter().map(of_need).collect::<Vec<_>>(),
    });
    if let (Some((served, lacking)), Json::Object(members)) = (instances, &mut document) {
        let rows = served
            .iter()
            .map(|it| json!({"instance": it.instance, "declared": it.place, "serves": it.objects}));
        members.insert("instances".into(), rows.collect());
        let rows = lacking.iter().map(|it| json!({"object": it.object, "wants": it.wants}));
        members.insert("lacking".into(), rows.collect());
    }
    document
}

fn of_need(need: &Need) -> Json {
    json!({"provider": need.provider.to_string(), "versions": need.versions, "origin": need.origin, "reason": need.reason})
}

fn of_module(module: &Required) -> Json {
    json!({
        "name": module.name,
        "providers": module.providers.iter().map(of_need).collect::<Vec<_>>(),
        "modules": module.modules.iter().map(of_module).collect::<Vec<_>>(),
    })
}
