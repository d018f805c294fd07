//! Reads comma-separated values as RFC 4180 has them, with the checks that people rely on.

use crate::error::Error;

/// One record and the line on which it starts.
pub(super) struct Record {
    pub fields: Vec<String>,
    pub line: usize,
}

/// Returns all records; empty lines are passed over. The error is a sentence with the line.
pub(super) fn records(text: &str) -> Result<Vec<Record>, Error> {
    let text = text.replace("\r\n", "\n");
    let mut reader = Reader { rest: &text, line: 1 };
    let mut records = Vec::new();
    while !reader.rest.is_empty() {
        if let Some(rest) = reader.rest.strip_prefix('\n') {
            reader.rest = rest;
            reader.line += 1;
            continue;
        }
        records.push(reader.record()?);
    }
    Ok(records)
}

struct Reader<'t> {
    rest: &'t str,
    line: usize,
}

impl Reader<'_> {
    fn record(&mut self) -> Result<Record, Error> {
        let line = self.line;
        let mut fields = Vec::new();
        loop {
            let field = match self.rest.strip_prefix('"') {
                Some(rest) => {
                    self.rest = rest;
                    self.quoted()?
                }
                None => self.plain()?,
            };
            fields.push(field);
            match self.rest.chars().next() {
                Some(',') => self.rest = &self.rest[1..],
                Some(_) => {
                    self.rest = &self.rest[1..];
                    self.line += 1;
                    return Ok(Record { fields, line });
                }
                None => return Ok(Record { fields, line }),
            }
        }
    }

    fn wrong(&self, what: &str) -> Error {
        format!("CSV parse error on line {}: {what}", self.line).into()
    }

    fn plain(&mut self) -> Result<String, Error> {
        let end = self.rest.find([',', '\n']).unwrap_or(self.rest.len());
        let (field, rest) = self.rest.split_at(end);
        if field.contains('"') {
            return Err(self.wrong("bare \" in non-quoted-field"));
        }
        self.rest = rest;
        // A lone carriage return at the very end of the text belongs to the line end.
        Ok(if rest.is_empty() { field.strip_suffix('\r').unwrap_or(field) } else { field }
            .to_owned())
    }

    fn quoted(&mut self) -> Result<String, Error> {
        let mut field = String::new();
        loop {
            let Some(end) = self.rest.find('"') else {
                self.line += self.rest.matches('\n').count();
                return Err(self.wrong("extraneous or missing \" in quoted-field"));
            };
            let (part, rest) = self.rest.split_at(end);
            field.push_str(part);
            self.line += part.matches('\n').count();
            self.rest = &rest[1..];
            match self.rest.chars().next() {
                Some('"') => {
                    field.push('"');
                    self.rest = &self.rest[1..];
                }
                None | Some(',' | '\n') => return Ok(field),
                Some('\r') if self.rest == "\r" => {
                    self.rest = "";
                    return Ok(field);
                }
                Some(_) => {
                    return Err(self.wrong("extraneous or missing \" in quoted-field"));
                }
            }
        }
    }
}
