//! What each word is, as editors colour it.

use entail::assist::outline::{Word, words};
use lsp_server::ResponseError;
use lsp_types::{
    SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensParams,
};

use crate::lsp::server::Server;
use crate::lsp::text::Lines;

/// The types of words, in the order of their numbers.
pub const TYPES: [SemanticTokenType; 7] = [
    SemanticTokenType::KEYWORD,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::NUMBER,
    SemanticTokenType::CLASS,
];

/// What else words may be: nothing.
pub const MODIFIERS: [SemanticTokenModifier; 0] = [];

fn number(word: Word) -> u32 {
    let kind = match word {
        Word::Block => SemanticTokenType::KEYWORD,
        Word::Label => SemanticTokenType::ENUM_MEMBER,
        Word::Property | Word::Step => SemanticTokenType::PROPERTY,
        Word::Root => SemanticTokenType::VARIABLE,
        Word::Function => SemanticTokenType::FUNCTION,
        Word::Literal => SemanticTokenType::NUMBER,
        Word::Rule => SemanticTokenType::CLASS,
    };
    TYPES.iter().position(|it| *it == kind).map_or(0, |it| it as u32)
}

impl Server {
    pub fn tokens(&self, params: SemanticTokensParams) -> Result<SemanticTokens, ResponseError> {
        let (_, document) = self.document(&params.text_document)?;
        let lines = Lines::of(&document.text, self.encoding);
        let (mut line, mut start) = (0, 0);
        let mut data = Vec::new();
        for (bytes, word) in words(&document) {
            let (from, text) = (lines.position(bytes.start), &document.text[bytes]);
            // A token does not go over lines.
            if text.contains('\n') {
                continue;
            }
            if from.line != line {
                start = 0;
            }
            data.push(SemanticToken {
                delta_line: from.line - line,
                delta_start: from.character - start,
                length: self.encoding.width(text),
                token_type: number(word),
                token_modifiers_bitset: 0,
            });
            (line, start) = (from.line, from.character);
        }
        Ok(SemanticTokens { result_id: None, data })
    }
}
