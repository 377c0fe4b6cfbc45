//! The functions at all calls of a program, and the names around its types and functions, looked up beforehand.
//!
//! Which functions stand at a return address depends on the executable alone, but reading it from DWARF takes a tenth of a
//! millisecond where a unit is touched for the first time, and a worker that has just started has touched none. So
//! whoever builds the executable looks up everything once and keeps it as a table, which workers map into memory: a
//! look-up is then a binary search. The same goes for the namespaces and types around an entry, which DWARF tells only to those who
//! walk the whole unit. A table says what DWARF says, no more and no less; an address that
//! it lacks is looked up in DWARF.
//!
//! A hook is told return addresses, so the addresses of a table are those behind calls. They are found without a
//! disassembler: wherever the bytes of a call stand, also by chance in the middle of another instruction. A superset does
//! no harm.
//!
//! The table is made of little-endian numbers of 32 bits (addresses have two): a header, the addresses, the frames at them, the
//! functions, the entries that contain others, the places of the strings, and the strings. Reading never fails: what is out of bounds is absent, and then
//! DWARF is asked.

use std::collections::BTreeMap;
use std::ops::Range;

/// The first bytes; the last of them changes with the format.
const MAGIC: &[u8; 8] = b"radplac2";
/// Numbers of the header behind the magic: how many addresses, frames, functions, scopes and strings there are.
const HEADER: usize = 5;
/// Numbers of an address: itself, the index of its first frame, and how many it has.
const ADDRESS: usize = 4;
/// Numbers of a frame: function, file, line, column.
const FRAME: usize = 4;
/// Numbers of a function: name, crate, path, and its definition if it has one, plus one.
const FUNCTION: usize = 4;
/// Numbers of a scope: its place in the section, its tag, and plus one, if there are any, its parent and its name.
const SCOPE: usize = 4;
/// Numbers of a string: where it starts and how long it is.
const STRING: usize = 2;

/// A function at an address, as the table has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct FrameRow {
    pub function: u32,
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

/// A function, as the table has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FunctionRow<'data> {
    pub name: &'data str,
    pub krate: &'data str,
    pub path: &'data str,
    /// Offset of its definition in the section.
    pub definition: Option<usize>,
}

/// An entry that can contain named entries, as the table has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ScopeRow<'data> {
    /// Offset in the section.
    pub offset: usize,
    pub tag: u16,
    /// The number of the enclosing scope.
    pub parent: Option<u32>,
    pub name: Option<&'data str>,
}

/// A table that somebody has made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places<'data> {
    addresses: &'data [u8],
    frames: &'data [u8],
    functions: &'data [u8],
    /// All that there are, sorted by their offsets.
    scopes: &'data [u8],
    strings: &'data [u8],
    texts: &'data [u8],
}

impl<'data> Places<'data> {
    /// Reads the header.
    pub fn new(table: &'data [u8]) -> Option<Self> {
        let mut rest = table.strip_prefix(MAGIC)?;
        let mut take = |numbers: usize, each: usize| -> Option<&'data [u8]> {
            let (taken, others) = rest.split_at_checked(numbers.checked_mul(each)?.checked_mul(4)?)?;
            rest = others;
            Some(taken)
        };
        let header = take(1, HEADER)?;
        let count = |i: usize| number(header, i).map(|n| n as usize);
        Some(Places {
            addresses: take(count(0)?, ADDRESS)?,
            frames: take(count(1)?, FRAME)?,
            functions: take(count(2)?, FUNCTION)?,
            scopes: take(count(3)?, SCOPE)?,
            strings: take(count(4)?, STRING)?,
            texts: rest,
        })
    }

    /// The frames at a return address, if the table has it.
    pub fn frames(&self, return_address: u64) -> Option<Vec<FrameRow>> {
        let field = |row: usize, i: usize| number(self.addresses, row * ADDRESS + i);
        let address = |row: usize| Some(u64::from(field(row, 0)?) | u64::from(field(row, 1)?) << 32);
        let row = search(self.addresses.len() / (4 * ADDRESS), return_address, address)?;
        let first = field(row, 2)? as usize;
        (first..first.checked_add(field(row, 3)? as usize)?).map(|i| self.frame(i)).collect()
    }

    fn frame(&self, index: usize) -> Option<FrameRow> {
        let at = index * FRAME;
        let field = |i: usize| number(self.frames, at + i);
        Some(FrameRow { function: field(0)?, file: field(1)?, line: field(2)?, column: field(3)? })
    }

    /// A function by its number.
    pub fn function(&self, index: u32) -> Option<FunctionRow<'data>> {
        let at = index as usize * FUNCTION;
        let field = |i: usize| number(self.functions, at + i);
        Some(FunctionRow {
            name: self.string(field(0)?)?,
            krate: self.string(field(1)?)?,
            path: self.string(field(2)?)?,
            definition: (field(3)? as usize).checked_sub(1),
        })
    }

    /// The scope at an offset in the section.
    pub fn scope_at(&self, offset: usize) -> Option<ScopeRow<'data>> {
        let at = |row: usize| number(self.scopes, row * SCOPE).map(u64::from);
        let row = search(self.scopes.len() / (4 * SCOPE), offset as u64, at)?;
        self.scope(row as u32)
    }

    /// A scope by its number.
    pub fn scope(&self, index: u32) -> Option<ScopeRow<'data>> {
        let field = |i: usize| number(self.scopes, index as usize * SCOPE + i);
        let name = match field(3)?.checked_sub(1) {
            Some(name) => Some(self.string(name)?),
            None => None,
        };
        // Who contains another comes before it, so that going outwards has an end.
        let parent = field(2)?.checked_sub(1).filter(|parent| *parent < index);
        Some(ScopeRow { offset: field(0)? as usize, tag: field(1)? as u16, parent, name })
    }

    /// A string by its number.
    pub fn string(&self, index: u32) -> Option<&'data str> {
        let at = index as usize * STRING;
        let start = number(self.strings, at)? as usize;
        let end = start.checked_add(number(self.strings, at + 1)? as usize)?;
        std::str::from_utf8(self.texts.get(start..end)?).ok()
    }
}

/// Which of so many sorted rows has a key.
fn search(rows: usize, key: u64, key_of: impl Fn(usize) -> Option<u64>) -> Option<usize> {
    let (mut low, mut high) = (0, rows);
    while low < high {
        let middle = low + (high - low) / 2;
        match key_of(middle)?.cmp(&key) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => return Some(middle),
        }
    }
    None
}

fn number(bytes: &[u8], index: usize) -> Option<u32> {
    let at = index.checked_mul(4)?;
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// A table in the making.
#[derive(Debug, Default)]
pub(crate) struct Maker {
    addresses: BTreeMap<u64, (u32, u32)>,
    frames: Vec<FrameRow>,
    /// Where frames that several addresses have in common begin.
    chains: BTreeMap<Vec<FrameRow>, u32>,
    functions: Vec<[u32; FUNCTION]>,
    scopes: Vec<[u32; SCOPE]>,
    strings: BTreeMap<String, u32>,
    places: Vec<Range<usize>>,
    texts: Vec<u8>,
}

impl Maker {
    /// The number of a string.
    pub fn string(&mut self, text: &str) -> u32 {
        if let Some(known) = self.strings.get(text) {
            return *known;
        }
        let number = self.places.len() as u32;
        self.places.push(self.texts.len()..self.texts.len() + text.len());
        self.texts.extend_from_slice(text.as_bytes());
        self.strings.insert(text.to_owned(), number);
        number
    }

    /// The number of another function.
    pub fn function(&mut self, row: FunctionRow<'_>) -> u32 {
        let definition = row.definition.map_or(0, |at| at as u32 + 1);
        let strings = [row.name, row.krate, row.path].map(|text| self.string(text));
        self.functions.push([strings[0], strings[1], strings[2], definition]);
        self.functions.len() as u32 - 1
    }

    /// The frames at a return address.
    pub fn address(&mut self, return_address: u64, frames: Vec<FrameRow>) {
        let count = frames.len() as u32;
        let first = match self.chains.get(&frames) {
            Some(first) => *first,
            None => {
                let first = self.frames.len() as u32;
                self.frames.extend(&frames);
                self.chains.insert(frames, first);
                first
            }
        };
        self.addresses.insert(return_address, (first, count));
    }

    /// Another scope; they come sorted.
    pub fn scope(&mut self, row: ScopeRow<'_>) {
        let name = row.name.map_or(0, |name| self.string(name) + 1);
        let parent = row.parent.map_or(0, |parent| parent + 1);
        self.scopes.push([row.offset as u32, row.tag.into(), parent, name]);
    }

    /// The table.
    pub fn finish(self) -> Vec<u8> {
        let mut table = MAGIC.to_vec();
        let mut put =
            |numbers: &[u32]| numbers.iter().for_each(|n| table.extend_from_slice(&n.to_le_bytes()));
        let (functions, scopes) = (self.functions.len(), self.scopes.len());
        let counts = [self.addresses.len(), self.frames.len(), functions, scopes, self.places.len()];
        put(&counts.map(|n| n as u32));
        for (address, (first, count)) in &self.addresses {
            put(&[*address as u32, (address >> 32) as u32, *first, *count]);
        }
        self.frames.iter().for_each(|f| put(&[f.function, f.file, f.line, f.column]));
        self.functions.iter().for_each(|f| put(f));
        self.scopes.iter().for_each(|s| put(s));
        self.places.iter().for_each(|p| put(&[p.start as u32, p.len() as u32]));
        table.extend_from_slice(&self.texts);
        table
    }
}

/// The addresses behind everything in `code` that looks like a call, given where it is loaded.
pub(crate) fn behind_calls(code: &[u8], address: u64) -> impl Iterator<Item = u64> {
    (0..code.len())
        .filter_map(move |at| Some(address + (at + call_length(&code[at..], at, code.len())?) as u64))
}

/// The length of the call that the code begins with: a direct one to somewhere near, or one through a register, with the target
/// there or in memory.
fn call_length(code: &[u8], at: usize, size: usize) -> Option<usize> {
    let length = match (code[0], code.get(1)?) {
        (0xe8, _) => {
            let distance = i32::from_le_bytes(code.get(1..5)?.try_into().ok()?);
            // Stubs of shared libraries stand just behind or before the code.
            let to = (at as i64 + 5).checked_add(i64::from(distance))?;
            (-(size as i64)..2 * size as i64).contains(&to).then_some(5)?
        }
        (0xff, modrm) if (modrm >> 3) & 7 == 2 => {
            let scaled = usize::from(modrm & 7 == 4);
            match modrm >> 6 {
                0 if modrm & 7 == 5 => 6,
                0 => 2 + scaled,
                1 => 3 + scaled,
                2 => 6 + scaled,
                _ => 2,
            }
        }
        _ => return None,
    };
    (length <= code.len()).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Vec<u8> {
        let mut maker = Maker::default();
        let file = maker.string("src/lib.rs");
        let row = FunctionRow { name: "a::f", krate: "a", path: "a::f", definition: Some(70) };
        let f = maker.function(row);
        let g = maker.function(FunctionRow { name: "a::g<u8>", path: "a::g", definition: None, ..row });
        let [f, g] = [f, g].map(|function| FrameRow { function, file, line: 3, column: 9 });
        maker.address(0x5_0000_0010, vec![f, g]);
        maker.address(0x20, vec![f, g]);
        maker.address(0x30, vec![]);
        maker.scope(ScopeRow { offset: 11, tag: 57, parent: None, name: Some("a") });
        maker.scope(ScopeRow { offset: 20, tag: 19, parent: Some(0), name: None });
        maker.finish()
    }

    #[test]
    fn what_is_put_into_a_table_is_found_in_it() {
        let table = table();
        let places = Places::new(&table).unwrap();
        let frames = places.frames(0x20).unwrap();
        assert_eq!(places.frames(0x5_0000_0010), Some(frames.clone()));
        assert_eq!((frames.len(), places.frames(0x30), places.frames(0x10)), (2, Some(vec![]), None));
        let FrameRow { function, file, line, column } = frames[1];
        assert_eq!((places.string(file), line, column), (Some("src/lib.rs"), 3, 9));
        let g = FunctionRow { name: "a::g<u8>", krate: "a", path: "a::g", definition: None };
        assert_eq!(places.function(function), Some(g));
        assert_eq!(places.function(frames[0].function).unwrap().definition, Some(70));
        let inner = places.scope_at(20).unwrap();
        assert_eq!(inner, ScopeRow { offset: 20, tag: 19, parent: Some(0), name: None });
        assert_eq!(places.scope(0).unwrap(), ScopeRow { offset: 11, tag: 57, parent: None, name: Some("a") });
        assert_eq!(places.scope_at(12), None);
    }

    fn read_all(places: &Places<'_>) {
        for address in [0x20, 0x30, 0x5_0000_0010] {
            for frame in places.frames(address).into_iter().flatten() {
                let _ = (places.function(frame.function), places.string(frame.file));
            }
        }
        for offset in [11, 20] {
            let mut at = places.scope_at(offset);
            while let Some(scope) = at {
                at = scope.parent.and_then(|parent| places.scope(parent));
            }
        }
    }

    #[test]
    fn a_damaged_table_has_less_in_it_and_does_not_fail() {
        let table = table();
        for length in 0..table.len() {
            let Some(places) = Places::new(&table[..length]) else { continue };
            read_all(&places);
        }
        let mut other = table.clone();
        other[7] ^= 1;
        assert!(Places::new(&other).is_none());
        for at in 8..table.len() {
            let mut other = table.clone();
            other[at] = 0xff;
            let Some(places) = Places::new(&other) else { continue };
            read_all(&places);
        }
    }

    #[test]
    fn calls_of_all_kinds_are_found() {
        // call +0; call [rip+8]; call rax; call [rax]; call [rsp]; call [rbx+16]; call r10; call [rcx+256]
        let code = [
            &[0xe8, 0, 0, 0, 0][..],
            &[0xff, 0x15, 8, 0, 0, 0],
            &[0xff, 0xd0],
            &[0xff, 0x10],
            &[0xff, 0x14, 0x24],
            &[0xff, 0x53, 16],
            &[0x41, 0xff, 0xd2],
            &[0xff, 0x91, 0, 1, 0, 0],
        ];
        let ends = code.iter().scan(0x1000, |end, call| {
            *end += call.len() as u64;
            Some(*end)
        });
        let found: Vec<u64> = behind_calls(&code.concat(), 0x1000).collect();
        assert_eq!(found, ends.collect::<Vec<_>>());
        assert_eq!(behind_calls(&[0xe8, 0, 0, 0, 0x40, 0x90], 0).count(), 0);
    }
}
