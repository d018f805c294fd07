//! What plugins say: announcements and answers of any bytes, and values of any type.
//!
//! The input is a byte – the version of the protocol – and four parts, a length of two bytes before each.
#![no_main]

use entail::provider::plugin::examine;
use entail::schema::conforms;
use entail::value::json::{to_json, type_from_json};
use entail::value::msgpack::{from_msgpack, from_msgpack_lossy, to_msgpack};
use libfuzzer_sys::fuzz_target;

fn part<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let Some((length, behind)) = rest.split_first_chunk::<2>() else { return &[] };
    let length = usize::from(u16::from_le_bytes(*length)).min(behind.len());
    let (part, behind) = behind.split_at(length);
    *rest = behind;
    part
}

fuzz_target!(|bytes: &[u8]| {
    let Some((version, mut rest)) = bytes.split_first() else { return };
    let (announcement, answer) = (part(&mut rest), part(&mut rest));
    examine(5 + u32::from(version % 2), announcement, answer);
    let (ty, value) = (part(&mut rest), part(&mut rest));
    let Ok(ty) = std::str::from_utf8(ty) else { return };
    let Ok(ty) = type_from_json(ty) else { return };
    let Ok((found, _)) = from_msgpack_lossy(value, ty) else { return };
    assert!(conforms(&found, ty).is_empty(), "{found:?} is no {ty:?}");
    let _ = to_json(&found);
    let written = to_msgpack(&found, ty);
    match from_msgpack(&written, ty) {
        Ok(again) => assert_eq!(to_msgpack(&again, ty), written),
        Err(error) => panic!("{found:?} is not read again: {error:?}"),
    }
});
