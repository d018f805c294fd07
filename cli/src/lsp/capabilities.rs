//! What the server can do, and what the editor says of itself.

use lsp_types::{
    ClientCapabilities, CodeActionKind, CodeActionOptions, CodeActionProviderCapability,
    CodeLensOptions, CompletionOptions, DocumentLinkOptions, ExecuteCommandOptions,
    FoldingRangeProviderCapability, HoverProviderCapability, InitializeResult, OneOf,
    RenameOptions, SaveOptions, SelectionRangeProviderCapability, SemanticTokensFullOptions,
    SemanticTokensLegend, SemanticTokensOptions, ServerCapabilities, ServerInfo,
    SignatureHelpOptions, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WorkDoneProgressOptions,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};

use super::requests::tokens::{MODIFIERS, TYPES};
use super::text::Encoding;

/// What the editor can do, as far as it matters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Editor {
    /// It tells of files that change, once it is asked to.
    pub watches: bool,
    /// It puts in completions with places to fill in.
    pub snippets: bool,
}

impl Editor {
    pub fn of(it: &ClientCapabilities) -> Editor {
        let workspace = it.workspace.as_ref();
        let watched = workspace.and_then(|it| it.did_change_watched_files.as_ref());
        let text = it.text_document.as_ref();
        let item = text.and_then(|it| it.completion.as_ref()?.completion_item.as_ref());
        Editor {
            watches: watched.and_then(|it| it.dynamic_registration).unwrap_or(false),
            snippets: item.and_then(|it| it.snippet_support).unwrap_or(false),
        }
    }
}

/// Shows a proof.
pub const WHY: &str = "entail.why";

/// Has a text at hand for pasting. An editor that has a command of this name carries it out itself: the server cannot reach the
/// clipboard, and shows the text.
pub const COPY: &str = "entail.copy";

/// The commands that lenses and actions name.
const COMMANDS: [&str; 2] = [WHY, COPY];

/// Returns what the server can do.
pub fn initialized(encoding: Encoding) -> InitializeResult {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
            include_text: Some(false),
        })),
        ..TextDocumentSyncOptions::default()
    };
    let capabilities = ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([".", "\"", "/", "="].map(str::to_owned).into()),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(["(", ","].map(str::to_owned).into()),
            ..SignatureHelpOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, CodeActionKind::REFACTOR]),
            ..CodeActionOptions::default()
        })),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        document_formatting_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: COMMANDS.map(str::to_owned).into(),
            ..ExecuteCommandOptions::default()
        }),
        semantic_tokens_provider: Some(tokens().into()),
        inlay_hint_provider: Some(OneOf::Left(true)),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        ..ServerCapabilities::default()
    };
    InitializeResult {
        capabilities,
        server_info: Some(ServerInfo {
            name: "entail".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
    }
}

fn tokens() -> SemanticTokensOptions {
    SemanticTokensOptions {
        legend: SemanticTokensLegend {
            token_types: TYPES.into(),
            token_modifiers: MODIFIERS.into(),
        },
        full: Some(SemanticTokensFullOptions::Bool(true)),
        ..SemanticTokensOptions::default()
    }
}
