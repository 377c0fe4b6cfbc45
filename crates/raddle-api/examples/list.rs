//! Prints what is found in a package: `list MANIFEST [PACKAGE]`, or `list NAME@VERSION FEATURES SCRATCH`;
//! with `JSON` in the environment, all of it; with `WRAPPERS`, code that compiles if the model is right.

use raddle_api::{Api, ApiError, Features, ListOptions, Source, discover, list};
use std::path::Path;

#[path = "../tests/wrap/mod.rs"]
mod wrap;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match api(&args) {
        Ok(api) if std::env::var_os("WRAPPERS").is_some() => {
            let (source, skipped) = wrap::wrappers(&api);
            println!("{source}// {skipped} left out");
        }
        Ok(api) if std::env::var_os("JSON").is_some() => {
            println!("{}", serde_json::to_string_pretty(&api).expect("the model has string keys only"));
        }
        Ok(api) => print!("{}", list(&api, ListOptions { all: true })),
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(2);
        }
    }
}

fn api(args: &[String]) -> Result<Api, ApiError> {
    let first = args.first().map_or("Cargo.toml", String::as_str);
    let source = match (args.get(1), args.get(2)) {
        (Some(features), Some(scratch)) => {
            let names = features.split(',').filter(|f| !f.is_empty()).map(str::to_owned).collect();
            let features = Features { names, ..Features::default() };
            let (name, version) = first.split_once('@').map_or((first, None), |(n, v)| (n, Some(v)));
            let scratch = Path::new(scratch);
            Source::published(name, version, &features, false, scratch, &scratch.join("target"))?
        }
        (package, _) => {
            let target = std::env::temp_dir().join("raddle-api-list");
            Source::local(Path::new(first), package.map(String::as_str), Features::default(), &target)?
        }
    };
    discover(&source)
}
