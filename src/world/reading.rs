//! Reading files that may be anything: no pipe is waited for that nobody writes, and no device is read without end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
#[cfg(unix)]
use std::time::{Duration, Instant};

/// Opens a file that must be a regular one: a fifo would be waited for, and a device read without end. `/dev/null` is empty.
///
/// # Errors
///
/// If it cannot be opened, or is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = open_without_waiting(path)?;
    let kind = file.metadata()?.file_type();
    if !kind.is_file() && !kind.is_dir() && path != Path::new("/dev/null") {
        return Err(not_regular(path));
    }
    Ok(file)
}

/// What is opened is not waited for, and no device is set going.
fn open_without_waiting(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    }
    options.open(path)
}

fn not_regular(path: &Path) -> io::Error {
    let shown = path.display();
    io::Error::other(format!("{shown} is a fifo, a socket or a device, and not a regular file"))
}

/// Reads a whole file that must be a regular one.
///
/// # Errors
///
/// If it cannot be read, or is no regular file.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole file that the user names. It may come from another program by way of a pipe, if that program is there.
///
/// # Errors
///
/// If it cannot be read, is a pipe that nobody writes, or a device.
pub fn read_given(path: &Path) -> io::Result<Vec<u8>> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        // What a link in `/proc` leads to, as a shell makes one of `<(…)`, is a pipe by its own kind.
        if std::fs::metadata(path)?.file_type().is_fifo() {
            return read_pipe(path);
        }
    }
    read_regular(path)
}

/// How long a pipe is given until somebody writes it.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads a pipe to its end. Whoever writes it may come a little later than this reader.
#[cfg(unix)]
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
