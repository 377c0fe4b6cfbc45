//! Results for scripts: one JSON object per line, described in docs/json.md.

use super::Reporter;
use super::event::{Event, TypeEnded};
use std::io::Write;

/// Lines of JSON.
pub struct Json<W> {
    out: W,
}

impl<W: Write> Json<W> {
    /// A reporter that writes its lines to `out`.
    pub fn to(out: W) -> Self {
        Json { out }
    }

    /// Writes a line. A reader that has gone away is not our concern.
    fn line(&mut self, event: &Event<'_>) {
        let mut line = serde_json::to_vec(event).expect("an event is plain data");
        line.push(b'\n');
        let _ = self.out.write_all(&line).and_then(|()| self.out.flush());
    }
}

impl<W: Write> Reporter for Json<W> {
    fn event(&mut self, event: &Event<'_>) {
        // What a build said has a line of its own.
        if let Event::Type(TypeEnded { details: Some(details), message, .. }) = event {
            let message = message.clone().unwrap_or_default();
            self.line(&Event::Error { message, details: Some(details), in_full: String::new() });
        }
        self.line(event);
    }
}
