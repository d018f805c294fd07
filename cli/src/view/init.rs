//! What `init` says: steps as lines or messages, advice at the end.

use entail::install::Event;
use entail::operation::backends::Event as BackendEvent;
use entail::operation::modules::{Installed, Progress};
use entail::operation::plugins::LockFile;
use entail::operation::policies::{LOCK_FILE, Progress as Policies};
use entail::workflow::init::Step;
use entail::world::{PRODUCT, PROGRAM};

use super::style::{Paint, Style};

/// Returns what people read of a step.
pub fn text(step: &Step, style: Style, in_automation: bool) -> String {
    let bold = |text: &str| format!("{}\n", style.bold(text));
    match step {
        Step::Empty => format!(
            "{}\n\nThe directory has no configuration files. You may begin working\nwith {PRODUCT} immediately by creating \
             configuration files.\n",
            style.bold(&format!("{PRODUCT} initialized in an empty directory!")),
        ),
        Step::Invalid => format!(
            "\n{PRODUCT} encountered problems during initialization, including problems\nwith the configuration, \
             described below.\n\nThe configuration must be valid before initialization, for it tells which\n\
             modules and providers need to be installed.\n"
        ),
        Step::Copying(source) => {
            format!("{} from {source:?}...\n", style.bold("Copying configuration"))
        }
        Step::Backend => format!("\n{}", bold("Initializing the backend...")),
        Step::BackendEvent(event) => backend_event(event, style),
        Step::UpgradingModules => bold("Upgrading modules..."),
        Step::ModuleProgress(Progress::Begun) => bold("Initializing modules..."),
        Step::ModuleProgress(Progress::Found(it)) => {
            format!("- {} in {}\n", it.key, it.directory)
        }
        Step::ModuleProgress(progress) => format!("{}\n", download(progress)),
        Step::Policies(Policies::Begun) => bold("Initializing policies..."),
        Step::Policies(progress) => format!("{}\n", policies(progress)),
        Step::Providers => format!("\n{}", bold("Initializing provider plugins...")),
        Step::Provider(event) => line(event, style),
        Step::Lock(file) => lock(*file, style),
        Step::Gap => "\n".to_owned(),
        Step::Done => {
            let text = format!("{PRODUCT} has been successfully initialized!");
            let done = style.paint(&[Paint::Bold, Paint::Green], &text);
            let advice = if in_automation {
                String::new()
            } else {
                format!("\n{}\n", advice().join("\n\n"))
            };
            format!("{done}\n{advice}")
        }
    }
}

/// Returns at which level machines are told of a step.
pub fn level(step: &Step) -> &'static str {
    if matches!(step, Step::Invalid) { "error" } else { "info" }
}

/// Returns what a JSON stream says of a step; nothing for what only people need.
pub fn message(step: &Step) -> Option<String> {
    Some(match step {
        Step::Empty => format!("{PRODUCT} initialized in an empty directory!"),
        Step::Invalid => "Initialization stopped: the configuration is not valid.".to_owned(),
        Step::Copying(source) => format!("Copying configuration from {source:?}..."),
        Step::Backend => "Initializing the backend...".to_owned(),
        Step::BackendEvent(event) => {
            backend_event(event, Style::default()).split_whitespace().collect::<Vec<_>>().join(" ")
        }
        Step::UpgradingModules => "Upgrading modules...".to_owned(),
        Step::ModuleProgress(Progress::Found(_)) => return None,
        Step::ModuleProgress(progress) => download(progress),
        Step::Policies(progress) => policies(progress).trim().replace('\n', " "),
        Step::Providers => "Initializing provider plugins...".to_owned(),
        Step::Provider(event) => {
            let text = line(event, Style::default());
            let words: Vec<&str> = text.split_whitespace().collect();
            words.join(" ").trim_start_matches("- ").to_owned()
        }
        Step::Lock(LockFile::Same) | Step::Gap => return None,
        Step::Lock(file) => {
            let text = lock(*file, Style::default());
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        }
        Step::Done => format!("{PRODUCT} has been successfully initialized!"),
    })
}

/// What people read of a provider.
fn line(event: &Event, style: Style) -> String {
    match event {
        Event::BuiltIn(it) => format!("- {it} is built in to {PRODUCT}\n"),
        Event::Embedded(it, version) => {
            format!("- {} v{version} is part of {PRODUCT}\n", it.short())
        }
        Event::Reusing(it) => format!(
            "- Reusing previous version of {} from the dependency lock file\n",
            it.short()
        ),
        Event::Finding(it, Some(conditions)) => {
            format!("- Finding {} versions matching {conditions:?}...\n", it.short())
        }
        Event::Finding(it, None) => format!("- Finding latest version of {}...\n", it.short()),
        Event::AlreadyInstalled { provider, version, in_cache: true } => format!(
            "- Detected previously-installed {} v{version} in the shared cache directory\n",
            provider.short()
        ),
        Event::AlreadyInstalled { provider, version, .. } => {
            format!("- Using previously-installed {} v{version}\n", provider.short())
        }
        Event::Linking(it, version) => {
            format!("- Using {} v{version} from the shared cache directory\n", it.short())
        }
        Event::Installing { provider, version, to_cache } => {
            let place = if *to_cache { " to the shared cache directory" } else { "" };
            format!("- Installing {} v{version}{place}...\n", provider.short())
        }
        Event::Installed { provider, version, authentication }
            if authentication.is_unsigned_report() =>
        {
            format!(
                "- Installed {} v{version}. Signature validation was skipped due to the registry not containing GPG keys for this provider\n",
                provider.short()
            )
        }
        Event::Installed { provider, version, authentication } => {
            let keys = match authentication.keys() {
                keys if keys.is_empty() => keys,
                keys => format!(", key ID {}", style.bold(&keys)),
            };
            let result = authentication.summary();
            format!("- Installed {} v{version} ({result}{keys})\n", provider.short())
        }
        Event::WaitingForCache(folder) => {
            format!("- Waiting for lock on cache directory {}\n", folder.display())
        }
        Event::Signed => "\nProviders are signed by their developers.\nIf you'd like to know more about provider signing, you can read about it here:\nhttps://opentofu.org/docs/cli/plugins/signing/\n".to_owned(),
        // Warnings are shown with the other problems.
        Event::Warning(..) => String::new(),
    }
}

/// What people read of the lock file.
fn lock(file: LockFile, style: Style) -> String {
    match file {
        LockFile::Same => String::new(),
        LockFile::Created => format!(
            "\n{PRODUCT} has created a lock file {} to record the provider\nselections it made above. Include this file in your version control repository\nso that {PRODUCT} can guarantee to make the same selections by default when\nyou run \"{PROGRAM} init\" in the future.\n",
            style.bold(".terraform.lock.hcl")
        ),
        LockFile::Changed => format!(
            "\n{PRODUCT} has made some changes to the provider dependency selections recorded\nin the .terraform.lock.hcl file. Review those changes and commit them to your\nversion control system if they represent changes you intended to make.\n"
        ),
    }
}

fn backend_event(event: &BackendEvent, style: Style) -> String {
    let green = |text: &str| style.paint(&[Paint::Green], text).into_owned();
    let will_look = format!(
        "{PRODUCT} has detected that the configuration specified for the backend\nhas changed. {PRODUCT} will now check for existing state in the backends."
    );
    match event {
        BackendEvent::Set(kind) => {
            let text = format!(
                "Successfully configured the backend {kind:?}! {PRODUCT} will automatically\nuse this backend unless the backend configuration changes."
            );
            format!("\n{}\n", green(&text))
        }
        BackendEvent::Unconfiguring(kind) => {
            format!(
                "{PRODUCT} has detected you're unconfiguring your previously set {kind:?} backend.\n"
            )
        }
        BackendEvent::Unset(kind) => {
            let text = format!(
                "Successfully unset the backend {kind:?}. {PRODUCT} will now operate locally."
            );
            format!("\n\n{}\n", green(&text))
        }
        BackendEvent::Changed => {
            format!("{}\n\n{will_look}\n", style.bold("Backend configuration changed!"))
        }
        BackendEvent::TypeChanged(before, now) => format!(
            "{PRODUCT} detected that the backend type changed from {before:?} to {now:?}.\n\n{will_look}\n"
        ),
    }
}

fn download(progress: &Progress) -> String {
    match progress {
        Progress::Downloading(package, Some(version), key) => {
            format!("Downloading {package} {version} for {key}...")
        }
        Progress::Downloading(package, None, key) => format!("Downloading {package} for {key}..."),
        Progress::Begun => "Initializing modules...".to_owned(),
        Progress::Found(Installed { key, directory }) => format!("{key} in {directory}"),
    }
}

fn policies(progress: &Policies) -> String {
    let at =
        |version: &Option<String>| version.as_ref().map_or(String::new(), |it| format!(" {it}"));
    match progress {
        Policies::Begun => "Initializing policies...".to_owned(),
        Policies::Fetching(source) => format!("- Fetching {source}..."),
        Policies::Kept(source, version) => {
            format!("- Using {source}{} as it is locked", at(version))
        }
        Policies::Installed(source, version) => format!("- Installed {source}{}", at(version)),
        Policies::Locked => format!(
            "\n{PRODUCT} has noted in {LOCK_FILE} what it has installed. Keep this\nfile with the configuration, so that it is the same wherever it is installed."
        ),
    }
}

fn advice() -> [String; 2] {
    [
        format!(
            "You may now begin working with {PRODUCT}. Try running \"{PROGRAM} plan\" to see\nany changes that are required for your \
             infrastructure. All {PRODUCT} commands\nshould now work."
        ),
        format!(
            "If you ever set or change modules or backend configuration for {PRODUCT},\nrerun this command to reinitialize your \
             working directory. If you forget, other\ncommands will detect it and remind you to do so if necessary."
        ),
    ]
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn steps_are_told_in_order() {
        let steps = [
            Step::Backend,
            Step::ModuleProgress(Progress::Begun),
            Step::ModuleProgress(Progress::Downloading(
                "a/b/c".into(),
                Some("1.0".into()),
                "n".into(),
            )),
            Step::ModuleProgress(Progress::Found(Installed {
                key: "m".into(),
                directory: "mod".into(),
            })),
            Step::Providers,
            Step::Provider(Event::BuiltIn(entail::address::Provider::implied("terraform"))),
            Step::Gap,
            Step::Done,
        ];
        let text: String = steps.iter().map(|it| text(it, Style::default(), false)).collect();
        expect![[r#"

            Initializing the backend...
            Initializing modules...
            Downloading a/b/c 1.0 for n...
            - m in mod

            Initializing provider plugins...
            - terraform.io/builtin/terraform is built in to entail

            entail has been successfully initialized!

            You may now begin working with entail. Try running "entail plan" to see
            any changes that are required for your infrastructure. All entail commands
            should now work.

            If you ever set or change modules or backend configuration for entail,
            rerun this command to reinitialize your working directory. If you forget, other
            commands will detect it and remind you to do so if necessary.
        "#]]
        .assert_eq(&text);
        assert_eq!(steps.iter().filter_map(message).count(), 6);
    }
}
