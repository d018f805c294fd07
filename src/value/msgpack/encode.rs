//! Values to msgpack.

use super::{PLAIN_UNKNOWN, REFINED_UNKNOWN, key};
use crate::value::json::type_to_json;
use crate::value::{Kind, Number, Refinement, Type, Unknown, Value};

/// The most bytes of a known prefix that are told.
const PREFIX: usize = 256;

/// Writes an unmarked value that conforms to `ty`.
pub fn to_msgpack(value: &Value, ty: Type) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    write(value, ty, &mut out);
    out
}

fn write(value: &Value, want: Type, out: &mut Vec<u8>) {
    if want == Type::DYNAMIC && value.ty() != Type::DYNAMIC {
        let ty = value.ty();
        array(2, out);
        binary(type_to_json(ty).as_bytes(), out);
        return write(value, ty, out);
    }
    match value {
        Value::Null(_) => out.push(0xc0),
        Value::Unknown(it) => unknown(it, out),
        Value::Bool(it) => out.push(if *it { 0xc3 } else { 0xc2 }),
        Value::Number(it) => number(it, out),
        Value::String(it) => string(it, out),
        Value::List(it) | Value::Set(it) => {
            let element = want.element().unwrap_or(it.element);
            array(it.items.len(), out);
            it.items.iter().for_each(|item| write(item, element, out));
        }
        Value::Map(it) => {
            let element = want.element().unwrap_or(it.element);
            map(it.entries.len(), out);
            for (name, item) in &it.entries {
                string(name, out);
                write(item, element, out);
            }
        }
        Value::Tuple(it) => {
            let Kind::Tuple(types) = it.ty.kind() else { return };
            let wanted = match want.kind() {
                Kind::Tuple(wanted) if wanted.len() == types.len() => wanted,
                _ => types,
            };
            array(it.items.len(), out);
            it.items.iter().zip(wanted).for_each(|(item, ty)| write(item, *ty, out));
        }
        Value::Object(it) => {
            map(it.values.len(), out);
            for (attribute, item) in it.ty.attributes().iter().zip(&it.values) {
                string(&attribute.0, out);
                write(item, want.attribute(&attribute.0).unwrap_or(attribute.1), out);
            }
        }
        Value::Marked(it) => write(&it.value, want, out),
    }
}

/// Whole numbers of 64 bits as such, fractions that a float holds exactly as floats, everything else as text.
fn number(number: &Number, out: &mut Vec<u8>) {
    if let Some(it) = number.as_i64() {
        return whole(it, out);
    }
    let float = number.to_f64();
    let is_exact = number.is_infinite()
        || float.is_finite()
            && !number.is_integer()
            && Number::from_f64(float).is_some_and(|it| it.compare(number).is_eq());
    if is_exact {
        out.push(0xcb);
        out.extend(float.to_be_bytes());
    } else {
        string(&number.to_string(), out);
    }
}

fn whole(it: i64, out: &mut Vec<u8>) {
    match it {
        0..=0x7f => out.push(it as u8),
        -32..=-1 => out.push(it as i8 as u8),
        0x80..=0xff => out.extend([0xcc, it as u8]),
        0x100..=0xffff => tagged(0xcd, &(it as u16).to_be_bytes(), out),
        0x1_0000..=0xffff_ffff => tagged(0xce, &(it as u32).to_be_bytes(), out),
        0x1_0000_0000.. => tagged(0xcf, &(it as u64).to_be_bytes(), out),
        -0x80..=-33 => tagged(0xd0, &(it as i8).to_be_bytes(), out),
        -0x8000..=-0x81 => tagged(0xd1, &(it as i16).to_be_bytes(), out),
        -0x8000_0000..=-0x8001 => tagged(0xd2, &(it as i32).to_be_bytes(), out),
        _ => tagged(0xd3, &it.to_be_bytes(), out),
    }
}

fn tagged(tag: u8, rest: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend(rest);
}

fn string(text: &str, out: &mut Vec<u8>) {
    match text.len() {
        length @ 0..=31 => out.push(0xa0 | length as u8),
        length @ 32..=0xff => out.extend([0xd9, length as u8]),
        length @ 0x100..=0xffff => tagged(0xda, &(length as u16).to_be_bytes(), out),
        length => tagged(0xdb, &(length as u32).to_be_bytes(), out),
    }
    out.extend(text.as_bytes());
}

fn binary(bytes: &[u8], out: &mut Vec<u8>) {
    match bytes.len() {
        length @ 0..=0xff => out.extend([0xc4, length as u8]),
        length @ 0x100..=0xffff => tagged(0xc5, &(length as u16).to_be_bytes(), out),
        length => tagged(0xc6, &(length as u32).to_be_bytes(), out),
    }
    out.extend(bytes);
}

fn array(length: usize, out: &mut Vec<u8>) {
    match length {
        0..=15 => out.push(0x90 | length as u8),
        16..=0xffff => tagged(0xdc, &(length as u16).to_be_bytes(), out),
        _ => tagged(0xdd, &(length as u32).to_be_bytes(), out),
    }
}

fn map(length: usize, out: &mut Vec<u8>) {
    match length {
        0..=15 => out.push(0x80 | length as u8),
        16..=0xffff => tagged(0xde, &(length as u16).to_be_bytes(), out),
        _ => tagged(0xdf, &(length as u32).to_be_bytes(), out),
    }
}

fn unknown(unknown: &Unknown, out: &mut Vec<u8>) {
    if unknown.ty == Type::DYNAMIC || unknown.refinement == Refinement::default() {
        return out.extend([0xd4, PLAIN_UNKNOWN, 0]);
    }
    let inside = refinement(&unknown.refinement);
    match inside.len() {
        2 => out.extend([0xd5, REFINED_UNKNOWN]),
        4 => out.extend([0xd6, REFINED_UNKNOWN]),
        8 => out.extend([0xd7, REFINED_UNKNOWN]),
        16 => out.extend([0xd8, REFINED_UNKNOWN]),
        length @ 0..=0xff => out.extend([0xc7, length as u8, REFINED_UNKNOWN]),
        length => {
            tagged(0xc8, &(length as u16).to_be_bytes(), out);
            out.push(REFINED_UNKNOWN);
        }
    }
    out.extend(inside);
}

fn refinement(it: &Refinement) -> Vec<u8> {
    let (mut count, mut rest) = (0, Vec::new());
    let mut key = |key: u64, out: &mut Vec<u8>| {
        count += 1;
        out.push(key as u8);
    };
    if it.not_null {
        key(key::NULL, &mut rest);
        rest.push(0xc2);
    }
    if let Some(prefix) = &it.prefix {
        key(key::PREFIX, &mut rest);
        string(shortened(prefix), &mut rest);
    }
    for (at, bound) in [(key::LOWER, &it.lower), (key::UPPER, &it.upper)] {
        if let Some((bound, inclusive)) = bound {
            key(at, &mut rest);
            array(2, &mut rest);
            number(bound, &mut rest);
            rest.push(if *inclusive { 0xc3 } else { 0xc2 });
        }
    }
    for (at, length) in [(key::MIN_LENGTH, it.min_length), (key::MAX_LENGTH, it.max_length)] {
        if let Some(length) = length {
            key(at, &mut rest);
            whole(i64::try_from(length).unwrap_or(i64::MAX), &mut rest);
        }
    }
    let mut out = vec![0x80 | count];
    out.extend(rest);
    out
}

fn shortened(prefix: &str) -> &str {
    use unicode_segmentation::UnicodeSegmentation;
    if prefix.len() <= PREFIX {
        return prefix;
    }
    let end = prefix.grapheme_indices(true).map(|it| it.0).take_while(|it| *it <= PREFIX).last();
    &prefix[..end.unwrap_or(0)]
}
