//! Answers records of the corpora: `conformance expr|fmt|parse`, JSON Lines in and out, one answer for each line.

mod answer;

use std::io::{BufRead, Write};
use std::process::ExitCode;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Expressions nest deeply, and whoever asks for one is to be answered all the same.
const STACK: usize = 512 << 20;

fn main() -> ExitCode {
    let Some(answer) = std::env::args().nth(1).and_then(|it| chosen(&it)) else {
        write(&mut std::io::stderr(), "Usage: conformance expr|fmt|parse\n");
        return ExitCode::from(2);
    };
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || converse(answer));
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn chosen(what: &str) -> Option<fn(&Value) -> Value> {
    match what {
        "expr" => Some(expr),
        "fmt" => Some(fmt),
        "parse" => Some(parse),
        _ => None,
    }
}

fn converse(answer: fn(&Value) -> Value) {
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(record) = serde_json::from_str::<Value>(&line) else { continue };
        let mut answered = answer(&record);
        answered["id"] = record["id"].clone();
        write(&mut out, &format!("{}\n", ascii(&answered.to_string())));
    }
}

/// Escapes what is not ASCII: some readers take more than a line feed for the end of a line.
fn ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter.is_ascii() {
            true => out.push(letter),
            false => letter
                .encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|it| out.push_str(&format!("\\u{it:04x}"))),
        }
    }
    out
}

/// Writes and flushes: whoever reads knows after a crash which record caused it.
fn write(stream: &mut dyn Write, text: &str) {
    // Whoever reads may have gone; then there is nobody to tell.
    stream.write_all(text.as_bytes()).and_then(|()| stream.flush()).unwrap_or_default();
}

fn text<'a>(record: &'a Value, name: &str) -> &'a str {
    record[name].as_str().unwrap_or_default()
}

fn expr(record: &Value) -> Value {
    let folder = std::env::current_dir().unwrap_or_default();
    match answer::evaluate(text(record, "expr"), &folder) {
        Ok(it) => json!({
            "json": it.json, "type": it.ty, "console": it.console, "sensitive": it.is_sensitive,
        }),
        Err(it) => json!({ "error": it.summary, "detail": it.detail }),
    }
}

fn fmt(record: &Value) -> Value {
    match answer::format(text(record, "in")) {
        Ok(out) => json!({ "out": out }),
        Err(it) => json!({ "error": it.summary, "detail": it.detail }),
    }
}

fn parse(record: &Value) -> Value {
    let Ok(source) = std::fs::read(text(record, "path")) else { return json!({ "valid": false }) };
    match digest(&source, text(record, "syntax") == "json") {
        Some(formatted) => json!({ "valid": true, "fmt_sha256": formatted }),
        None => json!({ "valid": false }),
    }
}

/// Reads a file; nothing if it is not valid, else the digest of its formatted text (of the file itself, for JSON).
fn digest(source: &[u8], is_json: bool) -> Option<String> {
    let text = std::str::from_utf8(source).ok()?;
    let hashed = |text: &str| {
        Sha256::digest(text.as_bytes()).iter().map(|it| format!("{it:02x}")).collect::<String>()
    };
    if !is_json {
        return answer::format(text).ok().as_deref().map(hashed);
    }
    let (_, problems) = entail::syntax::parse_json(entail::diagnostic::FileId::default(), text);
    (!problems.has_errors()).then(|| hashed(text))
}
