//! Random access to debugging information entries (DIEs).
//!
//! DWARF stores a tree without parent links. The first question that needs the parents of a unit's entries
//! walks that unit once and keeps its namespaces, types and functions; units nobody asks about cost only
//! their header. Nothing here fails: a malformed entry is an absent one.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use gimli::Section as _;
use gimli::{AttributeValue, DwAt, DwTag, UnitOffset};

use crate::image::Reader;
use crate::native;
use crate::places::{Maker, Places, ScopeRow};

pub(crate) type Entry<'data> = gimli::DebuggingInformationEntry<Reader<'data>>;

/// The place of an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Die {
    unit: u32,
    offset: usize,
}

/// All units of the program.
pub(crate) struct Dies<'data> {
    dwarf: Arc<gimli::Dwarf<Reader<'data>>>,
    /// In the order of their place in the section.
    units: Vec<LazyUnit<'data>>,
    /// What somebody has looked up before: all scopes, if anything.
    places: Option<Places<'data>>,
}

struct LazyUnit<'data> {
    start: usize,
    header: gimli::UnitHeader<Reader<'data>>,
    unit: OnceCell<Option<gimli::Unit<Reader<'data>>>>,
    scopes: OnceCell<Vec<Scope<'data>>>,
    /// Whether it was not compiled from Rust, once asked.
    native: OnceCell<bool>,
}

/// An entry that can contain named entries. Scopes are kept in the order of their offsets.
struct Scope<'data> {
    offset: usize,
    tag: DwTag,
    /// Index of the enclosing scope.
    parent: Option<u32>,
    name: Option<&'data str>,
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    let (&first, rest) = part.split_first()?;
    let mut from = 0;
    while let Some(at) = text[from..].iter().position(|&b| b == first) {
        from += at + 1;
        if text[from..].starts_with(rest) {
            return Some(from - 1);
        }
    }
    None
}

impl<'data> Dies<'data> {
    pub fn new(dwarf: Arc<gimli::Dwarf<Reader<'data>>>) -> Result<Self, gimli::Error> {
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            if let Some(start) = header.debug_info_offset() {
                units.push(LazyUnit {
                    start: start.0,
                    header,
                    unit: OnceCell::new(),
                    scopes: OnceCell::new(),
                    native: OnceCell::new(),
                });
            }
        }
        Ok(Dies { dwarf, units, places: None })
    }

    /// From now on scopes are looked up in a table.
    pub fn use_places(&mut self, places: Places<'data>) {
        self.places = Some(places);
    }

    /// What comes after `start` in the names that have it, up to their end.
    pub fn after_in_names(&self, start: &str) -> Vec<&'data str> {
        let text = self.dwarf.debug_str.reader().slice();
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = find(&text[from..], start.as_bytes()) {
            let rest = &text[from + at + start.len()..];
            let end = rest.iter().position(|&b| b == 0).unwrap_or(rest.len());
            found.extend(std::str::from_utf8(&rest[..end]));
            from += at + start.len();
        }
        found
    }

    /// The entry at an offset into a unit that starts at `unit_start`.
    pub fn in_unit(&self, unit_start: usize, offset: UnitOffset) -> Option<Die> {
        let unit = self.units.binary_search_by_key(&unit_start, |unit| unit.start).ok()?;
        Some(Die { unit: unit as u32, offset: offset.0 })
    }

    /// The entry at an offset into the section.
    pub fn in_section(&self, offset: usize) -> Option<Die> {
        let unit = self.units.partition_point(|unit| unit.start <= offset).checked_sub(1)?;
        Some(Die { unit: unit as u32, offset: offset - self.units[unit].start })
    }

    /// The inverse of [`Dies::in_section`].
    pub fn section_offset(&self, die: Die) -> usize {
        self.units[die.unit as usize].start + die.offset
    }

    pub fn entry(&self, die: Die) -> Option<Entry<'data>> {
        self.unit(die.unit)?.entry(UnitOffset(die.offset)).ok()
    }

    /// The entries directly below `die`, in order.
    pub fn children(&self, die: Die) -> Vec<(Die, Entry<'data>)> {
        let mut found = Vec::new();
        let Some(unit) = self.unit(die.unit) else { return found };
        let Ok(mut tree) = unit.entries_tree(Some(UnitOffset(die.offset))) else { return found };
        let Ok(root) = tree.root() else { return found };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            let entry = child.entry().clone();
            found.push((Die { unit: die.unit, offset: entry.offset().0 }, entry));
        }
        found
    }

    /// The entry that an attribute points to.
    pub fn follow(&self, die: Die, entry: &Entry<'data>, attribute: DwAt) -> Option<Die> {
        match entry.attr_value(attribute)? {
            AttributeValue::UnitRef(offset) => Some(Die { unit: die.unit, offset: offset.0 }),
            AttributeValue::DebugInfoRef(offset) => self.in_section(offset.0),
            _ => None,
        }
    }

    pub fn string(&self, die: Die, entry: &Entry<'data>, attribute: DwAt) -> Option<&'data str> {
        let unit = self.unit(die.unit)?;
        let value = self.dwarf.attr_string(unit, entry.attr_value(attribute)?).ok()?;
        std::str::from_utf8(value.slice()).ok()
    }

    pub fn name(&self, die: Die, entry: &Entry<'data>) -> Option<&'data str> {
        self.string(die, entry, gimli::DW_AT_name)
    }

    pub fn number(&self, entry: &Entry<'data>, attribute: DwAt) -> Option<u64> {
        entry.attr(attribute)?.udata_value()
    }

    /// The address that a location expression consists of; `None` for locals and thread-locals.
    pub fn static_address(&self, die: Die, entry: &Entry<'data>) -> Option<u64> {
        let AttributeValue::Exprloc(expression) = entry.attr_value(gimli::DW_AT_location)? else {
            return None;
        };
        let unit = self.unit(die.unit)?;
        let mut operations = expression.operations(unit.encoding());
        let address = match operations.next().ok()?? {
            gimli::Operation::Address { address } => address,
            gimli::Operation::AddressIndex { index } => self.dwarf.address(unit, index).ok()?,
            _ => return None,
        };
        match operations.next() {
            Ok(None) => Some(address),
            Ok(Some(gimli::Operation::PlusConstant { value })) => address.checked_add(value),
            _ => None,
        }
    }

    /// The addresses of the code of a block or of an inlined call.
    pub fn ranges(&self, die: Die, entry: &Entry<'data>) -> Vec<Range<u64>> {
        let mut all = Vec::new();
        let ranges = self.unit(die.unit).and_then(|unit| self.dwarf.die_ranges(unit, entry).ok());
        let Some(mut ranges) = ranges else { return all };
        while let Ok(Some(range)) = ranges.next() {
            all.push(range.begin..range.end);
        }
        all
    }

    /// The expression that an attribute gives for `pc`.
    pub fn expression(
        &self,
        die: Die,
        entry: &Entry<'data>,
        attribute: DwAt,
        pc: u64,
    ) -> Option<gimli::Expression<Reader<'data>>> {
        let value = entry.attr_value(attribute)?;
        if let AttributeValue::Exprloc(expression) = value {
            return Some(expression);
        }
        let mut locations = self.dwarf.attr_locations(self.unit(die.unit)?, value).ok()??;
        while let Ok(Some(location)) = locations.next() {
            if (location.range.begin..location.range.end).contains(&pc) {
                return Some(location.data);
            }
        }
        None
    }

    /// The unit of an entry.
    pub fn unit_of(&self, die: Die) -> Option<&gimli::Unit<Reader<'data>>> {
        self.unit(die.unit)
    }

    /// Whether an entry is of a unit in another language than Rust.
    pub fn is_native(&self, die: Die) -> bool {
        let native = || {
            let unit = self.unit(die.unit)?;
            let mut entries = unit.entries();
            let root = entries.next_dfs().ok()??;
            match root.attr_value(gimli::DW_AT_language)? {
                AttributeValue::Language(language) => Some(native::is_native(language)),
                _ => None,
            }
        };
        self.units
            .get(die.unit as usize)
            .is_some_and(|unit| *unit.native.get_or_init(|| native() == Some(true)))
    }

    /// The source file that an entry is declared in, as the compiler calls it.
    pub fn declared_in(&self, die: Die) -> Option<String> {
        let unit = self.unit(die.unit)?;
        let AttributeValue::FileIndex(index) = self.entry(die)?.attr_value(gimli::DW_AT_decl_file)? else {
            return None;
        };
        let header = unit.line_program.as_ref()?.header();
        let file = header.file(index)?;
        let text = |value| {
            let value = self.dwarf.attr_string(unit, value).ok()?;
            std::str::from_utf8(value.slice()).ok().map(str::to_owned)
        };
        let name = text(file.path_name())?;
        if name.starts_with('/') {
            return Some(name);
        }
        let directory = file.directory(header).and_then(text).unwrap_or_default();
        Some(format!("{directory}/{name}"))
    }

    /// The definition behind an inlined call or an out-of-line instance of a function.
    pub fn abstract_function(&self, die: Die) -> Die {
        self.entry(die)
            .and_then(|entry| self.follow(die, &entry, gimli::DW_AT_abstract_origin))
            .unwrap_or(die)
    }

    /// The declaration of a function inside its type, if it has a separate one.
    pub fn declaration(&self, die: Die) -> Die {
        self.entry(die).and_then(|entry| self.follow(die, &entry, gimli::DW_AT_specification)).unwrap_or(die)
    }

    /// The names of the namespaces and types around an entry that is itself a namespace, type or function,
    /// outermost first.
    pub fn scope_names(&self, die: Die) -> Vec<&'data str> {
        let mut names = Vec::new();
        if let Some(places) = &self.places {
            let mut at = places.scope_at(self.section_offset(die));
            while let Some(parent) = at.and_then(|scope| places.scope(scope.parent?)) {
                names.extend(parent.name);
                at = Some(parent);
            }
            names.reverse();
            return names;
        }
        let scopes = self.scopes(die.unit);
        let mut at = scopes.binary_search_by_key(&die.offset, |scope| scope.offset).ok();
        while let Some(parent) = at.and_then(|index| scopes[index].parent) {
            names.extend(scopes[parent as usize].name);
            at = Some(parent as usize);
        }
        names.reverse();
        names
    }

    /// The type that directly encloses a method's declaration.
    pub fn enclosing_type(&self, die: Die) -> Option<Die> {
        if let Some(places) = &self.places {
            let scope = places.scope_at(self.section_offset(die))?;
            let parent = places.scope(scope.parent?)?;
            return if is_type(DwTag(parent.tag)) { self.in_section(parent.offset) } else { None };
        }
        let scopes = self.scopes(die.unit);
        let at = scopes.binary_search_by_key(&die.offset, |scope| scope.offset).ok()?;
        let parent = &scopes[scopes[at].parent? as usize];
        is_type(parent.tag).then_some(Die { unit: die.unit, offset: parent.offset })
    }

    /// Puts all scopes into a table.
    pub fn put_scopes(&self, maker: &mut Maker) {
        let mut before = 0;
        for (index, unit) in self.units.iter().enumerate() {
            let scopes = self.scopes(index as u32);
            for Scope { offset, tag, parent, name } in scopes {
                let parent = parent.map(|parent| before + parent);
                maker.scope(ScopeRow { offset: unit.start + offset, tag: tag.0, parent, name: *name });
            }
            before += scopes.len() as u32;
        }
    }

    /// Every variable at a fixed address outside of any function, with the names around it.
    pub fn each_static(&self, mut visit: impl FnMut(Die, u64, &Entry<'data>, Vec<&'data str>)) {
        for index in 0..self.units.len() as u32 {
            let Some(unit) = self.unit(index) else { continue };
            let Ok(mut raw) = unit.entries_raw(None) else { continue };
            let mut around: Vec<(isize, Option<&'data str>)> = Vec::new();
            // Those of C++ are declared in their namespace or class, and defined outside of it.
            let mut declared: BTreeMap<Die, Vec<&'data str>> = BTreeMap::new();
            let mut entry = gimli::DebuggingInformationEntry::null();
            while !raw.is_empty() {
                let depth = raw.next_depth();
                let offset = raw.next_offset();
                let Ok(Some(abbreviation)) = raw.read_abbreviation() else { continue };
                while around.last().is_some_and(|(d, _)| *d >= depth) {
                    around.pop();
                }
                let tag = abbreviation.tag();
                if !is_scope(tag) && tag != gimli::DW_TAG_variable {
                    if raw.skip_attributes(abbreviation.attributes()).is_err() {
                        break;
                    }
                    continue;
                }
                let mut again = match unit.entries_raw(Some(offset)) {
                    Ok(again) => again,
                    Err(_) => break,
                };
                if again.read_entry(&mut entry).is_err()
                    || raw.skip_attributes(abbreviation.attributes()).is_err()
                {
                    break;
                }
                let die = Die { unit: index, offset: offset.0 };
                let names = || around.iter().filter_map(|(_, name)| *name).collect();
                if tag != gimli::DW_TAG_variable {
                    around.push((depth, self.name(die, &entry)));
                } else if let Some(address) = self.static_address(die, &entry) {
                    let own = self.declaration(die);
                    match self.entry(own).filter(|_| own != die) {
                        Some(known) => visit(own, address, &known, declared.remove(&own).unwrap_or_default()),
                        None => visit(die, address, &entry, names()),
                    }
                } else if entry.attr(gimli::DW_AT_declaration).is_some() {
                    declared.insert(die, names());
                }
            }
        }
    }

    fn unit(&self, index: u32) -> Option<&gimli::Unit<Reader<'data>>> {
        let lazy = self.units.get(index as usize)?;
        lazy.unit.get_or_init(|| self.dwarf.unit(lazy.header).ok()).as_ref()
    }

    fn scopes(&self, index: u32) -> &[Scope<'data>] {
        self.units[index as usize].scopes.get_or_init(|| {
            let mut scopes = Vec::new();
            if let Some(unit) = self.unit(index) {
                // What was read before a malformed entry stays usable.
                let _ = self.collect_scopes(unit, &mut scopes);
            }
            scopes
        })
    }

    fn collect_scopes(
        &self,
        unit: &gimli::Unit<Reader<'data>>,
        scopes: &mut Vec<Scope<'data>>,
    ) -> Result<(), gimli::Error> {
        let mut raw = unit.entries_raw(None)?;
        let mut around: Vec<(isize, u32)> = Vec::new();
        while !raw.is_empty() {
            let depth = raw.next_depth();
            let offset = raw.next_offset().0;
            let Some(abbreviation) = raw.read_abbreviation()? else { continue };
            if !is_scope(abbreviation.tag()) {
                raw.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            let mut name = None;
            for specification in abbreviation.attributes() {
                let attribute = raw.read_attribute(*specification)?;
                if attribute.name() == gimli::DW_AT_name {
                    name = self.dwarf.attr_string(unit, attribute.value()).ok();
                }
            }
            while around.last().is_some_and(|(d, _)| *d >= depth) {
                around.pop();
            }
            let name = name.and_then(|name| std::str::from_utf8(name.slice()).ok());
            let parent = around.last().map(|(_, index)| *index);
            around.push((depth, scopes.len() as u32));
            scopes.push(Scope { offset, tag: abbreviation.tag(), parent, name });
        }
        Ok(())
    }
}

fn is_type(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_enumeration_type
    )
}

fn is_scope(tag: DwTag) -> bool {
    is_type(tag) || matches!(tag, gimli::DW_TAG_namespace | gimli::DW_TAG_subprogram)
}
