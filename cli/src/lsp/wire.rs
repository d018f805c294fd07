//! Messages as they go over a stream: a header with a length, and JSON.
//!
//! What is no message is told, and reading goes on behind it: a broken message ends nothing.

use std::io::{self, BufRead, Read};

use entail::error::Error;
use lsp_server::Message;
use serde_json::Value as Json;

/// The longest message that is taken, in bytes: a length that nobody means is no length.
const LONGEST: usize = 1 << 30;

/// What was read.
#[derive(Debug)]
pub enum Incoming {
    /// A message.
    Message(Message),
    /// Something that is none: the error's code, and what is wrong.
    Broken(i32, String),
}

/// Codes of JSON-RPC.
pub const PARSE_ERROR: i32 = -32700;
pub const INVALID_REQUEST: i32 = -32600;

/// Reads the next message; nothing at the end of the stream.
///
/// # Errors
///
/// If the stream cannot be read.
pub fn read(input: &mut dyn BufRead) -> io::Result<Option<Incoming>> {
    let Some(length) = header(input)? else { return Ok(None) };
    let length = match length {
        Ok(length) => length,
        Err(why) => {
            return Ok(Some(Incoming::Broken(PARSE_ERROR, why.words().to_owned())));
        }
    };
    let mut bytes = Vec::new();
    // Room is made for what comes, not for what is announced.
    input.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Ok(None);
    }
    Ok(Some(message(&bytes)))
}

fn message(bytes: &[u8]) -> Incoming {
    let value: Json = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(why) => return Incoming::Broken(PARSE_ERROR, format!("This is no JSON: {why}.")),
    };
    // Numbers are kept as they are written, which the types of messages take only by way of a value.
    match serde_json::from_value(value) {
        Ok(message) => Incoming::Message(message),
        Err(_) => Incoming::Broken(
            INVALID_REQUEST,
            "This is no message: it has neither a method nor a result.".to_owned(),
        ),
    }
}

/// Reads the header of a message: its length, or what is wrong with it.
fn header(input: &mut dyn BufRead) -> io::Result<Option<Result<usize, Error>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if (&mut *input).take(1 << 16).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            match length {
                Some(length) => return Ok(Some(length)),
                // Empty lines between messages mean nothing.
                None => continue,
            }
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(match value.trim().parse::<usize>() {
                Ok(length) if length <= LONGEST => Ok(length),
                _ => Err(format!("{:?} is no length of a message.", value.trim()).into()),
            });
        } else if !name.eq_ignore_ascii_case("content-type") && length.is_none() {
            return Ok(Some(Err("A message begins with Content-Length.".into())));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn all(text: &str) -> Vec<String> {
        let mut input = Cursor::new(text.as_bytes());
        let mut found = Vec::new();
        while let Some(it) = read(&mut input).expect("bytes in memory can be read") {
            found.push(match it {
                Incoming::Message(Message::Request(it)) => it.method,
                Incoming::Message(Message::Notification(it)) => it.method,
                Incoming::Message(Message::Response(it)) => format!("answer {}", it.id),
                Incoming::Broken(code, _) => code.to_string(),
            });
        }
        found
    }

    fn framed(text: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    }

    #[test]
    fn what_is_no_message_is_told_and_the_next_is_read() {
        let good = framed(r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#);
        let text = [
            framed("{\"id\":"),
            framed("[]"),
            good.clone(),
            "Hello\r\n".to_owned(),
            framed(r#"{"jsonrpc":"2.0","method":"b","params":{"x":1}}"#),
            "Content-Length: 99999999999999999999\r\n\r\n".to_owned(),
            framed(r#"{"jsonrpc":"2.0","id":"x","result":null}"#),
        ];
        let expected = ["-32700", "-32600", "a", "-32700", "b", "-32700", "answer \"x\""];
        assert_eq!(all(&text.concat()), expected);
    }
}
