//! The program `entail`.

fn main() -> std::process::ExitCode {
    entail_cli::run::main()
}
