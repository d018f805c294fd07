//! A browser that is driven over WebDriver, where there is one.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::json;

/// A browser, and the program that drives it.
pub struct Driver {
    program: Child,
    port: u16,
    profile: PathBuf,
}

impl Driver {
    /// Starts the driver; without it or a browser, says so and gives nothing.
    pub fn start() -> Option<Driver> {
        let there = |it: &str| Command::new(it).arg("--version").output().is_ok();
        if !there("chromedriver") || !(there("chromium") || there("google-chrome")) {
            let said = b"SKIPPED: there is no browser (Debian: chromium, chromium-driver); no page was looked at\n";
            std::io::stderr().write_all(said).expect("it is said");
            return None;
        }
        let mut program = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the driver starts");
        let told = BufReader::new(program.stdout.take().expect("its output is read"));
        let port = told.lines().map_while(Result::ok).find_map(|it| {
            it.split("successfully on port ").nth(1)?.trim_end_matches('.').parse().ok()
        });
        let port = port.expect("the driver says where it listens");
        let profile = std::env::temp_dir().join(format!("entail-browser-{}", program.id()));
        Some(Driver { program, port, profile })
    }

    /// Opens a browser of its own.
    pub async fn client(&self) -> Client {
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1200,900",
            &format!("--user-data-dir={}", self.profile.display()),
        ];
        let mut wanted = serde_json::Map::new();
        wanted.insert("goog:chromeOptions".into(), json!({ "args": arguments }));
        ClientBuilder::new(HttpConnector::new())
            .capabilities(wanted)
            .connect(&format!("http://127.0.0.1:{}", self.port))
            .await
            .expect("the browser starts")
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
