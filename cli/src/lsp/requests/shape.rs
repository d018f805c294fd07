//! Where things are, and the shape of texts.

use entail::assist::hints::hints;
use entail::assist::outline::{self, Link, Sort, Symbol};
use entail::assist::{Place, definition, references};
use lsp_server::ResponseError;
use lsp_types::{
    DocumentHighlight, DocumentHighlightParams, DocumentLink, DocumentLinkParams, DocumentSymbol,
    DocumentSymbolParams, DocumentSymbolResponse, FoldingRange, FoldingRangeKind,
    FoldingRangeParams, GotoDefinitionParams, InlayHint, InlayHintKind, InlayHintLabel,
    InlayHintParams, Location, ReferenceParams, SelectionRange, SelectionRangeParams,
    SymbolInformation, SymbolKind, Url, WorkspaceSymbolParams,
};

use crate::lsp::convert::{Places, texts};
use crate::lsp::server::Server;
use crate::lsp::text::Lines;
use crate::lsp::uri::uri;

/// How many names a search gives at most.
const MOST: usize = 500;

type Given<T> = Result<T, ResponseError>;

impl Server {
    fn locations(&self, places: &[Place]) -> Vec<Location> {
        let texts = texts(&self.workspace);
        Places::new(&texts, self.encoding).locations(places)
    }

    pub fn definition(&self, params: GotoDefinitionParams) -> Given<Vec<Location>> {
        let at = self.at(&params.text_document_position_params)?;
        Ok(self.locations(&definition(&self.workspace, &at.path, at.byte)))
    }

    pub fn references(&self, params: ReferenceParams) -> Given<Vec<Location>> {
        let at = self.at(&params.text_document_position)?;
        let with_declaration = params.context.include_declaration;
        Ok(self.locations(&references(&self.workspace, &at.path, at.byte, with_declaration)))
    }

    pub fn highlights(&self, params: DocumentHighlightParams) -> Given<Vec<DocumentHighlight>> {
        let at = self.at(&params.text_document_position_params)?;
        let lines = Lines::of(&at.document.text, self.encoding);
        let all = references(&self.workspace, &at.path, at.byte, true).into_iter();
        let here = all.filter(|it| it.path == at.path);
        Ok(here.map(|it| DocumentHighlight { range: lines.range(&it.range), kind: None }).collect())
    }

    pub fn symbols(&self, params: DocumentSymbolParams) -> Given<DocumentSymbolResponse> {
        let (_, document) = self.document(&params.text_document)?;
        let lines = Lines::of(&document.text, self.encoding);
        let symbols = outline::symbols(&document).iter().map(|it| symbol(it, &lines)).collect();
        Ok(DocumentSymbolResponse::Nested(symbols))
    }

    pub fn search(&self, params: WorkspaceSymbolParams) -> Given<Vec<SymbolInformation>> {
        let texts = texts(&self.workspace);
        let places = Places::new(&texts, self.encoding);
        let found = outline::search(&self.workspace, &params.query, MOST).into_iter();
        #[expect(deprecated, reason = "the type has no other way to be made")]
        let information = found.filter_map(|(name, sort, place)| {
            let location = places.location(&place)?;
            let folder = place.path.parent().map(|it| it.to_string_lossy().into_owned());
            Some(SymbolInformation {
                name,
                kind: kind(sort),
                tags: None,
                deprecated: None,
                location,
                container_name: folder,
            })
        });
        Ok(information.collect())
    }

    pub fn folds(&self, params: FoldingRangeParams) -> Given<Vec<FoldingRange>> {
        let (_, document) = self.document(&params.text_document)?;
        let lines = Lines::of(&document.text, self.encoding);
        let folds = outline::folds(&document).into_iter().map(|(bytes, is_comment)| {
            let range = lines.range(&bytes);
            FoldingRange {
                start_line: range.start.line,
                end_line: range.end.line,
                kind: is_comment.then_some(FoldingRangeKind::Comment),
                ..FoldingRange::default()
            }
        });
        Ok(folds.filter(|it| it.start_line < it.end_line).collect())
    }

    pub fn selections(&self, params: SelectionRangeParams) -> Given<Vec<SelectionRange>> {
        let (_, document) = self.document(&params.text_document)?;
        let lines = Lines::of(&document.text, self.encoding);
        let each = params.positions.into_iter().map(|position| {
            let mut found: Option<SelectionRange> = None;
            for bytes in outline::around(&document, lines.byte(position)) {
                let range = lines.range(&bytes);
                found = Some(SelectionRange { range, parent: found.map(Box::new) });
            }
            let nothing = SelectionRange { range: lines.range(&(0..0)), parent: None };
            found.unwrap_or(nothing)
        });
        Ok(each.collect())
    }

    pub fn links(&self, params: DocumentLinkParams) -> Given<Vec<DocumentLink>> {
        let (_, document) = self.document(&params.text_document)?;
        let lines = Lines::of(&document.text, self.encoding);
        let links = outline::links(&self.workspace, &document).into_iter().filter_map(|it| {
            let (bytes, target) = match it {
                Link::File(bytes, path) => (bytes, uri(&path)?),
                Link::Page(bytes, page) => (bytes, Url::parse(&page).ok()?),
            };
            Some(DocumentLink {
                range: lines.range(&bytes),
                target: Some(target),
                tooltip: None,
                data: None,
            })
        });
        Ok(links.collect())
    }

    pub fn hints(&self, params: InlayHintParams) -> Given<Vec<InlayHint>> {
        let (_, document) = self.document(&params.text_document)?;
        let lines = Lines::of(&document.text, self.encoding);
        let part = lines.bytes(params.range);
        let hints = hints(&self.workspace, &document, &part).into_iter().map(|it| {
            let is_type = it.text.starts_with(':');
            InlayHint {
                position: lines.position(it.at),
                label: InlayHintLabel::String(it.text),
                kind: is_type.then_some(InlayHintKind::TYPE),
                text_edits: None,
                tooltip: None,
                padding_left: Some(!is_type),
                padding_right: None,
                data: None,
            }
        });
        Ok(hints.collect())
    }
}

fn symbol(it: &Symbol, lines: &Lines<'_>) -> DocumentSymbol {
    let inside: Vec<_> = it.inside.iter().map(|it| symbol(it, lines)).collect();
    #[expect(deprecated, reason = "the type has no other way to be made")]
    DocumentSymbol {
        name: it.name.clone(),
        detail: None,
        kind: kind(it.sort),
        tags: None,
        deprecated: None,
        range: lines.range(&it.whole),
        selection_range: lines.range(&it.at),
        children: (!inside.is_empty()).then_some(inside),
    }
}

fn kind(sort: Sort) -> SymbolKind {
    match sort {
        Sort::Block => SymbolKind::STRUCT,
        Sort::Resource => SymbolKind::CLASS,
        Sort::Variable => SymbolKind::VARIABLE,
        Sort::Value => SymbolKind::PROPERTY,
        Sort::Output => SymbolKind::FIELD,
        Sort::Module => SymbolKind::MODULE,
        Sort::Provider => SymbolKind::PACKAGE,
        Sort::Rule => SymbolKind::EVENT,
    }
}
