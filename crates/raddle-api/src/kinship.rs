//! Functions that promise no more than others do.
//!
//! Documentation says a thing once: `get_with_by_ref` is "similar to `get_with`", and what `iter` says about writers
//! meanwhile is meant for the iterator, whichever function makes it. A caveat is handed on along both ways.

use crate::collect::{Collected, Pooled};
use crate::promise::takes_self_alone;

/// How documentation begins to say that a function is like another one.
const LIKE: [&str; 7] =
    ["similar to", "works like", "same as", "like [", "equivalent to", "replaced with", "identical to"];
/// What a reference to another function is for, if that says what this one does.
const DETAILS: [&str; 3] = ["for details", "for more", "for a detailed"];
/// A function may be like one that is like a third one, and so on.
const ROUNDS: usize = 4;

/// The function that another one is like by its documentation: `get_with` for "Similar to `Cache::get_with`".
pub fn model(docs: &str) -> Option<String> {
    let text = docs.split("```").next().unwrap_or_default().replace('\n', " ");
    let lower = text.to_lowercase();
    let at = LIKE.iter().filter_map(|words| lower.find(words).map(|at| at + words.len())).min();
    // Lower case may be longer or shorter than what was written, in other languages.
    let rest = match at {
        Some(at) => text.get(at..)?,
        None => elsewhere(&text)?,
    };
    let path = quoted(rest)?.trim_end_matches("()");
    let name = path.rsplit("::").next().unwrap_or(path).trim_end_matches("()");
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then(|| name.to_owned())
}

/// What follows "See" in "See `HashMap::clear` for details": what it says there is said here, too.
fn elsewhere(text: &str) -> Option<&str> {
    text.match_indices("See ").map(|(at, see)| &text[at + see.len()..]).find(|rest| {
        let sentence = rest.split(". ").next().unwrap_or_default();
        quoted(sentence).is_some() && DETAILS.iter().any(|words| sentence.contains(words))
    })
}

/// The name in backquotes that a text begins with, as a link or not.
fn quoted(text: &str) -> Option<&str> {
    text.trim_start().trim_start_matches('[').strip_prefix('`')?.split('`').next()
}

/// Hands caveats on.
pub fn hand_on(found: &mut Collected) {
    for _ in 0..ROUNDS {
        let from_models = (0..found.pool.len()).map(|i| of_model(&found.pool, i));
        let caveats: Vec<Option<String>> = from_models.collect();
        let mut changed = false;
        for (pooled, caveat) in found.pool.iter_mut().zip(caveats) {
            if pooled.function.caveat.is_none() && caveat.is_some() {
                pooled.function.caveat = caveat;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for (path, caveat) in rough_iterators(found) {
        let owner = found.types.iter().position(|t| t.path == path);
        for pooled in &mut found.pool {
            let makes = pooled.function.output.path() == Some(path.as_str());
            if pooled.function.caveat.is_none() && (makes || pooled.owner == owner) {
                pooled.function.caveat = Some(caveat.clone());
            }
        }
    }
}

/// The caveat of the function that this one is like, of the same type if that has one of the name.
fn of_model(pool: &[Pooled], index: usize) -> Option<String> {
    let Pooled { owner, function } = &pool[index];
    let model = function.like.as_ref()?;
    let named = || pool.iter().filter(|p| p.function.name == *model && p.function.label != function.label);
    let alone = takes_self_alone(&function.receiver, function.inputs.len());
    let said = |p: &Pooled| {
        let of_whole = p.function.caveat_of_whole.as_ref().filter(|_| alone);
        p.function.caveat.as_ref().or(of_whole).cloned()
    };
    let mut own = named().filter(|p| p.owner == *owner).peekable();
    match own.peek() {
        Some(_) => own.find_map(said),
        None => named().find_map(said),
    }
}

/// Iterators of the crate that a function with a caveat returns, with the caveat.
fn rough_iterators(found: &Collected) -> Vec<(String, String)> {
    let iterates = |path: &str| {
        let ty = found.types.iter().find(|t| t.path == path);
        ty.is_some_and(|t| t.impls.iter().any(|i| i.of.path == "std::iter::Iterator"))
    };
    let functions = found.pool.iter().map(|p| &p.function);
    let rough = functions.filter_map(|f| Some((f.output.path()?, f.caveat.as_ref()?)));
    rough.filter(|(path, _)| iterates(path)).map(|(path, said)| (path.to_owned(), said.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_like_the_one_that_its_documentation_names() {
        let like = |docs| model(docs);
        assert_eq!(like("Similar to [`get_with`](#method.get_with), but.").as_deref(), Some("get_with"));
        assert_eq!(like("Gets.\n\nWorks like\n[`Cache::get`].").as_deref(), Some("get"));
        assert_eq!(
            like("Deprecated, replaced with\n[`entry()::or_insert_if()`](./e.html)").as_deref(),
            Some("or_insert_if")
        );
        assert_eq!(like("Returns something similar to a number."), None);
        let see = "Clears the map.\n\nSee [`HashMap::clear`] for details.";
        assert_eq!(like(see).as_deref(), Some("clear"));
        assert_eq!(like("Clears the map. See [`Error`] if it fails. That is for details."), None);
        assert_eq!(like("See the [consistency](crate#consistency) section for details."), None);
        assert_eq!(like("Adds.\n```\n// same as [`push`]\n```"), None);
    }
}
