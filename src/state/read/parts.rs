//! Resources that stand in several parts of a file become one each.

use super::super::{InstanceState, ResourceState, Resources, Shared, problems};
use crate::address::{InstanceKey, Resource};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// Sorts resources by address and unites those that stand in several parts.
pub(super) fn merged(
    mut resources: Vec<(Resource, Shared<ResourceState>)>,
    diagnostics: &mut Diagnostics,
) -> Resources {
    resources.sort_by(|a, b| a.0.cmp(&b.0));
    resources.dedup_by(|(address, part), (last, state)| {
        let is_again = address == last;
        if is_again {
            let part = part.clone().into_inner();
            state.provider = part.provider;
            for (key, instance) in part.instances {
                diagnostics.extend(unite(address, state, key, instance));
            }
        }
        is_again
    });
    resources.into_iter().collect()
}

fn unite(
    address: &Resource,
    state: &mut ResourceState,
    key: InstanceKey,
    more: InstanceState,
) -> Vec<Diagnostic> {
    let name = || address.instance(key.clone()).to_string();
    let known = state.instances.or_default(key.clone());
    let mut problems = Vec::new();
    if more.current.is_some() {
        if known.current.is_some() {
            problems.push(problems::duplicate(&name(), None));
        }
        known.current = more.current;
        known.provider_key = more.provider_key;
    }
    for (deposed, object) in more.deposed {
        if known.deposed.insert(deposed.clone(), object).is_some() {
            problems.push(problems::duplicate(&name(), Some(&deposed)));
        }
    }
    problems
}
