//! Which rows of a file may be wanted, as far as it says what its pages hold: rows stand sorted, so that most pages can be passed over.

use std::collections::BTreeSet;
use std::ops::Range;

use parquet::arrow::arrow_reader::RowSelection;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::page_index::column_index::ColumnIndexMetaData;

use super::tables::Table;

/// Returns the rows of the pages that may hold one of the texts in each of the columns; nothing where any row may be wanted.
pub fn that_may_hold(
    about: &ParquetMetaData,
    table: &Table,
    only: &[(&str, BTreeSet<String>)],
) -> Option<RowSelection> {
    let total: usize = about.row_groups().iter().map(|it| it.num_rows() as usize).sum();
    let of_columns = only.iter().filter_map(|(name, texts)| {
        let ranges = of_column(about, table.column(name)?, texts)?;
        Some(RowSelection::from_consecutive_ranges(ranges.into_iter(), total))
    });
    of_columns.reduce(|all, it| all.intersection(&it))
}

/// The rows of one column; nothing where the file does not say.
fn of_column(
    about: &ParquetMetaData,
    column: usize,
    texts: &BTreeSet<String>,
) -> Option<Vec<Range<usize>>> {
    let (indexes, offsets) = (about.column_index()?, about.offset_index()?);
    let (mut ranges, mut first) = (Vec::new(), 0);
    for (number, group) in about.row_groups().iter().enumerate() {
        let end = first + group.num_rows() as usize;
        let ColumnIndexMetaData::BYTE_ARRAY(index) = indexes.get(number)?.get(column)? else {
            return None;
        };
        let pages = offsets.get(number)?.get(column)?.page_locations();
        for (at, page) in pages.iter().enumerate() {
            let from = first + page.first_row_index as usize;
            let next = pages.get(at + 1).map_or(end, |it| first + it.first_row_index as usize);
            // What is long is cut off there: low ends below, high ends above what is in the page.
            let may_hold = match (index.min_value(at), index.max_value(at)) {
                (Some(low), Some(high)) => {
                    texts.iter().any(|it| low <= it.as_bytes() && it.as_bytes() <= high)
                }
                _ => true,
            };
            if may_hold {
                ranges.push(from..next);
            }
        }
        first = end;
    }
    Some(ranges)
}
