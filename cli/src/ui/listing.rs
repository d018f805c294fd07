//! Lists for machines and people.

use entail::address::{Instance, Provider, Resource};

use super::Ui;
use crate::view::json;

impl Ui {
    /// Lists workspaces for machines.
    pub fn workspaces(&self, names: &[String], selected: &str) {
        self.messages(&json::workspaces(names, selected, &self.timestamp()));
    }

    /// Lists addresses of the state, one per line or message.
    pub fn addresses(&self, listed: &[Instance]) {
        if self.has_messages() {
            self.messages(&json::addresses(listed, &self.timestamp()));
        }
        self.show(|out| listed.iter().try_for_each(|it| writeln!(out, "{it}")));
    }

    /// Tells machines which resources get another provider.
    pub fn replaced_provider(&self, from: &Provider, to: &Provider, resources: &[&Resource]) {
        let resources: Vec<String> = resources.iter().map(ToString::to_string).collect();
        let (from, to) = (from.to_string(), to.to_string());
        self.messages(&json::replaced_provider(&from, &to, &resources, &self.timestamp()));
    }
}
