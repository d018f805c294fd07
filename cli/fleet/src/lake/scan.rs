//! Reading a lake: only the columns that are wanted, and only the rows that may be, as far as files say where these are.

use std::collections::BTreeSet;

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use bytes::Bytes;
use entail::diagnostic::Diagnostics;
use entail::error::Error;
use parking_lot::Mutex;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowPredicateFn, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowFilter,
};
use parquet::file::metadata::PageIndexPolicy;

use super::catalogue::Catalogue;
use super::pages;
use super::store::Lake;
use super::tables::Table;
use crate::reading;

/// How many rows are looked at at once.
const BATCH: usize = 8192;

/// A lake that is read.
pub struct Scan<'a> {
    lake: &'a Lake,
    catalogue: &'a Catalogue,
}

/// Which rows of a table are wanted.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// The table.
    pub table: &'static Table,
    /// The columns, in the order in which they stand in the table.
    pub columns: Vec<&'a str>,
    /// Columns that hold one of these texts.
    pub only: Vec<(&'a str, BTreeSet<String>)>,
    /// The buckets; nothing for all.
    pub buckets: Option<BTreeSet<u32>>,
}

impl Wanted<'static> {
    /// Returns every row of a table, with all columns.
    pub fn all(table: &'static Table) -> Wanted<'static> {
        let columns = table.columns.iter().map(|it| it.0).collect();
        Wanted { table, columns, only: Vec::new(), buckets: None }
    }
}

impl<'a> Scan<'a> {
    /// Begins to read a lake.
    pub fn new(lake: &'a Lake, catalogue: &'a Catalogue) -> Scan<'a> {
        Scan { lake, catalogue }
    }

    /// Returns the catalogue that is read by.
    pub fn catalogue(&self) -> &Catalogue {
        self.catalogue
    }

    /// Returns the lake.
    pub fn lake(&self) -> &Lake {
        self.lake
    }

    /// Returns the paths of the files of a table.
    fn files(&self, wanted: &Wanted<'_>) -> Vec<&str> {
        let is_wanted = |bucket: u32| wanted.buckets.as_ref().is_none_or(|it| it.contains(&bucket));
        let files = self.catalogue.files_of(wanted.table.name).filter(|it| is_wanted(it.0));
        files.map(|it| it.1.path.as_str()).collect()
    }

    /// Shows the rows of a table, in no order, one after the other.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn rows(
        &self,
        wanted: &Wanted<'_>,
        see: &mut (dyn FnMut(&[Option<&str>]) + Send),
    ) -> Result<(), Diagnostics> {
        let see = Mutex::new(see);
        let read = |path: &&str| -> Result<(), Diagnostics> {
            let bytes = self.lake.read(path)?;
            let bytes = bytes.ok_or_else(|| self.lake.failed(path, "read", &GONE))?;
            let show = &mut |batch: &RecordBatch| show(batch, &mut **see.lock());
            filtered(wanted, bytes, show).map_err(|why| self.lake.failed(path, "read", &why))
        };
        let files = self.files(wanted);
        reading::each(&files, reading::threads(), read)?.into_iter().collect()
    }
}

impl Scan<'_> {
    /// Shows the rows of a table as [`Scan::rows`], one file after the other, where many are read side by side already.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn rows_alone(
        &self,
        wanted: &Wanted<'_>,
        see: &mut dyn FnMut(&[Option<&str>]),
    ) -> Result<(), Diagnostics> {
        for path in self.files(wanted) {
            let bytes = self.lake.read(path)?;
            let bytes = bytes.ok_or_else(|| self.lake.failed(path, "read", &GONE))?;
            filtered(wanted, bytes, &mut |batch: &RecordBatch| show(batch, see))
                .map_err(|why| self.lake.failed(path, "read", &why))?;
        }
        Ok(())
    }
}

const GONE: &str = "it is not there; where the lake was indexed again meanwhile, ask again";

/// Shows the rows of a file that are wanted, batch by batch.
fn filtered(
    wanted: &Wanted<'_>,
    file: Bytes,
    show: &mut dyn FnMut(&RecordBatch) -> Result<(), ArrowError>,
) -> Result<(), Error> {
    let options = ArrowReaderOptions::new().with_page_index_policy(match wanted.only.is_empty() {
        true => PageIndexPolicy::Skip,
        false => PageIndexPolicy::Optional,
    });
    let builder =
        ParquetRecordBatchReaderBuilder::try_new_with_options(file, options).map_err(Error::of)?;
    let schema = builder.parquet_schema().clone();
    let selection = pages::that_may_hold(builder.metadata(), wanted.table, &wanted.only);
    let builder = match selection {
        Some(it) if !it.selects_any() => return Ok(()),
        Some(it) => builder.with_row_selection(it),
        None => builder,
    };
    let mut predicates: Vec<Box<dyn parquet::arrow::arrow_reader::ArrowPredicate>> = Vec::new();
    for (column, texts) in &wanted.only {
        let mask = ProjectionMask::columns(&schema, [*column]);
        let texts = texts.clone();
        let holds = move |batch: RecordBatch| is_one_of(batch.column(0), &texts);
        predicates.push(Box::new(ArrowPredicateFn::new(mask, holds)));
    }
    let mask = ProjectionMask::columns(&schema, wanted.columns.iter().copied());
    let reader = builder
        .with_projection(mask)
        .with_row_filter(RowFilter::new(predicates))
        .with_batch_size(BATCH)
        .build()
        .map_err(Error::of)?;
    for batch in reader {
        show(&batch.map_err(Error::of)?).map_err(Error::of)?;
    }
    Ok(())
}

fn is_one_of(column: &ArrayRef, texts: &BTreeSet<String>) -> Result<BooleanArray, ArrowError> {
    let column = cast(column, &DataType::Utf8)?;
    let Some(column) = column.as_any().downcast_ref::<StringArray>() else {
        return Err(ArrowError::CastError("a column is no text".to_owned()));
    };
    // Rows stand sorted: what held of the last holds of the next, mostly.
    let mut last: Option<(&str, bool)> = None;
    let holds = column.iter().map(|it| {
        let text = it?;
        if let Some((_, is_one)) = last.filter(|it| it.0 == text) {
            return Some(is_one);
        }
        let is_one = texts.contains(text);
        last = Some((text, is_one));
        Some(is_one)
    });
    Ok(holds.collect())
}

fn show(batch: &RecordBatch, see: &mut dyn FnMut(&[Option<&str>])) -> Result<(), ArrowError> {
    let columns = batch.columns().iter().map(|it| cast(it, &DataType::Utf8));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let texts: Vec<&StringArray> =
        columns.iter().filter_map(|it| it.as_any().downcast_ref()).collect();
    let mut row = vec![None; texts.len()];
    for at in 0..batch.num_rows() {
        for (cell, column) in row.iter_mut().zip(&texts) {
            *cell = column.is_valid(at).then(|| column.value(at));
        }
        see(&row);
    }
    Ok(())
}
