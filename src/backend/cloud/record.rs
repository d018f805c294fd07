//! Lock records as OpenTofu writes them, to the byte: where a store compares whole records, one byte more is another lock.

use crate::backend::lock::LockInfo;
use crate::error::{Error, ErrorContext};

/// Writes a record.
pub fn write(info: &LockInfo) -> String {
    let text = serde_json::to_string(info).expect("texts can always be written");
    // Go escapes these, which can only stand inside of texts.
    let mut escaped = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                escaped.push_str(&format!("\\u{:04x}", u32::from(it)));
            }
            _ => escaped.push(it),
        }
    }
    escaped
}

/// Reads a record, whoever has written it.
///
/// # Errors
///
/// If it is none. What is there is not repeated: it may be anything.
pub fn read(text: &[u8]) -> Result<LockInfo, Error> {
    let info: LockInfo = serde_json::from_slice(text).map_err(Error::of).context(
        "the lock's record cannot be read: another program or a newer version may have written it",
    )?;
    match info.id.is_empty() {
        true => Err("the lock's record names no ID".to_owned().into()),
        false => Ok(info),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_the_bytes_that_go_writes() {
        let info = LockInfo {
            id: "1".into(),
            operation: "OperationTypeApply".into(),
            who: "a<b>&c@host".into(),
            path: "b/k".into(),
            ..LockInfo::default()
        };
        assert_eq!(
            write(&info),
            r#"{"ID":"1","Operation":"OperationTypeApply","Info":"","Who":"a\u003cb\u003e\u0026c@host","Version":"","Created":"","Path":"b/k"}"#
        );
        assert_eq!(read(write(&info).as_bytes()), Ok(info));
    }

    #[test]
    fn what_is_no_record_is_told() {
        for broken in ["", "{", "[]", "{}", r#"{"ID":7}"#] {
            let error = read(broken.as_bytes()).expect_err(broken);
            assert!(error.words().contains("the lock's record"), "{error}");
        }
    }
}
