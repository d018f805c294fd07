//! The rows of some stacks, collected, sorted, and written as one file per table. Texts are kept once.

use std::sync::Arc;

use super::tables::{Column, TABLES, Table};
use crate::texts::Texts;
use arrow::array::{
    Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, StringBuilder,
};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use bytes::Bytes;
use entail::error::Error;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

/// A cell that holds nothing: the number of no text.
const NOTHING: u32 = u32::MAX;

/// How many rows stand in one page, at most: what a reader may pass over at once.
const PAGE: usize = 4096;

/// Rows of all tables.
#[derive(Debug)]
pub struct Bucket {
    texts: Texts,
    rows: Vec<Vec<u32>>,
    /// The places of texts in order, until a row is added.
    ranks: Vec<u32>,
}

impl Default for Bucket {
    fn default() -> Bucket {
        Bucket {
            texts: Texts::default(),
            rows: TABLES.iter().map(|_| Vec::new()).collect(),
            ranks: Vec::new(),
        }
    }
}

impl Bucket {
    /// Returns the number of a text, which makes many rows of one cheap.
    pub fn text(&mut self, text: &str) -> u32 {
        self.texts.number(text)
    }

    /// Adds a row of numbers of texts; nothing stands for null.
    pub fn row(&mut self, table: usize, cells: &[Option<u32>]) {
        self.ranks.clear();
        self.rows[table].extend(cells.iter().map(|it| it.unwrap_or(NOTHING)));
    }

    /// Adds a row of texts.
    pub fn add(&mut self, table: &Table, cells: &[&str]) {
        let cells: Vec<Option<u32>> = cells.iter().map(|it| Some(self.text(it))).collect();
        self.row(table.number(), &cells);
    }

    /// Returns the rows of a table, each with its texts.
    pub fn rows(&self, table: &Table) -> impl Iterator<Item = Vec<Option<&str>>> {
        let text = |it: &u32| self.texts.get(*it);
        self.rows[table.number()]
            .chunks(table.columns.len())
            .map(move |row| row.iter().map(text).collect())
    }

    /// Returns the rows of a table, each as the numbers of its texts.
    pub fn cells(&self, table: &Table) -> impl Iterator<Item = &[u32]> {
        self.rows[table.number()].chunks(table.columns.len())
    }

    /// Returns the text of a number.
    pub fn shown(&self, number: u32) -> Option<&str> {
        self.texts.get(number)
    }

    /// Takes in the rows of a file that stay.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn take_in(
        &mut self,
        table: &Table,
        file: Bytes,
        stays: &dyn Fn(&[Option<&str>]) -> bool,
    ) -> Result<(), Error> {
        let broken = |why: &dyn std::fmt::Display| Error::from(format!("it cannot be read: {why}"));
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|it| broken(&it))?;
        for batch in reader.with_batch_size(8192).build().map_err(|it| broken(&it))? {
            let batch = batch.map_err(|it| broken(&it))?;
            let columns = batch.columns().iter().map(|it| cast(it, &DataType::Utf8));
            let columns: Vec<ArrayRef> =
                columns.collect::<Result<_, _>>().map_err(|it| broken(&it))?;
            let texts: Option<Vec<&StringArray>> =
                columns.iter().map(|it| it.as_any().downcast_ref()).collect();
            let texts = texts.ok_or_else(|| broken(&"its columns are others"))?;
            if texts.len() != table.columns.len() {
                return Err(broken(&"its columns are others"));
            }
            self.take_in_rows(table, &texts, stays);
        }
        Ok(())
    }

    fn take_in_rows(
        &mut self,
        table: &Table,
        texts: &[&StringArray],
        stays: &dyn Fn(&[Option<&str>]) -> bool,
    ) {
        let (mut row, mut cells) = (vec![None; texts.len()], vec![None; texts.len()]);
        // Rows stand sorted: most cells have the text of the row before.
        let mut last: Vec<(&str, u32)> = vec![("", self.text("")); texts.len()];
        for at in 0..texts.first().map_or(0, |it| it.len()) {
            for (cell, column) in row.iter_mut().zip(texts) {
                *cell = column.is_valid(at).then(|| column.value(at));
            }
            if !stays(&row) {
                continue;
            }
            for ((cell, text), last) in cells.iter_mut().zip(&row).zip(&mut last) {
                *cell = text.map(|it| {
                    if last.0 != it {
                        *last = (it, self.text(it));
                    }
                    last.1
                });
            }
            self.row(table.number(), &cells);
        }
    }

    /// Returns the file of a table, and how many rows it has; nothing where it has none.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn file(&mut self, table: &Table) -> Result<Option<(Bytes, usize)>, Error> {
        let count = self.rows[table.number()].len() / table.columns.len();
        if count == 0 {
            return Ok(None);
        }
        let order = self.sorted(table);
        let batch = self.batch(table, &order)?;
        let failed = |why: parquet::errors::ParquetError| Error::from(format!("{why}"));
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties(table)))
            .map_err(failed)?;
        writer.write(&batch).map_err(failed)?;
        writer.close().map_err(failed)?;
        Ok(Some((bytes.into(), batch.num_rows())))
    }

    /// The rows in order, each once.
    fn sorted(&mut self, table: &Table) -> Vec<u32> {
        if self.ranks.is_empty() {
            self.ranks = self.ranked();
        }
        let (rows, width) = (&self.rows[table.number()], table.columns.len());
        let ranks = &self.ranks;
        let key = |row: u32| {
            let start = row as usize * width;
            let rank = |column: usize| match rows[start + column] {
                NOTHING => NOTHING,
                // Values are only told apart: nobody looks for one by its place.
                it if table.columns[column].1 == Column::Json => it,
                it => ranks[it as usize],
            };
            let rest = (0..width).filter(|it| !table.order.contains(it));
            table.order.iter().copied().chain(rest).map(rank).collect::<smallkey::Key>()
        };
        let mut order: Vec<(smallkey::Key, u32)> =
            (0..(rows.len() / width) as u32).map(|it| (key(it), it)).collect();
        order.sort_unstable();
        order.dedup_by(|a, b| a.0 == b.0);
        order.into_iter().map(|it| it.1).collect()
    }

    /// The place of each text among all in order; those that are values alone have none.
    fn ranked(&self) -> Vec<u32> {
        let mut is_sorted_by = vec![false; self.texts.len()];
        for (table, rows) in TABLES.iter().zip(&self.rows) {
            let columns = table.columns.iter().enumerate().filter(|it| it.1.1 != Column::Json);
            let columns: Vec<usize> = columns.map(|it| it.0).collect();
            for row in rows.chunks(table.columns.len()) {
                for cell in columns.iter().map(|it| row[*it]).filter(|it| *it != NOTHING) {
                    is_sorted_by[cell as usize] = true;
                }
            }
        }
        let all = 0..self.texts.len() as u32;
        let mut sorted: Vec<u32> = all.filter(|it| is_sorted_by[*it as usize]).collect();
        sorted.sort_unstable_by_key(|it| self.texts.get(*it));
        let mut ranks = vec![NOTHING; self.texts.len()];
        for (rank, text) in sorted.into_iter().enumerate() {
            ranks[text as usize] = rank as u32;
        }
        ranks
    }

    fn batch(&self, table: &Table, order: &[u32]) -> Result<RecordBatch, Error> {
        let (rows, width) = (&self.rows[table.number()], table.columns.len());
        let columns = table.columns.iter().enumerate().map(|(at, (_, column))| {
            let cells = order.iter().map(|row| self.texts.get(rows[*row as usize * width + at]));
            match column {
                Column::Number => {
                    let numbers = cells.map(|it| it.and_then(|it| it.parse::<i64>().ok()));
                    Arc::new(numbers.collect::<Int64Array>()) as ArrayRef
                }
                Column::Flag => {
                    Arc::new(cells.map(|it| it.map(|it| it == "true")).collect::<BooleanArray>())
                }
                _ => {
                    let mut texts = StringBuilder::new();
                    cells.for_each(|it| texts.append_option(it));
                    Arc::new(texts.finish())
                }
            }
        });
        RecordBatch::try_new(table.schema(), columns.collect())
            .map_err(|why| Error::from(format!("{why}")))
    }
}

/// How files are written: small, and so that a reader finds its pages.
fn properties(table: &Table) -> WriterProperties {
    let level = ZstdLevel::try_new(3).unwrap_or_default();
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_data_page_row_count_limit(PAGE);
    for (name, column) in table.columns {
        // Addresses stand in order, and one begins as the last.
        if *column == Column::Node {
            let path = ColumnPath::from(*name);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BYTE_ARRAY);
        }
        if *column == Column::Json {
            let path = ColumnPath::from(*name);
            properties = properties.set_column_statistics_enabled(path, EnabledStatistics::None);
        }
    }
    properties.build()
}

/// Keys by which rows are sorted: as many numbers as a table has columns, without room of their own on the heap.
mod smallkey {
    /// The most columns of a table.
    const MOST: usize = 6;

    /// A key.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Key([u32; MOST]);

    impl FromIterator<u32> for Key {
        fn from_iter<I: IntoIterator<Item = u32>>(all: I) -> Key {
            let mut key = Key::default();
            for (cell, it) in key.0.iter_mut().zip(all) {
                *cell = it;
            }
            key
        }
    }

    #[test]
    fn every_table_fits() {
        assert!(crate::lake::TABLES.iter().all(|it| it.columns.len() <= MOST));
    }
}
