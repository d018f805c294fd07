//! Requests, each answered by what `entail::assist` says.

mod asked;
mod shape;
pub mod tokens;
mod writing;

use std::path::PathBuf;
use std::sync::Arc;

use entail::assist::Document;
use lsp_server::{ErrorCode, RequestId, ResponseError};
use lsp_types::{TextDocumentIdentifier, TextDocumentPositionParams};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::outgoing::error;
use super::server::Server;
use super::text::Lines;
use super::uri::path;

/// The answer to a request.
pub type Answer = Result<Json, ResponseError>;

/// A document, its path, and a byte in it.
pub struct At {
    pub path: PathBuf,
    pub document: Arc<Document>,
    pub byte: usize,
}

impl Server {
    /// Answers a request; nothing where that is done later.
    pub fn answered(&mut self, id: &RequestId, method: &str, params: Json) -> Option<Answer> {
        Some(match method {
            "textDocument/definition" => given(params, |it| self.definition(it)),
            "textDocument/references" => given(params, |it| self.references(it)),
            "textDocument/documentHighlight" => given(params, |it| self.highlights(it)),
            "textDocument/documentSymbol" => given(params, |it| self.symbols(it)),
            "workspace/symbol" => given(params, |it| self.search(it)),
            "textDocument/foldingRange" => given(params, |it| self.folds(it)),
            "textDocument/selectionRange" => given(params, |it| self.selections(it)),
            "textDocument/documentLink" => given(params, |it| self.links(it)),
            "textDocument/semanticTokens/full" => given(params, |it| self.tokens(it)),
            "textDocument/inlayHint" => given(params, |it| self.hints(it)),
            "textDocument/completion" => given(params, |it| self.completion(it)),
            "textDocument/signatureHelp" => given(params, |it| self.signature(it)),
            "textDocument/formatting" => given(params, |it| self.formatting(it)),
            "textDocument/prepareRename" => given(params, |it| self.renamed(it)),
            "textDocument/rename" => given(params, |it| self.rename(it)),
            "textDocument/codeAction" => given(params, |it| self.actions(it)),
            "textDocument/hover" => return self.later(id, params, Server::hover),
            "textDocument/codeLens" => return self.later(id, params, Server::lenses),
            "workspace/executeCommand" => return self.later(id, params, Server::command),
            _ => {
                Err(error(ErrorCode::MethodNotFound as i32, format!("{method} is not known here.")))
            }
        })
    }

    /// Has work for a request done beside what is quick.
    fn later<T: DeserializeOwned>(
        &mut self,
        id: &RequestId,
        params: Json,
        prepare: fn(&mut Server, T) -> Result<super::slow::Work, ResponseError>,
    ) -> Option<Answer> {
        let work = read(params).and_then(|it| prepare(self, it));
        match work {
            Ok(work) => {
                self.slow.add(id.clone(), work);
                None
            }
            Err(why) => Some(Err(why)),
        }
    }

    /// A document that is open, or lies on the disk.
    pub fn document(
        &self,
        it: &TextDocumentIdentifier,
    ) -> Result<(PathBuf, Arc<Document>), ResponseError> {
        let path = path(&it.uri);
        match self.workspace.document(&path) {
            Some(document) => Ok((path, document)),
            None => Err(error(
                ErrorCode::InvalidParams as i32,
                format!("There is no document {}.", it.uri),
            )),
        }
    }

    pub fn at(&self, it: &TextDocumentPositionParams) -> Result<At, ResponseError> {
        let (path, document) = self.document(&it.text_document)?;
        let byte = Lines::of(&document.text, self.encoding).byte(it.position);
        Ok(At { path, document, byte })
    }
}

fn given<T: DeserializeOwned, R: Serialize>(
    params: Json,
    answer: impl FnOnce(T) -> Result<R, ResponseError>,
) -> Answer {
    answer(read(params)?).and_then(written)
}

fn read<T: DeserializeOwned>(params: Json) -> Result<T, ResponseError> {
    serde_json::from_value(params)
        .map_err(|it| error(ErrorCode::InvalidParams as i32, it.to_string()))
}

/// Writes an answer.
pub fn written(answer: impl Serialize) -> Answer {
    serde_json::to_value(answer)
        .map_err(|it| error(ErrorCode::InternalError as i32, it.to_string()))
}
