//! What is known of a block besides its text: what a saved plan does with it, and what policies say of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Place;
use super::document::Document;
use super::index::Entity;
use super::problems::Problem;
use super::workspace::Workspace;
use crate::diagnostic::{Diagnostics, Sources};
use crate::execute::Stop;
use crate::workflow::explain::{Form, PlanSource, WhyOptions, why};
use crate::workflow::show::planned;
use crate::workflow::{Host, Nobody};
use crate::world::World;

/// A line above a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lens {
    /// Where the block's header stands.
    pub place: Place,
    /// What it says.
    pub text: String,
    /// The address whose proof it leads to, where it leads to one.
    pub why: Option<String>,
}

/// A question for lenses. A plan is read for it: it is answered beside what is quick.
pub struct Question {
    document: Arc<Document>,
    problems: Vec<Problem>,
    plan: Option<PathBuf>,
    world: World,
}

/// How the names of saved plans end; the last of them by name counts.
const PLANS: [&str; 4] = ["tfplan", ".tfplan", ".plan", "plan.out"];

/// Returns the saved plan of a folder.
pub fn saved_plan(workspace: &Workspace, folder: &Path) -> Option<PathBuf> {
    let entries = workspace.files().entries(folder).unwrap_or_default();
    let names = entries.into_iter().filter(|it| !it.is_folder);
    let names = names.filter_map(|it| it.name.into_string().ok());
    let plans = names.filter(|name| PLANS.iter().any(|it| name.ends_with(it)));
    plans.max().map(|it| folder.join(it))
}

/// Returns the question for the lenses of a file.
pub fn of(workspace: &Workspace, path: &Path, problems: Vec<Problem>) -> Option<Question> {
    let document = workspace.document(path).filter(|it| it.language.is_config())?;
    let module = workspace.module_of(path);
    let (folder, world) = (module.folder.clone(), workspace.world(&module.folder));
    let is_entry = path.is_absolute() && workspace.entries().contains(&folder);
    let is_read = is_entry && !module.is_sealed(&world);
    let plan = is_read.then(|| saved_plan(workspace, &folder)).flatten();
    Some(Question { document, problems, plan, world })
}

impl Question {
    /// Returns the lenses.
    pub fn answer(&self) -> Vec<Lens> {
        let actions = self.actions();
        let mut found = Vec::new();
        for it in &self.document.index.declarations {
            let address = it.entity.address();
            let own = match &it.entity {
                Entity::Resource(_) => actions.get(&address).cloned().unwrap_or_default(),
                Entity::Call(_) => within(&actions, &address),
                _ => continue,
            };
            let place = Place { path: self.document.path.clone(), range: it.header.clone() };
            if !own.is_empty() {
                let words: Vec<String> =
                    own.iter().map(|(action, count)| counted(action, *count)).collect();
                let text = format!("{}: {}", self.plan_name(), words.join(", "));
                found.push(Lens { place: place.clone(), text, why: Some(address.clone()) });
            }
            let here = |problem: &&Problem| {
                problem.said_by == "policy" && it.whole.contains(&problem.place.range.start)
            };
            let rules: Vec<&str> = self.problems.iter().filter(here).map(|it| &*it.code).collect();
            if !rules.is_empty() {
                found.push(Lens { place, text: rules.join(", "), why: None });
            }
        }
        found
    }

    fn plan_name(&self) -> String {
        let name = self.plan.as_ref().and_then(|it| it.file_name());
        name.map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// What the saved plan does, by resource: each action, and how often.
    fn actions(&self) -> BTreeMap<String, Counts> {
        let Some(plan) = &self.plan else { return BTreeMap::new() };
        let (world, sources) = (Arc::new(self.world.clone()), Sources::default());
        let mut found: BTreeMap<String, Counts> = BTreeMap::new();
        for (resource, action) in
            planned(&host(&world, &sources, &Stop::default()), plan).unwrap_or_default()
        {
            *found.entry(resource).or_default().entry(action).or_default() += 1;
        }
        found
    }
}

/// How often each action is planned.
type Counts = BTreeMap<&'static str, usize>;

/// What is done with everything in a module.
fn within(actions: &BTreeMap<String, Counts>, call: &str) -> Counts {
    let start = format!("{call}.");
    let mut all = Counts::new();
    for (_, own) in actions.range(start.clone()..).take_while(|it| it.0.starts_with(&start)) {
        own.iter().for_each(|(action, count)| *all.entry(action).or_default() += count);
    }
    all
}

fn host<'a>(world: &'a Arc<World>, sources: &'a Sources, stop: &'a Stop) -> Host<'a> {
    Host { world, sources, tell: &Nobody, ask: &Nobody, stop }
}

fn counted(action: &str, count: usize) -> String {
    if count == 1 { action.to_owned() } else { format!("{action} {count}") }
}

/// A question for a proof.
pub struct Why {
    world: World,
    plan: Option<PathBuf>,
    address: String,
}

/// Returns the question why an address of a folder is planned as it is: of the saved plan, or of one that is made for it.
pub fn question(workspace: &Workspace, folder: &Path, address: &str) -> Why {
    let plan = saved_plan(workspace, folder);
    Why { world: workspace.world(folder), plan, address: address.to_owned() }
}

impl Why {
    /// Returns whether answering runs what the folder names: its providers, and the programs that these run.
    pub fn runs_programs(&self) -> bool {
        self.plan.is_none()
    }

    /// Returns the proof as text.
    ///
    /// # Errors
    ///
    /// If there is no plan and none can be made, or nothing has this address.
    pub fn answer(&self) -> Result<String, Diagnostics> {
        let (world, sources) = (Arc::new(self.world.clone()), Sources::default());
        let subject = PlanSource { saved: self.plan.clone(), ..PlanSource::default() };
        let form = Form::Text(None);
        let options =
            WhyOptions { address: self.address.clone(), form, subject, ..WhyOptions::default() };
        why(&host(&world, &sources, &Stop::default()), &options).map(|it| it.text)
    }
}
