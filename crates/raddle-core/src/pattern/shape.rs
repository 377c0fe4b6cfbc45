//! How the patterns of the catalogue are put together.
//!
//! | patterns | steps |
//! | --- | --- |
//! | 1, 2, 3 | `a` on x, `b` on x |
//! | 4 to 8 | `a` on x, `b` on x, `a` on x |
//! | 9, 12, 14 | `a` on x, `b` on x; `b` on y, `a` on y with the kinds of the first two swapped |
//! | 10, 13, 15 | `a` on x, `b` on y; `b` on x, `a` on y with the kinds of the first two swapped |
//! | 11, 16, 17 | `a` on x, `b` on y; `a` on y, `b` on x with the kinds of the first two |
//!
//! Steps 1 and 2 are never both reads, nor are steps 3 and 4. In a four-step pattern each thread either only
//! reads or only writes.

use super::catalogue::{AccessKind, PatternId};

/// How a two-variable pattern arranges its variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Family {
    /// x x y y: patterns 9, 12, 14.
    Xxyy = 0,
    /// x y x y: patterns 10, 13, 15.
    Xyxy = 1,
    /// x y y x: patterns 11, 16, 17.
    Xyyx = 2,
}

/// The pattern of two steps, which are not both reads.
pub(super) fn pattern_of_pair(k1: AccessKind, k2: AccessKind) -> PatternId {
    use AccessKind::{Read, Write};
    number(match (k1, k2) {
        (Read, Write) => 1,
        (Write, Read) => 2,
        (Write, Write) => 3,
        (Read, Read) => unreachable!("two reads are not a pattern"),
    })
}

/// The pattern of three steps, if there is one.
pub(super) fn pattern_of_triple(k1: AccessKind, k2: AccessKind, k3: AccessKind) -> Option<PatternId> {
    use AccessKind::{Read, Write};
    Some(number(match (k1, k2, k3) {
        (Read, Write, Read) => 4,
        (Write, Write, Read) => 5,
        (Write, Read, Write) => 6,
        (Read, Write, Write) => 7,
        (Write, Write, Write) => 8,
        _ => return None,
    }))
}

/// The pattern of four steps whose first two, not both reads, have these kinds; the other two follow.
pub(super) fn pattern_of_quad(family: Family, k1: AccessKind, k2: AccessKind) -> PatternId {
    use AccessKind::{Read, Write};
    let column = family as usize;
    number(match (k1, k2) {
        (Write, Write) => [9, 10, 11][column],
        (Write, Read) => [12, 13, 17][column],
        (Read, Write) => [14, 15, 16][column],
        (Read, Read) => unreachable!("two reads do not begin a pattern"),
    })
}

/// The pattern of four steps with these kinds, if there is one.
pub(super) fn quad(family: Family, kinds: [AccessKind; 4]) -> Option<PatternId> {
    let [k1, k2, k3, k4] = kinds;
    let second = if family == Family::Xyyx { [k1, k2] } else { [k2, k1] };
    let two_reads = k1 == AccessKind::Read && k2 == AccessKind::Read;
    ([k3, k4] == second && !two_reads).then(|| pattern_of_quad(family, k1, k2))
}

fn number(n: u8) -> PatternId {
    PatternId::new(n).expect("1 to 17")
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::{CATALOGUE, Which, Who};
    use super::*;

    #[test]
    fn the_shapes_are_those_of_the_catalogue() {
        for p in &CATALOGUE {
            let k: Vec<AccessKind> = p.steps.iter().map(|s| s.kind).collect();
            let composed = match k[..] {
                [k1, k2] => Some(pattern_of_pair(k1, k2)),
                [k1, k2, k3] => pattern_of_triple(k1, k2, k3),
                _ => {
                    let family = match (p.steps[1].var, p.steps[2].var) {
                        (Which::X, _) => Family::Xxyy,
                        (Which::Y, Which::X) => Family::Xyxy,
                        (Which::Y, Which::Y) => Family::Xyyx,
                    };
                    assert_eq!(p.steps[2].who == Who::A, family == Family::Xyyx);
                    quad(family, [k[0], k[1], k[2], k[3]])
                }
            };
            assert_eq!(composed, Some(p.id));
        }
    }
}
