//! Leases as the clients of Kubernetes write them: protocol buffers in an envelope of its own.

use serde_json::{Map, Value as Json, json};

/// Returns the lease in an envelope.
pub fn lease(bytes: &[u8]) -> Option<Json> {
    let envelope = bytes.strip_prefix(b"k8s\0")?;
    let lease = field(envelope, 2).next()?;
    let mut object = json!({"metadata": {}, "spec": {}});
    let metadata = field(lease, 1).next()?;
    for (number, name) in [(1, "name"), (3, "namespace"), (6, "resourceVersion")] {
        if let Some(it) = field(metadata, number).next() {
            object["metadata"][name] = text(it);
        }
    }
    for (number, name) in [(11, "labels"), (12, "annotations")] {
        let entry = |it| Some((field(it, 1).next()?, field(it, 2).next().unwrap_or_default()));
        let entries = field(metadata, number).filter_map(entry);
        let all: Map<String, Json> = entries
            .map(|(key, value)| (String::from_utf8_lossy(key).into(), text(value)))
            .collect();
        if !all.is_empty() {
            object["metadata"][name] = all.into();
        }
    }
    if let Some(holder) = field(lease, 2).next().and_then(|it| field(it, 1).next()) {
        object["spec"]["holderIdentity"] = text(holder);
    }
    Some(object)
}

fn text(bytes: &[u8]) -> Json {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Returns every value of a field that has a length.
fn field(message: &[u8], wanted: u64) -> impl Iterator<Item = &[u8]> {
    let mut rest = message;
    std::iter::from_fn(move || {
        loop {
            let key = number(&mut rest)?;
            match key & 7 {
                0 => drop(number(&mut rest)?),
                1 => rest = rest.get(8..)?,
                5 => rest = rest.get(4..)?,
                _ => {
                    let length = number(&mut rest)? as usize;
                    let value = rest.get(..length)?;
                    rest = &rest[length..];
                    if key >> 3 == wanted {
                        return Some(value);
                    }
                }
            }
        }
    })
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, more) = rest.split_first()?;
        *rest = more;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
