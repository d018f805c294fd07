//! Everything that can be wrong with how a file is written. Summaries are HCL's.

use super::token::Kind;
use crate::diagnostic::{Diagnostic, Span};
use crate::error::Error;
use crate::value::Number;

mod lexical;
mod schema;

pub(super) use lexical::Lexical;
pub(super) use schema::*;

fn error(at: Span, summary: &str, detail: &str) -> Diagnostic {
    Diagnostic::error(summary).detail(detail).at(at)
}

pub(super) fn too_large(at: Span) -> Diagnostic {
    error(
        at,
        "Configuration file too large",
        "A file of configuration can have at most 4 GiB. Split it into several.",
    )
}

// Bodies.

pub(super) fn quoted_argument_name(at: Span) -> Diagnostic {
    error(at, "Invalid argument name", "Argument names must not be quoted.")
}

pub(super) fn definition_required(at: Span) -> Diagnostic {
    error(
        at,
        "Argument or block definition required",
        "An argument or block definition is required here.",
    )
}

pub(super) fn equals_required(at: Span) -> Diagnostic {
    let detail = "An argument or block definition is required here. To set an argument, introduce its value with the equals sign \"=\".";
    error(at, "Argument or block definition required", detail)
}

pub(super) fn unclosed_block(at: Span) -> Diagnostic {
    let detail = "There is no closing brace for this block before the end of the file. The braces of another block in this file may be \
                  nested wrongly.";
    error(at, "Unclosed configuration block", detail)
}

pub(super) fn attribute_redefined(name: &str, again: Span, first: Span) -> Diagnostic {
    let detail = format!(
        "The argument \"{name}\" was already set in this body. Each argument may be set only once."
    );
    error(again, "Attribute redefined", &detail).within(first.to(again))
}

pub(super) fn newline_after_argument(kind: Kind, at: Span, whole: Span) -> Diagnostic {
    let diagnostic = if kind == Kind::Comma {
        let detail = "Argument definitions must be separated by newlines, not commas. An argument definition must end with a newline.";
        error(at, "Unexpected comma after argument", detail)
    } else {
        error(
            at,
            "Missing newline after argument",
            "An argument definition must end with a newline.",
        )
    };
    diagnostic.within(whole)
}

pub(super) fn newline_after_block(at: Span, whole: Span) -> Diagnostic {
    error(
        at,
        "Missing newline after block definition",
        "A block definition must end with a newline.",
    )
    .within(whole)
}

pub(super) fn block_header(kind: Kind, at: Span, whole: Span) -> Diagnostic {
    let detail = match kind {
        Kind::Equal => {
            "The equals sign \"=\" sets an argument, and must not be used when defining a block."
        }
        Kind::Newline => {
            "A block's content stands between \"{\" and \"}\", beginning on the line of the block's header."
        }
        _ => "Either a quoted string block label or an opening brace (\"{\") is expected here.",
    };
    error(at, "Invalid block definition", detail).within(whole)
}

pub(super) fn single_line_nested(name: &str, at: Span) -> Diagnostic {
    let detail = format!(
        "A block on a single line can hold only a single argument. To set the argument \"{name}\", use an equals sign; a nested block \
         goes on a line of its own.",
    );
    error(at, "Argument definition required", &detail)
}

pub(super) fn single_line_end(kind: Kind, at: Span) -> Diagnostic {
    let detail = match kind {
        Kind::Comma => {
            "A block on a single line can hold only one argument. For several, give each argument its own line."
        }
        Kind::Newline => {
            "A block that begins with an argument on the line of its header must be closed on that line too."
        }
        _ => {
            "A block on a single line must end with a closing brace immediately after its argument."
        }
    };
    error(at, "Invalid single-argument block definition", detail)
}

// Expressions.

pub(super) fn missing_expression(kind: Kind, at: Span) -> Diagnostic {
    if kind == Kind::End {
        error(
            at,
            "Missing expression",
            "Expected the start of an expression, but found the end of the file.",
        )
    } else {
        error(
            at,
            "Invalid expression",
            "Expected the start of an expression, but found an invalid expression token.",
        )
    }
}

pub(super) fn extra_after_expression(at: Span) -> Diagnostic {
    error(
        at,
        "Extra characters after expression",
        "An expression was read successfully, but more characters follow it.",
    )
}

pub(super) fn nested_too_deeply(at: Span) -> Diagnostic {
    let detail = "Expressions and blocks can be nested 1000 deep, and operators chained 4000 long. Split this with local values.";
    error(at, "Nesting too deep", detail)
}

pub(super) fn missing_false_expression(at: Span, whole: Span) -> Diagnostic {
    let detail =
        "The conditional operator (...?...:...) requires a false expression, delimited by a colon.";
    error(at, "Missing false expression in conditional", detail).within(whole)
}

pub(super) fn attribute_name(at: Span) -> Diagnostic {
    error(at, "Invalid attribute name", "An attribute name is required after a dot.")
}

pub(super) fn nested_splat(at: Span) -> Diagnostic {
    let detail =
        "A splat expression (*) cannot be used inside another attribute-only splat expression.";
    error(at, "Nested splat expression not allowed", detail)
}

pub(super) fn legacy_index(text: &str, at: Span) -> Diagnostic {
    let (first, second) = text.split_once('.').unwrap_or((text, "0"));
    let detail = format!(
        "With the legacy index syntax, two indexes cannot follow each other. Use the proper index syntax instead, like [{first}][{second}].",
    );
    error(at, "Invalid legacy index syntax", &detail)
}

pub(super) fn close_bracket_on_splat(at: Span) -> Diagnostic {
    let detail = "The star for a full splat operator must be immediately followed by a closing bracket (\"]\").";
    error(at, "Missing close bracket on splat index", detail)
}

pub(super) fn close_bracket_on_index(at: Span) -> Diagnostic {
    error(
        at,
        "Missing close bracket on index",
        "The index operator must end with a closing bracket (\"]\").",
    )
}

pub(super) fn unbalanced_parentheses(at: Span, whole: Span) -> Diagnostic {
    error(
        at,
        "Unbalanced parentheses",
        "Expected a closing parenthesis to terminate the expression.",
    )
    .within(whole)
}

pub(super) fn invalid_number(text: &str, at: Span) -> Diagnostic {
    let detail = match Number::is_out_of_range(text) {
        true => {
            "This number is too large or too small: numbers have at most 78,913 digits before or after the point."
        }
        false => "Failed to recognize the value of this number literal.",
    };
    error(at, "Invalid number literal", detail)
}

pub(super) fn function_name(at: Span, whole: Span) -> Diagnostic {
    error(
        at,
        "Missing function name",
        "The symbol :: must be followed by the name of a function in this scope.",
    )
    .within(whole)
}

pub(super) fn open_parenthesis(at: Span, whole: Span) -> Diagnostic {
    error(
        at,
        "Missing open parenthesis",
        "A function's name with :: must be followed by an open parenthesis.",
    )
    .within(whole)
}

pub(super) fn closing_parenthesis(at: Span, whole: Span) -> Diagnostic {
    let detail = "An expanded function argument (with ...) must be immediately followed by closing parentheses.";
    error(at, "Missing closing parenthesis", detail).within(whole)
}

pub(super) fn argument_separator(kind: Kind, at: Span, call: Span) -> Diagnostic {
    if kind == Kind::End {
        let detail =
            "There is no closing parenthesis for this function call before the end of the file.";
        return error(call, "Unterminated function call", detail);
    }
    error(
        at,
        "Missing argument separator",
        "A comma is required to separate each function argument from the next.",
    )
    .within(call.to(at))
}

pub(super) fn item_separator(kind: Kind, at: Span, open: Span) -> Diagnostic {
    if kind == Kind::End {
        let detail = "There is no corresponding closing bracket before the end of the file.";
        return error(open, "Unterminated tuple constructor expression", detail);
    }
    error(at, "Missing item separator", "Expected a comma to mark the beginning of the next item.")
        .within(open.to(at))
}

fn unterminated_object(open: Span) -> Diagnostic {
    let detail = "There is no corresponding closing brace before the end of the file.";
    error(open, "Unterminated object constructor expression", detail)
}

pub(super) fn key_separator(kind: Kind, at: Span, open: Span) -> Diagnostic {
    let detail = "Expected an equals sign (\"=\") to mark the beginning of the attribute value.";
    match kind {
        Kind::End => unterminated_object(open),
        Kind::Newline | Kind::Comma => {
            let detail = "Expected an attribute value, introduced by an equals sign (\"=\").";
            error(at, "Missing attribute value", detail).within(open.to(at))
        }
        Kind::Ident => {
            let detail = format!(
                "{detail} A name that contains periods or spaces must be written in quotes."
            );
            error(at, "Missing key/value separator", &detail).within(open.to(at))
        }
        _ => error(at, "Missing key/value separator", detail).within(open.to(at)),
    }
}

pub(super) fn attribute_separator(kind: Kind, at: Span, open: Span) -> Diagnostic {
    if kind == Kind::End {
        return unterminated_object(open);
    }
    let detail = "Expected a newline or comma to mark the beginning of the next attribute.";
    error(at, "Missing attribute separator", detail).within(open.to(at))
}

/// Any misshapen `for` expression; `detail` says which part.
pub(super) fn for_expression(detail: &str, at: Span, open: Span) -> Diagnostic {
    error(at, "Invalid 'for' expression", detail).within(open.to(at))
}

// Strings and templates.

pub(super) fn string_literal(sign: &str, at: Span, open: Span) -> Diagnostic {
    let detail = format!(
        "Template sequences are not allowed in this string. To include a literal \"{sign}\", double it (as \"{sign}{sign}\") to escape it.",
    );
    error(at, "Invalid string literal", &detail).within(open.to(at))
}

pub(super) fn unterminated_literal(at: Span, open: Span) -> Diagnostic {
    let detail = "Unable to find the closing quote mark before the end of the file.";
    error(at, "Unterminated string literal", detail).within(open.to(at))
}

pub(super) fn unterminated_template(at: Span, open: Span) -> Diagnostic {
    error(at, "Unterminated template string", "No closing marker was found for the string.")
        .within(open.to(at))
}

pub(super) fn escape(at: Span, why: &Error) -> Diagnostic {
    error(at, "Invalid escape sequence", why.words())
}

pub(super) fn interpolation_end(kind: Kind, at: Span, open: Span) -> Diagnostic {
    match kind {
        Kind::End => {
            let detail = "There is no closing brace for this interpolation sequence before the end of the file.";
            error(open, "Unclosed template interpolation sequence", detail)
        }
        Kind::CloseQuote | Kind::OpenQuote => {
            let detail = "There is no closing brace for this interpolation sequence before the end of the quoted template.";
            error(open, "Unclosed template interpolation sequence", detail)
        }
        _ => {
            let detail = "Expected a closing brace to end the interpolation expression, but found extra characters. If the sequence belongs \
                          to another language, such as a shell script, write \"$${\" instead of \"${\".";
            error(at, "Extra characters after interpolation expression", detail).within(open.to(at))
        }
    }
}

pub(super) fn directive_keyword_missing(at: Span, open: Span) -> Diagnostic {
    let detail = "A template directive keyword (\"if\", \"for\", etc) is expected at the beginning of a %{ sequence.";
    error(at, "Invalid template directive", detail).within(open.to(at))
}

pub(super) fn directive_keyword(given: &str, at: Span, open: Span) -> Diagnostic {
    let near = ["if", "for", "else", "endif", "endfor"]
        .into_iter()
        .find(|it| strsim::levenshtein(given, it) < 3);
    let hint = near.map(|it| format!(" Did you mean \"{it}\"?")).unwrap_or_default();
    let detail = format!("\"{given}\" is not a valid template control keyword.{hint}");
    error(at, "Invalid template control keyword", &detail).within(open.to(at))
}

/// A misshapen `%{ for }`; `detail` says which part.
pub(super) fn for_directive(detail: &str, at: Span) -> Diagnostic {
    error(at, "Invalid 'for' directive", detail)
}

pub(super) fn directive_end(keyword: &str, at: Span, open: Span) -> Diagnostic {
    let detail = "Expected a closing brace to end the sequence, but found extra characters.";
    error(at, &format!("Extra characters in {keyword} marker"), detail).within(open.to(at))
}

pub(super) fn directive_open(keyword: &str, at: Span) -> Diagnostic {
    let detail =
        format!("This {keyword} directive is missing its corresponding end{keyword} directive.");
    error(at, "Unexpected end of template", &detail)
}

pub(super) fn directive_unexpected(keyword: &str, inside: Option<&str>, at: Span) -> Diagnostic {
    let detail = match (keyword, inside) {
        (_, None) => "The control directives within this template are unbalanced.".to_owned(),
        ("else", Some("for")) => "An else clause is not expected for a for directive.".to_owned(),
        ("else", Some(_)) => "This if directive is already in its else clause.".to_owned(),
        (_, Some(inside)) => {
            format!("Expecting an end{inside} directive for the {inside} directive before it.")
        }
    };
    error(at, &format!("Unexpected {keyword} directive"), &detail)
}

// Traversals.

pub(super) fn variable_name_required(at: Span) -> Diagnostic {
    error(at, "Variable name required", "Must begin with a variable name.")
}

pub(super) fn attribute_name_required(kind: Kind, at: Span) -> Diagnostic {
    let detail = match kind {
        Kind::Star => "Splat expressions (.*) may not be used here.",
        _ => "Dot must be followed by attribute name.",
    };
    error(at, "Attribute name required", detail)
}

pub(super) fn index_splat(at: Span) -> Diagnostic {
    error(at, "Attribute name required", "Splat expressions ([*]) may not be used here.")
}

pub(super) fn index_value_required(at: Span) -> Diagnostic {
    error(
        at,
        "Index value required",
        "Index brackets must contain either a literal number or a literal string.",
    )
}

pub(super) fn unclosed_index(at: Span) -> Diagnostic {
    error(at, "Unclosed index brackets", "Index key must be followed by a closing bracket.")
}

pub(super) fn traversal_operator(at: Span) -> Diagnostic {
    error(at, "Invalid character", "Expected an attribute access or an index operator.")
}
