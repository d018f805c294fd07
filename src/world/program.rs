//! The name that texts use for this program where they say what to run.

use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

/// What the program is called where nobody says otherwise.
const USUAL: &str = "entail";

static INVOKED_AS: OnceLock<String> = OnceLock::new();

/// The name that the program was invoked by, for texts such as `Run "entail init"`: whoever calls it `tofu` reads `tofu init`.
///
/// It is the same as long as the process lives, and nothing but texts for people depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Program;

/// The name, to be named within texts.
pub const PROGRAM: Program = Program;

impl Program {
    /// Sets the name, from the first word of the command line. Only the first call counts.
    pub fn invoked_as(self, first: &Path) {
        INVOKED_AS.get_or_init(|| name(first));
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        INVOKED_AS.get().map_or(USUAL, String::as_str)
    }

    /// Returns whether the program stands in the place of another one, whose output is read by other programs.
    pub fn is_in_place_of_another(self) -> bool {
        matches!(self.name(), "tofu" | "terraform")
    }
}

/// The name that this program goes by in texts about what it does: `OpenTofu cannot predict …` where it stands in for that.
#[derive(Clone, Copy, Debug)]
pub struct Product;

/// The name, to be named within texts.
pub const PRODUCT: Product = Product;

impl Product {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match PROGRAM.name() {
            "tofu" => "OpenTofu",
            "terraform" => "Terraform",
            _ => USUAL,
        }
    }

    /// Returns the name with an article before it. Before `OpenTofu` it is the one that OpenTofu's own texts have.
    pub fn with_article(self) -> &'static str {
        match PROGRAM.name() {
            "tofu" => "a OpenTofu",
            "terraform" => "a Terraform",
            _ => "an entail",
        }
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Returns the name of the file, without the ending that some systems give to programs.
fn name(first: &Path) -> String {
    let name = first.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let bare = name.strip_suffix(".exe").unwrap_or(&name);
    if bare.is_empty() { USUAL.to_owned() } else { bare.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_that_of_the_file() {
        let named = |it: &str| name(Path::new(it));
        assert_eq!(named("/usr/bin/tofu"), "tofu");
        assert_eq!(named("terraform.exe"), "terraform");
        assert_eq!(named("./entail-0.1"), "entail-0.1");
        assert_eq!(named(""), "entail");
    }

    #[test]
    fn a_process_that_does_not_say_is_called_entail() {
        assert_eq!(format!("Run \"{PROGRAM} init\""), "Run \"entail init\"");
    }
}
