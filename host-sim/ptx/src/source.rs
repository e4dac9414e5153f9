//! Source lines of instructions, from `.file` and `.loc` directives of `nvcc -lineinfo` (PTX ISA
//! 7.8 section 11.5).
//!
//! A `.loc` applies to the following instructions, up to the next one or the end of the function.
//! Only the positions of the directives are stored, so instructions do not grow.

use super::error::Position;
use std::collections::{BTreeMap, BTreeSet};

/// A line of a numbered source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceLine {
    /// Number of the file.
    pub file: u32,
    /// Line number, from 1.
    pub line: u32,
}

/// Content of a `.loc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    line: SourceLine,
    /// Line at which the function with this line was inlined.
    inlined: Option<SourceLine>,
}

/// Source lines of a module's instructions; empty without `-lineinfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceMap {
    files: BTreeMap<u32, String>,
    /// Directives in ascending order; `None` starts text without a known line.
    marks: Vec<(Position, Option<Mark>)>,
}

impl SourceMap {
    /// Defines the name of a file's number.
    pub(super) fn file(&mut self, number: u32, name: &str) {
        self.files.insert(number, name.to_owned());
    }

    /// Sets the source line of the following PTX. Line 0 belongs to no source.
    pub(super) fn mark(&mut self, at: Position, line: SourceLine, inlined: Option<SourceLine>) {
        self.push(at, (line.line > 0).then_some(Mark { line, inlined }));
    }

    /// Marks the following PTX as unknown, since a function begins.
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

    /// Returns the source line of a position in the PTX.
    pub fn line(&self, at: Position) -> Option<SourceLine> {
        self.find(at).map(|mark| mark.line)
    }

    /// Returns the name of a line in messages: `saxpy.cu:5`.
    fn name(&self, line: SourceLine) -> String {
        match self.files.get(&line.file) {
            Some(name) => format!("{name}:{}", line.line),
            None => format!("file {}:{}", line.file, line.line),
        }
    }

    /// Returns a note for a position in the PTX, such as ` (saxpy.cu:5)`, or an empty string.
    pub(super) fn note(&self, at: Position) -> String {
        match self.find(at) {
            None => String::new(),
            Some(Mark { line, inlined: None }) => format!(" ({})", self.name(line)),
            Some(Mark { line, inlined: Some(call) }) => format!(" ({}, inlined at {})", self.name(line), self.name(call)),
        }
    }

    /// Returns a note for several lines, file by file, such as ` (saxpy.cu:5 to 9)`, or an empty
    /// string.
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

    /// Returns the note for PTX line 6 + `line`.
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
