//! A compiler's command line, as far as it has to be understood to add something to it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Options whose value is the next argument.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-x",
    "-T",
    "-u",
    "-z",
    "-e",
    "-A",
    "-B",
    "-G",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-mllvm",
    "--param",
    "-arch",
    "-target",
    "-wrapper",
    "-dumpdir",
    "-dumpbase",
    "-dumpbase-ext",
    "-aux-info",
    "--sysroot",
];

/// Ends of the names of files that are linked as they are.
const LINKED: &[&str] = &["o", "a", "so", "lo", "obj", "ld", "res"];

/// Options after which nothing is linked.
const NO_LINK: &[&str] =
    &["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--precompile", "-emit-ast", "-analyze"];

/// What a command line asks for.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Flags {
    /// There is something to compile, preprocess, assemble or link; without it the compiler is only asked about itself.
    pub inputs: bool,
    /// Some of it is source.
    pub sources: bool,
    /// It makes an executable or a shared library.
    pub links: bool,
    /// Why it cannot be done, in one sentence.
    pub refused: Option<String>,
}

impl Flags {
    /// Reads a command line, with the contents of the response files that it names.
    pub fn of(args: &[OsString]) -> Flags {
        let mut expanded = Vec::new();
        expand(args, &mut expanded, 0);
        let mut flags = Flags { links: true, ..Flags::default() };
        let (mut language, mut lto, mut only_inputs) = (false, false, false);
        let mut args = expanded.iter().map(|arg| arg.as_os_str());
        while let Some(arg) = args.next() {
            let text = arg.to_str().unwrap_or_default();
            if only_inputs || !arg.as_bytes().starts_with(b"-") || text == "-" {
                flags.inputs = true;
                flags.sources |= language || !is_linked(arg);
                continue;
            }
            match text {
                "--" => only_inputs = true,
                "-x" => language = args.next().is_some_and(|value| value != "none"),
                "-r" => flags.links = false,
                _ if WITH_VALUE.contains(&text) => drop(args.next()),
                _ if NO_LINK.contains(&text) => flags.links = false,
                _ if text.starts_with("-flto") => lto = true,
                "-fno-lto" => lto = false,
                _ if text.starts_with("-x") => language = text != "-xnone",
                _ if flags.refused.is_none() => flags.refused = refusal(text),
                _ => {}
            }
        }
        if lto && flags.refused.is_none() {
            flags.refused = Some(
                "-flto would put code together after the hooks are in it; add -fno-lto, or leave -flto out"
                    .into(),
            );
        }
        flags
    }
}

/// Why an option cannot be had.
fn refusal(option: &str) -> Option<String> {
    let sanitizers = option.strip_prefix("-fsanitize=").unwrap_or_default();
    let other = sanitizers.split(',').find(|name| {
        ["address", "memory", "leak", "hwaddress", "kernel-address", "dataflow", "fuzzer"].contains(name)
    });
    let why = match option {
        "-static" | "-static-pie" | "--static" => {
            "the runtime stands in for libc, which needs a program that is linked dynamically"
        }
        "-m32" | "-mx32" | "-m16" => "the runtime is there for 64-bit programs of x86_64 only",
        _ => {
            return other.map(|name| {
                format!("{option}: the {name} sanitizer has a runtime of its own; build without it")
            });
        }
    };
    Some(format!("{option}: {why}; build without it"))
}

/// Whether a file goes to the linker as it is.
fn is_linked(file: &OsStr) -> bool {
    let path = Path::new(file);
    let end = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    // libqueue.so.1.2
    LINKED.contains(&end) || path.file_name().is_some_and(|name| name.to_string_lossy().contains(".so."))
}

/// Replaces `@file` by the arguments in the file, as the compilers do; one that cannot be read is an ordinary argument.
fn expand(args: &[OsString], into: &mut Vec<OsString>, depth: usize) {
    const DEEPEST: usize = 16;
    for arg in args {
        let file = arg.as_bytes().strip_prefix(b"@").filter(|_| depth < DEEPEST);
        match file.and_then(|file| std::fs::read(OsStr::from_bytes(file)).ok()) {
            Some(text) => expand(&words(&text), into, depth + 1),
            None => into.push(arg.clone()),
        }
    }
}

/// The words of a response file: white space parts them, quotes and backslashes keep it.
fn words(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => word.get_or_insert_default().extend(bytes.next()),
            b'\'' | b'"' if quote == Some(byte) => quote = None,
            b'\'' | b'"' if quote.is_none() => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            byte if byte.is_ascii_whitespace() && quote.is_none() => words.extend(word.take()),
            byte => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.iter().map(|word| OsStr::from_bytes(word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Flags {
        Flags::of(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn objects_are_linked_and_sources_compiled_first() {
        let flags = of("-o prog main.o libq.a -lm");
        assert!(flags.inputs && flags.links && !flags.sources);
        let flags = of("-O2 main.c -o prog");
        assert!(flags.inputs && flags.links && flags.sources);
        assert!(!of("main.o ./libq.so.1.2").sources);
    }

    #[test]
    fn the_value_of_an_option_is_no_input() {
        for line in ["-o out.c", "-I include", "-MF deps.d", "-Xlinker a.c"] {
            assert!(!of(line).inputs, "{line}");
        }
        assert!(!of("-print-file-name=libc.a").inputs && !of("--version").inputs);
    }

    #[test]
    fn what_only_compiles_or_preprocesses_does_not_link() {
        for line in ["-c a.c", "-E a.c", "-M a.c", "-S a.c", "-r a.o b.o", "-fsyntax-only a.c"] {
            assert!(!of(line).links, "{line}");
        }
    }

    #[test]
    fn standard_input_in_a_language_is_source() {
        let flags = of("-x c - -o conftest");
        assert!(flags.sources && flags.links);
        assert!(of("-xc++ -").sources);
        assert!(!of("-x none a.o").sources);
    }

    #[test]
    fn what_cannot_be_done_is_refused_in_one_sentence() {
        for line in ["-static a.c", "-m32 -c a.c", "-flto=auto -c a.c", "-fsanitize=undefined,address a.c"] {
            let refused = of(line).refused;
            assert!(
                refused.as_ref().is_some_and(|why| why.starts_with('-') && !why.contains(". ")),
                "{refused:?}"
            );
        }
        assert_eq!(of("-flto -fno-lto a.c").refused, None);
        assert_eq!(of("-fsanitize=thread,undefined a.c").refused, None);
    }

    #[test]
    fn response_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("args");
        std::fs::write(&file, "-DX='a b'  \"-I my dir\"\n-c\\ \nmain.c -static").unwrap();
        assert_eq!(words(b"-DX='a b'  \"c d\"\ne\\ f"), ["-DX=a b", "c d", "e f"]);
        let mut at = OsString::from("@");
        at.push(&file);
        let flags = Flags::of(&[at]);
        assert!(flags.sources && flags.refused.is_some());
        assert!(of("@/nowhere").inputs);
    }
}
