//! Labels of blocks: types of resources, of backends, of provisioners; names of providers.

use super::{Item, Place, Sort};
use crate::address::Mode;
use crate::backend::registry;
use crate::config::implied_provider;

/// Returns what a label may be.
pub(super) fn labels(
    place: &Place<'_>,
    kind: &str,
    before: &[String],
    is_quoted: bool,
) -> Vec<Item> {
    let items = match (kind, before) {
        ("resource", []) => kinds(place, Mode::Managed),
        ("data", []) => kinds(place, Mode::Data),
        ("ephemeral", []) => kinds(place, Mode::Ephemeral),
        ("mock_resource", []) => kinds(place, Mode::Managed),
        ("mock_data", []) => kinds(place, Mode::Data),
        ("provider" | "mock_provider" | "provider_meta", []) => providers(place),
        ("backend", []) => {
            registry::KINDS.iter().map(|it| Item::new(it.name, Sort::Kind, "backend")).collect()
        }
        ("provisioner", []) => ["local-exec", "remote-exec", "file"]
            .map(|it| Item::new(it, Sort::Kind, "provisioner"))
            .into(),
        ("dynamic", []) => {
            let blocks = place.expected().blocks;
            let nested =
                blocks.into_iter().filter(|it| it.name != "dynamic" && it.labels.is_empty());
            nested.map(|it| Item::new(it.name, Sort::Block, "block").about(it.about)).collect()
        }
        _ => Vec::new(),
    };
    match is_quoted {
        true => items,
        false => items.into_iter().map(quoted).collect(),
    }
}

fn quoted(item: Item) -> Item {
    let text = format!("\"{}\"", item.label);
    item.putting(text)
}

fn kinds(place: &Place<'_>, mode: Mode) -> Vec<Item> {
    let kinds = place.schemas.kinds(mode);
    kinds
        .map(|(kind, provider)| Item::new(kind.as_str(), Sort::Kind, provider.to_string()))
        .collect()
}

fn providers(place: &Place<'_>) -> Vec<Item> {
    let all = place.schemas.all();
    let mut found: Vec<Item> = all
        .map(|(address, _)| Item::new(&*address.kind, Sort::Kind, address.to_string()))
        .collect();
    let resources = place.module.entities().filter_map(|it| match it {
        super::Entity::Resource(it) => Some(implied_provider(&it.kind).to_string()),
        _ => None,
    });
    found.extend(resources.map(|it| Item::new(it, Sort::Kind, "provider")));
    found
}
