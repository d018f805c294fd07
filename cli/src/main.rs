//! The program `entail`.

/// Plans are many small values, made on one thread and dropped on another: with the system's allocator, planning takes
/// half as long again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    entail_cli::run::main()
}
