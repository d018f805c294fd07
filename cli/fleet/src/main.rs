//! The program `entail-fleet`, which `entail fleet` runs.

use std::io::Write;
use std::process::ExitCode;

// The allocator of `entail`: where the system gives no more memory, it ends the process with an error.
#[path = "../../src/memory.rs"]
mod memory;

#[global_allocator]
static ALLOCATOR: memory::Allocator = memory::Allocator;

/// As much as a command needs before it takes room for its work.
const STACK: usize = 16 << 20;

fn main() -> ExitCode {
    memory::set_up();
    match std::thread::Builder::new().stack_size(STACK).spawn(entail_fleet::commands::main) {
        Ok(thread) => thread.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)),
        Err(error) => {
            let text =
                format!("\nError: Cannot start working\n\nThe system refuses a thread: {error}.\n");
            // Whoever reads may have gone; then there is nobody to tell.
            std::io::stderr().write_all(text.as_bytes()).unwrap_or_default();
            ExitCode::FAILURE
        }
    }
}
