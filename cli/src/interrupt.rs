//! Ctrl-C: who hears it, and what is said of it.

use entail::world::PRODUCT;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::event::{Event, Sink};
use entail::execute::Stop;
use entail::world::threads::probe_descriptors;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ};
use signal_hook::low_level::emulate_default_handler;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use crate::ui::Ui;

/// Signals that end a process which does not hear them, and mean nothing to this one: a file has reached its greatest size – then
/// writing fails with an error –, and two that other programs give meanings of their own.
const UNHEARD: [i32; 3] = [SIGXFSZ, SIGUSR1, SIGUSR2];

/// Lets the process live on where such a signal comes.
pub fn outlive_signals() {
    for signal in UNHEARD {
        // Where the system refuses, the signal does what it always did.
        let _ = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
    }
}

/// What the user wants of a running command.
#[derive(Debug, Default)]
pub struct Interrupts {
    /// The wish to stop.
    pub stop: Stop,
    /// Whether steps are being carried out, so that leaving at once would lose something.
    is_carrying_out: AtomicBool,
    /// Whether a state is changed by a command that carries out no steps.
    is_changing_state: AtomicBool,
    /// Whether tests run: they have words of their own.
    is_testing: AtomicBool,
    /// Whether nothing is held that an end at once would leave behind.
    holds_nothing: AtomicBool,
}

impl Interrupts {
    /// Returns the interrupts of a command that has just begun.
    pub fn of(stop: &Stop) -> Interrupts {
        Interrupts { stop: stop.clone(), ..Interrupts::default() }
    }

    /// From now on tests run.
    pub fn for_tests(&self) {
        self.is_testing.store(true, Ordering::SeqCst);
        self.carry_out();
    }

    /// From now on a signal ends the process as the system does.
    pub fn hold_nothing(&self) {
        self.holds_nothing.store(true, Ordering::SeqCst);
    }

    /// From now on steps are carried out: only the executor ends the run.
    pub fn carry_out(&self) {
        self.is_carrying_out.store(true, Ordering::SeqCst);
    }
}

/// Does work that an interrupt ends in good order.
///
/// # Errors
///
/// If the system refuses a thread.
pub fn heeding<T>(ui: &Ui, work: impl FnOnce() -> T) -> Result<T, Diagnostics> {
    probe_descriptors().map_err(|it| no_room(&it))?;
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|it| no_room(&it))?;
    let over = Notify::new();
    std::thread::scope(|scope| {
        let listener = Listener::new(&runtime);
        let over = &over;
        // Without a thread nobody listens, and an interrupt ends the process as it would any other.
        let _ = std::thread::Builder::new()
            .spawn_scoped(scope, move || listener.map(|it| runtime.block_on(it.listen(ui, over))));
        let _ended = Ended(over);
        Ok(work())
    })
}

/// Does work that changes a state: an interrupt lets it finish and release its lock.
///
/// # Errors
///
/// Those of the work, and if the system refuses a thread.
pub fn changing_state<T>(
    ui: &Ui,
    work: impl FnOnce() -> Result<T, Diagnostics>,
) -> Result<T, Diagnostics> {
    ui.interrupts.is_changing_state.store(true, Ordering::SeqCst);
    heeding(ui, work)?
}

/// Tells the listener that the work is over, even where it ended in a panic.
struct Ended<'a>(&'a Notify);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

fn no_room(error: &std::io::Error) -> Diagnostics {
    Diagnostic::error("Cannot start working")
        .detail(format!("Nobody would hear an interrupt: {error}."))
        .into()
}

/// The signals that ask a process to end.
struct Listener {
    interrupt: Signal,
    terminate: Signal,
}

impl Listener {
    /// Takes the signals over from the system, which would end the process. `None` where that cannot be done.
    fn new(runtime: &Runtime) -> Option<Listener> {
        let _inside = runtime.enter();
        let (interrupt, terminate) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
        Some(Listener { interrupt: interrupt.ok()?, terminate: terminate.ok()? })
    }

    /// Hears signals until `over`. The first asks to stop; the second abandons what runs.
    async fn listen(mut self, ui: &Ui, over: &Notify) {
        loop {
            let number = tokio::select! {
                _ = self.interrupt.recv() => SIGINT,
                _ = self.terminate.recv() => SIGTERM,
                () = over.notified() => return,
            };
            if ui.interrupts.holds_nothing.load(Ordering::SeqCst) {
                // Where the system refuses, it is heard like any other.
                let _ = emulate_default_handler(number);
            }
            hear(ui);
        }
    }
}

fn hear(ui: &Ui) {
    let interrupts = &ui.interrupts;
    if interrupts.is_testing.load(Ordering::SeqCst) {
        match interrupts.stop.ask() {
            1 => ui.log(&format!(
                "\nInterrupt received.\nPlease wait for {PRODUCT} to exit or data loss may occur.\nGracefully shutting down...\n"
            )),
            2 => ui.log("\nTwo interrupts received. Exiting immediately. Note that data loss may have occurred.\n"),
            _ => {}
        }
        return;
    }
    let say = |text: String| ui.event(Event::Message(text));
    // What runs is named as it is before it is asked to stop.
    let awaited = if interrupts.is_carrying_out.load(Ordering::SeqCst) {
        ui.awaited()
    } else if interrupts.is_changing_state.load(Ordering::SeqCst) {
        format!("A second interrupt ends {PRODUCT} at once; a remote state may stay locked then.")
    } else {
        format!("Nothing was begun. A second interrupt ends {PRODUCT} at once, and loses nothing.")
    };
    match interrupts.stop.ask() {
        1 => {
            say(format!(
                "\nInterrupt received.\nPlease wait for {PRODUCT} to exit or data loss may occur.\nGracefully shutting down...\n"
            ));
            say("Stopping operation...".into());
            say(awaited);
        }
        2 => say("\nTwo interrupts received. What still runs is abandoned; what was finished is saved.\n".into()),
        _ => {}
    }
    if interrupts.stop.asked() > 1 && !interrupts.is_carrying_out.load(Ordering::SeqCst) {
        // Nothing was begun, so there is nothing to save.
        std::process::exit(1);
    }
}
