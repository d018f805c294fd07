//! A registry of plugins on this machine, with one plugin that only has to lie where it is looked for.
//!
//! It stands in for the usual one, which may have plugins that nobody has signed.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::OnceLock;

use entail::install::Platform;
use sha2::Digest;

/// The settings that lead to the registry.
pub fn settings() -> String {
    static PORT: OnceLock<u16> = OnceLock::new();
    let port = PORT.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("it is bound").port();
        std::thread::spawn(move || listener.incoming().flatten().for_each(|it| drop(answer(it))));
        port
    });
    format!(
        "host \"registry.opentofu.org\" {{\n  services = {{ \"providers.v1\" = \"http://127.0.0.1:{port}/v1/\" }}\n}}\n"
    )
}

fn answer(stream: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(&stream).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    // The request is read to its end: whoever is still sending would not hear the answer.
    lines.map_while(Result::ok).take_while(|it| !it.is_empty()).for_each(drop);
    let content = content(first.split(' ').nth(1).unwrap_or_default());
    let status = if content.is_some() { "200 OK" } else { "404 Not Found" };
    let content = content.unwrap_or_default();
    let length = content.len();
    write!(&stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    (&stream).write_all(&content)
}

fn content(path: &str) -> Option<Vec<u8>> {
    let platform = Platform::current();
    let name = format!("terraform-provider-thing_1.0.0_{platform}.zip");
    let archive = archive();
    let digest = sha2::Sha256::digest(&archive);
    let sum: String = digest.iter().map(|it| format!("{it:02x}")).collect();
    let package = serde_json::json!({
        "protocols": ["5.0"], "os": platform.system, "arch": platform.processor, "filename": name,
        "download_url": "/files/archive.zip", "shasum": sum, "shasums_url": "/files/sums",
        "shasums_signature_url": "/files/sums.sig", "signing_keys": {"gpg_public_keys": []},
    });
    let versions = r#"{"versions":[{"version":"1.0.0","protocols":["5.0"]}]}"#;
    match path {
        "/v1/acme/thing/versions" => Some(versions.into()),
        "/files/archive.zip" => Some(archive),
        "/files/sums" => Some(format!("{sum}  {name}\n").into()),
        "/files/sums.sig" => Some(Vec::new()),
        path if path.starts_with("/v1/acme/thing/1.0.0/download/") => {
            Some(package.to_string().into())
        }
        _ => None,
    }
}

fn archive() -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().unix_permissions(0o755);
    writer.start_file("terraform-provider-thing", options).expect("it is begun");
    writer.write_all(b"a program").expect("it is written");
    writer.finish().expect("it is whole").into_inner()
}
