//! Addresses of documents, and the paths that they are known by here.

use std::path::{Path, PathBuf};

use lsp_types::Url;

/// Returns the path of a document. One that is no file, such as `untitled:Untitled-1`, has its address for a path, which is not
/// absolute.
pub fn path(uri: &Url) -> PathBuf {
    match uri.to_file_path() {
        Ok(path) if uri.scheme() == "file" => entail::world::files::by_name(&path),
        _ => PathBuf::from(uri.as_str()),
    }
}

/// Returns the address of a document.
pub fn uri(path: &Path) -> Option<Url> {
    match path.is_absolute() {
        true => Url::from_file_path(path).ok(),
        false => Url::parse(path.to_str()?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_without_a_file_keeps_its_address() {
        for text in ["untitled:Untitled-1", "file:///a%20b/main.tf", "vscode-vfs://x/main.tf"] {
            let address = Url::parse(text).expect("an address");
            assert_eq!(uri(&path(&address)).expect("an address").as_str(), text);
        }
        let name = Url::parse("file:///a%20b/main.tf").expect("an address");
        assert_eq!(path(&name), Path::new("/a b/main.tf"));
    }
}
