//! Ctrl-C: who hears it, and what is said of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use entail::execute::Stop;
use entail::operation::event::{Event, Sink};
use signal_hook::consts::{SIGUSR1, SIGUSR2, SIGXFSZ};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use crate::ui::Ui;
use crate::view::PRODUCT;

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
}

impl Interrupts {
    /// From now on steps are carried out: only the executor ends the run.
    pub fn carry_out(&self) {
        self.is_carrying_out.store(true, Ordering::SeqCst);
    }
}

/// The signals that ask a process to end.
pub struct Listener {
    interrupt: Signal,
    terminate: Signal,
}

impl Listener {
    /// Takes the signals over from the system, which would end the process. `None` where that cannot be done.
    pub fn new(runtime: &Runtime) -> Option<Listener> {
        let _inside = runtime.enter();
        let (interrupt, terminate) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
        Some(Listener { interrupt: interrupt.ok()?, terminate: terminate.ok()? })
    }

    /// Hears signals until `over`. The first asks to stop; the second abandons what runs.
    pub async fn listen(mut self, ui: &Ui, over: &Notify) {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => {}
                _ = self.terminate.recv() => {}
                () = over.notified() => return,
            }
            hear(ui);
        }
    }
}

fn hear(ui: &Ui) {
    let interrupts = &ui.interrupts;
    let say = |text: String| ui.event(Event::Message(text));
    match interrupts.stop.ask() {
        1 => {
            say(format!(
                "\nInterrupt received.\nPlease wait for {PRODUCT} to exit or data loss may occur.\nGracefully shutting down...\n"
            ));
            say("Stopping operation...".into());
        }
        2 => say("\nTwo interrupts received. What still runs is abandoned; what was finished is saved.\n".into()),
        _ => {}
    }
    if interrupts.stop.asked() > 1 && !interrupts.is_carrying_out.load(Ordering::SeqCst) {
        // Nothing was begun, so there is nothing to save.
        std::process::exit(1);
    }
}
