//! The terminal: taken over, drawn on, and given back as it was, however this ends.

use std::io::{self, Stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::cursor::Show;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use super::draw::{self, Look};
use super::model::{Action, Key, Model};

/// Whether the terminal is ours now.
static IS_OURS: AtomicBool = AtomicBool::new(false);

/// Gives the terminal back, if it is ours. May be called at any moment, by a panic or a second
/// signal.
pub(crate) fn restore() {
    if IS_OURS.swap(false, Ordering::SeqCst) {
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// The whole terminal, empty.
fn take_over() -> io::Result<Terminal<CrosstermBackend<Stdout>>> {
    IS_OURS.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, Clear(ClearType::All))?;
    Terminal::new(CrosstermBackend::new(io::stdout()))
}

/// The screen while it is ours.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    pub(super) fn enter() -> io::Result<Screen> {
        Ok(Screen { terminal: take_over()? })
    }

    /// Gives the terminal back for a while.
    pub(super) fn leave(&mut self) -> io::Result<()> {
        restore();
        Ok(())
    }

    pub(super) fn enter_again(&mut self) -> io::Result<()> {
        // Nothing of what was drawn before is there any more.
        self.terminal = take_over()?;
        Ok(())
    }

    pub(super) fn draw(&mut self, model: &Model, look: Look<'_>) -> io::Result<()> {
        self.terminal.draw(|frame| draw::draw(frame, model, look)).map(|_| ())
    }

    /// Whether there is room for a run beside the list.
    pub(super) fn is_wide(&self) -> io::Result<bool> {
        Ok(self.terminal.size()?.width >= draw::WIDE)
    }

    /// Lets the model have every key that was pressed. What was typed before a question is no answer
    /// to it.
    pub(super) fn keys(&mut self, model: &mut Model) -> io::Result<Vec<Action>> {
        let mut actions = Vec::new();
        while poll(Duration::ZERO)? {
            let Event::Key(event) = read()? else { continue };
            let Some(key) = key(event) else { continue };
            let had_dialog = model.dialog.is_some();
            actions.extend(model.press(key));
            if model.dialog.is_some() && !had_dialog {
                while poll(Duration::ZERO)? {
                    read()?;
                }
            }
        }
        Ok(actions)
    }

    /// Whether a key was pressed; it is taken.
    pub(super) fn any_key(&mut self) -> io::Result<bool> {
        let mut is_key = false;
        while poll(Duration::ZERO)? {
            is_key |= matches!(read()?, Event::Key(_));
        }
        Ok(is_key)
    }
}

/// Does `work` while the terminal, which is not ours, gives keys as they are pressed.
pub(super) fn without_lines<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    enable_raw_mode()?;
    let done = work();
    disable_raw_mode()?;
    done
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// The key that the model knows.
fn key(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let is_control = event.modifiers.contains(KeyModifiers::CONTROL);
    Some(match event.code {
        KeyCode::Char(letter) if is_control => Key::Control(letter.to_ascii_lowercase()),
        // What would not be shown is not typed.
        KeyCode::Char(typed) if onloop_core::text::printable(&typed.to_string()).is_empty() => {
            return None;
        }
        KeyCode::Char(typed) => Key::Char(typed),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Tab => Key::Tab,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}
