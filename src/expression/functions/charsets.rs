//! Character encodings by their IANA names.

use encoding_rs::{DecoderResult, Encoding, UTF_16BE, UTF_16LE};

use super::Failure;
use crate::world::PRODUCT;

/// How text becomes bytes.
enum Charset {
    /// One of those that web pages use.
    Web(&'static Encoding),
    Utf16 {
        big: bool,
        mark: bool,
    },
    /// The first 256 characters.
    Latin1,
    /// ASCII, and these from 128 on.
    Table(&'static str),
}

const IBM437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";
const IBM850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";
const IBM852: &str = "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u{ad}˝˛ˇ˘§÷¸°¨˙űŘř■\u{a0}";

/// Finds an encoding: its name and how it works.
fn find(name: &str) -> Option<(&'static str, Charset)> {
    let utf16 = |big, mark| Charset::Utf16 { big, mark };
    let lower = name.to_ascii_lowercase();
    Some(match lower.as_str() {
        "utf-16be" => ("UTF-16BE", utf16(true, false)),
        "utf-16le" => ("UTF-16LE", utf16(false, false)),
        "utf-16" => ("UTF-16", utf16(true, true)),
        "iso-8859-1" | "iso_8859-1" | "iso_8859-1:1987" | "iso-ir-100" | "latin1" | "l1"
        | "ibm819" | "cp819" => ("ISO-8859-1", Charset::Latin1),
        "ibm437" | "cp437" | "437" | "cspc8codepage437" => ("IBM437", Charset::Table(IBM437)),
        "ibm850" | "cp850" | "850" | "cspc850multilingual" => ("IBM850", Charset::Table(IBM850)),
        "ibm852" | "cp852" | "852" | "cspcp852" => ("IBM852", Charset::Table(IBM852)),
        "gbk" | "cp936" | "ms936" | "windows-936" => ("GBK", Charset::Web(encoding_rs::GBK)),
        // These the web takes for names of something else, or knows though IANA does not.
        "utf8" | "us-ascii" | "ascii" | "unicode" | "iso-8859-9" | "iso-8859-11"
        | "x-user-defined" | "replacement" => return None,
        _ => {
            let found = Encoding::for_label(lower.as_bytes())?;
            (found.name(), Charset::Web(found))
        }
    })
}

fn charset(name: &str) -> Result<(&'static str, Charset), Failure> {
    find(name).ok_or_else(|| {
        Failure::argument(
            1,
            format!(
                "{name:?} is not a supported IANA encoding name or alias in this {PRODUCT} version"
            ),
        )
    })
}

/// Encodes text.
pub(super) fn encode(text: &str, name: &str) -> Result<Vec<u8>, Failure> {
    let (name, charset) = charset(name)?;
    let impossible = || {
        Failure::argument(
            0,
            format!("the given string contains characters that cannot be represented in {name}"),
        )
    };
    match charset {
        Charset::Web(encoding) => match encoding.encode(text) {
            (bytes, _, false) => Ok(bytes.into_owned()),
            _ => Err(impossible()),
        },
        Charset::Utf16 { big, mark } => {
            let mark = if mark { Some(0xfeff) } else { None };
            let units = mark.into_iter().chain(text.encode_utf16());
            Ok(units.flat_map(|it| if big { it.to_be_bytes() } else { it.to_le_bytes() }).collect())
        }
        Charset::Latin1 => {
            text.chars().map(|it| u8::try_from(it as u32).map_err(|_| impossible())).collect()
        }
        Charset::Table(table) => {
            let byte = |letter: char| {
                let at = table.chars().position(|it| it == letter);
                if letter.is_ascii() { Some(letter as u8) } else { at.map(|at| 128 + at as u8) }
            };
            text.chars().map(|it| byte(it).ok_or_else(impossible)).collect()
        }
    }
}

/// Decodes bytes.
pub(super) fn decode(bytes: &[u8], name: &str) -> Result<String, Failure> {
    let (name, charset) = charset(name)?;
    let impossible = || {
        Failure::argument(
            0,
            format!("the given string contains symbols that are not defined for {name}"),
        )
    };
    let by = |encoding: &'static Encoding, bytes: &[u8]| {
        let mut text = String::with_capacity(bytes.len() * 3 + 16);
        match encoding
            .new_decoder_without_bom_handling()
            .decode_to_string_without_replacement(bytes, &mut text, true)
            .0
        {
            DecoderResult::InputEmpty
                if !text.chars().any(|it| ('\u{80}'..='\u{9f}').contains(&it)) =>
            {
                Ok(text)
            }
            _ => Err(impossible()),
        }
    };
    match charset {
        Charset::Web(encoding) => by(encoding, bytes),
        Charset::Utf16 { big, mark: true } => match bytes {
            [0xff, 0xfe, rest @ ..] => by(UTF_16LE, rest),
            [0xfe, 0xff, rest @ ..] => by(UTF_16BE, rest),
            other => by(if big { UTF_16BE } else { UTF_16LE }, other),
        },
        Charset::Utf16 { big, .. } => by(if big { UTF_16BE } else { UTF_16LE }, bytes),
        Charset::Latin1 => Ok(bytes.iter().map(|it| char::from(*it)).collect()),
        Charset::Table(table) => Ok(bytes
            .iter()
            .map(|it| {
                if it.is_ascii() {
                    char::from(*it)
                } else {
                    table.chars().nth(usize::from(it - 128)).unwrap_or('\u{fffd}')
                }
            })
            .collect()),
    }
}
