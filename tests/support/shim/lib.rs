//! A library that is loaded before all others, counts the calls of one process that touch files below one folder, and lets one of
//! them end the process or fail.
//!
//! It is no part of the tests themselves: `tests/support/faults.rs` has `rustc` build it by itself, and says what its variables mean. It
//! asks for no memory, so that it may be called from anywhere; and what it calls itself goes past it, to the system.

#[macro_use]
mod real;
mod calls;
mod path;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use path::{At, Text, path_of};

unsafe extern "C" {
    fn getenv(name: *const c_char) -> *const c_char;
    fn unsetenv(name: *const c_char) -> c_int;
    fn getpid() -> c_int;
    fn kill(process: c_int, signal: c_int) -> c_int;
    fn pause() -> c_int;
    fn __errno_location() -> *mut c_int;
}

const EIO: c_int = 5;
const ENOSPC: c_int = 28;
const SIGKILL: c_int = 9;

/// How many calls there were that change something, and how many that look: over all threads.
static CHANGES: AtomicU64 = AtomicU64::new(0);
static LOOKS: AtomicU64 = AtomicU64::new(0);
/// Whether the one fault has happened.
static IS_DONE: AtomicBool = AtomicBool::new(false);
/// Set before the program itself begins, and never again.
static PLAN: OnceLock<Plan> = OnceLock::new();

/// What is watched, and what is to happen.
struct Plan {
    below: Text,
    /// Where the calls are noted.
    log: c_int,
    /// The process that is watched: not one that it forks.
    process: c_int,
    fault: Fault,
    at: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// The process ends before the call.
    Kill,
    Full,
    /// This call and whatever needs room after it.
    StaysFull,
    Broken,
    /// A call that looks.
    Unreadable,
    /// Half is written, and then the disk is full.
    Torn,
    /// Half is written, and nothing is wrong with that.
    Half,
}

/// What kind of call it is.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// It needs room on the disk.
    Grow,
    /// It needs none.
    Change,
    Look,
}

/// What is to be done instead of the call.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    Pass,
    Fail(c_int),
    Half,
    Die,
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

/// Reads what is to be done. What this process starts does not load the library again.
extern "C" fn start() {
    let fault = match variable(c"FAULT_KIND").as_bytes() {
        b"kill" => Fault::Kill,
        b"full" => Fault::Full,
        b"stays-full" => Fault::StaysFull,
        b"broken" => Fault::Broken,
        b"unreadable" => Fault::Unreadable,
        b"torn" => Fault::Torn,
        b"half" => Fault::Half,
        _ => Fault::None,
    };
    let at =
        std::str::from_utf8(variable(c"FAULT_AT").as_bytes()).ok().and_then(|it| it.parse().ok());
    let log = real::open_log(variable(c"FAULT_LOG").as_bytes_with_nul());
    let process = unsafe { getpid() };
    let plan =
        Plan { below: variable(c"FAULT_BELOW"), log, process, fault, at: at.unwrap_or(u64::MAX) };
    if plan.log >= 0 {
        let _ = PLAN.set(plan);
    }
    unsafe { unsetenv(c"LD_PRELOAD".as_ptr()) };
}

fn variable(name: &CStr) -> Text {
    let mut text = Text::new();
    let value = unsafe { getenv(name.as_ptr()) };
    if !value.is_null() {
        text.push(unsafe { CStr::from_ptr(value) }.to_bytes());
    }
    text
}

/// Counts and notes a call, and decides what becomes of it.
fn meet(name: &str, kind: Kind, at: At) -> Verdict {
    let Some(plan) = PLAN.get() else { return Verdict::Pass };
    let saved = unsafe { *__errno_location() };
    let verdict = match unsafe { getpid() } == plan.process {
        true => watched(plan, name, kind, at),
        false => Verdict::Pass,
    };
    unsafe { *__errno_location() = saved };
    verdict
}

fn watched(plan: &Plan, name: &str, kind: Kind, at: At) -> Verdict {
    let Some(path) = path_of(at) else { return Verdict::Pass };
    let inside = path.as_bytes().strip_prefix(plan.below.as_bytes());
    let inside = inside.filter(|it| it.first().is_none_or(|it| *it == b'/'));
    let Some(inside) = inside else { return Verdict::Pass };
    let counter = if kind == Kind::Look { &LOOKS } else { &CHANGES };
    let number = counter.fetch_add(1, SeqCst) + 1;
    let verdict = match (kind == Kind::Look) == (plan.fault == Fault::Unreadable) {
        true => decide(plan, name, kind, number),
        false => Verdict::Pass,
    };
    note(plan, number, (name, kind), inside, verdict);
    verdict
}

/// Writes a line on a call: its number, its kind, its name, the path, and whether it was met.
fn note(plan: &Plan, number: u64, (name, kind): (&str, Kind), inside: &[u8], verdict: Verdict) {
    let kind = match kind {
        Kind::Grow => "grow",
        Kind::Change => "change",
        Kind::Look => "look",
    };
    let hit = if verdict == Verdict::Pass { "passed" } else { "met" };
    let mut line = Text::new();
    let _ = write!(line, "{number} {kind} {hit} {name} ");
    line.push(if inside.is_empty() { b"." } else { &inside[1..] });
    line.push(b"\n");
    let write = real!(write: fn(c_int, *const c_void, usize) -> isize);
    unsafe { write(plan.log, line.as_bytes().as_ptr().cast(), line.as_bytes().len()) };
}

fn decide(plan: &Plan, name: &str, kind: Kind, number: u64) -> Verdict {
    if number < plan.at {
        return Verdict::Pass;
    }
    let writes = name.starts_with("write") || name.starts_with("pwrite");
    let is_first = || !IS_DONE.swap(true, SeqCst);
    match plan.fault {
        Fault::None => Verdict::Pass,
        Fault::Kill => Verdict::Die,
        Fault::StaysFull if number == plan.at || kind == Kind::Grow => Verdict::Fail(ENOSPC),
        Fault::Full if is_first() => Verdict::Fail(ENOSPC),
        Fault::Broken | Fault::Unreadable if is_first() => Verdict::Fail(EIO),
        Fault::Torn if IS_DONE.load(SeqCst) && kind == Kind::Grow => Verdict::Fail(ENOSPC),
        Fault::Torn | Fault::Half if writes && is_first() => Verdict::Half,
        _ => Verdict::Pass,
    }
}

fn die() -> ! {
    loop {
        unsafe {
            kill(getpid(), SIGKILL);
            pause();
        }
    }
}
