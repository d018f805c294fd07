//! What `providers` says: the providers that a configuration needs as a tree, and on demand who serves what.

use entail::workflow::requirements::{Need, Needs, Required};
use serde_json::{Value as Json, json};

/// Returns what people read.
pub fn text(needs: &Needs) -> String {
    let Needs { required, in_state, instances } = needs;
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

/// Returns what machines read.
pub fn document(needs: &Needs) -> Json {
    let Needs { required, in_state, instances } = needs;
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
