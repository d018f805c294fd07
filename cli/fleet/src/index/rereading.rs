//! What objects mention, from the rows of a lake: of stacks that need not be read again.

use entail::address::{Instance, Mode};
use entail::value::Value;
use entail::value::json::from_json_implied;
use rustc_hash::FxHashMap;

use crate::lake::{Bucket, table};
use crate::uses::Mentions;

/// Returns what the objects of a bucket mention.
pub fn mentions(bucket: &Bucket) -> Mentions {
    let mut mentions = Mentions::default();
    let Some(table) = table("attribute") else { return mentions };
    // Rows stand by type and attribute: those of one object are all over the file.
    let mut objects: FxHashMap<(&str, &str), Vec<(&str, &str)>> = FxHashMap::default();
    for row in bucket.rows(table) {
        let [Some(stack), Some(node), Some(kind), Some(attribute), value, _] = row[..] else {
            continue;
        };
        if kind != "output" {
            let known = objects.entry((stack, node)).or_default();
            known.extend(value.map(|it| (attribute, it)));
        }
    }
    let mut objects: Vec<_> = objects.into_iter().collect();
    objects.sort_unstable();
    for ((stack, node), attributes) in objects {
        let mode = node.parse::<Instance>().map(|it| it.resource.mode);
        let mut known = mentions.object(mode == Ok(Mode::Managed));
        for (attribute, json) in attributes {
            let value: Value = from_json_implied(json).unwrap_or(Value::NULL);
            known.attribute(attribute, &value);
        }
        known.done(stack, node);
    }
    mentions
}
