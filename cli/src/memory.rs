//! The allocator, and what happens where the system gives no more memory: an error, not a crash.
//!
//! Plans are many small values, made on one thread and dropped on another: with the system's allocator, planning takes half
//! as long again.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use mimalloc::MiMalloc;

#[cfg_attr(target_os = "linux", path = "memory/large.rs")]
#[cfg_attr(not(target_os = "linux"), path = "memory/usual.rs")]
mod large;

/// Asks mimalloc, and ends the process in an orderly way where there is no more.
pub struct Allocator;

/// What is told then. Nothing may be allocated any more, so it is one text.
const NO_MEMORY: &str = "\nError: Out of memory\n\nThe system gives this process no more memory (see \"ulimit -v\" and the limits of its container), so it ends here. What was\nfinished is in the state or, until the next command, in the journal beside it; nothing that was reported is lost.\n";

static TOLD: AtomicBool = AtomicBool::new(false);

#[cold]
#[expect(unsafe_code, reason = "nothing safe ends a process without running code first")]
fn end() -> ! {
    if !TOLD.swap(true, Ordering::SeqCst) {
        // Whoever reads may have gone; then there is nobody to tell.
        let _ = rustix::io::write(rustix::stdio::stderr(), NO_MEMORY.as_bytes());
    }
    // At once: what runs at an orderly end may wait for a lock that this very thread holds, or want memory.
    // SAFETY: it takes a number and does not return.
    unsafe { libc::_exit(1) }
}

/// Whoever asks for more than this at once is to judge the refusal.
const HUGE: usize = 1 << 32;

fn given(place: *mut u8, size: usize) -> *mut u8 {
    if place.is_null() && size <= HUGE { end() } else { place }
}

/// What is as large as this comes from the system, which makes it longer without a second copy: the text of a state above all.
const LARGE: usize = 1 << 24;

/// What is to be aligned to more than this does not, whatever its size.
const LARGE_ALIGNED: usize = 16;

fn is_large(layout: &Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= LARGE_ALIGNED
}

/// Everything is aligned to this at least, so that it need not be asked for: what asks for it takes a longer way.
const ALIGNED: usize = 8;

// What mimalloc's header declares, and its binding leaves out.
#[expect(unsafe_code, reason = "the allocator is written in C")]
unsafe extern "C" {
    /// Sets an option; a number that none has is passed over.
    safe fn mi_option_set(option: c_int, value: c_long);
    #[cfg(test)]
    safe fn mi_option_get(option: c_int) -> c_long;
    fn mi_malloc(size: usize) -> *mut c_void;
    fn mi_realloc(place: *mut c_void, size: usize) -> *mut c_void;
}

/// `mi_option_purge_delay`: for how many milliseconds freed pages are kept, in case they are wanted again. Planning frees a lot that is
/// soon wanted: with the usual 10, a fifth of all pages are had from the system a second time.
const PURGE_DELAY: (c_int, c_long) = (15, 1000);

/// `mi_option_purge_extend_delay`: by how many milliseconds the wait for giving pages back grows with each page that is freed.
const PURGE_EXTEND_DELAY: c_int = 25;

/// Lets freed pages go back to the system, but not at once, and though more are freed all the time, as while a large plan is put
/// together.
pub fn set_up() {
    mi_option_set(PURGE_DELAY.0, PURGE_DELAY.1);
    mi_option_set(PURGE_EXTEND_DELAY, 0);
}

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call is passed on as it is to the allocator that the size says, the same for all calls of one place; what it gives is
// passed back, or the process ends.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the promises that both want.
        let place = match layout.size() {
            size if is_large(&layout) => large::alloc(size),
            size if layout.align() <= ALIGNED => unsafe { mi_malloc(size).cast() },
            _ => unsafe { MiMalloc.alloc(layout) },
        };
        given(place, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let place = match is_large(&layout) {
            true => large::alloc_zeroed(layout.size()),
            false => unsafe { MiMalloc.alloc_zeroed(layout) },
        };
        given(place, layout.size())
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise: it is no more than there is.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: as above; who goes from one to the other is copied as far as both reach, and the old place is given back once.
        let moved = match (is_large(&layout), is_large(&new)) {
            (true, true) => unsafe { large::realloc(place, layout.size(), size) },
            (false, false) if layout.align() <= ALIGNED => unsafe {
                mi_realloc(place.cast(), size).cast()
            },
            (false, false) => unsafe { MiMalloc.realloc(place, layout, size) },
            _ => unsafe {
                let moved = self.alloc(new);
                if !moved.is_null() {
                    std::ptr::copy_nonoverlapping(place, moved, layout.size().min(size));
                    self.dealloc(place, layout);
                }
                moved
            },
        };
        given(moved, size)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        match is_large(&layout) {
            true => unsafe { large::dealloc(place, layout.size()) },
            false => unsafe { MiMalloc.dealloc(place, layout) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_that_is_set_is_the_one_that_is_meant() {
        // The wait itself, how many times as long it is for large areas, by how much it grows, and whether to take over what others freed.
        assert_eq!([15, 24, 25, 26].map(|it| mi_option_get(it)), [10, 10, 1, 0]);
        set_up();
        assert_eq!([15, PURGE_EXTEND_DELAY].map(|it| mi_option_get(it)), [1000, 0]);
    }
}
