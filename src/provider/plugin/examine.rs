//! What a plugin says, read without a process: for programs that try any bytes.

use bytes::Bytes;
use prost::Message;

use super::schema;
use super::values::{decode_object, diagnostics, encode, path, written_diagnostics, written_path};
use super::wire::entail::plugin as msg;
use crate::schema as conform;

/// Reads bytes as what a plugin announces, and others as what it answers about an object of each kind; does with the objects what
/// a run does with them. Returns how many objects could be read.
///
/// - `version`: of the protocol, 5 or 6.
pub fn examine(version: u32, announcement: &[u8], answer: &[u8]) -> usize {
    let Ok(announcement) = msg::get_provider_schema::Response::decode(announcement) else {
        return 0;
    };
    if schema::check(version, &announcement).is_err() {
        return 0;
    }
    let Ok((announced, _)) = schema::announced(version, announcement) else { return 0 };
    let Ok(answer) = msg::plan_resource_change::Response::decode(Bytes::copy_from_slice(answer))
    else {
        return 0;
    };
    let found = diagnostics(answer.diagnostics);
    written_diagnostics(&found);
    for it in answer.requires_replace {
        written_path(&path(it));
    }
    let schemas = [&announced.schema.resources, &announced.schema.data_sources];
    let kinds = schemas.into_iter().flat_map(|it| it.iter());
    let mut objects = 0;
    for (_, kind) in kinds {
        let Ok((value, _)) = decode_object(answer.planned_state.clone(), kind.block.ty()) else {
            continue;
        };
        objects += 1;
        let value = conform::with_blocks(&value, &kind.block);
        let marked = conform::mark_sensitive(&value, &kind.block);
        conform::check_compatible(&kind.block, &value, &value);
        conform::proposed_new(&kind.block, &value, &value);
        conform::encode_stored(&value, &kind.block).unwrap_or_default();
        drop(marked);
        encode(&value, kind.block.ty());
    }
    objects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::plugin::wire::entail::plugin::{Nesting, Schema6, schema6};

    fn attribute(name: &str, ty: &str) -> schema6::Attribute {
        schema6::Attribute {
            name: name.into(),
            r#type: Bytes::copy_from_slice(ty.as_bytes()),
            optional: true,
            ..schema6::Attribute::default()
        }
    }

    fn announcement() -> Vec<u8> {
        let inner = schema6::Block {
            attributes: vec![attribute("n", "\"number\"")],
            ..schema6::Block::default()
        };
        let nested = schema6::NestedBlock {
            type_name: "inner".into(),
            block: Some(inner),
            nesting: Nesting::List as i32,
            ..schema6::NestedBlock::default()
        };
        let block = schema6::Block {
            attributes: vec![
                attribute("any", "\"dynamic\""),
                attribute("list", "[\"list\",\"string\"]"),
                attribute("name", "\"string\""),
            ],
            block_types: vec![nested],
            ..schema6::Block::default()
        };
        let schema = Schema6 { version: 1, block: Some(block) }.encode_to_vec();
        let resource_schemas = [("t".to_owned(), Bytes::from(schema))].into();
        msg::get_provider_schema::Response { resource_schemas, ..Default::default() }
            .encode_to_vec()
    }

    fn answer() -> Vec<u8> {
        let object = b"\x84\xa3any\x92\xc4\x08\"string\"\xa1v\xa4list\x92\xa1a\xa1b\xa4name\xa1x\xa5inner\x91\x81\xa1n\x07";
        let state = msg::DynamicValue { msgpack: Bytes::from_static(object), ..Default::default() };
        msg::plan_resource_change::Response { planned_state: Some(state), ..Default::default() }
            .encode_to_vec()
    }

    #[test]
    fn whatever_a_plugin_says_is_read_or_refused() {
        assert_eq!(examine(6, &announcement(), &answer()), 1);
        let mut number = 1_u64;
        let mut below = |limit: usize| {
            number ^= number << 13;
            number ^= number >> 7;
            number ^= number << 17;
            usize::try_from(number % limit as u64).expect("it is below a size")
        };
        let mut read = 0;
        for round in 0..4000 {
            let (mut announcement, mut answer) = (announcement(), answer());
            let bytes = if round % 2 == 0 { &mut announcement } else { &mut answer };
            for _ in 0..=below(3) {
                let at = below(bytes.len());
                match below(3) {
                    0 => bytes[at] = u8::try_from(below(256)).expect("a byte"),
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, u8::try_from(below(256)).expect("a byte")),
                }
            }
            read += examine(5 + u32::from(round % 3 > 0), &announcement, &answer);
        }
        assert!((10..4000).contains(&read), "{read} objects were read");
    }
}
