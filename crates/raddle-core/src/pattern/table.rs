//! The instances of one pattern on given variables, as bits.

use super::catalogue::PatternId;
use super::set::NONE;

/// A bit for each combination of the ranks of the steps' sites.
///
/// The bits are grouped in *rows*, one per combination of the third and fourth step (a single row for patterns of
/// two steps). A row has a *cell* of whole words for each second step, with a bit for each first step. Most rows stay
/// empty, and those have no bits: with two hundred sites all of them would be hundreds of megabytes.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub pattern: PatternId,
    /// Numbers of the variables' names; equal for patterns of one variable.
    pub names: [u32; 2],
    /// Ranks that exist, by step; 1 for a step that the pattern lacks.
    ranks: [u32; 4],
    /// Words per cell, cells per row, and rows as third steps times fourth steps.
    room: [usize; 4],
    /// By row: which one it is in `bits`, or [`NONE`].
    rows: Vec<u32>,
    /// The rows that are not empty.
    bits: Vec<u64>,
    /// Set bits by row.
    row_len: Vec<u32>,
    pub len: u64,
    /// How many sites the set had when it last made room here.
    pub fitted: u32,
}

impl Table {
    pub fn new(pattern: PatternId, names: [u32; 2]) -> Self {
        Table {
            pattern,
            names,
            ranks: [0; 4],
            room: [0; 4],
            rows: Vec::new(),
            bits: Vec::new(),
            row_len: Vec::new(),
            len: 0,
            fitted: 0,
        }
    }

    /// Makes room for so many ranks.
    pub fn fit(&mut self, ranks: [u32; 4]) {
        if ranks == self.ranks {
            return;
        }
        self.ranks = ranks;
        let need = [ranks[0].div_ceil(64) as usize, ranks[1] as usize, ranks[2] as usize, ranks[3] as usize];
        if need.iter().zip(&self.room).all(|(need, room)| need <= room) {
            return;
        }
        let old = self.take_bits();
        for (room, need) in self.room.iter_mut().zip(need) {
            if need > *room {
                *room = if need <= 2 { need } else { need.next_multiple_of(4) };
            }
        }
        let rows = self.room[2] * self.room[3];
        self.rows = vec![NONE; rows];
        self.row_len = vec![0; rows];
        self.copy_from(old);
    }

    fn take_bits(&mut self) -> Table {
        let mut old = Table::new(self.pattern, self.names);
        old.room = self.room;
        std::mem::swap(&mut old.rows, &mut self.rows);
        std::mem::swap(&mut old.bits, &mut self.bits);
        std::mem::swap(&mut old.row_len, &mut self.row_len);
        old
    }

    fn copy_from(&mut self, mut old: Table) {
        let same = old.room[..2] == self.room[..2];
        if same {
            self.bits = std::mem::take(&mut old.bits);
        }
        for r3 in 0..old.room[2] as u32 {
            for r4 in 0..old.room[3] as u32 {
                let (from, to) = (old.row(r3, r4), self.row(r3, r4));
                if old.rows[from] == NONE {
                    continue;
                }
                self.row_len[to] = old.row_len[from];
                if same {
                    self.rows[to] = old.rows[from];
                    continue;
                }
                self.make(to);
                for r2 in 0..old.room[1] as u32 {
                    let at = self.cell(to, r2);
                    self.bits[at..at + old.room[0]].copy_from_slice(old.words(from, r2));
                }
            }
        }
    }

    /// Gives bits to a row that has none.
    fn make(&mut self, row: usize) {
        let size = self.room[0] * self.room[1];
        self.rows[row] = (self.bits.len() / size) as u32;
        self.bits.resize(self.bits.len() + size, 0);
    }

    /// The row of the third and fourth step's ranks.
    pub fn row(&self, r3: u32, r4: u32) -> usize {
        r3 as usize * self.room[3] + r4 as usize
    }

    /// Whether the table has a place for these ranks of the second to fourth step.
    pub fn has_room(&self, r2: u32, r3: u32, r4: u32) -> bool {
        (r2 as usize) < self.room[1] && (r3 as usize) < self.room[2] && (r4 as usize) < self.room[3]
    }

    /// The set bits of a row.
    pub fn count(&self, row: usize) -> usize {
        self.row_len[row] as usize
    }

    /// Whether every bit of a row is set.
    pub fn is_full(&self, row: usize) -> bool {
        self.row_len[row] == self.ranks[0] * self.ranks[1]
    }

    /// Where a cell of a row that has bits begins.
    fn cell(&self, row: usize, r2: u32) -> usize {
        (self.rows[row] as usize * self.room[1] + r2 as usize) * self.room[0]
    }

    /// The words of a cell; none if its row is empty.
    pub fn words(&self, row: usize, r2: u32) -> &[u64] {
        if self.rows[row] == NONE {
            return &[];
        }
        let start = self.cell(row, r2);
        &self.bits[start..start + self.room[0]]
    }

    /// Sets bits of a word of a cell; those that were clear.
    pub fn add(&mut self, row: usize, r2: u32, word: usize, bits: u64) -> u64 {
        if self.rows[row] == NONE {
            if bits == 0 {
                return 0;
            }
            self.make(row);
        }
        let at = self.cell(row, r2) + word;
        let new = bits & !self.bits[at];
        if new != 0 {
            self.bits[at] |= new;
            self.row_len[row] += new.count_ones();
            self.len += u64::from(new.count_ones());
        }
        new
    }

    /// Clears every bit.
    pub fn clear(&mut self) {
        self.rows.fill(NONE);
        self.bits.clear();
        self.row_len.fill(0);
        self.len = 0;
    }

    /// The ranks of all set bits.
    pub fn ones(&self) -> impl Iterator<Item = [u32; 4]> + '_ {
        let [words, cells, _, fourths] = self.room;
        let rows = self.rows.iter().enumerate().filter(|(_, at)| **at != NONE);
        rows.flat_map(move |(row, &at)| {
            let bits = &self.bits[at as usize * words * cells..][..words * cells];
            bits.iter().enumerate().filter(|(_, w)| **w != 0).flat_map(move |(i, &w)| {
                let (word, r2) = (i % words, (i / words) as u32);
                let [r3, r4] = [row / fourths, row % fourths].map(|r| r as u32);
                (0..64).filter(move |b| w >> b & 1 == 1).map(move |b| [word as u32 * 64 + b, r2, r3, r4])
            })
        })
    }
}
