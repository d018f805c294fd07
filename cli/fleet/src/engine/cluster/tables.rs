//! The tables of a lake as its relations: columns of texts, a node as its address and its stack.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::datasource::provider_as_source;
use datafusion::error::Result;
use datafusion::functions::string::expr_fn::concat;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, lit};
use datafusion::prelude::ident;

use super::super::columns::name;
use super::Asking;
use crate::lake::{Catalogue, Column, OF_NODES, TABLES, Table, table};

/// Stands between the address of a node and its stack.
pub const BETWEEN: char = '\u{1}';

/// Where the rows of a relation are.
pub enum Of {
    /// In a table.
    Table(&'static Table),
    /// `stack(n, s)`, of all nodes.
    StackOfAll,
    /// `address(n, a)`, of all nodes.
    AddressOfAll,
}

/// Returns where the rows of a relation are; nothing where it has none in a lake, or not as texts.
pub fn of_relation(relation: &str) -> Option<Of> {
    let is_text = |it: &Table| {
        it.columns.iter().all(|it| matches!(it.1, Column::Stack | Column::Node | Column::Text))
    };
    match relation {
        "stack" => Some(Of::StackOfAll),
        "address" => Some(Of::AddressOfAll),
        _ => TABLES
            .iter()
            .find(|it| it.relation == Some(relation))
            .filter(|it| is_text(it))
            .map(Of::Table),
    }
}

/// Returns how many rows a relation has in a lake.
pub fn rows_of(relation: &str, catalogue: &Catalogue) -> usize {
    let rows = |it: &str| catalogue.files_of(it).map(|it| it.1.rows).sum::<usize>();
    match of_relation(relation) {
        Some(Of::Table(it)) => rows(it.name),
        Some(Of::StackOfAll | Of::AddressOfAll) => OF_NODES.iter().map(|it| rows(it)).sum(),
        None => 0,
    }
}

impl Asking<'_> {
    /// Returns the rows of a relation of the lake, as columns of texts.
    ///
    /// # Errors
    ///
    /// If no plan can be made of it.
    pub(super) fn given(&self, relation: usize) -> Result<LogicalPlan> {
        match of_relation(&self.program.relations[relation].name) {
            Some(Of::Table(table)) => self.table(table)?.project(columns(table))?.build(),
            Some(Of::StackOfAll) => self.of_nodes(&|| ident("stack")),
            Some(Of::AddressOfAll) => self.of_nodes(&|| ident("node")),
            None => LogicalPlanBuilder::empty(false).build(),
        }
    }

    fn table(&self, table: &'static Table) -> Result<LogicalPlanBuilder> {
        let files = self.catalogue.files_of(table.name);
        let files = files.map(|it| self.address(&it.1.path)).collect();
        self.files(files, table.schema())
    }

    /// Returns the rows of some files.
    pub(super) fn files(
        &self,
        files: Vec<String>,
        schema: Arc<Schema>,
    ) -> Result<LogicalPlanBuilder> {
        if files.is_empty() {
            let nothing = lit(datafusion::scalar::ScalarValue::Utf8(None));
            let columns = schema.fields().iter().map(|it| nothing.clone().alias(it.name()));
            return LogicalPlanBuilder::empty(true)
                .project(columns.collect::<Vec<_>>())?
                .filter(lit(false));
        }
        let urls = files.iter().map(ListingTableUrl::parse).collect::<Result<Vec<_>>>()?;
        let options =
            ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
        let config = ListingTableConfig::new_with_multi_paths(urls)
            .with_listing_options(options)
            .with_schema(schema);
        let table = Arc::new(ListingTable::try_new(config)?);
        LogicalPlanBuilder::scan("rows", provider_as_source(table), None)
    }

    /// Nodes of all stacks, each with something of it.
    fn of_nodes(&self, second: &dyn Fn() -> Expr) -> Result<LogicalPlan> {
        let mut all: Option<LogicalPlanBuilder> = None;
        for name_of in OF_NODES {
            let Some(table) = table(name_of) else { continue };
            let both =
                vec![node(ident("node"), ident("stack")).alias(name(0)), second().alias(name(1))];
            let rows = self.table(table)?.project(both)?.build()?;
            all = Some(match all {
                None => LogicalPlanBuilder::from(rows),
                Some(before) => before.union(rows)?,
            });
        }
        all.unwrap_or_else(|| LogicalPlanBuilder::empty(false)).distinct()?.build()
    }
}

/// The schema of rows of texts.
pub fn schema(columns: usize) -> Arc<Schema> {
    let fields = (0..columns).map(|it| Field::new(name(it), DataType::Utf8, false));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn node(address: Expr, stack: Expr) -> Expr {
    concat(vec![address, lit(BETWEEN.to_string()), stack])
}

/// What the columns of a relation are in its table: as rules read them of a lake.
fn columns(table: &Table) -> Vec<Expr> {
    let is_between = table.columns.get(1).is_some_and(|it| it.1 != Column::Node);
    let mut found = Vec::new();
    if is_between {
        found.push(ident(table.columns[0].0));
    }
    let mut of = table.columns[0].0;
    for (column, kind) in table.columns.iter().skip(1) {
        match kind {
            Column::Stack if !is_between => of = column,
            Column::Node => found.push(node(ident(*column), ident(of))),
            _ => found.push(ident(*column)),
        }
    }
    found.into_iter().enumerate().map(|(at, it)| it.alias(name(at))).collect()
}
