//! The `#[raddle::test]` attribute. Use it through the crate `raddle`. Beside it, what `raddle-model` derives where serde is not wanted.

use proc_macro::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

/// The settings that take a plain value, as methods of `raddle::Config` are called.
const SETTINGS: [&str; 8] =
    ["seed", "schedules", "strategy", "every_access", "max_steps", "memory_mb", "max_failures", "timeouts"];
/// The settings given in milliseconds.
const TIMES: [(&str, &str); 2] = [("budget_ms", "budget"), ("hang_ms", "hang")];

/// Makes a function a test whose body is checked under many schedules.
///
/// ```ignore
/// #[raddle::test]
/// fn all_defaults() { /* ... */ }
///
/// #[raddle::test(schedules = 10_000, strategy = "pct:3", seed = 1)]
/// fn as_told() { /* ... */ }
/// ```
///
/// The settings are `seed`, `schedules`, `strategy`, `every_access`, `max_steps`, `memory_mb`, `max_failures`,
/// `timeouts`, `budget_ms` and `hang_ms`, as in `raddle::Config`. Other attributes, such as `#[ignore]`, stay; a failure is a
/// finding even under `#[should_panic]`: use `raddle::explore` where one is expected.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, function: TokenStream) -> TokenStream {
    let config = match config(arguments) {
        Ok(config) => config,
        Err((at, why)) => return error(at, &why),
    };
    let mut tokens: Vec<TokenTree> = function.into_iter().collect();
    let Some(TokenTree::Group(body)) = tokens.pop().filter(is_block) else {
        return error(Span::call_site(), "#[raddle::test] belongs on a function");
    };
    if let Some(TokenTree::Ident(word)) =
        tokens.iter().find(|t| matches!(t, TokenTree::Ident(i) if i.to_string() == "async"))
    {
        return error(word.span(), "#[raddle::test] does not know async functions");
    }
    let mut call: TokenStream = "::raddle::check".parse().expect("a path");
    let mut arguments = config;
    arguments.extend("|| ".parse::<TokenStream>().expect("a closure's head"));
    arguments.extend([TokenTree::Group(body.clone())]);
    call.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, arguments))]);
    let mut checked = Group::new(Delimiter::Brace, call);
    checked.set_span(body.span());

    let mut result: TokenStream = "#[::core::prelude::v1::test]".parse().expect("an attribute");
    result.extend(tokens);
    result.extend([TokenTree::Group(checked)]);
    result
}

/// Stands in for serde's derive where nothing is serialised.
#[doc(hidden)]
#[proc_macro_derive(NoSerialize, attributes(serde))]
pub fn no_serialize(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Stands in for serde's derive where nothing is deserialised.
#[doc(hidden)]
#[proc_macro_derive(NoDeserialize, attributes(serde))]
pub fn no_deserialize(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

fn is_block(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(g) if g.delimiter() == Delimiter::Brace)
}

/// `::raddle::Config::new().seed(1).strategy("dfs"),` from `seed = 1, strategy = "dfs"`.
fn config(arguments: TokenStream) -> Result<TokenStream, (Span, String)> {
    let mut result: TokenStream = "::raddle::Config::new()".parse().expect("a path");
    let mut tokens = arguments.into_iter().peekable();
    while let Some(name) = tokens.next() {
        let TokenTree::Ident(name) = name else {
            return Err((name.span(), "expected `setting = value`".to_owned()));
        };
        match tokens.next() {
            Some(TokenTree::Punct(p)) if p.as_char() == '=' => {}
            _ => return Err((name.span(), format!("expected `{name} = value`"))),
        }
        let mut value = TokenStream::new();
        while let Some(token) = tokens.next_if(|t| !matches!(t, TokenTree::Punct(p) if p.as_char() == ',')) {
            value.extend([token]);
        }
        tokens.next();
        if value.is_empty() {
            return Err((name.span(), format!("`{name}` has no value")));
        }
        let (method, value) = setting(&name, value)?;
        result.extend([
            TokenTree::Punct(Punct::new('.', Spacing::Alone)),
            TokenTree::Ident(Ident::new(method, name.span())),
            TokenTree::Group(Group::new(Delimiter::Parenthesis, value)),
        ]);
    }
    result.extend([TokenTree::Punct(Punct::new(',', Spacing::Alone))]);
    Ok(result)
}

fn setting(name: &Ident, value: TokenStream) -> Result<(&'static str, TokenStream), (Span, String)> {
    let word = name.to_string();
    if let Some(method) = SETTINGS.iter().find(|s| **s == word) {
        return Ok((method, value));
    }
    if let Some((_, method)) = TIMES.iter().find(|(s, _)| *s == word) {
        let mut time: TokenStream = "::core::time::Duration::from_millis".parse().expect("a path");
        time.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, value))]);
        return Ok((method, time));
    }
    let known: Vec<&str> = SETTINGS.into_iter().chain(TIMES.map(|(s, _)| s)).collect();
    Err((name.span(), format!("`{word}` is not a setting; there are {}", known.join(", "))))
}

fn error(at: Span, why: &str) -> TokenStream {
    let message: TokenStream = format!("::core::compile_error! {{ {why:?} }}").parse().expect("a macro call");
    message
        .into_iter()
        .map(|mut token| {
            token.set_span(at);
            token
        })
        .collect()
}
