//! Random sequences of commands, each on a configuration that has changed since the last one.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::model::Model;
use super::text;
use crate::support::dice::Dice;

/// What is run on a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Plan,
    Apply,
    SavedPlan,
    RefreshOnly,
    SavedRefreshOnly,
    Refresh,
    Destroy,
    SavedDestroy,
    Target,
    Exclude,
    DestroyTarget,
    DestroyExclude,
    NoRefresh,
    Replace,
    /// `state rm`, then `import`.
    Import,
    /// `state rm`, then an apply with an `import` block.
    ImportBlock,
    /// An apply in which deletions fail.
    FailingDelete,
    /// The same, with a replacement: a block that creates first leaves a deposed object.
    Depose,
    /// An apply in which creations fail and nothing is made.
    FailingCreate,
    /// An apply in which creations fail and leave an object.
    SpoiledCreate,
}

impl Command {
    pub const ALL: [Command; 20] = [
        Command::Plan,
        Command::Apply,
        Command::SavedPlan,
        Command::RefreshOnly,
        Command::SavedRefreshOnly,
        Command::Refresh,
        Command::Destroy,
        Command::SavedDestroy,
        Command::Target,
        Command::Exclude,
        Command::DestroyTarget,
        Command::DestroyExclude,
        Command::NoRefresh,
        Command::Replace,
        Command::Import,
        Command::ImportBlock,
        Command::FailingDelete,
        Command::Depose,
        Command::FailingCreate,
        Command::SpoiledCreate,
    ];

    fn random(dice: &mut Dice) -> Command {
        match dice.below(10) {
            0..=2 => Command::Apply,
            3 => Command::Depose,
            _ => *dice.pick(&Command::ALL),
        }
    }

    /// The name of the feature in the report.
    pub fn feature(self) -> &'static str {
        match self {
            Command::Plan => "command: plan",
            Command::Apply => "command: apply",
            Command::SavedPlan => "command: plan -out, apply",
            Command::RefreshOnly => "command: apply -refresh-only",
            Command::SavedRefreshOnly => "command: plan -refresh-only -out, apply",
            Command::Refresh => "command: refresh",
            Command::Destroy => "command: destroy",
            Command::SavedDestroy => "command: plan -destroy -out, apply",
            Command::Target => "command: apply -target",
            Command::Exclude => "command: apply -exclude",
            Command::DestroyTarget => "command: destroy -target",
            Command::DestroyExclude => "command: destroy -exclude",
            Command::NoRefresh => "command: apply -refresh=false",
            Command::Replace => "command: apply -replace",
            Command::Import => "command: state rm, import",
            Command::ImportBlock => "command: state rm, apply with an import block",
            Command::FailingDelete => "failure: delete",
            Command::Depose => "failure: delete of what is replaced",
            Command::FailingCreate => "failure: create",
            Command::SpoiledCreate => "failure: create that leaves an object",
        }
    }

    /// Returns what the file `control` says during the command.
    pub fn control(self) -> &'static str {
        match self {
            Command::FailingDelete | Command::Depose => "delete * fail\n",
            Command::FailingCreate => "create * fail\n",
            Command::SpoiledCreate => "create * spoil\n",
            _ => "",
        }
    }
}

/// A command on a configuration.
#[derive(Clone, Debug)]
pub struct Step {
    pub model: Model,
    pub command: Command,
    /// Decides which object the command names.
    pub number: usize,
}

/// A sequence of commands.
#[derive(Debug)]
pub struct Course {
    pub seed: u64,
    pub steps: Vec<Step>,
    /// The names of the features that it has.
    pub features: BTreeSet<&'static str>,
}

impl Course {
    /// Returns the course of a seed. The first step applies the first configuration.
    pub fn random(seed: u64) -> Course {
        let mut dice = Dice::of(seed);
        let mut model = Model::random(&mut dice);
        let mut features = model.features();
        let mut steps = vec![Step { model: model.clone(), command: Command::Apply, number: 0 }];
        for _ in 0..2 + dice.below(3) {
            for _ in 0..dice.below(3) {
                features.extend(model.change(&mut dice, true));
            }
            let command = Command::random(&mut dice);
            features.insert(command.feature());
            steps.push(Step { model: model.clone(), command, number: dice.below(1000) });
        }
        Course { seed, steps, features }
    }

    /// Returns whether a provider argument becomes unknown in some plan.
    pub fn has_unknown_provider(&self) -> bool {
        self.features.contains("provider: unknown in plan")
    }

    /// Returns the configuration of each step, with what was done.
    pub fn text(&self) -> String {
        let mut all = String::new();
        let mut last = String::new();
        for (number, step) in self.steps.iter().enumerate() {
            let _ = writeln!(all, "---- step {number}: {:?} {}", step.command, step.number);
            let files = text::files(&step.model);
            let mut files: Vec<_> = files.iter().filter(|it| it.0.ends_with(".tf")).collect();
            files.retain(|it| *it.0 != "net/main.tf");
            let text: String = files.iter().map(|it| format!("# {}\n{}", it.0, it.1)).collect();
            all += if text == last { "(the same configuration)\n" } else { &text };
            last = text;
        }
        all
    }
}
