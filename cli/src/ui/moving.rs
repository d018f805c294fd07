//! Tells whoever watches of a state that is long on its way. While steps are carried out, their block has a line for it.

use std::sync::Arc;
use std::time::Duration;

use entail::backend::moving::Moves;
use entail::world::World;
use entail::world::terminal::Form;

use super::Ui;
use crate::standard;
use crate::view::moving::line;

/// How often it is looked.
const INTERVAL: Duration = Duration::from_secs(1);
/// How often the same state is told of.
const AGAIN: u64 = 5;

impl Ui {
    /// Begins to tell of states on their way, until the process ends; nothing where nobody watches.
    pub fn watch_transfers(&self, world: &Arc<World>) {
        // How a command is told of is not known yet.
        if !self.is_attended() {
            return;
        }
        let moves = Moves::of(world);
        let running = self.running.clone();
        running.lock().moves = Some(moves.clone());
        let tell = move || {
            for second in 0.. {
                std::thread::sleep(INTERVAL);
                let text = moves.current().and_then(|it| line(&it));
                if let Some(text) = text.filter(|_| second % AGAIN == 0 && !running.lock().is_drawn)
                {
                    // Nothing hangs on it.
                    let _ = standard::errors().put(Form::Text, &format!("Still {text}\n"));
                }
            }
        };
        // Without a thread nobody is told, and nothing else is different.
        let _ = std::thread::Builder::new().name("transfers".into()).spawn(tell);
    }
}
