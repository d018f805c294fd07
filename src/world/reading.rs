//! Reading files that may be anything: no pipe is waited for that nobody writes, and no device is read without end.

use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// Opening waits for nobody at the other end of a pipe.
pub const WITHOUT_WAITING: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;

/// Opens a regular file to read it: a pipe would be waited for, and a device read without end.
///
/// # Errors
///
/// If it cannot be opened, or is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Opening is something that a device may answer to, so it is looked at first.
    check_regular(&std::fs::metadata(path)?)?;
    let file = open_without_waiting(path)?;
    // Something else may have been put in its place meanwhile.
    check_regular(&file.metadata()?)?;
    Ok(file)
}

fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(WITHOUT_WAITING).open(path)
}

fn check_regular(found: &Metadata) -> io::Result<()> {
    // Reading a folder fails with the words of the system.
    match found.is_file() || found.is_dir() {
        true => Ok(()),
        false => Err(not_regular(found.file_type())),
    }
}

/// What is there is no regular file.
pub fn not_regular(kind: FileType) -> io::Error {
    let what = match kind {
        it if it.is_fifo() => "a pipe",
        it if it.is_socket() => "a socket",
        it if it.is_block_device() => "a disk",
        it if it.is_char_device() => "a device",
        it if it.is_dir() => "a folder",
        _ => "something else",
    };
    let why = format!("it is {what}, not a regular file");
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Reads a whole regular file. `/dev/null` is empty.
///
/// # Errors
///
/// As for [`open_regular`].
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path != Path::new("/dev/null") {
        open_regular(path)?.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Reads a whole file that the user names. It may come from another program by way of a pipe, if that program is there.
///
/// # Errors
///
/// If it cannot be read, is a pipe that nobody writes, or a device.
pub fn read_given(path: &Path) -> io::Result<Vec<u8>> {
    if std::fs::metadata(path)?.file_type().is_fifo() {
        return read_pipe(path);
    }
    read_regular(path)
}

/// Returns whether what is read there comes from another program. What a link in `/proc` leads to, as a shell makes one of
/// `<(…)`, is a pipe by its own kind.
pub(super) fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|it| it.file_type().is_fifo())
}

/// How long a pipe is given until somebody writes it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads a pipe to its end. Whoever writes it may come a little later than this reader.
fn read_pipe(path: &Path) -> io::Result<Vec<u8>> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let mut pipe = open_without_waiting(path)?;
    let mut bytes = vec![0];
    let begun = Instant::now();
    loop {
        match pipe.read(&mut bytes) {
            Ok(0) if begun.elapsed() > PATIENCE => {
                return Err(io::Error::other(format!(
                    "{} is a pipe that nobody writes",
                    path.display()
                )));
            }
            Ok(0) => std::thread::sleep(PATIENCE / 100),
            Ok(_) => break,
            // Somebody is there, and has not written yet.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                bytes.clear();
                break;
            }
            Err(error) => return Err(error),
        }
    }
    fcntl_setfl(&pipe, fcntl_getfl(&pipe)?.difference(OFlags::NONBLOCK))?;
    pipe.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a regular file as text.
///
/// # Errors
///
/// If it cannot be read, or is no regular file, or no text.
pub fn read_text(path: &Path) -> io::Result<String> {
    as_text(read_regular(path)?)
}

/// Reads a file that the user names as text.
///
/// # Errors
///
/// If it cannot be read, is a pipe that nobody writes, or a device, or no text.
pub fn text_given(path: &Path) -> io::Result<String> {
    as_text(read_given(path)?)
}

/// Returns what a file holds, as text.
///
/// # Errors
///
/// If it is not UTF-8.
pub fn as_text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8")
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn pipes_are_read_where_somebody_writes_them_and_devices_never() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
        let refused = read_regular(&pipe).expect_err("it is a pipe").to_string();
        assert!(refused.ends_with("not a regular file"), "{refused}");
        let refused = read_given(&pipe).expect_err("nobody writes").to_string();
        assert!(refused.ends_with("is a pipe that nobody writes"), "{refused}");
        // Whoever writes comes later than the reader, and takes its time.
        let late = "sleep 0.2; exec >pipe; sleep 0.2; printf one; sleep 0.2; printf two";
        let mut writer = Command::new("sh")
            .args(["-c", late])
            .current_dir(folder.path())
            .spawn()
            .expect("it starts");
        assert_eq!(text_given(&pipe).expect("it is read"), "onetwo");
        assert!(writer.wait().expect("it ends").success());
        read_given("/dev/zero".as_ref()).expect_err("it never ends");
        assert_eq!(read_given("/dev/null".as_ref()).expect("it is empty"), [0; 0]);
    }
}
