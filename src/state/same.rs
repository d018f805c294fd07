//! What a state holds, as one number to compare.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::text::{JsonWriter, Layout};
use super::write::{
    Named, in_file_order, objects, write_checks, write_object, write_outputs, write_own,
    write_resource_head,
};
use super::{InstanceState, Object, ResourceState, Shared, State};
use crate::address::{Mode, Resource};

/// Returns whether both have the same managed objects, and record the same of each beside its attributes.
pub fn is_same_record(one: &State, other: &State) -> bool {
    let managed =
        |it: &Entry<'_, Resource, Shared<ResourceState>>| it.0.resource.mode == Mode::Managed;
    let (one, other) = (one.resources.iter(), other.resources.iter());
    all_pairs(one.filter(managed), other.filter(managed), |a, b| is_same_resource(a, b))
}

type Entry<'s, K, V> = (&'s K, &'s V);

/// Returns whether both have the same keys, in one order, and what stands under them passes the test.
fn all_pairs<'s, K: PartialEq + 's, V: 's>(
    mut one: impl Iterator<Item = Entry<'s, K, V>>,
    mut other: impl Iterator<Item = Entry<'s, K, V>>,
    is_same: impl Fn(&V, &V) -> bool,
) -> bool {
    one.all(|a| other.next().is_some_and(|b| a.0 == b.0 && is_same(a.1, b.1)))
        && other.next().is_none()
}

fn is_same_resource(one: &ResourceState, other: &ResourceState) -> bool {
    *one.provider == *other.provider
        && all_pairs(one.instances.iter(), other.instances.iter(), is_same_instance)
}

fn is_same_instance(one: &InstanceState, other: &InstanceState) -> bool {
    let current = match (&one.current, &other.current) {
        (Some(a), Some(b)) => is_same_object(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    current
        && one.provider_key == other.provider_key
        && all_pairs(one.deposed.iter(), other.deposed.iter(), |a, b| is_same_object(a, b))
}

fn is_same_object(one: &Object, other: &Object) -> bool {
    // Their order says nothing.
    let dependencies = |it: &'_ Object| it.dependencies.iter().cloned().collect::<BTreeSet<_>>();
    one.status == other.status
        && one.besides.private == other.besides.private
        && (one.dependencies == other.dependencies || dependencies(one) == dependencies(other))
        && one.create_before_destroy == other.create_before_destroy
        && one.skip_destroy == other.skip_destroy
        && one.besides.identity == other.besides.identity
}

/// Returns whether both hold the same, whatever lineage and serial they have.
pub fn is_same(one: &State, other: &State) -> bool {
    digest(one) == digest(other)
}

/// Returns what stands for all that a state holds, whatever its lineage and serial. It is written piece by piece: it may be large.
pub fn digest(state: &State) -> [u8; 32] {
    let mut sum = Sha256::new();
    sum.update(written(|json| {
        write_outputs(json, &state.outputs);
        write_checks(json, state.checks.as_deref());
        write_own(json, state);
    }));
    for (module, resources) in in_file_order(state) {
        for (address, resource) in resources {
            let named = Named::of(resource);
            sum.update(written(|json| write_resource_head(json, &module, address, &named)));
            for (key, instance) in &resource.instances {
                let provider = named.apart(instance);
                for (deposed, object) in objects(instance) {
                    let provider = provider.as_deref();
                    sum.update(written(|json| write_object(json, key, deposed, provider, object)));
                }
            }
        }
    }
    sum.finalize().into()
}

/// Returns what is written as members of an object.
fn written(write: impl FnOnce(&mut JsonWriter)) -> String {
    let mut json = JsonWriter::new(Layout::Compact);
    json.open('{');
    write(&mut json);
    json.close('}');
    json.finish()
}
