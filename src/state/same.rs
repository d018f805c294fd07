//! What a state holds, as one number to compare.

use sha2::{Digest, Sha256};

use super::State;
use super::text::{JsonWriter, Layout};
use super::write::{
    Named, in_file_order, objects, write_checks, write_object, write_outputs, write_own,
    write_resource_head,
};

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
