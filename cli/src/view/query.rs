//! Answers of queries: tables, and comma-separated values.

use entail::diagnostic::Diagnostic;
use entail::policy::query::{Answer, Cell};
use entail::value::text::shown;
use unicode_width::UnicodeWidthStr;

use super::style::Style;

/// Returns an answer as a table: certain rows, then those that are only possible, then how many there are. What has no variables
/// is true, false, or possible.
pub fn table(answer: &Answer, style: &Style) -> String {
    if answer.columns.is_empty() {
        return format!("{}\n", truth(answer));
    }
    let (certain, possible) = (answer.certain.len(), answer.possible.len());
    let mut out = String::new();
    if certain > 0 {
        out.push_str(&rows(&answer.columns, &answer.certain, style));
        out.push('\n');
    }
    if possible > 0 {
        out.push_str("Only possible, because not everything is known yet:\n");
        out.push_str(&rows(&answer.columns, &answer.possible, style));
        out.push('\n');
    }
    let count = match certain {
        0 => "No rows".to_owned(),
        1 => "1 row".to_owned(),
        many => format!("{many} rows"),
    };
    match possible {
        0 => out.push_str(&format!("{count}.\n")),
        possible => out.push_str(&format!("{count}, {possible} possible.\n")),
    }
    out
}

fn truth(answer: &Answer) -> &'static str {
    match answer.truth() {
        Some(true) => "true",
        Some(false) => "false",
        None => "possible",
    }
}

fn rows(columns: &[String], rows: &[Vec<Cell>], style: &Style) -> String {
    let cells: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(visible).collect()).collect();
    let width = |at: usize| {
        let all = cells.iter().map(|row| row[at].width());
        all.max().unwrap_or(0).max(columns[at].width())
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).map(|(it, width)| {
            let gap = width - it.width();
            format!("{it}{}", " ".repeat(gap))
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut out = format!("{}\n", style.bold(&line(columns)));
    for row in &cells {
        out.push_str(&line(row));
        out.push('\n');
    }
    out
}

/// A cell in one line, every character to be seen.
fn visible(cell: &Cell) -> String {
    let text = cell.text();
    match text.is_empty() || text.chars().any(char::is_control) || text.trim() != text {
        true => shown(&text),
        false => text,
    }
}

/// Returns an answer as RFC 4180 has it: the columns, then the certain rows. Possible ones come with a column that says so.
pub fn csv(answer: &Answer, with_possible: bool) -> String {
    let mut header: Vec<&str> = answer.columns.iter().map(String::as_str).collect();
    let mut records: Vec<Vec<String>> = Vec::new();
    if header.is_empty() {
        return format!("holds\r\n{}\r\n", truth(answer));
    }
    if with_possible {
        header.push("certainty");
    }
    let both = [(&answer.certain, "certain"), (&answer.possible, "possible")];
    for (rows, certainty) in both.into_iter().take(1 + usize::from(with_possible)) {
        for row in rows {
            let mut record: Vec<String> = row.iter().map(Cell::text).collect();
            record.extend(with_possible.then(|| certainty.to_owned()));
            records.push(record);
        }
    }
    let terminator = csv::Terminator::CRLF;
    let mut writer = csv::WriterBuilder::new().terminator(terminator).from_writer(Vec::new());
    let header = std::iter::once(header.into_iter().map(str::to_owned).collect());
    for record in header.chain(records) {
        writer.write_record(&record).expect("memory takes every record");
    }
    let bytes = writer.into_inner().expect("memory takes every record");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Rows that a document of certain ones does not have.
pub fn left_out(count: usize) -> Diagnostic {
    let rows = if count == 1 { "1 row is".to_owned() } else { format!("{count} rows are") };
    Diagnostic::warning("Possible rows left out").detail(format!(
        "{rows} only possible, because not everything is known yet. With -possible they are written, too, and a last column says which they are."
    ))
}

#[cfg(test)]
mod tests {
    use entail::policy::query::{Answer, Cell};
    use entail::value::Value;
    use expect_test::expect;

    use super::{Style, csv, table};

    fn answer() -> Answer {
        let name = |it: &str| Cell::Name(it.to_owned());
        Answer {
            columns: vec!["n".to_owned(), "v".to_owned()],
            certain: vec![
                vec![name("a.a"), Cell::Value(Value::string("one, \"two\"\nthree"))],
                vec![name("a.longer"), Cell::Value(Value::int(3))],
                vec![name("a.secret"), Cell::Sensitive],
            ],
            possible: vec![vec![name("a.b"), Cell::Unknown]],
            ..Answer::default()
        }
    }

    #[test]
    fn tables_are_aligned_and_possible_rows_stand_apart() {
        expect![[r#"
            n         v
            a.a       "one, \"two\"\nthree"
            a.longer  3
            a.secret  (sensitive)

            Only possible, because not everything is known yet:
            n    v
            a.b  (known after apply)

            3 rows, 1 possible.
        "#]]
        .assert_eq(&table(&answer(), &Style::default()));
    }

    #[test]
    fn values_with_commas_quotes_and_lines_survive_csv() {
        let text = csv(&answer(), true);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header: Vec<String> =
            reader.headers().expect("a header").iter().map(str::to_owned).collect();
        assert_eq!(header, ["n", "v", "certainty"]);
        let rows: Vec<Vec<String>> = reader
            .records()
            .map(|it| it.expect("a record").iter().map(str::to_owned).collect())
            .collect();
        assert_eq!(rows[0], ["a.a", "one, \"two\"\nthree", "certain"]);
        assert_eq!(rows[3], ["a.b", "(known after apply)", "possible"]);
        assert!(text.starts_with("n,v,certainty\r\n"), "{text}");
        assert_eq!(csv(&answer(), false).matches("certain").count(), 0);
    }
}
