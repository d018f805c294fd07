//! One entry of a page: an object or an output, what is done with it, what becomes of its attributes, and why.

use entail::explain::render::Line;
use serde_json::{Value as Json, json};

use super::html::{link, push, quoted, text};
use super::strings::Strings;

/// The deepest indentation of a proof.
const DEEPEST: usize = 12;

/// Which list an entry stands in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Something is done.
    #[default]
    Change,
    /// It is left out.
    Excluded,
    /// An output, or what is not to be counted as a change.
    Other,
}

/// An object or an output.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Its address, or what else it is called.
    pub name: String,
    /// Which list it stands in.
    pub kind: Kind,
    /// What is done, in one word; empty where nothing is.
    pub action: &'static str,
    /// The module instance that it is in; empty for the root module.
    pub module: String,
    /// Its type.
    pub of_type: String,
    /// What policies say of it at worst: `deny`, `warn` or `note`.
    pub verdict: &'static str,
    /// What is done, as a sentence, and what else there is to say, a line each.
    pub lead: Vec<String>,
    /// What becomes of its attributes.
    pub text: String,
    /// Why, line by line.
    pub why: Vec<Line>,
    /// Who serves it.
    pub provider: Option<String>,
    /// Where its block stands.
    pub place: Option<String>,
    /// Where it stands in the graph.
    pub drawn: Option<usize>,
    /// What its proof speaks of, by its place in the graph.
    pub way: Vec<usize>,
}

impl Entry {
    /// Appends the entry as it stands in a list.
    pub fn push(&self, out: &mut String) {
        let name = quoted(&self.name);
        out.push_str("<details class=\"e");
        if !self.action.is_empty() {
            out.push_str(&format!(" {}", self.action));
        }
        out.push_str(&format!("\" id={name} data-address={name}"));
        match self.kind {
            Kind::Change if !self.action.is_empty() => {
                out.push_str(&format!(" data-action=\"{}\"", self.action));
            }
            Kind::Excluded => out.push_str(&format!(" data-excluded={name}")),
            Kind::Change | Kind::Other => {}
        }
        for (attribute, value) in
            [("type", self.of_type.as_str()), ("module", &self.module), ("verdict", self.verdict)]
        {
            if !value.is_empty() {
                out.push_str(&format!(" data-{attribute}={}", quoted(value)));
            }
        }
        if let Some(at) = self.drawn {
            let way: Vec<String> = self.way.iter().map(usize::to_string).collect();
            out.push_str(&format!(" data-node=\"{at}\" data-way=\"{}\"", way.join(" ")));
        }
        out.push_str("><summary>");
        self.push_summary(out);
        out.push_str("</summary><div class=\"b\">");
        self.push_body(out);
        out.push_str("</div></details>\n");
    }

    fn push_summary(&self, out: &mut String) {
        if !self.action.is_empty() {
            out.push_str(&format!("<span class=\"act\">{}</span>", self.action));
        }
        if !self.verdict.is_empty() {
            out.push_str(&format!("<span class=\"v {0}\">{0}</span>", self.verdict));
        }
        out.push_str("<code>");
        push(out, &self.name);
        out.push_str("</code>");
        if let Some(lead) = self.lead.first() {
            out.push_str("<span class=\"l\">");
            push(out, lead);
            out.push_str("</span>");
        }
    }

    fn push_body(&self, out: &mut String) {
        for line in self.lead.iter().skip(1) {
            out.push_str(&format!("<p>{}</p>", text(line)));
        }
        if !self.text.is_empty() {
            out.push_str("<pre class=\"d\">");
            push_difference(out, &self.text);
            out.push_str("</pre>");
        }
        push_proof(out, &self.name, "Why", &self.why);
        out.push_str("<p class=\"x\">");
        if let Some(provider) = &self.provider {
            out.push_str(&format!(
                "<span>Served by <a href={}>{}</a></span> ",
                link(provider),
                text(provider)
            ));
        }
        if let Some(place) = &self.place {
            out.push_str(&format!("<span>Written at <code>{}</code></span> ", text(place)));
        }
        if self.drawn.is_some() {
            out.push_str("<button type=\"button\" class=\"g\">Show in the graph</button> ");
        }
        out.push_str(&format!("<a href={}>Link to this</a></p>", link(&self.name)));
    }

    /// Returns the entry as its row in the document that the script reads: for lists that are too long to be written out.
    pub fn row(&self, strings: &mut Strings) -> Json {
        // What is said of one instance is said of the others, but for its own name.
        let own = |it: &str| it.replace(&self.name, "\u{1}");
        let lead: Vec<usize> = self.lead.iter().map(|it| strings.line(&own(it))).collect();
        let text: Vec<usize> = self.text.lines().map(|it| strings.line(&own(it))).collect();
        let why = self.why.iter().flat_map(|it| {
            let (said, places) = said(it);
            [it.depth.min(DEEPEST), strings.line(&own(&said)), strings.line(&places)]
        });
        let why: Vec<usize> = why.collect();
        json!([
            self.name,
            strings.line(self.action),
            strings.line(&self.module),
            strings.line(&self.of_type),
            strings.line(self.verdict),
            strings.block(lead),
            strings.block(text),
            strings.block(why),
            self.provider.as_deref().map_or(0, |it| strings.line(it)),
            self.place.as_deref().map_or(0, |it| strings.line(it)),
            self.drawn.map_or(-1, |it| it as i64),
            strings.block(self.way.clone()),
        ])
    }
}

/// A line of a proof, and where what it says stands.
fn said(line: &Line) -> (String, String) {
    let because = if line.is_reason && line.depth > 0 { "because " } else { "" };
    (format!("{because}{}", line.text), line.origins.join(", "))
}

/// Appends a proof under a title.
pub fn push_proof(out: &mut String, name: &str, title: &str, lines: &[Line]) {
    if lines.is_empty() {
        return;
    }
    out.push_str(&format!("<section class=\"w\" data-proof={}><h4>{title}</h4><ol>", quoted(name)));
    for line in lines {
        let (said, places) = said(line);
        out.push_str(&format!("<li class=\"d{}\">{}", line.depth.min(DEEPEST), text(&said)));
        if !places.is_empty() {
            out.push_str(&format!(" <span class=\"s\">{}</span>", text(&places)));
        }
        out.push_str("</li>");
    }
    out.push_str("</ol></section>");
}

/// Returns what becomes of attributes.
pub fn difference(difference: &str) -> String {
    let mut out = String::new();
    push_difference(&mut out, difference);
    out
}

/// Appends what becomes of attributes, each line in the colour of its symbol. `page.js` does the same.
fn push_difference(out: &mut String, difference: &str) {
    for line in difference.lines() {
        match class_of(line) {
            Some(class) => {
                out.push_str(&format!("<span class=\"{class}\">"));
                push(out, line);
                out.push_str("</span>\n");
            }
            None => {
                push(out, line);
                out.push('\n');
            }
        }
    }
}

fn class_of(line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    match line.split(' ').next()? {
        "+" => Some("p"),
        "-" => Some("m"),
        "~" => Some("u"),
        "-/+" | "+/-" | "./+" => Some("r"),
        "<=" => Some("i"),
        "#" => Some("c"),
        _ => None,
    }
}
