//! Reads the compiler's MIR text.
//!
//! The text is made for people and has no specification, so the reader never fails: a function with a line that is not
//! understood is kept by name, with the reason in [`Function::unknown`], and everything else goes on.

use crate::mir::{
    Block, Callee, Function, Mir, Operand, Operator, Place, Pos, Rvalue, Statement, Step, Terminator,
};
use crate::text::{block_numbers, closing, local_number, parameters, split, top_level};
use crate::ty::Ty;
use std::collections::HashMap;
use std::sync::Arc;

/// Reads the MIR of a crate.
pub fn parse(text: &str) -> Mir {
    let mut reader = Reader::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(header) = line.strip_prefix("fn ") {
            let mut body = Vec::new();
            let mut closed = false;
            // A text that was cut off has no closing brace; the next function begins anyway.
            while let Some(line) = lines.next_if(|l| !l.starts_with("fn ")) {
                if line == "}" {
                    closed = true;
                    break;
                }
                body.push(line);
            }
            let function = reader.function(header, &body, closed);
            reader.mir.functions.push(function);
        } else if let Some((alloc, rest)) = line.split_once(" (static: ") {
            let name = rest.split([',', ')']).next().unwrap_or_default();
            reader.mir.statics.insert(alloc.to_owned(), name.to_owned());
        }
    }
    reader.mir
}

#[derive(Default)]
struct Reader {
    mir: Mir,
    files: HashMap<String, u32>,
    types: HashMap<String, Arc<Ty>>,
}

/// Why a line was not understood.
type Parsed<T> = Result<T, String>;

impl Reader {
    fn function(&mut self, header: &str, body: &[&str], closed: bool) -> Function {
        let start = parameters(header).unwrap_or(header.len());
        let name = header[..start].trim().to_owned();
        let mut function =
            Function { name, params: 0, locals: vec![], names: vec![], blocks: vec![], unknown: None };
        let read = if closed {
            self.head(&header[start..], &mut function).and_then(|()| self.body(body, &mut function))
        } else {
            Err("the text ends inside the function".to_owned())
        };
        let read = read.and_then(|()| check_targets(&function));
        if let Err(why) = read {
            function.blocks.clear();
            function.unknown = Some(why);
        }
        function
    }

    /// `(_1: A, _2: B) -> C {`.
    fn head(&mut self, text: &str, function: &mut Function) -> Parsed<()> {
        let end = top_level(text).find(|(_, c)| *c == ')').map(|(at, _)| at);
        let end = end.ok_or_else(|| odd("parameters", text))?;
        let result = text[end + 1..].trim().strip_prefix("->").and_then(|r| r.trim().strip_suffix('{'));
        function.locals.push(self.ty(result.ok_or_else(|| odd("result", text))?));
        for (i, parameter) in split(&text[1..end], ',').into_iter().enumerate() {
            let (local, ty) = parameter.split_once(": ").ok_or_else(|| odd("parameter", parameter))?;
            if local_number(local) != Some(i + 1) {
                return Err(odd("parameter", parameter));
            }
            function.locals.push(self.ty(ty));
            function.params = i + 1;
        }
        Ok(())
    }

    fn body(&mut self, lines: &[&str], function: &mut Function) -> Parsed<()> {
        let mut block: Option<Block> = None;
        for line in lines {
            let (code, pos) = self.comment(line);
            if code.is_empty() {
                // The name of a called function is where debug information places the call.
                let span = line.trim_start().strip_prefix("// + span: ");
                if let (Some(span), Some(Block { end: Terminator::Call { .. }, pos, .. })) =
                    (span, &mut block)
                    && pos.line != 0
                    && function_name_follows(*pos)
                {
                    *pos = seal(self.position(span));
                }
                continue;
            }
            if code.starts_with("bb") && code.ends_with(": {") {
                let number = code[2..].split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
                if number.parse() != Ok(function.blocks.len()) {
                    return Err(odd("block", code));
                }
                block = Some(Block { cleanup: code.contains("(cleanup)"), ..Block::default() });
            } else if code == "}" {
                function.blocks.extend(block.take().map(|b| Block { pos: unseal(b.pos), ..b }));
            } else if let Some(block) = &mut block {
                let code = code.strip_suffix(';').ok_or_else(|| odd("statement", code))?;
                match self.terminator(code)? {
                    Some(end) => {
                        block.pos = pos;
                        block.end = end;
                    }
                    None => block.statements.push((self.statement(code)?, pos)),
                }
            } else if let Some(declaration) = code.strip_prefix("let ") {
                self.declaration(declaration, function)?;
            } else if let Some(debug) = code.strip_prefix("debug ") {
                if let Some((name, value)) = debug.trim_end_matches(';').split_once(" => ")
                    && let Ok(place) = self.place(value)
                {
                    function.names.push((name.to_owned(), place));
                }
            } else if !code.starts_with("scope ") && !code.starts_with("coverage ") {
                return Err(odd("line", code));
            }
        }
        Ok(())
    }

    /// `mut _3: T;`.
    fn declaration(&mut self, text: &str, function: &mut Function) -> Parsed<()> {
        let text = text.strip_prefix("mut ").unwrap_or(text).trim_end_matches(';');
        let (local, ty) = text.split_once(": ").ok_or_else(|| odd("declaration", text))?;
        let number = local_number(local).filter(|n| *n < 1 << 20).ok_or_else(|| odd("local", text))?;
        while function.locals.len() <= number {
            function.locals.push(Ty::unknown());
        }
        function.locals[number] = self.ty(ty);
        Ok(())
    }

    /// Code and position of a line.
    fn comment<'t>(&mut self, line: &'t str) -> (&'t str, Pos) {
        let trimmed = line.trim();
        if trimmed.starts_with("//") {
            return ("", Pos::default());
        }
        let marks = ["// scope ", "// in scope ", "// return place in scope "];
        let Some(at) = marks.iter().filter_map(|m| trimmed.rfind(m)).min() else {
            return (trimmed, Pos::default());
        };
        let pos = trimmed[at..].split_once(" at ").map(|(_, span)| self.position(span)).unwrap_or_default();
        (trimmed[..at].trim_end(), pos)
    }

    /// `src/lib.rs:4:9: 4:20`, of which the beginning counts.
    fn position(&mut self, span: &str) -> Pos {
        let begin = span.rsplit_once(": ").map_or(span, |(begin, _)| begin);
        let mut parts = begin.rsplitn(3, ':');
        let mut number = || parts.next().and_then(|p| p.trim().parse().ok());
        let (Some(column), Some(line)) = (number(), number()) else { return Pos::default() };
        let file = parts.next().unwrap_or_default();
        let next = self.mir.files.len() as u32;
        let file = *self.files.entry(file.to_owned()).or_insert_with(|| {
            self.mir.files.push(file.to_owned());
            next
        });
        Pos { file, line, column }
    }

    fn ty(&mut self, text: &str) -> Arc<Ty> {
        let text = text.trim();
        match self.types.get(text) {
            Some(ty) => ty.clone(),
            None => {
                let ty = Ty::parse(text);
                self.types.insert(text.to_owned(), ty.clone());
                ty
            }
        }
    }

    fn terminator(&mut self, code: &str) -> Parsed<Option<Terminator>> {
        let stop = ["return", "resume", "unreachable", "abort", "coroutine_drop"];
        if code == "return" {
            return Ok(Some(Terminator::Return));
        }
        if stop.contains(&code) || code.starts_with("terminate(") {
            return Ok(Some(Terminator::Stop));
        }
        // The arrow is the last one outside of brackets.
        let arrow = top_level(code)
            .filter(|(at, c)| *c == '-' && code[*at..].starts_with("-> "))
            .map(|(at, _)| at)
            .last();
        let Some(arrow) = arrow else { return Ok(None) };
        let (head, tail) = (code[..arrow].trim_end(), &code[arrow + 3..]);
        let is_end = tail.starts_with('[') || tail.starts_with("bb") || tail.starts_with("unwind");
        if !is_end {
            return Ok(None);
        }
        let targets = block_numbers(tail);
        let inside = |name: &str| head.strip_prefix(name).and_then(|h| h.strip_suffix(')'));
        if head == "goto" || head.starts_with("falseEdge") || head.starts_with("falseUnwind") {
            return Ok(Some(Terminator::Jump { operands: vec![], values: vec![], targets }));
        }
        if let Some(operand) = inside("switchInt(") {
            let operands = vec![self.operand(operand)?];
            return Ok(Some(Terminator::Jump { operands, values: switch_values(tail), targets }));
        }
        if let Some(parts) = inside("assert(") {
            let operands = split(parts, ',').into_iter();
            let operands = operands.filter_map(|o| self.operand(o.trim_start_matches('!')).ok()).collect();
            return Ok(Some(Terminator::Jump { operands, values: vec![], targets }));
        }
        if let Some(place) = inside("drop(") {
            return Ok(Some(Terminator::Drop { place: self.place(place)?, targets }));
        }
        let Some((dest, call)) = head.split_once(" = ") else {
            // Inline assembly and what is to come: control flow is known, effects are not.
            return Ok(Some(Terminator::Jump { operands: vec![], values: vec![], targets }));
        };
        let dest = self.place(dest)?;
        let open = top_level(call).filter(|(_, c)| *c == '(').map(|(at, _)| at).last();
        let open = open.filter(|_| call.ends_with(')')).ok_or_else(|| odd("call", call))?;
        let callee = call[..open].trim();
        let pointer = callee.starts_with("move ") || callee.starts_with("copy ");
        let callee =
            if pointer { Callee::Pointer(self.operand(callee)?) } else { Callee::Path(callee.to_owned()) };
        let args = split(&call[open + 1..call.len() - 1], ',');
        let args = args.into_iter().map(|a| self.operand(a)).collect::<Parsed<_>>()?;
        let returns = tail.starts_with("[return: ") || tail.starts_with("bb");
        Ok(Some(Terminator::Call { dest, callee, args, targets, returns }))
    }

    fn statement(&mut self, code: &str) -> Parsed<Statement> {
        if let Some(local) = code.strip_prefix("StorageDead(").and_then(|c| c.strip_suffix(')')) {
            return Ok(Statement::Dead(local_number(local).ok_or_else(|| odd("local", code))?));
        }
        let ignored = [
            "StorageLive(",
            "nop",
            "Retag(",
            "FakeRead(",
            "PlaceMention(",
            "AscribeUserType(",
            "ConstEvalCounter",
        ];
        let ignored =
            ignored.iter().chain(&["Coverage", "assume(", "BackwardIncompatibleDropHint(", "Deinit("]);
        if ignored.into_iter().any(|i| code.starts_with(i)) {
            return Ok(Statement::Nothing);
        }
        if let Some(parts) = code.strip_prefix("copy_nonoverlapping(").and_then(|c| c.strip_suffix(')')) {
            let operands = split(parts, ',').into_iter().filter_map(|o| o.split_once(" = "));
            let operands = operands.filter_map(|(_, o)| self.operand(o).ok()).collect();
            return Ok(Statement::Assign(Place::local(0), Rvalue::Compute(Operator::Other, operands)));
        }
        let (dest, value) = code.split_once(" = ").ok_or_else(|| odd("statement", code))?;
        if let Some(place) = dest.strip_prefix("discriminant(").and_then(|c| c.strip_suffix(')')) {
            return Ok(Statement::SetDiscriminant(self.place(place)?));
        }
        Ok(Statement::Assign(self.place(dest)?, self.rvalue(value)?))
    }

    fn rvalue(&mut self, text: &str) -> Parsed<Rvalue> {
        if let Some(name) = text.strip_prefix("&/*tls*/ ") {
            return Ok(Rvalue::ThreadLocal(name.trim_start_matches("mut ").to_owned()));
        }
        if let Some(place) = text.strip_prefix('&') {
            let kinds = [
                ("raw const ", false),
                ("raw mut ", true),
                ("mut ", true),
                ("fake shallow ", false),
                ("fake ", false),
            ];
            let place = place.replacen("(fake) ", "", 1);
            let place = place.as_str();
            let kind = kinds.iter().find_map(|(kind, mutable)| Some((place.strip_prefix(kind)?, *mutable)));
            let (place, mutable) = kind.unwrap_or((place, false));
            return Ok(Rvalue::Address { place: self.place(place)?, mutable });
        }
        if let Some(place) = text.strip_prefix("deref_copy ") {
            return Ok(Rvalue::Use(Operand::Place(self.place(place)?)));
        }
        if ["copy ", "move ", "const "].iter().any(|k| text.starts_with(k)) {
            let cast = text.strip_suffix(')').and_then(|t| {
                let at =
                    top_level(t).filter(|(at, _)| t[*at..].starts_with(" as ")).map(|(at, _)| at).last()?;
                t[at..].contains(" (").then_some(&t[..at])
            });
            return Ok(match cast {
                Some(operand) => Rvalue::Cast(self.operand(operand)?),
                None => Rvalue::Use(self.operand(text)?),
            });
        }
        if let Some((function, _)) =
            text.split_once(" as ").filter(|(_, t)| t.contains("(PointerCoercion(ReifyFnPointer"))
        {
            return Ok(Rvalue::Cast(Operand::Const(function.to_owned())));
        }
        let body = |open: char, close: char| {
            let start = top_level(text).filter(|(_, c)| *c == open).map(|(at, _)| at).last()?;
            text.strip_suffix(close).and_then(|t| t.get(start + 1..)).map(|body| (text[..start].trim(), body))
        };
        if let Some(elements) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            let elements = split(split(elements, ';').first().unwrap_or(&""), ',');
            let fields = elements.into_iter().map(|o| Ok((None, self.operand(o)?))).collect::<Parsed<_>>()?;
            return Ok(Rvalue::Aggregate { head: String::new(), array: true, fields });
        }
        if text.ends_with('}')
            && let Some((head, body)) = body('{', '}')
            && !head.is_empty()
        {
            let fields = split(body, ',').into_iter().map(|field| {
                let (name, operand) = field.split_once(": ").ok_or_else(|| odd("field", field))?;
                Ok((Some(name.to_owned()), self.operand(operand)?))
            });
            return Ok(Rvalue::Aggregate {
                head: head.to_owned(),
                array: false,
                fields: fields.collect::<Parsed<_>>()?,
            });
        }
        if text.ends_with(')')
            && let Some((head, body)) = body('(', ')')
        {
            if ["discriminant", "Len"].contains(&head) {
                return Ok(Rvalue::Inspect(self.place(body)?));
            }
            let operands = split(body, ',').into_iter().map(|o| self.operand(o)).collect::<Parsed<Vec<_>>>();
            let computes = head.chars().all(char::is_alphanumeric) && !head.is_empty();
            return Ok(match operands {
                Ok(operands) if computes && OPERATORS.contains(&head) => {
                    Rvalue::Compute(operator(head), operands)
                }
                Ok(operands) => {
                    let fields = operands.into_iter().map(|o| (None, o)).collect();
                    Rvalue::Aggregate { head: head.to_owned(), array: false, fields }
                }
                // `SizeOf(T)` and the like have no operands.
                Err(_) if computes => Rvalue::Compute(Operator::Other, vec![]),
                Err(why) => return Err(why),
            });
        }
        // A struct or variant without fields, a closure that captures nothing.
        let unit = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '<' || c == '{');
        if unit {
            return Ok(Rvalue::Aggregate { head: text.to_owned(), array: false, fields: vec![] });
        }
        Err(odd("value", text))
    }

    fn operand(&mut self, text: &str) -> Parsed<Operand> {
        let text = text.trim();
        if let Some(constant) = text.strip_prefix("const ") {
            return Ok(Operand::Const(constant.to_owned()));
        }
        let place = text.strip_prefix("copy ").or_else(|| text.strip_prefix("move "));
        match place {
            Some(place) => Ok(Operand::Place(self.place(place)?)),
            // A function by its path; a question that only the code generator answers.
            None if text.starts_with(|c: char| c.is_alphabetic() || c == '<' || c == '{') => {
                Ok(Operand::Const(text.to_owned()))
            }
            None => Err(odd("operand", text)),
        }
    }

    fn place(&mut self, text: &str) -> Parsed<Place> {
        let (place, rest) = self.place_prefix(text.trim(), 0)?;
        if rest.is_empty() { Ok(place) } else { Err(odd("place", text)) }
    }

    /// A place at the beginning of a text, and what follows it.
    fn place_prefix<'t>(&mut self, text: &'t str, depth: usize) -> Parsed<(Place, &'t str)> {
        if depth > 64 {
            return Err("a place is nested too deeply".to_owned());
        }
        let (mut place, mut rest) = if let Some(inner) = text.strip_prefix("(*") {
            let (mut place, rest) = self.place_prefix(inner, depth + 1)?;
            place.steps.push(Step::Deref);
            (place, rest.strip_prefix(')').ok_or_else(|| odd("place", text))?)
        } else if let Some(inner) = text.strip_prefix('(') {
            let (mut place, rest) = self.place_prefix(inner, depth + 1)?;
            let end = closing(rest).ok_or_else(|| odd("place", text))?;
            let (step, rest) = (&rest[..end], &rest[end + 1..]);
            if let Some(field) = step.strip_prefix('.') {
                let (number, ty) = field.split_once(": ").ok_or_else(|| odd("field", text))?;
                let number = number.parse().map_err(|_| odd("field", text))?;
                place.steps.push(Step::Field(number, self.ty(ty)));
            } else if let Some(variant) = step.strip_prefix(" as ") {
                if !variant.starts_with("subtype ") {
                    place.steps.push(Step::Variant(variant.to_owned()));
                }
            } else {
                return Err(odd("place", text));
            }
            (place, rest)
        } else {
            let digits = text.strip_prefix('_').unwrap_or_default();
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let local = digits[..end].parse().map_err(|_| odd("place", text))?;
            (Place::local(local), &digits[end..])
        };
        while let Some(index) = rest.strip_prefix('[') {
            let end = index.find(']').ok_or_else(|| odd("index", text))?;
            place.steps.push(Step::Index);
            rest = &index[end + 1..];
        }
        Ok((place, rest))
    }
}

/// Names of operations on values that look like the construction of a tuple struct.
const OPERATORS: &[&str] = &[
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Rem",
    "BitXor",
    "BitAnd",
    "BitOr",
    "Shl",
    "Shr",
    "Eq",
    "Lt",
    "Le",
    "Ne",
    "Ge",
    "Gt",
    "Cmp",
    "Offset",
    "AddUnchecked",
    "SubUnchecked",
    "MulUnchecked",
    "ShlUnchecked",
    "ShrUnchecked",
    "AddWithOverflow",
    "SubWithOverflow",
    "MulWithOverflow",
    "Not",
    "Neg",
    "PtrMetadata",
    "ShallowInitBox",
    "SizeOf",
    "AlignOf",
    "OffsetOf",
];

fn operator(name: &str) -> Operator {
    match name {
        "Eq" => Operator::Eq,
        "Ne" => Operator::Ne,
        "Lt" => Operator::Lt,
        "Le" => Operator::Le,
        "Gt" => Operator::Gt,
        "Ge" => Operator::Ge,
        "Not" => Operator::Not,
        _ => Operator::Other,
    }
}

/// The values in `[0: bb1, 7: bb2, otherwise: bb3]`. They are written without a sign, so a large one may mean a negative one.
fn switch_values(tail: &str) -> Vec<Option<i64>> {
    let cases = tail.trim_matches(['[', ']']).split(", ");
    let values = cases.filter_map(|case| case.split_once(": ")).map(|(value, _)| value);
    values.take_while(|v| *v != "otherwise").map(|v| v.parse().ok().filter(|v| *v < 128)).collect()
}

/// The column that marks a position as final: a real column is never that large.
const SEALED: u32 = 1 << 31;

fn seal(pos: Pos) -> Pos {
    Pos { column: pos.column | SEALED, ..pos }
}

fn unseal(pos: Pos) -> Pos {
    Pos { column: pos.column & !SEALED, ..pos }
}

fn function_name_follows(pos: Pos) -> bool {
    pos.column & SEALED == 0
}

fn odd(what: &str, text: &str) -> String {
    let shown: String = text.chars().take(120).collect();
    format!("{what} not understood: {shown}")
}

fn check_targets(function: &Function) -> Parsed<()> {
    let blocks = function.blocks.len();
    if blocks == 0 {
        return Err("no blocks".to_owned());
    }
    match function.blocks.iter().flat_map(|b| b.end.targets()).find(|t| **t >= blocks) {
        Some(t) => Err(format!("there is no block {t}")),
        None => Ok(()),
    }
}
