//! What is written for the user: completions, formatted texts, other names, what mends something.

use entail::assist::actions::{For, actions};
use entail::assist::complete::{Item, Sort, complete};
use entail::assist::{Language, rename, renamed, signature};
use lsp_server::{ErrorCode, ResponseError};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, Command, CompletionItem, CompletionItemKind,
    CompletionList, CompletionParams, CompletionTextEdit, DocumentFormattingParams, Documentation,
    InsertTextFormat, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel,
    PrepareRenameResponse, Range, RenameParams, SignatureHelp, SignatureHelpParams,
    SignatureInformation, TextDocumentPositionParams, TextEdit, WorkspaceEdit,
};

use serde_json::json;

use crate::lsp::capabilities::COPY;
use crate::lsp::convert::{Places, texts};
use crate::lsp::outgoing::error;
use crate::lsp::server::Server;
use crate::lsp::text::{Encoding, Lines};

type Given<T> = Result<T, ResponseError>;

/// What is asked for cannot be done, and why.
const REFUSED: i32 = ErrorCode::RequestFailed as i32;

impl Server {
    pub fn completion(&self, params: CompletionParams) -> Given<CompletionList> {
        let at = self.at(&params.text_document_position)?;
        let found = complete(&self.workspace, &at.path, at.byte);
        let range = Lines::of(&at.document.text, self.encoding).range(&found.word);
        let items = found.items.into_iter().map(|it| self.item(it, range)).collect();
        Ok(CompletionList { is_incomplete: found.is_incomplete, items })
    }

    fn item(&self, it: Item, range: Range) -> CompletionItem {
        let snippet = it.snippet.filter(|_| self.editor.snippets);
        let format = snippet.is_some().then_some(InsertTextFormat::SNIPPET);
        let new_text = snippet.unwrap_or_else(|| it.label.clone());
        CompletionItem {
            kind: Some(kind(it.sort)),
            detail: (!it.detail.is_empty()).then_some(it.detail),
            documentation: (!it.about.is_empty()).then(|| markdown(it.about)),
            insert_text_format: format,
            text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text })),
            label: it.label,
            ..CompletionItem::default()
        }
    }

    pub fn signature(&self, params: SignatureHelpParams) -> Given<Option<SignatureHelp>> {
        let at = self.at(&params.text_document_position_params)?;
        let Some(found) = signature(&self.workspace, &at.path, at.byte) else { return Ok(None) };
        // Offsets in labels are counted in UTF-16, whatever was agreed for texts.
        let offset = |byte: usize| Encoding::Utf16.width(&found.label[..byte]);
        let parameters = found.parameters.iter().map(|(bytes, about)| ParameterInformation {
            label: ParameterLabel::LabelOffsets([offset(bytes.start), offset(bytes.end)]),
            documentation: (!about.is_empty()).then(|| markdown(about.clone())),
        });
        let information = SignatureInformation {
            parameters: Some(parameters.collect()),
            active_parameter: Some(found.active as u32),
            documentation: Some(markdown(found.about.clone())),
            label: found.label.clone(),
        };
        Ok(Some(SignatureHelp {
            signatures: vec![information],
            active_signature: Some(0),
            active_parameter: Some(found.active as u32),
        }))
    }

    pub fn formatting(&self, params: DocumentFormattingParams) -> Given<Option<Vec<TextEdit>>> {
        let (_, document) = self.document(&params.text_document)?;
        let file = entail::diagnostic::FileId(1);
        let formatted = match document.language {
            Language::Rules => entail::datalog::parse::layout::format(file, &document.text),
            Language::Json | Language::JsonValues => return Ok(None),
            _ => entail::syntax::format(file, &document.text),
        };
        // What cannot be read is told as a problem of the text.
        let Ok(new) = formatted else { return Ok(None) };
        let lines = Lines::of(&document.text, self.encoding);
        Ok(Some(difference(&document.text, &new, &lines)))
    }

    pub fn renamed(&self, params: TextDocumentPositionParams) -> Given<PrepareRenameResponse> {
        let at = self.at(&params)?;
        let (target, placeholder) = renamed(&self.workspace, &at.path, at.byte)
            .map_err(|it| error(REFUSED, it.to_string()))?;
        let range = Lines::of(&at.document.text, self.encoding).range(&target.name);
        Ok(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder })
    }

    pub fn rename(&self, params: RenameParams) -> Given<WorkspaceEdit> {
        let at = self.at(&params.text_document_position)?;
        let found = rename(&self.workspace, &at.path, at.byte, &params.new_name)
            .map_err(|it| error(REFUSED, it.to_string()))?;
        let texts = texts(&self.workspace);
        Ok(Places::new(&texts, self.encoding).edit(&found.edits))
    }

    pub fn actions(&self, params: CodeActionParams) -> Given<Vec<CodeAction>> {
        let (path, document) = self.document(&params.text_document)?;
        let bytes = Lines::of(&document.text, self.encoding).bytes(params.range);
        let problems = self.published.lock().of(&path);
        let texts = texts(&self.workspace);
        let places = Places::new(&texts, self.encoding);
        let found = actions(&self.workspace, &path, &bytes, &problems).into_iter();
        let wanted = params.context.only;
        let actions = found.map(|it| CodeAction {
            title: it.title,
            kind: Some(match it.purpose {
                For::Mending => CodeActionKind::QUICKFIX,
                For::Rewriting => CodeActionKind::REFACTOR,
            }),
            edit: it.copied.is_none().then(|| places.edit(&it.edits)),
            command: it.copied.map(|text| Command {
                title: "Copy".to_owned(),
                command: COPY.to_owned(),
                arguments: Some(vec![json!({ "text": text })]),
            }),
            ..CodeAction::default()
        });
        let is_wanted = |it: &CodeAction| {
            wanted.as_ref().is_none_or(|all| it.kind.as_ref().is_some_and(|it| all.contains(it)))
        };
        Ok(actions.filter(is_wanted).collect())
    }
}

/// The lines that are different, as one edit; none where nothing is.
fn difference(old: &str, new: &str, lines: &Lines<'_>) -> Vec<TextEdit> {
    if old == new {
        return Vec::new();
    }
    let pairs = || old.split_inclusive('\n').zip(new.split_inclusive('\n'));
    let start: usize = pairs().take_while(|it| it.0 == it.1).map(|it| it.0.len()).sum();
    let (rest_old, rest_new) = (&old[start..], &new[start..]);
    let backwards = |text: &str| text.split_inclusive('\n').map(str::len).rev().collect::<Vec<_>>();
    let (mut end_old, mut end_new) = (rest_old.len(), rest_new.len());
    for (a, b) in backwards(rest_old).into_iter().zip(backwards(rest_new)) {
        if rest_old[end_old - a..end_old] != rest_new[end_new - b..end_new] {
            break;
        }
        (end_old, end_new) = (end_old - a, end_new - b);
    }
    let range = lines.range(&(start..start + end_old));
    vec![TextEdit { range, new_text: rest_new[..end_new].to_owned() }]
}

pub(super) fn markdown(value: String) -> Documentation {
    Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value })
}

fn kind(sort: Sort) -> CompletionItemKind {
    match sort {
        Sort::Argument => CompletionItemKind::PROPERTY,
        Sort::Block => CompletionItemKind::STRUCT,
        Sort::Kind => CompletionItemKind::CLASS,
        Sort::Reference => CompletionItemKind::VARIABLE,
        Sort::Function => CompletionItemKind::FUNCTION,
        Sort::Word => CompletionItemKind::KEYWORD,
        Sort::Folder => CompletionItemKind::FOLDER,
        Sort::Relation => CompletionItemKind::INTERFACE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_are_different_are_edited() {
        let (old, new) = ("a\nb = 1\nc\n", "a\nb  = 1\nc\n");
        let edits = difference(old, new, &Lines::of(old, Encoding::Utf16));
        assert_eq!(edits.len(), 1);
        assert_eq!((edits[0].range.start.line, edits[0].range.end.line), (1, 2));
        assert_eq!(edits[0].new_text, "b  = 1\n");
        assert!(difference(old, old, &Lines::of(old, Encoding::Utf16)).is_empty());
    }
}
