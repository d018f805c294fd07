//! What `plan` writes beside its own output, for others to read: a comment, and a report for build servers.

use std::path::{Path, PathBuf};

use entail::backend::files;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::workflow::plan::Made;
use entail::world::{PROGRAM, World};

use crate::arguments::groups::OutputArgs;
use crate::ui::Ui;
use crate::view::plan::suites::{Planned, suites};
use crate::view::{junit, markdown};

/// Which documents.
#[derive(clap::Args, Clone, Debug)]
pub struct DocumentArgs {
    /// Write the plan as Markdown, for the comment of a review: into this file, or instead of all else to the standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub markdown: Option<String>,

    /// Write what came of checks, conditions and policies into this file, as JUnit's XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

impl DocumentArgs {
    /// Returns whether a document is all that the standard output is for.
    pub fn is_alone(&self) -> bool {
        self.markdown.as_deref() == Some("")
    }

    /// Checks that the documents go with each other and with the rest.
    pub fn check(&self, output: &OutputArgs, show_sensitive: bool) -> Result<(), Diagnostic> {
        let incompatible = |why: &str| Err(Diagnostic::error("Incompatible options").detail(why));
        if self.is_alone() && output.messages.json {
            return incompatible(
                "The standard output takes one of -json and -markdown: name a file for the other, with -markdown=FILE or -json-into=FILE.",
            );
        }
        if self.markdown.is_some() && show_sensitive {
            return incompatible(
                "A comment is made to be passed on, and holds no sensitive values: -markdown does not go with -show-sensitive.",
            );
        }
        Ok(())
    }

    /// Writes what is asked for, also of a plan that could not be made.
    pub fn write(
        &self,
        ui: &Ui,
        world: &World,
        made: Result<&Made, &Diagnostics>,
        saved: Option<&Path>,
    ) -> Result<(), Diagnostics> {
        let problems = made.map_or_else(|it| it, |it| &it.problems);
        let made = made.ok();
        let judged = made.and_then(|it| it.judged.as_ref());
        if let Some(path) = &self.junit {
            let plan = made.map(|it| &it.finished.plan);
            let judged = judged.map(|it| (&it.0, it.1.as_slice()));
            let found = suites(&Planned { plan, judged, problems });
            let document = junit::document(Some("plan"), &found);
            junit::write(&world.root.join(path), &document, ("junit", "the plan"))?;
        }
        if let Some(file) = &self.markdown {
            let told = markdown::plan::Told {
                plan: made.map(|it| (&it.finished.plan, &it.schemas)),
                report: judged.map(|it| &it.0),
                problems,
                sources: &ui.sources,
            };
            let text = markdown::plan::document(&told, ui.reading(), &more(saved));
            match file.as_str() {
                "" => ui.out(&text),
                file => files::write_private(&world.root.join(file), text.as_bytes()).map_err(
                    |why| {
                        Diagnostic::error("Failed to write the comment").detail(format!(
                            "The file that -markdown names, {file}, could not be written: {why}."
                        ))
                    },
                )?,
            }
        }
        Ok(())
    }
}

/// Says where everything can be read.
fn more(saved: Option<&Path>) -> String {
    match saved {
        Some(path) => format!("`{PROGRAM} show {}` has everything.", path.display()),
        None => format!("The output of `{PROGRAM} plan` has everything."),
    }
}
