//! From a package to its API.

use crate::classify::classify;
use crate::collect::collect;
use crate::error::ApiError;
use crate::model::{Api, LeftOut, Standing};
use crate::package::{Source, library_name};
use crate::rustdoc::document;
use crate::world::World;
use cargo_metadata::{PackageId, TargetKind};

/// More crates than this are not looked at for re-exports.
const MOST_CRATES: usize = 12;

/// Finds out what is public in a package: runs rustdoc on it, and on the crates it re-exports from.
pub fn discover(source: &Source) -> Result<Api, ApiError> {
    let package = source.package();
    if package.targets.iter().any(|t| t.is_kind(TargetKind::ProcMacro)) {
        return Err(ApiError::ProcMacro(package.name.to_string()));
    }
    let name = library_name(package).ok_or_else(|| ApiError::NoLibrary(package.name.to_string()))?;
    let mut world = World::new(&name, document(source, &package.id)?);
    let mut ids: Vec<PackageId> = vec![package.id.clone()];
    let mut failed: Vec<LeftOut> = Vec::new();
    let mut tried: Vec<String> = Vec::new();
    loop {
        let mut needed = world.walk();
        needed.retain(|(_, n)| !tried.contains(n) && tried.len() < MOST_CRATES);
        let Some((user, missing)) = needed.into_iter().next() else { break };
        tried.push(missing.clone());
        let provider = source.provider(&ids[user], &missing);
        let why = match provider.map(|p| (p, document(source, &p.id))) {
            Some((provider, Ok(krate))) => {
                ids.push(provider.id.clone());
                world.add(&missing, krate);
                continue;
            }
            Some((_, Err(error))) => error.to_string(),
            None => "no package of the graph provides it".to_owned(),
        };
        failed.push(LeftOut { what: format!("items of crate `{missing}`"), why });
    }
    let mut api = assemble(&world, failed);
    api.package = package.name.to_string();
    api.version = package.version.to_string();
    Ok(api)
}

/// The API of the first crate of a world, without package and version.
pub fn assemble(world: &World, failed: Vec<LeftOut>) -> Api {
    let mut collected = collect(world);
    let functions = classify(&mut collected);
    let mut types = collected.types;
    types.sort_by_key(|t| {
        let rank = match &t.standing {
            Standing::Candidate { score, .. } => (0, -score),
            Standing::Continuation { .. } => (1, 0),
            Standing::Excluded { .. } => (2, 0),
        };
        (rank, t.path.clone())
    });
    let mut left_out = collected.left_out;
    left_out.extend(failed);
    Api {
        crate_name: world.docs[0].name.clone(),
        package: world.docs[0].name.clone(),
        version: world.docs[0].krate.crate_version.clone().unwrap_or_default(),
        types,
        traits: collected.traits,
        functions,
        left_out,
    }
}
