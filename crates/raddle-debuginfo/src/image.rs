//! The executable file: its debug and unwinding sections. The only module that knows about ELF.

use gimli::Section as _;
use gimli::{EndianSlice, LittleEndian};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

use crate::ParseError;

pub(crate) type Reader<'data> = EndianSlice<'data, LittleEndian>;

/// A section that is loaded with the program.
#[derive(Clone, Copy, Default)]
pub(crate) struct Loaded<'data> {
    pub data: Reader<'data>,
    pub address: u64,
}

/// The unwinding information.
#[derive(Clone, Copy, Default)]
pub(crate) struct Unwinding<'data> {
    pub frames: Loaded<'data>,
    pub header: Loaded<'data>,
}

/// Finds the unwinding information of an executable. Absent sections are empty.
pub(crate) fn unwinding(bytes: &[u8]) -> Result<Unwinding<'_>, ParseError> {
    let file = object::File::parse(bytes)?;
    let section = |id: gimli::SectionId| -> Result<Loaded<'_>, ParseError> {
        let Some(section) = file.section_by_name(id.name()) else { return Ok(Loaded::default()) };
        Ok(Loaded { data: EndianSlice::new(section.data()?, LittleEndian), address: section.address() })
    };
    Ok(Unwinding {
        frames: section(gimli::SectionId::EhFrame)?,
        header: section(gimli::SectionId::EhFrameHdr)?,
    })
}

/// Finds the debug sections of an executable.
pub(crate) fn load(bytes: &[u8]) -> Result<gimli::Dwarf<Reader<'_>>, ParseError> {
    let file = object::File::parse(bytes)?;
    let section = |id: gimli::SectionId| -> Result<Reader<'_>, ParseError> {
        let data = match file.section_by_name(id.name()) {
            Some(section) if section.compressed_file_range()?.format != object::CompressionFormat::None => {
                return Err(ParseError::Compressed(id.name()));
            }
            Some(section) => section.data()?,
            None => &[],
        };
        Ok(EndianSlice::new(data, LittleEndian))
    };
    let dwarf = gimli::Dwarf::load(section)?;
    if dwarf.debug_info.reader().is_empty() {
        return Err(ParseError::NoDebugInfo);
    }
    Ok(dwarf)
}

/// The sections with code, and where they are loaded.
pub(crate) fn code(bytes: &[u8]) -> Result<Vec<(&[u8], u64)>, ParseError> {
    let file = object::File::parse(bytes)?;
    let code = file.sections().filter(|section| section.kind() == SectionKind::Text);
    code.map(|section| Ok((section.data()?, section.address()))).collect()
}

/// The address of a static of one byte in whose symbol this name occurs, relative to where the executable is loaded.
pub fn flag(executable: &[u8], name: &str) -> Option<u64> {
    let file = object::File::parse(executable).ok()?;
    let is_it = |s: &object::Symbol<'_, '_>| {
        s.kind() == SymbolKind::Data && s.size() == 1 && s.name().is_ok_and(|n| n.contains(name))
    };
    file.symbols().find(is_it).map(|s| s.address())
}
