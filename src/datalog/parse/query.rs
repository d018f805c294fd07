//! The body of a rule on its own: what is asked, without a conclusion.

use crate::diagnostic::{Diagnostics, FileId};

use super::super::syntax::Literal;
use super::token::{Kind, Token};
use super::{Dialect, Parser};

/// Reads the body of a rule of policies. A semicolon may end it.
pub fn parse_body(file: FileId, text: &str) -> (Vec<Literal>, Diagnostics) {
    let (dialect, problems) = (Dialect::Policies, Diagnostics::new());
    let end = text.len();
    let mut parser = Parser { dialect, file, text, end, at: 0, token: Token::END, problems };
    parser.advance();
    let mut body = Vec::new();
    let _ = parser.body(&mut body);
    let mut problems = parser.problems;
    for problem in &mut problems.0 {
        problem.summary = problem.summary.replace("rule", "query");
        problem.detail = problem.detail.replace("the end of the rules", "the end of the query");
    }
    (body, problems)
}

impl Parser<'_> {
    fn body(&mut self, body: &mut Vec<Literal>) -> Option<()> {
        self.literal(body)?;
        while self.eat(",") {
            self.literal(body)?;
        }
        self.eat(";");
        match self.token.kind {
            Kind::End => Some(()),
            _ => self.expected("`,` or the end"),
        }
    }
}
