//! Where the variables of a function are while it makes a call.
//!
//! Of the registers only the stack pointer is known. A function that keeps its locals at the stack pointer, as
//! Rust's do unless asked for frame pointers, has each of them at a constant distance from it at a given call.
//! Locations that depend on other registers or on the contents of memory are unknown; a reference parameter
//! that is itself in memory is found, what it points to belongs to another frame.

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EvaluationResult, Expression, Location, Register, UnwindContext,
    UnwindSection, Value, X86_64,
};

use crate::dies::{Die, Dies, Entry};
use crate::image::{Reader, Unwinding};

/// Stands for the stack pointer during evaluation. Locations on the stack come out near it, addresses of
/// statics do not.
const STACK_POINTER: u64 = 1 << 48;

/// No frame is larger.
const REACH: i64 = 1 << 32;

/// Expressions that do not end are malformed.
const MAX_OPERATIONS: u32 = 1000;

/// A part of a variable in memory. Most variables have one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    /// Distance from the stack pointer.
    pub start: i64,
    /// In bytes; `None` for a whole variable.
    pub size: Option<u64>,
    /// Where in the variable the part is.
    pub inside: u64,
}

/// A function during a call.
pub(crate) struct Activation<'a, 'data> {
    pub dies: &'a Dies<'data>,
    /// An address inside the call instruction.
    pub pc: u64,
    canonical_frame_address: Option<u64>,
    frame_base: Option<u64>,
}

impl<'a, 'data> Activation<'a, 'data> {
    /// The function with the entry `function`, at `pc`.
    pub fn new(
        dies: &'a Dies<'data>,
        unwinding: &Unwinding<'data>,
        function: Die,
        pc: u64,
    ) -> Option<Activation<'a, 'data>> {
        let mut activation = Activation {
            dies,
            pc,
            canonical_frame_address: canonical_frame_address(unwinding, pc),
            frame_base: None,
        };
        let base = dies.expression(function, &dies.entry(function)?, gimli::DW_AT_frame_base, pc);
        activation.frame_base =
            base.and_then(|base| match activation.evaluate(function, base)?.first()?.location {
                Location::Register { register } => value_of(register),
                Location::Address { address } => Some(address),
                _ => None,
            });
        Some(activation)
    }

    /// The parts of a variable that are on the stack while `pc` is executed.
    pub fn parts(&self, die: Die, variable: &Entry<'data>, pc: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        let expression = self.dies.expression(die, variable, gimli::DW_AT_location, pc);
        let mut inside = 0;
        for piece in expression.and_then(|expression| self.evaluate(die, expression)).unwrap_or_default() {
            let size = piece.size_in_bits.map(|bits| bits / 8);
            if let (Location::Address { address }, None | Some(0)) = (piece.location, piece.bit_offset) {
                let start = address.wrapping_sub(STACK_POINTER).cast_signed();
                if (-REACH..REACH).contains(&start) {
                    parts.push(Part { start, size, inside });
                }
            }
            inside += size.unwrap_or(0);
        }
        parts
    }

    fn evaluate(
        &self,
        die: Die,
        expression: Expression<Reader<'data>>,
    ) -> Option<Vec<gimli::Piece<Reader<'data>>>> {
        let mut evaluation = expression.evaluation(self.dies.unit_of(die)?.encoding());
        evaluation.set_max_iterations(MAX_OPERATIONS);
        let mut state = evaluation.evaluate();
        loop {
            state = match state.ok()? {
                EvaluationResult::Complete => return Some(evaluation.result()),
                EvaluationResult::RequiresRegister { register, .. } => {
                    evaluation.resume_with_register(Value::Generic(value_of(register)?))
                }
                EvaluationResult::RequiresFrameBase => evaluation.resume_with_frame_base(self.frame_base?),
                EvaluationResult::RequiresCallFrameCfa => {
                    evaluation.resume_with_call_frame_cfa(self.canonical_frame_address?)
                }
                _ => return None,
            };
        }
    }
}

fn value_of(register: Register) -> Option<u64> {
    (register == X86_64::RSP).then_some(STACK_POINTER)
}

/// The stack pointer before the call of the function at `pc`, if the function does not need a frame pointer
/// to know.
fn canonical_frame_address(unwinding: &Unwinding<'_>, pc: u64) -> Option<u64> {
    let bases = BaseAddresses::default()
        .set_eh_frame_hdr(unwinding.header.address)
        .set_eh_frame(unwinding.frames.address);
    let header = gimli::EhFrameHdr::from(unwinding.header.data).parse(&bases, 8).ok()?;
    let mut context = UnwindContext::new();
    let row = header
        .table()?
        .unwind_info_for_address(
            &EhFrame::from(unwinding.frames.data),
            &bases,
            &mut context,
            pc,
            EhFrame::cie_from_offset,
        )
        .ok()?;
    match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => value_of(*register)?.checked_add_signed(*offset),
        CfaRule::Expression(_) => None,
    }
}
