//! The allocator, and what happens where the system gives no more memory: an error, not a crash.
//!
//! Plans are many small values, made on one thread and dropped on another: with the system's allocator, planning takes half
//! as long again.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, Ordering};

use mimalloc::MiMalloc;

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

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call is passed on to mimalloc as it is; what it gives is passed back, or the process ends.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the promises that mimalloc wants.
        given(unsafe { MiMalloc.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { MiMalloc.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        given(unsafe { MiMalloc.realloc(place, layout, size) }, size)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { MiMalloc.dealloc(place, layout) }
    }
}
