//! Random changes of a configuration.

use super::model::{Block, Model, Origin, Repetition, Source};
use crate::support::dice::Dice;

impl Model {
    /// Changes something. Returns the names of the features that this has.
    pub fn change(&mut self, dice: &mut Dice, may_be_unknown: bool) -> Vec<&'static str> {
        match dice.below(18) {
            0 | 1 => self.remove_block(dice),
            2..=4 => self.reduce_block(dice),
            5 => self.remove_module(dice),
            6 | 7 => self.reduce_module(dice),
            8 => self.write_removed(dice),
            9 => self.move_block(dice),
            10 => self.remove_all(dice),
            11 | 12 if may_be_unknown => self.change_source(dice),
            11..=13 => self.change_block(dice, |it| it.text += 1),
            14 => self.change_block(dice, |it| it.repetition.grow()),
            15 => self.change_block(dice, |it| it.is_created_first = !it.is_created_first),
            _ => {
                self.add(dice);
                Vec::new()
            }
        }
    }

    fn change_block(&mut self, dice: &mut Dice, how: impl Fn(&mut Block)) -> Vec<&'static str> {
        if !self.blocks.is_empty() {
            let at = dice.below(self.blocks.len());
            how(&mut self.blocks[at]);
        }
        Vec::new()
    }

    fn remove_block(&mut self, dice: &mut Dice) -> Vec<&'static str> {
        if self.blocks.is_empty() {
            return Vec::new();
        }
        self.blocks.remove(dice.below(self.blocks.len()));
        vec!["gone: block removed"]
    }

    fn reduce_block(&mut self, dice: &mut Dice) -> Vec<&'static str> {
        if self.blocks.is_empty() {
            return Vec::new();
        }
        let at = dice.below(self.blocks.len());
        let block = &mut self.blocks[at];
        if !block.repetition.reduce(dice) {
            return Vec::new();
        }
        let kind = match block.repetition {
            Repetition::Enabled(_) | Repetition::Once => return vec!["gone: enabled = false"],
            Repetition::Count(_) => "gone: count reduced",
            Repetition::Keys(_) => "gone: for_each reduced",
        };
        let origin = match block.origin {
            Origin::Constant => "gone: by a constant",
            Origin::Variable => "gone: by a variable",
            Origin::Local => "gone: by a local",
            Origin::Resource => "gone: by the keys of a resource",
            Origin::Call => "gone: by an argument of a module",
        };
        vec![kind, origin]
    }

    fn remove_module(&mut self, dice: &mut Dice) -> Vec<&'static str> {
        if self.modules.is_empty() {
            return Vec::new();
        }
        let module = self.modules.remove(dice.below(self.modules.len()));
        let before = self.blocks.len();
        self.blocks.retain(|it| it.module.as_ref() != Some(&module.name));
        match (before > self.blocks.len(), module.is_nested) {
            (false, _) => Vec::new(),
            (true, true) => vec!["gone: module removed", "gone: nested module"],
            (true, false) => vec!["gone: module removed"],
        }
    }

    fn reduce_module(&mut self, dice: &mut Dice) -> Vec<&'static str> {
        if self.modules.is_empty() {
            return Vec::new();
        }
        let at = dice.below(self.modules.len());
        let module = &mut self.modules[at];
        let is_empty = !self.blocks.iter().any(|it| it.module.as_ref() == Some(&module.name));
        match (module.repetition.reduce(dice) && !is_empty, module.is_nested) {
            (false, _) => Vec::new(),
            (true, true) => vec!["gone: module instance", "gone: nested module"],
            (true, false) => vec!["gone: module instance"],
        }
    }

    /// Returns where a block of the root module is that no `moved` block names; nothing if there is none.
    fn pick_in_root(&self, dice: &mut Dice) -> Option<usize> {
        let is_moved = |block: &Block| {
            let address = format!("folder_file.{}", block.name);
            self.moved.iter().any(|it| it.0 == address || it.1 == address)
        };
        let fit = |it: &(usize, &Block)| it.1.module.is_none() && !is_moved(it.1);
        let blocks: Vec<usize> =
            self.blocks.iter().enumerate().filter(fit).map(|it| it.0).collect();
        if blocks.is_empty() { None } else { Some(*dice.pick(&blocks)) }
    }

    fn write_removed(&mut self, dice: &mut Dice) -> Vec<&'static str> {
        let Some(at) = self.pick_in_root(dice) else { return Vec::new() };
        let block = self.blocks.remove(at);
        let is_destroyed = dice.one_in(2);
        self.removed.push((format!("folder_file.{}", block.name), is_destroyed));
        match is_destroyed {
            true => vec!["gone: removed, destroyed"],
            false => vec!["gone: removed, kept"],
        }
    }

    fn move_block(&mut self, dice: &mut Dice) -> Vec<&'static str> {
        let Some(at) = self.pick_in_root(dice) else { return Vec::new() };
        self.made += 1;
        let block = &mut self.blocks[at];
        let old = std::mem::replace(&mut block.name, format!("b{}", self.made));
        self.moved.push((format!("folder_file.{old}"), format!("folder_file.{}", block.name)));
        vec!["gone: moved"]
    }

    fn remove_all(&mut self, dice: &mut Dice) -> Vec<&'static str> {
        let name = dice.pick(&self.sources).name.clone();
        let gone: Vec<String> = self
            .blocks
            .iter()
            .filter(|it| self.source_of(it) == name)
            .map(|it| it.name.clone())
            .collect();
        self.blocks.retain(|it| !gone.contains(&it.name));
        if gone.is_empty() { Vec::new() } else { vec!["gone: all blocks of a provider"] }
    }

    fn change_source(&mut self, dice: &mut Dice) -> Vec<&'static str> {
        let fit = |it: &&mut Source| it.kind.can_become_unknown();
        let mut sources: Vec<&mut Source> = self.sources.iter_mut().filter(fit).collect();
        if sources.is_empty() {
            return Vec::new();
        }
        let at = dice.below(sources.len());
        sources[at].version += 1;
        vec!["provider: unknown in plan"]
    }
}
