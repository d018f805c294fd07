//! The functions of the C library that are stood in for. Each asks what is to become of it, and then calls the real one.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::path::{At, HERE};
use crate::real::{O_CREAT, O_TRUNC};
use crate::{__errno_location, Kind, Verdict, die, meet};

type Length = usize;
type Written = isize;
type Offset = i64;
type Path = *const c_char;
type Bytes = *const c_void;

/// What a function returns where it fails.
trait Failed {
    const FAILED: Self;
}

impl Failed for c_int {
    const FAILED: c_int = -1;
}

impl Failed for Written {
    const FAILED: Written = -1;
}

impl<T> Failed for *mut T {
    const FAILED: *mut T = std::ptr::null_mut();
}

/// Does what was decided with a call.
fn carry_out<T: Failed>(verdict: Verdict, call: impl FnOnce() -> T) -> T {
    match verdict {
        Verdict::Fail(error) => {
            unsafe { *__errno_location() = error };
            T::FAILED
        }
        Verdict::Die => die(),
        Verdict::Pass | Verdict::Half => call(),
    }
}

/// Functions as they are declared, with their kind and the place that they go to.
macro_rules! stand_in {
    ($($kind:ident fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty: $at:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> $result {
            let real = real!($name: fn($($type),*) -> $result);
            carry_out(meet(stringify!($name), Kind::$kind, $at), || unsafe { real($($arg),*) })
        }
    )*};
}

/// Functions that write, of which half may be written.
macro_rules! stand_in_for_writing {
    ($(fn $name:ident(file, from, length $(, $arg:ident: $type:ty)?);)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(file: c_int, from: Bytes, length: Length $(, $arg: $type)?) -> Written {
            let real = real!($name: fn(c_int, Bytes, Length $(, $type)?) -> Written);
            let verdict = meet(stringify!($name), Kind::Grow, At::File(file));
            let length = if verdict == Verdict::Half { length.div_ceil(2) } else { length };
            carry_out(verdict, || unsafe { real(file, from, length $(, $arg)?) })
        }
    )*};
}

/// Functions that open a file, which is to look at it, to make it or to empty it.
macro_rules! stand_in_for_opening {
    ($(fn $name:ident($($folder:ident)? $(: $type:ty)?) from $from:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($folder: c_int,)? path: Path, flags: c_int, mode: c_uint) -> c_int {
            let real = real!($name: fn($($type,)? Path, c_int, ...) -> c_int);
            let kind = if flags & (O_CREAT | O_TRUNC) == 0 { Kind::Look } else { Kind::Grow };
            let verdict = meet(stringify!($name), kind, At::Path($from, path));
            carry_out(verdict, || unsafe { real($($folder,)? path, flags, mode) })
        }
    )*};
}

stand_in_for_opening! {
    fn open() from HERE;
    fn open64() from HERE;
    fn openat(folder: c_int) from folder;
    fn openat64(folder: c_int) from folder;
}

stand_in_for_writing! {
    fn write(file, from, length);
    fn pwrite(file, from, length, at: Offset);
    fn pwrite64(file, from, length, at: Offset);
}

stand_in! {
    Grow fn creat(path: Path, mode: c_uint) -> c_int: At::Path(HERE, path);
    Grow fn creat64(path: Path, mode: c_uint) -> c_int: At::Path(HERE, path);
    Grow fn writev(file: c_int, parts: Bytes, count: c_int) -> Written: At::File(file);
    Grow fn pwritev(file: c_int, parts: Bytes, count: c_int, at: Offset) -> Written: At::File(file);
    Grow fn pwritev64(file: c_int, parts: Bytes, count: c_int, at: Offset) -> Written: At::File(file);
    Grow fn copy_file_range(from: c_int, from_at: *mut Offset, file: c_int, at: *mut Offset, length: Length, flags: c_uint) -> Written: At::File(file);
    Grow fn sendfile(file: c_int, from: c_int, at: *mut Offset, length: Length) -> Written: At::File(file);
    Grow fn sendfile64(file: c_int, from: c_int, at: *mut Offset, length: Length) -> Written: At::File(file);
    Grow fn fallocate(file: c_int, mode: c_int, at: Offset, length: Offset) -> c_int: At::File(file);
    Grow fn fallocate64(file: c_int, mode: c_int, at: Offset, length: Offset) -> c_int: At::File(file);
    Grow fn mkdir(path: Path, mode: c_uint) -> c_int: At::Path(HERE, path);
    Grow fn mkdirat(folder: c_int, path: Path, mode: c_uint) -> c_int: At::Path(folder, path);
    Grow fn link(from: Path, path: Path) -> c_int: At::Path(HERE, path);
    Grow fn linkat(old: c_int, from: Path, folder: c_int, path: Path, flags: c_int) -> c_int: At::Path(folder, path);
    Grow fn symlink(to: Path, path: Path) -> c_int: At::Path(HERE, path);
    Grow fn symlinkat(to: Path, folder: c_int, path: Path) -> c_int: At::Path(folder, path);
    Grow fn rename(from: Path, path: Path) -> c_int: At::Path(HERE, path);
    Grow fn renameat(old: c_int, from: Path, folder: c_int, path: Path) -> c_int: At::Path(folder, path);
    Grow fn renameat2(old: c_int, from: Path, folder: c_int, path: Path, flags: c_uint) -> c_int: At::Path(folder, path);
    Grow fn fsync(file: c_int) -> c_int: At::File(file);
    Grow fn fdatasync(file: c_int) -> c_int: At::File(file);
    Change fn unlink(path: Path) -> c_int: At::Path(HERE, path);
    Change fn unlinkat(folder: c_int, path: Path, flags: c_int) -> c_int: At::Path(folder, path);
    Change fn rmdir(path: Path) -> c_int: At::Path(HERE, path);
    Change fn truncate(path: Path, length: Offset) -> c_int: At::Path(HERE, path);
    Change fn truncate64(path: Path, length: Offset) -> c_int: At::Path(HERE, path);
    Change fn ftruncate(file: c_int, length: Offset) -> c_int: At::File(file);
    Change fn ftruncate64(file: c_int, length: Offset) -> c_int: At::File(file);
    Change fn chmod(path: Path, mode: c_uint) -> c_int: At::Path(HERE, path);
    Change fn fchmod(file: c_int, mode: c_uint) -> c_int: At::File(file);
    Change fn fchmodat(folder: c_int, path: Path, mode: c_uint, flags: c_int) -> c_int: At::Path(folder, path);
    Change fn chown(path: Path, user: c_uint, group: c_uint) -> c_int: At::Path(HERE, path);
    Change fn fchown(file: c_int, user: c_uint, group: c_uint) -> c_int: At::File(file);
    Look fn read(file: c_int, into: *mut c_void, length: Length) -> Written: At::File(file);
    Look fn pread(file: c_int, into: *mut c_void, length: Length, at: Offset) -> Written: At::File(file);
    Look fn pread64(file: c_int, into: *mut c_void, length: Length, at: Offset) -> Written: At::File(file);
    Look fn statx(folder: c_int, path: Path, flags: c_int, mask: c_uint, into: *mut c_void) -> c_int: named(folder, path);
    Look fn stat64(path: Path, into: *mut c_void) -> c_int: At::Path(HERE, path);
    Look fn lstat64(path: Path, into: *mut c_void) -> c_int: At::Path(HERE, path);
    Look fn access(path: Path, mode: c_int) -> c_int: At::Path(HERE, path);
    Look fn readlink(path: Path, into: *mut c_char, length: Length) -> Written: At::Path(HERE, path);
    Look fn realpath(path: Path, into: *mut c_char) -> *mut c_char: At::Path(HERE, path);
    Look fn opendir(path: Path) -> *mut c_void: At::Path(HERE, path);
}

/// The place of a call that may look at an open file instead of a path: what is known of that needs no disk, and cannot fail.
fn named(folder: c_int, path: Path) -> At {
    match path.is_null() || unsafe { *path } == 0 {
        true => At::File(-1),
        false => At::Path(folder, path),
    }
}
