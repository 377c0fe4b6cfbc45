//! Generates harnesses and says what is in them: `harness CRATE[@VERSION]|MANIFEST [TYPE..] [--features A,B] [--dir DIR]`.

use raddle_api::harness::{Dependency, Request, generate};
use raddle_api::settings::Settings;
use raddle_api::{Features, Source, discover};
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut dir = PathBuf::from("target/raddle/harness");
    if let Some(at) = args.iter().position(|a| a == "--dir") {
        dir = args.drain(at..).nth(1).ok_or("--dir needs a directory")?.into();
    }
    let mut features = Features::default();
    if let Some(at) = args.iter().position(|a| a == "--features") {
        let names = args.drain(at..).nth(1).ok_or("--features needs names")?;
        features.names = names.split(',').map(str::to_owned).collect();
    }
    let what = args.first().ok_or("which crate?")?.clone();
    let target = dir.join("doc");
    let source = if what.ends_with(".toml") {
        Source::local(Path::new(&what), None, features, &target)?
    } else {
        let (name, version) = what.split_once('@').map_or((what.as_str(), None), |(n, v)| (n, Some(v)));
        let scratch = dir.join("crates").join(name);
        Source::published(name, version, &features, false, &scratch, &target)?
    };
    let api = discover(&source)?;
    let dependency = Dependency::of(&source);
    let all = Settings::from_metadata(&source.package().metadata)?;
    all.check(&api)?;
    let wanted = |path: &str| args.len() < 2 || args[1..].iter().any(|a| path.ends_with(&format!("::{a}")));
    for target in api.candidates().filter(|t| wanted(&t.path)) {
        let settings = all.of(target);
        let request = Request {
            api: &api,
            target,
            dependency: &dependency,
            settings: &settings,
            dir: &dir,
            offline: false,
            cargo: &raddle_api::package::cargo(),
        };
        match generate(&request) {
            Ok(source) => {
                let missed = source.dropped.iter().filter(|d| d.counts).count();
                println!(
                    "{}: {} of {} methods, {} thunks, {}",
                    target.path,
                    source.shared_methods,
                    source.shared_methods + missed,
                    source.harness.thunks.len(),
                    source.dir.display()
                );
                for ty in &source.harness.types {
                    println!(
                        "  type {} {:?} {}",
                        ty.name,
                        ty.sharing,
                        if ty.subject { "subject" } else { "" }
                    );
                }
                for thunk in &source.harness.thunks {
                    println!("  {:?} {}: {}", thunk.role, thunk.name, thunk.source);
                }
                for dropped in &source.dropped {
                    println!(
                        "  - {}{}: {}",
                        if dropped.counts { "! " } else { "" },
                        dropped.name,
                        dropped.why
                    );
                }
            }
            Err(error) => println!("{}: {error}", target.path),
        }
    }
    Ok(())
}
