//! Finding one's way in text with brackets and strings.

/// Splits at a separator outside of brackets and strings.
pub(crate) fn split(text: &str, separator: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, c) in top_level(text) {
        if c == separator {
            parts.push(text[start..at].trim());
            start = at + c.len_utf8();
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() || !parts.is_empty() {
        parts.push(last);
    }
    if parts.last().is_some_and(|p| p.is_empty()) {
        parts.pop();
    }
    parts
}

/// The characters outside of brackets and strings. A closing bracket that was never opened counts as outside.
pub(crate) fn top_level(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut depth = 0usize;
    let mut string = false;
    let mut previous = '\0';
    let mut escaped = false;
    text.char_indices().filter(move |&(at, c)| {
        let before = std::mem::replace(&mut previous, c);
        if string {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            string = !ends;
            return false;
        }
        match c {
            '"' => {
                string = true;
                escaped = false;
                false
            }
            // A character literal with a bracket or quote in it.
            '(' | '[' | '{' | '<' | ')' | ']' | '}' | '>' if is_literal(text, at) => false,
            '(' | '[' | '{' | '<' => {
                depth += 1;
                depth == 1
            }
            '>' if before == '-' || before == '=' => depth == 0,
            ')' | ']' | '}' | '>' => {
                let outside = depth <= 1;
                depth = depth.saturating_sub(1);
                outside
            }
            _ => depth == 0,
        }
    })
}

fn is_literal(text: &str, at: usize) -> bool {
    text[..at].ends_with('\'') && text[at + 1..].starts_with('\'')
}

/// Where the parameters of a function begin: the first parenthesis that is not part of its name.
pub(crate) fn parameters(header: &str) -> Option<usize> {
    header.find("(_1: ").or_else(|| header.find("() -> "))
}

/// The closing parenthesis that belongs to a text that starts inside of it.
pub(crate) fn closing(text: &str) -> Option<usize> {
    let mut open = 0usize;
    for (at, c) in top_level(text) {
        match c {
            '(' => open += 1,
            ')' if open == 0 => return Some(at),
            ')' => open -= 1,
            _ => {}
        }
    }
    None
}

pub(crate) fn local_number(text: &str) -> Option<usize> {
    text.strip_prefix('_')?.parse().ok()
}

pub(crate) fn block_numbers(text: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("bb") {
        rest = &rest[at + 2..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        numbers.extend(rest[..end].parse::<usize>());
        rest = &rest[end..];
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting_respects_brackets_arrows_and_strings() {
        assert_eq!(
            split("a, f(b, c), fn(d) -> e<g, h>, \"x, (\"", ','),
            ["a", "f(b, c)", "fn(d) -> e<g, h>", "\"x, (\""]
        );
        assert_eq!(split("", ','), Vec::<&str>::new());
        assert_eq!(split("move _1,", ','), ["move _1"]);
    }
}
