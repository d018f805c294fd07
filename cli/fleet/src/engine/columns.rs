//! Rows of a database as columns: appended as the database grows, each with its position.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, UInt32Array};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use entail::datalog::Table;
use entail::datalog::plan::Range;
use entail::datalog::values::{is_loose, is_open, is_secret};

/// What the column of positions is called.
pub const AT: &str = "at";

/// How many rows one batch has at most.
const BATCH: usize = 8192;

/// The columns of one relation, as far as they were read.
#[derive(Debug, Default)]
pub struct Columns {
    /// Each with the position of its first row.
    batches: Vec<(usize, RecordBatch)>,
    rows: usize,
    is_plain: bool,
}

/// Returns what the column of a number is called.
pub fn name(column: usize) -> String {
    format!("c{column}")
}

/// Returns the schema of a relation of so many columns.
pub fn schema(columns: usize) -> Arc<Schema> {
    let words = (0..columns).map(|it| Field::new(name(it), DataType::Int64, false));
    let at = Field::new(AT, DataType::UInt32, false);
    Arc::new(Schema::new(words.chain([at]).collect::<Vec<_>>()))
}

impl Columns {
    /// Returns whether all is known of each row: it is certain, and its words equal nothing but themselves.
    pub fn is_plain(&self) -> bool {
        self.is_plain || self.rows == 0
    }

    /// Takes in the rows that have come since the last time.
    ///
    /// # Errors
    ///
    /// If columns cannot be made of them.
    pub fn take_in(&mut self, table: &Table, width: usize) -> Result<(), ArrowError> {
        if self.rows == 0 {
            self.is_plain = true;
        }
        self.is_plain &= table.is_all_certain();
        while self.rows < table.len() {
            let end = table.len().min(self.rows + BATCH);
            let positions = self.rows..end;
            let mut columns: Vec<Vec<i64>> = vec![Vec::with_capacity(positions.len()); width];
            for position in positions.clone() {
                for (column, word) in columns.iter_mut().zip(table.row(position)) {
                    self.is_plain &= !(is_open(*word) || is_secret(*word) || is_loose(*word));
                    column.push(word.cast_signed());
                }
            }
            let words = columns.into_iter().map(|it| Arc::new(Int64Array::from(it)) as ArrayRef);
            let at: UInt32Array = positions.map(|it| it as u32).collect();
            let all = words.chain([Arc::new(at) as ArrayRef]).collect();
            self.batches.push((self.rows, RecordBatch::try_new(schema(width), all)?));
            self.rows = end;
        }
        Ok(())
    }

    /// Returns the rows in a range of positions.
    pub fn within(&self, range: Range) -> Vec<RecordBatch> {
        let cut = |(start, batch): &(usize, RecordBatch)| {
            let from = range.from.max(*start);
            let to = range.to.min(start + batch.num_rows());
            (from < to).then(|| batch.slice(from - start, to - from))
        };
        self.batches.iter().filter_map(cut).collect()
    }
}
