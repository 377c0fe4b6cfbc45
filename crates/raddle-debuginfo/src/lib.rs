//! Answers the controlled runtime's questions about the program under test from its debug information.
//!
//! The runtime sees addresses: the return address of a hook call and those of the calls around it. A person
//! wants to read *where* that is, *what kind* of word was touched and *what it is called*:
//!
//! 1. [`DebugInfo::frames`]: the functions at a return address, inlined ones included.
//! 2. [`DebugInfo::classify`] and [`DebugInfo::attribute`]: whether the word belongs to the user or to a
//!    synchronisation primitive, and which line of a crate under test is responsible.
//! 3. [`DebugInfo::static_at`], [`DebugInfo::local_at`], [`DebugInfo::allocation_type`] and
//!    [`DebugInfo::field_path`]: names of memory that are the same in every execution.
//!
//! All addresses are relative to the load base, and all code addresses are *return addresses*: the
//! instruction looked up is the call before it. A stack lists the return address of the hook first, then those
//! of the calls around it, outwards. Calls made by precompiled code may be left out: it has no hooks, hence no
//! place in a shadow stack.
//!
//! The runtime that links this crate moves the thread pointer under running code, so nothing here may use
//! thread-local storage: no randomly seeded hash maps, no locks that know their owner. Everything is
//! computed on first use and kept; a [`DebugInfo`] can move between threads but not be shared by them.

mod chain;
mod classify;
mod dies;
mod frame;
mod image;
mod locals;
mod memory;
pub mod native;
mod places;
mod rules;
mod symbol;
mod types;
mod words;

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chain::{Function, Link, LinkOf, Text};
use dies::{Die, Dies};
use frame::Activation;
use image::{Reader, Unwinding};
use locals::{Locals, Owner};
use memory::Statics;
use places::{FrameRow, FunctionRow, Maker, Places};
use symbol::Symbol;

pub use chain::Frame;
pub use classify::{AccessKind, Class, LockFamily, LockMode, LockOp, LockStep};
pub use image::flag;
pub use memory::TypeRef;
pub use types::{Name, Word};
pub use words::Holders;

/// Why an executable cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// The file is not an executable we know.
    #[error("not a readable executable: {0}")]
    Object(#[from] object::Error),
    /// The debug information is malformed.
    #[error("malformed debug information: {0}")]
    Dwarf(#[from] gimli::Error),
    /// The program was built without debug information.
    #[error("no debug information; build with `debug = true`")]
    NoDebugInfo,
    /// A section is compressed.
    #[error("section {0} is compressed; link without `--compress-debug-sections`")]
    Compressed(&'static str),
    /// The executable has more than 4 GB, for which tables have no room.
    #[error("too large for a table of its places")]
    TooLarge,
}

/// The debug information of one executable.
pub struct DebugInfo<'data> {
    context: addr2line::Context<Reader<'data>>,
    dies: Dies<'data>,
    under_test: BTreeSet<String>,
    /// By return address.
    chains: RefCell<BTreeMap<u64, Arc<[Link<'data>]>>>,
    /// By definition, or by name where there is no definition.
    functions: RefCell<BTreeMap<Result<Die, String>, Arc<Function<'data>>>>,
    strings: RefCell<BTreeSet<Arc<str>>>,
    statics: OnceCell<Statics>,
    unwinding: Unwinding<'data>,
    /// What somebody has looked up before.
    places: Option<Places<'data>>,
    /// By their numbers there.
    placed: RefCell<BTreeMap<u32, Arc<Function<'data>>>>,
    /// By return address.
    locals: RefCell<BTreeMap<u64, Arc<Locals>>>,
    /// By allocating stack and size.
    blocks: RefCell<BTreeMap<Vec<u64>, BTreeMap<u64, Block>>>,
}

/// What is known about heap blocks of one size that one stack allocated.
struct Block {
    ty: Option<TypeRef>,
    /// By the first offset that has it.
    names: BTreeMap<u64, Option<Name>>,
}

impl<'data> DebugInfo<'data> {
    /// Reads the headers of an executable; the rest is read when a question needs it. `crates_under_test`
    /// are crate names as in Rust paths (`my_crate`), including those of generated harnesses.
    pub fn parse<S: Into<String>>(
        executable: &'data [u8],
        crates_under_test: impl IntoIterator<Item = S>,
    ) -> Result<Self, ParseError> {
        let dwarf = Arc::new(image::load(executable)?);
        Ok(DebugInfo {
            dies: Dies::new(dwarf.clone())?,
            context: addr2line::Context::from_arc_dwarf(dwarf)?,
            under_test: crates_under_test.into_iter().map(Into::into).collect(),
            chains: RefCell::default(),
            functions: RefCell::default(),
            strings: RefCell::default(),
            statics: OnceCell::new(),
            unwinding: image::unwinding(executable)?,
            places: None,
            placed: RefCell::default(),
            locals: RefCell::default(),
            blocks: RefCell::default(),
        })
    }

    /// With the table that [`DebugInfo::places`] made of the same executable, which answers faster than DWARF. One of
    /// another version is ignored.
    pub fn with_places(self, table: &'data [u8]) -> Self {
        let places = Places::new(table);
        let mut dies = self.dies;
        places.into_iter().for_each(|places| dies.use_places(places));
        DebugInfo { places, dies, ..self }
    }

    /// Whether the table has a return address.
    pub fn is_placed(&self, return_address: u64) -> bool {
        self.places.is_some_and(|places| places.frames(return_address).is_some())
    }

    /// A table of the functions behind all calls of the executable and of the names around its entries, for [`DebugInfo::with_places`].
    pub fn places(&self, executable: &[u8]) -> Result<Vec<u8>, ParseError> {
        if u32::try_from(executable.len()).is_err() {
            return Err(ParseError::TooLarge);
        }
        let mut maker = Maker::default();
        let mut functions: BTreeMap<*const Function<'data>, u32> = BTreeMap::new();
        for (code, address) in image::code(executable)? {
            for return_address in places::behind_calls(code, address) {
                let chain = self.chain(return_address);
                let row = |link: &Link<'data>| {
                    // `self.functions` keeps them all, so their addresses tell them apart.
                    let function = functions
                        .entry(Arc::as_ptr(&link.function))
                        .or_insert_with(|| maker.function(self.row(&link.function)));
                    let file = maker.string(&link.file);
                    FrameRow { function: *function, file, line: link.line, column: link.column }
                };
                let frames = chain.iter().map(row).collect();
                maker.address(return_address, frames);
            }
        }
        self.dies.put_scopes(&mut maker);
        Ok(maker.finish())
    }

    fn row<'a>(&self, function: &'a Function<'data>) -> FunctionRow<'a> {
        FunctionRow {
            name: &function.name,
            krate: &function.krate,
            path: &function.path,
            definition: function.die.map(|die| self.dies.section_offset(die)),
        }
    }

    /// The functions at a return address, innermost first; all but the last are inlined. Empty when the
    /// address is not covered by debug information.
    pub fn frames(&self, return_address: u64) -> Vec<Frame> {
        self.chain(return_address).iter().map(Link::frame).collect()
    }

    /// Whether one of the functions at a return address belongs to a crate under test.
    pub fn is_under_test(&self, return_address: u64) -> bool {
        self.chain(return_address).iter().any(|link| link.under_test)
    }

    /// Whether all functions at a return address belong to the standard library or to what it is built from.
    pub fn is_std(&self, return_address: u64) -> bool {
        const BUILT_FROM: &str = "/rust/deps/";
        let std = |link: &Link<'_>| symbol::is_std(&link.function.krate) || link.file.starts_with(BUILT_FROM);
        let chain = self.chain(return_address);
        !chain.is_empty() && chain.iter().all(std)
    }

    /// Whether a test of the standard harness that fails always says so itself: by a panic, or by an error that is
    /// printed. One that returns an `ExitCode` need not.
    pub fn failing_tests_speak(&self) -> bool {
        let returned = self.dies.after_in_names("assert_test_result<");
        let speaks = |ty: &&str| ty.starts_with("()>") || ty.starts_with("core::result::Result<(), ");
        !returned.is_empty() && returned.iter().all(speaks)
    }

    /// What kind of word the access at the top of a stack touches.
    pub fn classify(&self, stack: &[u64], kind: AccessKind) -> Class {
        classify::classify(self.walk(stack), kind)
    }

    /// What kind of word the access at a return address touches, if that does not depend on the callers of the
    /// function it is in.
    pub fn settled(&self, return_address: u64, kind: AccessKind) -> Option<Class> {
        classify::settled(self.walk(&[return_address]), kind)
    }

    /// The innermost frame of a crate under test.
    pub fn attribute(&self, stack: &[u64]) -> Option<Frame> {
        self.walk(stack).find(|link| link.under_test).map(|link| link.frame())
    }

    /// The name of the static at an address. The first call reads all units.
    pub fn static_at(&self, address: u64) -> Option<Name> {
        self.known_statics().name_at(&self.dies, address)
    }

    /// Name, address and size of all statics, by address. The first call reads all units.
    pub fn statics(&self) -> impl Iterator<Item = (&str, u64, u64)> {
        self.known_statics().all()
    }

    fn known_statics(&self) -> &Statics {
        self.statics.get_or_init(|| Statics::find(&self.dies))
    }

    /// The name of the local variable or parameter at an address of the stack: `push_twice::count.hits`. The
    /// function that owns that part of the stack is the one at `return_address`, inlined ones included;
    /// `stack_pointer` is the value that `rsp` has in its body, before it makes that call and again after.
    /// `None` for temporaries, for what the optimiser lost track of, and in functions that find their locals
    /// by a frame pointer.
    pub fn local_at(&self, return_address: u64, stack_pointer: u64, address: u64) -> Option<Name> {
        let distance = address.wrapping_sub(stack_pointer).cast_signed();
        self.locals(return_address).name_at(&self.dies, distance)
    }

    /// What a heap block of `size` bytes is for, told by the functions that allocated it. The stack starts
    /// with the return address of the innermost known call on the way to the allocator.
    pub fn allocation_type(&self, stack: &[u64], size: u64) -> Option<TypeRef> {
        self.walk(stack).find_map(|link| TypeRef::of_allocation(&self.dies, &link.function, size))
    }

    /// The name of the word at an offset of a heap block.
    pub fn field_path(&self, block: TypeRef, offset: u64) -> Option<Name> {
        block.name(&self.dies, offset)
    }

    /// A name for the word at an offset of a heap block, whatever is known about it: its field path if that
    /// starts at a type of the user, otherwise the line of a crate under test that allocated it, followed by
    /// the path or the offset.
    pub fn heap_name(&self, stack: &[u64], size: u64, offset: u64) -> Option<Name> {
        let mut blocks = self.blocks.borrow_mut();
        if !blocks.contains_key(stack) {
            blocks.insert(stack.to_vec(), BTreeMap::new());
        }
        let block = blocks
            .get_mut(stack)?
            .entry(size)
            .or_insert_with(|| Block { ty: self.allocation_type(stack, size), names: BTreeMap::new() });
        let at = block.ty.map_or(offset, |ty| ty.first_alike(offset));
        block.names.entry(at).or_insert_with(|| self.name_in_block(stack, block.ty, offset)).clone()
    }

    fn name_in_block(&self, stack: &[u64], block: Option<TypeRef>, offset: u64) -> Option<Name> {
        let name = block.and_then(|block| self.field_path(block, offset));
        if name.as_ref().is_some_and(|name| name.specific) {
            return name;
        }
        let Some(site) = self.attribute(stack) else { return name };
        let line = if site.line == 0 { String::new() } else { format!(":{}", site.line) };
        let (file, site) = (&site.file, format!("{}{line}", site.file));
        Some(match name {
            // A buffer that has grown is still the same variable, wherever it was made.
            Some(name) => Name {
                path: format!("{site} {}", name.path),
                variable: format!("{file} {}", name.variable),
                specific: true,
                ..name
            },
            None => {
                Name { path: format!("{site}+{offset}"), variable: site, word: Word::Data, specific: true }
            }
        })
    }

    /// All frames of a stack, innermost first, each looked up when it is asked for.
    fn walk(&self, stack: &[u64]) -> impl Iterator<Item = LinkOf<'data>> {
        stack.iter().flat_map(|address| {
            let chain = self.chain(*address);
            (0..chain.len()).map(move |index| LinkOf { chain: chain.clone(), index })
        })
    }

    fn chain(&self, return_address: u64) -> Arc<[Link<'data>]> {
        if let Some(chain) = self.chains.borrow().get(&return_address) {
            return chain.clone();
        }
        let look_up = || return_address.checked_sub(1).map(|call| self.look_up(call));
        let links = self.placed(return_address).or_else(look_up).unwrap_or_default();
        let chain: Arc<[Link<'data>]> = links.into();
        self.chains.borrow_mut().insert(return_address, chain.clone());
        chain
    }

    fn locals(&self, return_address: u64) -> Arc<Locals> {
        if let Some(locals) = self.locals.borrow().get(&return_address) {
            return locals.clone();
        }
        let locals = return_address.checked_sub(1).and_then(|pc| {
            let function = self.outermost(pc)?;
            let activation = Activation::new(&self.dies, &self.unwinding, function, pc)?;
            let lines = self.chain(return_address).iter().rev().map(|link| link.line.into()).collect();
            Some(Locals::find(&activation, function, lines, &|definition| self.owner(definition)))
        });
        let locals = Arc::new(locals.unwrap_or_default());
        self.locals.borrow_mut().insert(return_address, locals.clone());
        locals
    }

    /// The entry of the function that was not inlined at an address.
    fn outermost(&self, address: u64) -> Option<Die> {
        let unit = self.context.find_dwarf_and_unit(address).skip_all_loads()?.header.debug_info_offset()?;
        let mut frames = self.context.find_frames(address).skip_all_loads().ok()?;
        let mut outermost = None;
        while let Ok(Some(frame)) = frames.next() {
            outermost = frame.dw_die_offset;
        }
        self.dies.in_unit(unit.0, outermost?)
    }

    /// The function with a definition, as the owner of its variables.
    fn owner(&self, definition: Die) -> Owner {
        let symbol = [definition, self.dies.declaration(definition)].into_iter().find_map(|die| {
            let entry = self.dies.entry(die)?;
            self.dies.string(die, &entry, gimli::DW_AT_linkage_name).or_else(|| self.dies.name(die, &entry))
        });
        let function = self.function(Some(definition), symbol.unwrap_or_default());
        Owner {
            label: symbol::label(&function.path).to_owned(),
            specific: !types::is_library(&function.krate),
            under_test: self.under_test.contains(&*function.krate),
        }
    }

    /// What the table says about a return address, if it has it.
    fn placed(&self, return_address: u64) -> Option<Vec<Link<'data>>> {
        let places = self.places.as_ref()?;
        let frames = places.frames(return_address)?;
        let inner = frames.len().saturating_sub(1);
        let link = |(i, row): (usize, &FrameRow)| {
            let function = self.placed_function(places, row.function)?;
            let file = Text::Table(places.string(row.file)?);
            Some(self.link(function, file, (row.line, row.column), i < inner))
        };
        frames.iter().enumerate().map(link).collect()
    }

    fn placed_function(&self, places: &Places<'data>, number: u32) -> Option<Arc<Function<'data>>> {
        if let Some(function) = self.placed.borrow().get(&number) {
            return Some(function.clone());
        }
        let row = places.function(number)?;
        let die = match row.definition {
            Some(offset) => Some(self.dies.in_section(offset)?),
            None => None,
        };
        let [name, krate, path] = [row.name, row.krate, row.path].map(Text::Table);
        let function = Arc::new(self.describe(name, krate, path, die));
        self.placed.borrow_mut().insert(number, function.clone());
        Some(function)
    }

    fn link(
        &self,
        function: Arc<Function<'data>>,
        file: Text<'data>,
        (line, column): (u32, u32),
        inlined: bool,
    ) -> Link<'data> {
        let under_test = self.under_test.contains(&*function.krate);
        Link { function, file, line, column, inlined, under_test }
    }

    fn look_up(&self, address: u64) -> Vec<Link<'data>> {
        let mut links = Vec::new();
        let Some(unit) = self.context.find_dwarf_and_unit(address).skip_all_loads() else { return links };
        let Ok(mut frames) = self.context.find_frames(address).skip_all_loads() else { return links };
        let directory = unit.comp_dir.and_then(|directory| std::str::from_utf8(directory.slice()).ok());
        while let Ok(Some(frame)) = frames.next() {
            let die = unit
                .header
                .debug_info_offset()
                .zip(frame.dw_die_offset)
                .and_then(|(unit, offset)| self.dies.in_unit(unit.0, offset))
                .map(|die| self.dies.abstract_function(die));
            let name =
                frame.function.as_ref().and_then(|function| function.raw_name().ok()).unwrap_or_default();
            let function = self.function(die, &name);
            let location = frame.location.as_ref();
            let file = location.and_then(|location| location.file).unwrap_or_default();
            let file = Text::Own(self.intern(as_recorded(file, directory)));
            let line = location.and_then(|location| location.line).unwrap_or(0);
            let column = location.and_then(|location| location.column).unwrap_or(0);
            links.push(self.link(function, file, (line, column), true));
        }
        if let Some(last) = links.last_mut() {
            last.inlined = false;
        }
        links
    }

    fn function(&self, die: Option<Die>, name: &str) -> Arc<Function<'data>> {
        let key = die.ok_or_else(|| name.to_owned());
        if let Some(function) = self.functions.borrow().get(&key) {
            return function.clone();
        }
        if let Some(die) = die.filter(|die| self.dies.is_native(*die)) {
            let function = Arc::new(self.native_function(die));
            self.functions.borrow_mut().insert(key, function.clone());
            return function;
        }
        let symbol = Symbol::parse(name);
        let krate = symbol.krate.or_else(|| self.crate_by_namespace(die?));
        let krate = krate.as_deref().unwrap_or_else(|| symbol::crate_of_name(&symbol.name));
        let path = symbol.path.split("::{").next().unwrap_or_default();
        let [name, krate, path] = [&symbol.name, krate, path].map(|text| Text::Own(self.intern(text)));
        let function = Arc::new(self.describe(name, krate, path, die));
        self.functions.borrow_mut().insert(key, function.clone());
        function
    }

    fn native_function(&self, die: Die) -> Function<'data> {
        let (krate, name) = native::describe(&self.dies, die);
        let path = symbol::without_generics(&name);
        let [name, krate, path] = [&*name, krate, &*path].map(|text| Text::Own(self.intern(text)));
        self.describe(name, krate, path, Some(die))
    }

    /// What follows from a function's name and path.
    fn describe(
        &self,
        name: Text<'data>,
        krate: Text<'data>,
        path: Text<'data>,
        die: Option<Die>,
    ) -> Function<'data> {
        let glue = symbol::glue_type(&name);
        Function {
            die,
            helper: rules::is_helper(&path),
            drops: glue.or_else(|| path.strip_suffix("::drop")).map(str::to_owned),
            glue_under_test: glue.is_some_and(|ty| self.under_test.contains(symbol::first_segment(ty))),
            rule: rules::rule_for(&path),
            name,
            krate,
            path,
        }
    }

    /// The outermost namespace around a function.
    fn crate_by_namespace(&self, die: Die) -> Option<String> {
        self.dies.scope_names(self.dies.declaration(die)).first().map(|name| (*name).to_owned())
    }

    fn intern(&self, text: &str) -> Arc<str> {
        if let Some(known) = self.strings.borrow().get(text) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        self.strings.borrow_mut().insert(new.clone());
        new
    }
}

/// Undoes the joining of a file name with the directory that the compiler ran in. The paths of std keep
/// their virtual root.
fn as_recorded<'a>(file: &'a str, directory: Option<&str>) -> &'a str {
    directory
        .filter(|directory| !directory.starts_with("/rustc/"))
        .and_then(|directory| file.strip_prefix(directory)?.strip_prefix('/'))
        .unwrap_or(file)
}
