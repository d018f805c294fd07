//! Texts that are opened, changed and closed, files that change on the disk, folders that come and go.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use entail::assist::{Language, problems};
use lsp_types::{
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, FileSystemWatcher, GlobPattern,
    Registration, RegistrationParams, TextDocumentContentChangeEvent,
};
use serde_json::Value as Json;

use super::server::Server;
use super::text::Lines;
use super::uri::path;

/// The files whose changes on the disk matter.
const WATCHED: &str =
    "**/{*.tf,*.tofu,*.tf.json,*.tofu.json,*.tfvars,*.tfvars.json,*.hcl,*.rules,modules.json}";

impl Server {
    /// Takes a notification. One that is not understood is left alone, as the protocol asks.
    pub fn notified(&mut self, method: &str, params: Json) {
        match method {
            "textDocument/didOpen" => self.with(params, Server::opened),
            "textDocument/didChange" => self.with(params, Server::changed),
            "textDocument/didClose" => self.with(params, Server::closed),
            "textDocument/didSave" => self.saved(),
            "workspace/didChangeWatchedFiles" => self.with(params, Server::watched),
            "workspace/didChangeWorkspaceFolders" => self.with(params, Server::folders_changed),
            "initialized" => self.begin(),
            _ => {}
        }
    }

    fn with<T: serde::de::DeserializeOwned>(&mut self, params: Json, take: fn(&mut Server, T)) {
        if let Ok(params) = serde_json::from_value(params) {
            take(self, params);
        }
    }

    /// Asks to be told of files that change, and looks at everything that is open.
    fn begin(&mut self) {
        if self.editor.watches {
            let watchers = vec![FileSystemWatcher {
                glob_pattern: GlobPattern::String(WATCHED.to_owned()),
                kind: None,
            }];
            let options = serde_json::json!({ "watchers": watchers });
            let registration = Registration {
                id: "files".to_owned(),
                method: "workspace/didChangeWatchedFiles".to_owned(),
                register_options: Some(options),
            };
            let params = RegistrationParams { registrations: vec![registration] };
            self.out.ask("client/registerCapability", params);
        }
        self.check_all();
    }

    fn opened(&mut self, params: DidOpenTextDocumentParams) {
        let it = params.text_document;
        let path = path(&it.uri);
        let language = Language::of(&path).unwrap_or_else(|| Language::named(&it.language_id));
        let text: Arc<str> = it.text.into();
        self.workspace.lay(&path, language, text.clone());
        self.published.lock().opened(&path, it.version, text);
        self.versions.insert(path.clone(), it.version);
        self.check(&path);
    }

    fn changed(&mut self, params: DidChangeTextDocumentParams) {
        let path = path(&params.text_document.uri);
        // A text that was never opened is not known: what it is now cannot be told from its changes.
        let Some(before) = self.workspace.laid(&path).cloned() else { return };
        let version = params.text_document.version;
        let mut text = before.to_string();
        for change in params.content_changes {
            self.apply(&path, &mut text, change);
        }
        let text: Arc<str> = text.into();
        let language = self.language(&path);
        self.workspace.lay(&path, language, text.clone());
        self.versions.insert(path.clone(), version);
        self.published.lock().opened(&path, version, text);
        self.check(&path);
    }

    fn apply(&self, path: &Path, text: &mut String, change: TextDocumentContentChangeEvent) {
        let mut published = self.published.lock();
        match change.range {
            Some(range) => {
                let bytes = Lines::of(text, self.encoding).bytes(range);
                published.moved(path, &bytes, change.text.len());
                text.replace_range(bytes, &change.text);
            }
            None => {
                published.moved(path, &(0..text.len() + 1), change.text.len());
                *text = change.text;
            }
        }
    }

    fn closed(&mut self, params: DidCloseTextDocumentParams) {
        let path = path(&params.text_document.uri);
        self.workspace.lift(&path);
        self.versions.remove(&path);
        self.published.lock().closed(&path);
        self.check(&path);
    }

    /// What is on the disk may have changed with it: an editor that watches files tells so itself.
    fn saved(&mut self) {
        if !self.editor.watches {
            self.workspace.all_changed();
            self.check_all();
        }
    }

    fn watched(&mut self, params: DidChangeWatchedFilesParams) {
        let paths: Vec<PathBuf> = params.changes.iter().map(|it| path(&it.uri)).collect();
        paths.iter().for_each(|it| self.workspace.changed(it));
        self.check_all();
    }

    fn folders_changed(&mut self, params: DidChangeWorkspaceFoldersParams) {
        let gone: Vec<PathBuf> = params.event.removed.iter().map(|it| path(&it.uri)).collect();
        self.workspace.roots.retain(|it| !gone.contains(it));
        self.workspace.roots.extend(params.event.added.iter().map(|it| path(&it.uri)));
        self.workspace.all_changed();
        self.check_all();
    }

    /// What a document is that is open, or has a name that says it.
    pub fn language(&self, path: &Path) -> Language {
        let known = self.workspace.document(path).map(|it| it.language);
        known.or_else(|| Language::of(path)).unwrap_or(Language::Config)
    }

    /// Tells at once what keeps a text from being read, and notes that all is to be looked at that it is a part of.
    fn check(&mut self, path: &Path) {
        if let Some(document) = self.workspace.document(path) {
            let syntax = problems::of_text(&document);
            self.published.lock().at_once(path, syntax, &self.out);
        }
        self.touched.insert(path.to_owned());
    }

    /// Has everything looked at that texts are a part of which were touched: once for all of them.
    pub fn check_touched(&mut self) {
        let mut tasks = Vec::new();
        let mut folders = BTreeSet::new();
        for path in std::mem::take(&mut self.touched) {
            let document = self.workspace.document(&path);
            let is_alone =
                !path.is_absolute() || document.is_some_and(|it| it.language == Language::Rules);
            if is_alone {
                tasks.extend(problems::of_file(&self.workspace, &path));
            }
            folders.insert(self.workspace.module_of(&path).folder.clone());
        }
        let entries = self.workspace.entries();
        let is_touched = |it: &&PathBuf| !self.workspace.reached(it).is_disjoint(&folders);
        let touched = entries.iter().filter(is_touched);
        tasks.extend(touched.map(|it| problems::of_folder(&self.workspace, it)));
        self.checking.add(tasks, true);
    }

    /// Has everything looked at: what is open first.
    fn check_all(&mut self) {
        let entries = self.workspace.entries();
        let open: Vec<PathBuf> = self.workspace.open().cloned().collect();
        let alone = |it: &Path| problems::of_file(&self.workspace, it).map(|it| it.root);
        let others: Vec<PathBuf> = open.iter().filter_map(|it| alone(it)).collect();
        let is_looked_at =
            |it: &Path| entries.iter().chain(&others).chain(&open).any(|root| root == it);
        self.published.lock().keep(&is_looked_at, &self.out);
        let holds_open = |root: &PathBuf| {
            let reached = self.workspace.reached(root);
            open.iter().any(|it| reached.contains(&self.workspace.module_of(it).folder))
        };
        let (first, rest): (Vec<_>, Vec<_>) = entries.iter().cloned().partition(holds_open);
        let task = |it: &PathBuf| problems::of_folder(&self.workspace, it);
        self.checking.add(first.iter().map(task).collect(), true);
        self.checking.add(rest.iter().map(task).collect(), false);
        let alone = open.iter().filter_map(|it| problems::of_file(&self.workspace, it));
        self.checking.add(alone.collect(), true);
    }
}
