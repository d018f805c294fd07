//! Splits a text into words as a shell does, without expanding anything.

/// Splits at blanks; quotes and backslashes keep blanks within a word.
pub fn split(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\r' | '\n' => words.extend(word.take()),
            '\\' => word
                .get_or_insert_default()
                .push(chars.next().ok_or("invalid command line string")?),
            '\'' => quoted(&mut chars, '\'', word.get_or_insert_default())?,
            '"' => quoted(&mut chars, '"', word.get_or_insert_default())?,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(
    chars: &mut std::str::Chars<'_>,
    quote: char,
    word: &mut String,
) -> Result<(), &'static str> {
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => return Ok(()),
            '\\' if quote == '"' => word.push(chars.next().ok_or("invalid command line string")?),
            c => word.push(c),
        }
    }
    Err("invalid command line string")
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_are_split_at_blanks_outside_quotes() {
        let all = split(r#" -var 'a=b c'  -var="x \"y\"" d\ e '' "#).expect("it is complete");
        assert_eq!(all, ["-var", "a=b c", "-var=x \"y\"", "d e", ""]);
    }

    #[test]
    fn an_open_quote_is_refused() {
        assert!(split("'a").is_err());
        assert!(split("\"a\\").is_err());
        assert!(split("a\\").is_err());
    }
}
