//! Sites and names under numbers that outlive a worker.
//!
//! A worker numbers what it meets. The next one, after a crash of the first, numbers anew; so the command has numbers of
//! its own and translates. Two sites with the same description are one here.

use raddle_core::{NameId, Site, SiteId, Symbols};
use raddle_hunt::{Run, RunReply, Search};
use std::collections::BTreeMap;

/// The command's numbers, and those of the worker that runs now.
#[derive(Debug, Default)]
pub struct IdMap {
    /// What the command's numbers mean.
    pub symbols: Symbols,
    site_numbers: BTreeMap<(String, String, u32, u32, Vec<String>), SiteId>,
    name_numbers: BTreeMap<String, NameId>,
    /// The command's number for each of the worker's.
    sites: Vec<SiteId>,
    names: Vec<NameId>,
    /// The other way round: the first of the worker's numbers for each of the command's.
    site_of: BTreeMap<SiteId, SiteId>,
    name_of: BTreeMap<NameId, NameId>,
}

impl IdMap {
    /// A new worker knows nothing.
    pub fn forget_worker(&mut self) {
        self.sites.clear();
        self.names.clear();
        self.site_of.clear();
        self.name_of.clear();
    }

    /// Puts a run into the worker's numbers.
    pub fn outgoing(&self, run: &mut Run) {
        let site = |s| self.site_of.get(&s).copied();
        let theirs = run.search.renumbered(site, |n| self.name_of.get(&n).copied());
        // The worker may not have met all of a target yet.
        run.search = theirs.unwrap_or_else(Search::random);
    }

    /// Puts what a run showed into the command's numbers.
    pub fn incoming(&mut self, reply: &mut RunReply) {
        let (sites, names) = reply.symbols_from;
        self.sites.truncate(sites as usize);
        self.names.truncate(names as usize);
        self.site_of.retain(|_, theirs| theirs.0 < sites);
        self.name_of.retain(|_, theirs| theirs.0 < names);
        for site in &reply.symbols.sites {
            let number = self.site(site.clone());
            self.site_of.entry(number).or_insert(SiteId(self.sites.len() as u32));
            self.sites.push(number);
        }
        for name in &reply.symbols.names {
            let number = self.name(name.clone());
            self.name_of.entry(number).or_insert(NameId(self.names.len() as u32));
            self.names.push(number);
        }
        reply.accesses.retain_mut(|a| {
            let known = self.sites.get(a.site.0 as usize).zip(self.names.get(a.name.0 as usize));
            known.map(|(&site, &name)| (a.site, a.name) = (site, name)).is_some()
        });
        reply.patterns.retain_mut(|i| {
            let site = |s: SiteId| self.sites.get(s.0 as usize).copied();
            let ours = i.renumbered(site, |n| self.names.get(n.0 as usize).copied());
            ours.map(|ours| *i = ours).is_some()
        });
    }

    fn site(&mut self, site: Site) -> SiteId {
        let key = (site.file.clone(), site.function.clone(), site.line, site.column, site.inlined.clone());
        let next = SiteId(self.symbols.sites.len() as u32);
        let number = *self.site_numbers.entry(key).or_insert(next);
        if number == next {
            self.symbols.sites.push(site);
        }
        number
    }

    fn name(&mut self, name: String) -> NameId {
        let next = NameId(self.symbols.names.len() as u32);
        let number = *self.name_numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.symbols.names.push(name);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(line: u32) -> Site {
        Site { function: "f".to_owned(), file: "a.rs".to_owned(), line, column: 1, inlined: vec![] }
    }

    fn towards(instance: &str) -> Search {
        Search::Towards(instance.parse().unwrap())
    }

    fn reply(lines: &[u32], pattern: &str) -> RunReply {
        let sites = lines.iter().map(|l| site(*l)).collect();
        let symbols = Symbols { sites, names: vec!["x".to_owned()] };
        RunReply { symbols, patterns: vec![pattern.parse().unwrap()], ..RunReply::default() }
    }

    #[test]
    fn what_two_workers_call_differently_has_one_number() {
        let mut ids = IdMap::default();
        let mut first = reply(&[10, 20], "P1(s0 s1; n0)");
        ids.incoming(&mut first);
        ids.forget_worker();
        let mut second = reply(&[20, 10], "P1(s1 s0; n0)");
        ids.incoming(&mut second);
        assert_eq!(first.patterns, second.patterns);
        let mut run = Run::new(String::new(), towards("P1(s0 s1; n0)"), 0, 1);
        ids.outgoing(&mut run);
        assert_eq!(run.search, towards("P1(s1 s0; n0)"));
    }

    #[test]
    fn a_worker_is_not_steered_to_what_it_does_not_know() {
        let mut ids = IdMap::default();
        ids.incoming(&mut reply(&[10, 20], "P1(s0 s1; n0)"));
        ids.forget_worker();
        ids.incoming(&mut reply(&[20], "P3(s0 s0; n0)"));
        let mut run = Run::new(String::new(), towards("P1(s0 s1; n0)"), 0, 1);
        ids.outgoing(&mut run);
        assert_eq!(run.search, Search::random());
    }
}
