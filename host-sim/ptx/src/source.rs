//! Which line of the source an instruction is from: `.file` and `.loc`, which `nvcc -lineinfo` writes. PTX ISA 7.8 section 11.5.
//!
//! A `.loc` holds for the instructions behind it, up to the next or the end of the function. So the places of the directives are
//! kept, and no instruction is larger for it.

use super::error::Position;
use std::collections::{BTreeMap, BTreeSet};

/// A line of a source file, which has a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLine {
    /// The file's number.
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
}

/// What a `.loc` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    line: SourceLine,
    /// Where the function that holds the line was inlined.
    inlined: Option<SourceLine>,
}

/// Source lines of a module's instructions; empty without `-lineinfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceMap {
    files: BTreeMap<u32, String>,
    /// Ascending; none from where on nothing is known.
    marks: Vec<(Position, Option<Mark>)>,
}

impl SourceMap {
    /// Notes the name of a file's number.
    pub(super) fn file(&mut self, number: u32, name: &str) {
        self.files.insert(number, name.to_owned());
    }

    /// Notes that what follows in the PTX is of this line. A line 0 is of no source.
    pub(super) fn mark(&mut self, at: Position, line: SourceLine, inlined: Option<SourceLine>) {
        self.push(at, (line.line > 0).then_some(Mark { line, inlined }));
    }

    /// Notes that of what follows nothing is known: a function begins.
    pub(super) fn unknown(&mut self, at: Position) {
        self.push(at, None);
    }

    fn push(&mut self, at: Position, mark: Option<Mark>) {
        let last = self.marks.last().and_then(|(_, mark)| *mark);
        if last != mark {
            self.marks.push((at, mark));
        }
    }

    fn find(&self, at: Position) -> Option<Mark> {
        let behind = self.marks.partition_point(|(place, _)| *place <= at);
        self.marks.get(behind.checked_sub(1)?)?.1
    }

    /// The source line of what stands at a place in the PTX.
    pub fn line(&self, at: Position) -> Option<SourceLine> {
        self.find(at).map(|mark| mark.line)
    }

    /// A line as in messages: `saxpy.cu:5`.
    fn name(&self, line: SourceLine) -> String {
        match self.files.get(&line.file) {
            Some(name) => format!("{name}:{}", line.line),
            None => format!("file {}:{}", line.file, line.line),
        }
    }

    /// ` (saxpy.cu:5)` for a place in the PTX, or nothing.
    pub(super) fn note(&self, at: Position) -> String {
        match self.find(at) {
            None => String::new(),
            Some(Mark { line, inlined: None }) => format!(" ({})", self.name(line)),
            Some(Mark { line, inlined: Some(call) }) => format!(" ({}, inlined at {})", self.name(line), self.name(call)),
        }
    }

    /// ` (saxpy.cu:5 to 9)` for several lines, file by file, or nothing.
    pub(super) fn span(&self, lines: &BTreeSet<SourceLine>) -> String {
        let mut files: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for line in lines {
            let (first, last) = files.entry(line.file).or_insert((line.line, line.line));
            (*first, *last) = ((*first).min(line.line), (*last).max(line.line));
        }
        let shown = files.into_iter().map(|(file, (line, last))| {
            let first = self.name(SourceLine { file, line });
            if line == last { first } else { format!("{first} to {last}") }
        });
        let shown: Vec<String> = shown.collect();
        if shown.is_empty() { String::new() } else { format!(" ({})", shown.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser;

    fn map(body: &str) -> SourceMap {
        let text = format!(
            ".version 7.8\n.target sm_75\n.address_size 64\n.entry k()\n{{\n{body}\n}}\n.entry l()\n{{\nret;\n}}\n.file 1 \"a.cu\"\n.file 2 \"b.h\", 1650000000, 99\n"
        );
        parser::parse("k.ptx", &text).unwrap().source
    }

    /// What is noted of PTX line 6 + `line`.
    fn note(map: &SourceMap, line: u32) -> String {
        map.note(Position { line: 6 + line, column: 9 })
    }

    #[test]
    fn a_line_holds_up_to_the_next() {
        let map = map(
            "ret;\n.loc 1 7 3\nret;\nret;\n.loc 2 9 1, function_name $L__info_string0, inlined_at 1 12 5\nret;\n.loc 1 0 0\nret;\n.loc 3 4 0\nret;",
        );
        let notes: Vec<String> = [0, 2, 3, 5, 7, 9].map(|line| note(&map, line)).to_vec();
        assert_eq!(notes, ["", " (a.cu:7)", " (a.cu:7)", " (b.h:9, inlined at a.cu:12)", "", " (file 3:4)"]);
        assert_eq!(note(&map, 13), "", "another function");
    }

    #[test]
    fn several_lines_are_a_span() {
        let map = map(".loc 1 7 3\nret;");
        let lines = |list: &[(u32, u32)]| list.iter().map(|&(file, line)| SourceLine { file, line }).collect::<BTreeSet<_>>();
        assert_eq!(map.span(&lines(&[])), "");
        assert_eq!(map.span(&lines(&[(1, 7)])), " (a.cu:7)");
        assert_eq!(map.span(&lines(&[(1, 9), (1, 7), (2, 3)])), " (a.cu:7 to 9, b.h:3)");
    }
}
