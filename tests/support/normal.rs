//! Takes out of a text what differs from run to run: generated ids, times, folders.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

/// What was replaced so far in a case, so that one id has one name throughout.
pub struct Normal {
    folder: String,
    ids: BTreeMap<String, usize>,
}

static IDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        \b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b  # UUIDs
        | \b[0-9]{15,20}\b                                               # ids of null_resource
        ",
    )
    .expect("a valid expression")
});
static TIMES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:?\d{2})?")
        .expect("a valid expression")
});
static ELAPSED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(after|in) \d+(\.\d+)?m?s\b").expect("a valid expression"));

impl Normal {
    /// Returns a fresh one for a case that runs in `folder`.
    pub fn new(folder: &Path) -> Normal {
        Normal { folder: folder.to_string_lossy().into_owned(), ids: BTreeMap::new() }
    }

    /// Returns the text with ids as `<id 1>`, `<id 2>` in the order of first appearance, times as `<time>`, elapsed
    /// seconds as `0s` and the folder of the case as `.`, without blanks at line ends.
    pub fn text(&mut self, text: &str) -> String {
        let text = text.replace(&self.folder, ".");
        let text = TIMES.replace_all(&text, "<time>");
        let text = ELAPSED.replace_all(&text, "$1 0s");
        let ids = &mut self.ids;
        let text = IDS.replace_all(&text, |found: &regex::Captures<'_>| {
            let count = ids.len() + 1;
            format!("<id {}>", ids.entry(found[0].to_owned()).or_insert(count))
        });
        // Progress comes as the world answers, several at once: its lines have no order of their own.
        steady(&text.lines().map(|it| format!("{}\n", it.trim_end())).collect::<String>())
    }
}

/// Sorts each run of progress lines.
fn steady(text: &str) -> String {
    let is_progress = |it: &str| {
        [
            "Creating...",
            "Destroying...",
            "Modifying...",
            "Creation complete",
            "Destruction complete",
            "Modifications complete",
            "Refreshing state...",
            "Reading...",
            "Read complete",
        ]
        .iter()
        .any(|word| it.contains(word))
    };
    let mut lines: Vec<&str> = text.lines().collect();
    let mut start = 0;
    while start < lines.len() {
        let end = start + lines[start..].iter().take_while(|it| is_progress(it)).count();
        lines[start..end].sort_unstable();
        start = end + 1;
    }
    lines.iter().map(|it| format!("{it}\n")).collect()
}

#[test]
fn one_id_has_one_name() {
    let mut normal = Normal::new(Path::new("/nowhere"));
    let text = "a [id=1234567890123456789] after 3s\nb [id=9876543210987654321]\na [id=1234567890123456789]\n";
    assert_eq!(normal.text(text), "a [id=<id 1>] after 0s\nb [id=<id 2>]\na [id=<id 1>]\n");
}
