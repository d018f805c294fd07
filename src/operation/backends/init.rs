//! `init` of a backend: settings are compared, states copied where that is wanted, and the result written down.

use std::sync::Arc;
use std::time::Duration;

use super::asking::{Asking, Event};
use super::migrate::{Migration, migrate};
use super::{Place, check_kind, declared, is_unchanged, overriding, problems};
use crate::backend::local::{Choice, Local};
use crate::backend::registry;
use crate::backend::settings::{self, Settings};
use crate::backend::workspace;
use crate::config::early::StaticModule;
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::world::World;

/// What `init` is asked to do with the backend.
#[derive(Clone, Debug, Default)]
pub struct Init {
    /// `-reconfigure`: forget what was set up.
    pub reconfigure: bool,
    /// `-migrate-state`: copy states from what was set up.
    pub migrate: bool,
    /// `-force-copy`: and do not ask.
    pub force_copy: bool,
    /// `-backend-config`, in order.
    pub overrides: Vec<String>,
    /// How long to wait for locks; `None` takes none.
    pub lock: Option<Duration>,
}

/// Sets the backend of the working directory up as the configuration says.
///
/// # Errors
///
/// If the backend cannot be used, or states would have to be copied and nobody has said so.
pub fn initialize(
    root: &StaticModule,
    sources: &Sources,
    init: &Init,
    asking: &dyn Asking,
) -> Result<Diagnostics, Diagnostics> {
    let mut warnings = Diagnostics::new();
    let world = &root.context().world;
    let data = workspace::data_folder(world);
    let before = settings::read(&data)?;
    let saved = before.clone().filter(|_| !init.reconfigure);
    let work = Work { world: world.clone(), init, asking };
    // OpenTofu has other words for it here than where a backend is only read.
    check_kind(root, "Unsupported backend type")?;
    let Some(declared) = declared(root)? else {
        if !init.overrides.is_empty() {
            warnings.push(problems::missing());
        }
        match (saved, before) {
            (Some(saved), _) => work.unset(saved)?,
            // Whoever reconfigures to nothing has nothing set up.
            (None, Some(_)) => settings::write(&data, None)?,
            (None, None) => {}
        }
        return Ok(warnings);
    };
    let overrides = overriding::read((world, declared.kind), sources, &init.overrides)?;
    let mut arguments = declared.arguments.clone();
    arguments.extend(overrides.clone().unwrap_or_default());
    let wanted = Settings { kind: declared.kind.name.to_owned(), arguments, hash: declared.hash };
    match saved {
        None => work.configure(&wanted)?,
        Some(saved) => {
            let is_known = match &overrides {
                None => is_unchanged(&declared, &saved),
                Some(_) => saved.kind == wanted.kind && saved.arguments == wanted.arguments,
            };
            match is_known {
                true => {
                    let renewed = Settings { hash: wanted.hash, ..saved.clone() };
                    if renewed != saved {
                        settings::write(&data, Some(&renewed))?;
                    }
                    work.check_workspace(&saved)?;
                }
                false if !(init.migrate || init.force_copy) => {
                    return Err(problems::say_how().into());
                }
                false => work.change(&saved, &wanted)?,
            }
        }
    }
    Ok(warnings)
}

struct Work<'a> {
    world: Arc<World>,
    init: &'a Init,
    asking: &'a dyn Asking,
}

impl Work<'_> {
    fn place(&self, settings: &Settings) -> Result<Place, Diagnostics> {
        let kind = registry::kind(&settings.kind);
        let kind = kind.ok_or_else(|| problems::not_here(&settings.kind))?;
        Place::of(&self.world, kind, &settings.arguments, &Choice::default())
    }

    fn usual(&self) -> Place {
        Place::usual(&self.world, &Choice::default())
    }

    fn migrate(&self, from: &Place, to: &Place) -> Result<Vec<String>, Diagnostics> {
        migrate(&Migration {
            from,
            to,
            world: &self.world,
            force: self.init.force_copy,
            lock: self.init.lock,
            asking: self.asking,
        })
    }

    fn save(&self, wanted: Option<&Settings>) -> Result<(), Diagnostics> {
        Ok(settings::write(&workspace::data_folder(&self.world), wanted)?)
    }

    /// Sets a backend up where none was: states that lie in the usual files come along.
    fn configure(&self, wanted: &Settings) -> Result<(), Diagnostics> {
        let usual = Local::new(self.world.clone(), Choice::default());
        let (from, to) = (self.usual(), self.place(wanted)?);
        let is_same = |name: &str| {
            let path = |it: &Place| it.store.file(name).map(|it| self.world.root.join(it));
            path(&from) == path(&to)
        };
        let mut filled = Vec::new();
        for name in from.workspaces()? {
            let state = from.backend(&name).read()?.state;
            if state.is_some_and(|it| !it.is_empty()) {
                filled.push(name);
            }
        }
        if !filled.is_empty() {
            // What was not copied stays where it is.
            let copied = self.migrate(&from, &to)?;
            for name in copied.iter().filter(|it| !is_same(it)) {
                usual.erase(name).map_err(|it| problems::not_erased(&it.to_string()))?;
                from.tidy(name);
            }
        }
        self.check_workspace(wanted)?;
        self.save(Some(wanted))?;
        self.asking.tell(Event::Set(wanted.kind.clone()));
        Ok(())
    }

    fn change(&self, saved: &Settings, wanted: &Settings) -> Result<(), Diagnostics> {
        self.asking.tell(match saved.kind == wanted.kind {
            true => Event::Changed,
            false => Event::TypeChanged(saved.kind.clone(), wanted.kind.clone()),
        });
        self.migrate(&self.place(saved)?, &self.place(wanted)?)?;
        self.check_workspace(wanted)?;
        self.save(Some(wanted))?;
        self.asking.tell(Event::Set(wanted.kind.clone()));
        Ok(())
    }

    fn unset(&self, saved: Settings) -> Result<(), Diagnostics> {
        if !(self.init.migrate || self.init.force_copy) {
            return Err(problems::say_how().into());
        }
        self.asking.tell(Event::Unconfiguring(saved.kind.clone()));
        self.migrate(&self.place(&saved)?, &self.usual())?;
        self.save(None)?;
        self.asking.tell(Event::Unset(saved.kind));
        Ok(())
    }

    /// Sees to it that the selected workspace is one of the backend's: where there are others, the user names one of them.
    fn check_workspace(&self, settings: &Settings) -> Result<(), Diagnostics> {
        let place = self.place(settings)?;
        let known = place.all_workspaces()?;
        let selected = workspace::selected(&self.world)?;
        if known.contains(&selected) {
            return if place.store.begins_with_state() { place.create(&selected) } else { Ok(()) };
        }
        let chosen = match &known[..] {
            [only] => only,
            _ => self.chosen(&selected, &known)?,
        };
        Ok(workspace::select(&self.world, chosen).map_err(|it| problems::not_selected(&it))?)
    }

    /// Asks which workspace is to be selected instead of one that does not exist.
    fn chosen<'k>(&self, selected: &str, known: &'k [String]) -> Result<&'k String, Diagnostic> {
        let numbered = known.iter().enumerate().map(|(at, name)| format!("{}. {name}", at + 1));
        let list: Vec<String> = numbered.collect();
        let answer = self.asking.answer(
            &format!("The currently selected workspace ({selected}) does not exist."),
            &format!(
                "This is expected where it never had a state. Enter a number to select a workspace:\n\n{}",
                list.join("\n")
            ),
        );
        let Some(answer) = answer else { return Err(problems::no_such_workspace(selected, known)) };
        let number = answer.trim().parse::<usize>().ok().and_then(|it| it.checked_sub(1));
        number
            .and_then(|it| known.get(it))
            .ok_or_else(|| problems::no_workspace_number(answer.trim(), known.len()))
    }
}
