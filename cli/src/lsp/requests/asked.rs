//! What may wait for others: values in hovers, what a saved plan does, proofs.

use entail::assist::lenses;
use entail::assist::{hover, value_at};
use lsp_server::{ErrorCode, ResponseError};
use lsp_types::{
    CodeLens, CodeLensParams, Command, ExecuteCommandParams, Hover, HoverContents, HoverParams,
    MarkupContent, MarkupKind, MessageType, ShowMessageParams, Url,
};
use serde_json::{Value as Json, json};

use super::written;
use crate::lsp::capabilities::{COPY, WHY};
use crate::lsp::outgoing::{Outgoing, error};
use crate::lsp::server::Server;
use crate::lsp::slow::Work;
use crate::lsp::text::Lines;
use crate::lsp::uri::{path, uri};

type Given = Result<Work, ResponseError>;

impl Server {
    /// What stands at a place, and its value.
    pub fn hover(&mut self, params: HoverParams) -> Given {
        let at = self.at(&params.text_document_position_params)?;
        let Some(found) = hover(&self.workspace, &at.path, at.byte) else {
            return Ok(Box::new(|| Ok(Json::Null)));
        };
        let question = value_at(&self.workspace, &at.path, at.byte);
        let range = Lines::of(&at.document.text, self.encoding).range(&found.range);
        Ok(Box::new(move || {
            let value = question.and_then(|it| it.answer());
            let value = value.map(|it| format!("\n\nValue:\n```terraform\n{it}\n```"));
            let value = format!("{}{}", found.text, value.unwrap_or_default());
            let contents = MarkupContent { kind: MarkupKind::Markdown, value };
            written(Hover { contents: HoverContents::Markup(contents), range: Some(range) })
        }))
    }

    /// What the saved plan does with blocks, and what policies say of them.
    pub fn lenses(&mut self, params: CodeLensParams) -> Given {
        let (path, document) = self.document(&params.text_document)?;
        let problems = self.published.lock().of(&path);
        let Some(question) = lenses::of(&self.workspace, &path, problems) else {
            return Ok(Box::new(|| Ok(json!([]))));
        };
        let folder = uri(&self.workspace.module_of(&path).folder);
        let encoding = self.encoding;
        Ok(Box::new(move || {
            let lines = Lines::of(&document.text, encoding);
            let lenses = question.answer().into_iter().map(|it| {
                let why = it.why.as_ref().and_then(|address| {
                    Some(vec![json!({ "folder": folder.clone()?, "address": address })])
                });
                let command = if why.is_some() { WHY } else { "" };
                CodeLens {
                    range: lines.range(&it.place.range),
                    command: Some(Command {
                        title: it.text,
                        command: command.to_owned(),
                        arguments: why,
                    }),
                    data: None,
                }
            });
            written(lenses.collect::<Vec<_>>())
        }))
    }

    /// Carries out what a lens or an action names: what comes of it is shown, and is the answer, too.
    pub fn command(&mut self, params: ExecuteCommandParams) -> Given {
        let argument =
            params.arguments.first().ok_or_else(|| invalid("An argument is missing."))?;
        match params.command.as_str() {
            WHY => self.why(argument),
            COPY => self.copied(argument),
            _ => Err(invalid("The command is not known here.")),
        }
    }

    fn copied(&self, argument: &Json) -> Given {
        let text = argument.get("text").and_then(Json::as_str);
        let text = text.ok_or_else(|| invalid("The argument has a text."))?.to_owned();
        let out = self.out.clone();
        Ok(Box::new(move || Ok(shown(&out, text))))
    }

    fn why(&self, argument: &Json) -> Given {
        let named = |name: &str| argument.get(name).and_then(Json::as_str);
        let (Some(folder), Some(address)) = (named("folder"), named("address")) else {
            return Err(invalid("The argument has a folder and an address."));
        };
        let folder = Url::parse(folder).map_err(|_| invalid("The folder is no address of one."))?;
        let question = lenses::question(&self.workspace, &path(&folder), address);
        if question.runs_programs() && !self.workspace.is_trusted() {
            let why = "There is no saved plan, and making one would run the programs of this folder, which the editor does not say is trusted. Run `entail why` in it, or set the initialization option \"trusted\".";
            return Err(error(ErrorCode::RequestFailed as i32, why));
        }
        let out = self.out.clone();
        Ok(Box::new(move || {
            let text = question
                .answer()
                .map_err(|it| error(ErrorCode::RequestFailed as i32, it.to_string()))?;
            Ok(shown(&out, text))
        }))
    }
}

fn invalid(why: &str) -> ResponseError {
    error(ErrorCode::InvalidParams as i32, why)
}

/// Shows a text, and answers with it.
fn shown(out: &Outgoing, text: String) -> Json {
    let params = ShowMessageParams { typ: MessageType::INFO, message: text.clone() };
    out.tell("window/showMessage", params);
    json!({ "text": text })
}
