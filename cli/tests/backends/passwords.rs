//! The password file of PostgreSQL's programs: it is read only if no other user may read or write it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use crate::folder::Folder;

/// Starts a server that asks for a password in clear text and then hangs up. Returns its port and the passwords that it was sent.
fn start() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = listener.local_addr().expect("it has an address").port();
    let passwords: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = passwords.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // Before the client learns that it is over.
            log.lock().expect("no thread panics while it holds this").extend(password(&stream));
        }
    });
    (port, passwords)
}

/// Returns the password that a client sends, if it has one.
fn password(mut stream: &TcpStream) -> Option<String> {
    message(stream, 0)?;
    stream.write_all(b"R\0\0\0\x08\0\0\0\x03").ok()?;
    let answer = message(stream, 1)?;
    Some(String::from_utf8_lossy(&answer).trim_end_matches('\0').to_owned())
}

/// Reads a message: `kind` bytes for its kind, four for its length, and the rest, which is returned.
fn message(mut stream: &TcpStream, kind: usize) -> Option<Vec<u8>> {
    let (mut skipped, mut length) = (vec![0_u8; kind], [0_u8; 4]);
    stream.read_exact(&mut skipped).ok()?;
    stream.read_exact(&mut length).ok()?;
    let mut rest = vec![0_u8; u32::from_be_bytes(length).checked_sub(4)? as usize];
    stream.read_exact(&mut rest).ok()?;
    Some(rest)
}

#[test]
fn a_password_file_that_others_may_use_is_left_alone() {
    let (port, passwords) = start();
    let address = format!("postgres://u@127.0.0.1:{port}/d?sslmode=disable&connect_timeout=5");
    let block =
        format!("terraform {{\n  backend \"pg\" {{\n    conn_str = \"{address}\"\n  }}\n}}\n");
    for (mode, is_read) in
        [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o666, false)]
    {
        // The working directory is the home of its user as well.
        let folder = Folder::new(&block);
        let path = folder.path().join(".pgpass");
        std::fs::write(&path, format!("127.0.0.1:{port}:d:u:saved-password\n")).expect("a file");
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&path, permissions).expect("it is ours");
        let told = folder.run("init -input=false").refuses("cannot connect");
        assert!(!told.contains("saved-password"), "{told}");
        let sent =
            std::mem::take(&mut *passwords.lock().expect("no thread panics while it holds this"));
        assert_eq!(sent.contains(&"saved-password".to_owned()), is_read, "{mode:o}: {told}");
    }
}
