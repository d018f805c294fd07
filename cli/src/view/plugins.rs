//! What `providers lock` and `providers mirror` say while they work.

use entail::operation::plugins::lock::{self, News};
use entail::operation::plugins::mirror::{self, Why};
use entail::world::PRODUCT;

use super::style::{Paint, Style};

/// Returns a step of `providers lock`, as one line without its end.
pub fn locking(style: Style, progress: &lock::Progress) -> String {
    match progress {
        lock::Progress::Fetching(provider, version, platform) => {
            format!("Fetching {} {version} for {platform}...", provider.short())
        }
        lock::Progress::Retrieved(provider, version, platform, result) => {
            let keys = match result.keys() {
                keys if keys.is_empty() => keys,
                keys => format!(", key ID {}", style.bold(&keys)),
            };
            let word = result.summary();
            format!("Retrieved {} {version} for {platform} ({word}{keys})", provider.short())
        }
        lock::Progress::Obtained(provider, platform, news) => {
            let what = match news {
                News::Provider => {
                    "This was a new provider and the checksums for this platform are now tracked in the lock file"
                }
                News::Hashes => {
                    "Additional checksums for this platform are now tracked in the lock file"
                }
                News::Nothing => {
                    "All checksums for this platform were already tracked in the lock file"
                }
            };
            format!("Obtained {} checksums for {platform}; {what}", provider.short())
        }
    }
}

/// Returns the closing lines of `providers lock`.
pub fn locked(style: Style, has_news: bool) -> String {
    let success = style.paint(&[Paint::Bold, Paint::Green], "Success!");
    match has_news {
        true => format!(
            "\n{success} {}\n\nReview the changes in .terraform.lock.hcl and then commit to your\nversion control system to retain the new checksums.\n\n",
            style.bold(&format!("{PRODUCT} has updated the lock file."))
        ),
        false => format!(
            "\n{success} {}\n",
            style.bold(&format!(
                "{PRODUCT} has validated the lock file and found no need for changes."
            ))
        ),
    }
}

/// Returns what machines read at the end of `providers lock`.
pub fn locked_message(has_news: bool) -> String {
    match has_news {
        true => format!(
            "Success! {PRODUCT} has updated the lock file. Review the changes in .terraform.lock.hcl and then commit to your version control system to retain the new checksums"
        ),
        false => {
            format!("Success! {PRODUCT} has validated the lock file and found no need for changes.")
        }
    }
}

/// Returns what people read of a step of `providers mirror`.
pub fn mirroring(progress: &mirror::Progress) -> String {
    match progress {
        mirror::Progress::Skipped(it) => {
            format!("- Skipping {it} because it is built in to {PRODUCT}\n")
        }
        mirror::Progress::Mirroring(it) => format!("- Mirroring {}...\n", it.short()),
        mirror::Progress::Selected(_, version, why) => {
            format!("  - Selected v{version} {}\n", reason(why))
        }
        mirror::Progress::Downloading(it) => {
            format!("  - Downloading package for {}...\n", it.platform)
        }
        mirror::Progress::Authenticated(_, result) => {
            format!("  - Package authenticated: {result}\n")
        }
    }
}

/// Returns what machines read of a step of `providers mirror`: each message names what it is about.
pub fn mirroring_message(progress: &mirror::Progress) -> String {
    let of = |it: &mirror::Package| (it.provider.short(), it.version.clone(), it.platform.clone());
    match progress {
        mirror::Progress::Skipped(it) => {
            format!("Skipping {it} because it is built in to {PRODUCT}")
        }
        mirror::Progress::Mirroring(it) => format!("Mirroring {}...", it.short()),
        mirror::Progress::Selected(provider, version, why) => {
            format!("Selected {} v{version} {}", provider.short(), reason(why))
        }
        mirror::Progress::Downloading(it) => {
            let (provider, version, platform) = of(it);
            format!("Downloading {provider} v{version} package for {platform}...")
        }
        mirror::Progress::Authenticated(it, result) => {
            let (provider, version, platform) = of(it);
            format!("Package {provider} v{version} for {platform} authenticated: {result}")
        }
    }
}

fn reason(why: &Why) -> String {
    match why {
        Why::Locked => "to match dependency lock file".to_owned(),
        Why::Allowed(conditions) => format!("to meet constraints {conditions}"),
        Why::Newest => "with no constraints".to_owned(),
    }
}
