//! Names of memory: statics by address, heap blocks by the functions that allocated them.
//!
//! Rust allocates through generic functions, and their type arguments are in the debug information: the
//! innermost function of the allocating stack that is listed in [`ALLOCATORS`] tells what the block is for.
//! The size of the block has to agree, so a wrong guess is caught rather than reported.

use crate::chain::Function;
use crate::dies::{Die, Dies};
use crate::types::{self, Name, Word};

/// What a heap block holds. Plain data; valid for the [`DebugInfo`](crate::DebugInfo) that made it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TypeRef {
    /// Place of the type in the debug information.
    offset: usize,
    shape: Shape,
}

/// How values of the type fill the block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Shape {
    /// One value.
    One,
    /// Values one after the other.
    Sequence {
        /// Their size.
        each: u64,
    },
    /// Two reference counts, then one value.
    Counted {
        /// Where the value starts.
        value: u64,
        /// `Rc`, not `Arc`.
        local: bool,
    },
    /// The buckets of a hash table, growing downwards from `control`, where a byte per bucket follows.
    HashTable {
        /// Where the control bytes start.
        control: u64,
        /// The size of a bucket.
        each: u64,
    },
}

/// How a function uses the block it allocates.
#[derive(Clone, Copy)]
enum Use {
    One,
    Sequence,
    Counted { local: bool },
    HashTable,
}

/// Allocating functions by path, with the generic parameter for what they store.
const ALLOCATORS: &[(&str, &str, Use)] = &[
    ("alloc::sync::Arc::", "T", Use::Counted { local: false }),
    ("alloc::sync::UniqueArc::", "T", Use::Counted { local: false }),
    ("alloc::rc::Rc::", "T", Use::Counted { local: true }),
    ("alloc::rc::UniqueRc::", "T", Use::Counted { local: true }),
    ("alloc::boxed::", "T", Use::One),
    ("alloc::raw_vec::RawVec::", "T", Use::Sequence),
    ("alloc::vec::", "T", Use::Sequence),
    ("alloc::slice::", "T", Use::Sequence),
    ("alloc::collections::vec_deque::", "T", Use::Sequence),
    ("hashbrown::raw::RawTable::", "T", Use::HashTable),
];

/// The bytes that a hash table scans at once, which also align and pad its control bytes.
const GROUP: u64 = 16;

impl TypeRef {
    /// What a block of `size` bytes allocated by `function` holds.
    pub(crate) fn of_allocation(dies: &Dies<'_>, function: &Function<'_>, size: u64) -> Option<TypeRef> {
        let (_, parameter, usage) = ALLOCATORS.iter().find(|(path, ..)| function.path.starts_with(path))?;
        let die = function.die?;
        let ty = types::template_type(dies, die, parameter).or_else(|| {
            let declaration = dies.declaration(die);
            types::template_type(dies, declaration, parameter)
                .or_else(|| types::template_type(dies, dies.enclosing_type(declaration)?, parameter))
        })?;
        let shape = shape(*usage, size, types::size_of(dies, ty)?, types::align_of(dies, ty))?;
        Some(TypeRef { offset: dies.section_offset(ty), shape })
    }

    /// An offset where the block has a word of the same name: where the first of its values has it.
    pub(crate) fn first_alike(self, offset: u64) -> u64 {
        match self.shape {
            Shape::One | Shape::Counted { .. } => offset,
            Shape::Sequence { each } => offset % each,
            // Bucket i ends at control - i * each.
            Shape::HashTable { control, each } if offset < control => {
                offset.saturating_sub(control % each.max(1)) % each.max(1)
            }
            Shape::HashTable { control, .. } => control,
        }
    }

    /// The name of the word at `offset` of the block.
    pub(crate) fn name(self, dies: &Dies<'_>, offset: u64) -> Option<Name> {
        let ty = dies.in_section(self.offset)?;
        Some(match self.shape {
            Shape::One => types::name_in_type(dies, ty, offset),
            Shape::Counted { value, .. } if offset >= value => types::name_in_type(dies, ty, offset - value),
            Shape::Counted { local, .. } => {
                types::name_of_count(dies, if local { "Rc" } else { "Arc" }, ty, offset)
            }
            Shape::HashTable { control, .. } if offset >= control => {
                let Name { path, specific, .. } = types::name_in_sequence(dies, ty, u64::MAX);
                Name { path: format!("{path}.control"), variable: path, word: Word::Data, specific }
            }
            Shape::Sequence { .. } | Shape::HashTable { .. } => {
                types::name_in_sequence(dies, ty, self.first_alike(offset))
            }
        })
    }
}

/// How values of `each` bytes fill a block, if the block can be meant for them.
fn shape(usage: Use, block: u64, each: u64, align: u64) -> Option<Shape> {
    match usage {
        Use::One => (each == block).then_some(Shape::One),
        Use::Sequence => (each > 0 && block.is_multiple_of(each)).then_some(Shape::Sequence { each }),
        Use::Counted { local } => {
            let value = 16_u64.next_multiple_of(align);
            let whole = value.checked_add(each)?.next_multiple_of(align.max(8));
            (whole == block).then_some(Shape::Counted { value, local })
        }
        Use::HashTable => (0..48).map(|power| 1_u64 << power).find_map(|buckets| {
            let control = each.checked_mul(buckets)?.checked_next_multiple_of(GROUP.max(align))?;
            (control.checked_add(buckets)?.checked_add(GROUP)? == block)
                .then_some(Shape::HashTable { control, each })
        }),
    }
}

/// The statics of the program by address.
#[derive(Debug)]
pub(crate) struct Statics {
    /// Sorted by address, and disjoint.
    all: Vec<Static>,
}

#[derive(Debug)]
struct Static {
    address: u64,
    size: u64,
    name: String,
    ty: Option<Die>,
}

impl Statics {
    pub fn find(dies: &Dies<'_>) -> Statics {
        let mut all = Vec::new();
        dies.each_static(|die, address, entry, around| {
            let Some(name) = dies.name(die, entry).filter(|_| address != 0) else { return };
            let ty = dies.follow(die, entry, gimli::DW_AT_type);
            let size = ty.and_then(|ty| types::size_of(dies, ty)).unwrap_or(1).max(1);
            let name = around.iter().chain([&name]).copied().collect::<Vec<_>>().join("::");
            all.push(Static { address, size, name, ty });
        });
        all.sort_by_key(|known| known.address);
        all.dedup_by_key(|known| known.address);
        Statics { all }
    }

    /// Name, address and size of each.
    pub fn all(&self) -> impl Iterator<Item = (&str, u64, u64)> {
        self.all.iter().map(|known| (&*known.name, known.address, known.size))
    }

    pub fn name_at(&self, dies: &Dies<'_>, address: u64) -> Option<Name> {
        let index = self.all.partition_point(|known| known.address <= address).checked_sub(1)?;
        let known = &self.all[index];
        let offset = address - known.address;
        (offset < known.size).then(|| types::name_in_variable(dies, known.name.clone(), known.ty, offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_values_start_at_their_alignment() {
        let counted = Use::Counted { local: false };
        assert_eq!(shape(counted, 24, 1, 1), Some(Shape::Counted { value: 16, local: false }));
        assert_eq!(shape(counted, 128, 64, 64), Some(Shape::Counted { value: 64, local: false }));
        assert_eq!(shape(counted, 32, 24, 8), None);
    }

    #[test]
    fn a_hash_table_has_as_many_control_bytes_as_buckets_and_a_group() {
        let table = Some(Shape::HashTable { control: 96, each: 24 });
        assert_eq!(shape(Use::HashTable, 4 * 24 + 4 + 16, 24, 8), table);
        assert_eq!(shape(Use::HashTable, 100, 24, 8), None);
    }

    #[test]
    fn values_in_a_row_have_names_in_common() {
        let alike = |shape, offsets: [u64; 4]| {
            let ty = TypeRef { offset: 0, shape };
            offsets.map(|offset| ty.first_alike(offset))
        };
        assert_eq!(alike(Shape::One, [0, 8, 16, 24]), [0, 8, 16, 24]);
        assert_eq!(alike(Shape::Sequence { each: 16 }, [0, 8, 16, 24]), [0, 8, 0, 8]);
        // The buckets end where the control bytes begin, here after 8 bytes of padding and 40 of buckets.
        let table = Shape::HashTable { control: 48, each: 20 };
        assert_eq!(alike(table, [8, 28, 48, 50]), [0, 0, 48, 48]);
    }

    #[test]
    fn a_sequence_needs_a_whole_number_of_values() {
        assert_eq!(shape(Use::Sequence, 96, 24, 8), Some(Shape::Sequence { each: 24 }));
        assert_eq!(shape(Use::Sequence, 100, 24, 8), None);
        assert_eq!(shape(Use::Sequence, 0, 0, 1), None);
    }
}
