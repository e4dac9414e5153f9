//! Buffers in device memory: element type, size, and initial contents.

use super::element::Element;
use super::expression::Scope;
use super::fill::{Fill, Giver, Made, Rule};
use super::place::{Formula, Place};
use crate::input::file;
use crate::random::Random;
use bytesize::ByteSize;
use mias_ptx::{Buffer, DeviceMemory};
use std::collections::TryReserveError;
use std::io::Read;
use std::path::Path;

/// Maximum size of a buffer in bytes. Assumption: the spare memory of a user's computer; the
/// largest sizes of the built-in kernels take as much.
pub(super) const MOST_BYTES: u64 = 1 << 32;

/// A named buffer of a kernel file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedBuffer {
    /// Name of the buffer.
    pub(super) name: String,
    /// Element type.
    pub(super) element: Element,
    /// Number of elements; `None` takes the number from the filling data.
    pub(super) count: Option<Formula>,
    /// Filling rules, applied element by element in rotation.
    pub(super) fills: Vec<Fill>,
    /// Border elements around the buffer.
    pub(super) border: Border,
    /// Location of the description.
    pub(super) place: Place,
}

/// Elements before and after a buffer that kernels may also access.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Border {
    /// Number of elements before the buffer; `None` is 0.
    pub(super) before: Option<Formula>,
    /// Number of elements after the buffer; `None` is 0.
    pub(super) after: Option<Formula>,
    /// Filling rules, applied element by element in rotation.
    pub(super) fills: Vec<Fill>,
}

impl Border {
    /// Returns whether there is no border.
    pub(super) fn is_none(&self) -> bool {
        self.before.is_none() && self.after.is_none()
    }
}

/// Name, element type, number of elements and address of a named buffer.
pub(super) type Known<'a> = (&'a str, Element, u64, u64);

/// Data sources for buffers other than rules.
pub(super) struct Sources<'a> {
    /// Names in expressions.
    pub(super) scope: &'a Scope,
    /// Folder of relative file paths; `None` if there is none.
    pub(super) folder: Option<&'a Path>,
    /// Words of a graph, a picture or a reference.
    pub(super) words: &'a Words<'a>,
}

/// Lookup of the words of one part of a graph, picture or reference.
pub(super) type Words<'a> = dyn Fn(Giver, &str) -> Result<Vec<u32>, String> + 'a;

impl Sources<'_> {
    /// Allocates a buffer of `count` elements and fills it; random values are drawn from `random`,
    /// in order.
    ///
    /// # Errors
    /// The cause of a mismatch.
    pub(super) fn allocate(
        &self,
        memory: &mut DeviceMemory,
        element: Element,
        count: Option<u64>,
        fills: &[Fill],
        random: &mut Random,
    ) -> Result<(Buffer, u64), String> {
        let width = u64::from(element.bytes());
        match (fills, count) {
            ([Fill::Given(giver, part)], _) => {
                let words = (self.words)(*giver, part)?;
                let found = words.len() as u64;
                match (width, count) {
                    (4, count) if count.is_none_or(|count| count == found) => {
                        let buffer = memory.try_allocate(words.len(), words).map_err(|_| no_memory(4 * found))?;
                        Ok((buffer, found))
                    }
                    (4, Some(count)) => Err(format!("{count} elements, but `{part}` has {found}; leave `count` out")),
                    _ => Err(format!("elements of `{part}` have 4 bytes, those of {element} have {width}")),
                }
            }
            (_, None) => Err("missing number of elements; set `count`".into()),
            (_, Some(count)) if count.checked_mul(width).is_none_or(|bytes| bytes > MOST_BYTES) => {
                Err(format!("a buffer has at most {MOST_BYTES} bytes"))
            }
            ([Fill::File(path)], Some(count)) => {
                let bytes = self.file(path, element, count)?;
                Ok((memory.try_allocate_bytes(&bytes).map_err(|_| no_memory(bytes.len() as u64))?, count))
            }
            (_, Some(count)) => {
                let rule = |fill: &Fill| match fill {
                    Fill::Made(made) => made.rule(element, self.scope),
                    _ => Err("a file, graph, picture or reference fills an entire buffer".into()),
                };
                let rules: Vec<Rule> = fills.iter().map(rule).collect::<Result<_, _>>()?;
                let buffer = made(memory, element, count, &rules, random).map_err(|_| no_memory(count * width))?;
                Ok((buffer, count))
            }
        }
    }

    /// Returns the bytes that [`Sources::allocate`] puts in memory, and the number of elements.
    ///
    /// # Errors
    /// The cause of a mismatch.
    pub(super) fn bytes(
        &self,
        element: Element,
        count: Option<u64>,
        fills: &[Fill],
        random: &mut Random,
    ) -> Result<(Vec<u8>, u64), String> {
        let mut scratch = DeviceMemory::new();
        let (buffer, count) = self.allocate(&mut scratch, element, count, fills, random)?;
        let size = count * u64::from(element.bytes());
        let mut bytes = Vec::new();
        // The words may extend beyond the last byte.
        bytes.try_reserve_exact(size.next_multiple_of(4) as usize).map_err(|_| no_memory(size))?;
        scratch.words(buffer).for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        bytes.truncate(size as usize);
        Ok((bytes, count))
    }

    /// Allocates a buffer with `before` and `after` border elements.
    ///
    /// # Errors
    /// The cause of a mismatch.
    pub(super) fn allocate_between(
        &self,
        memory: &mut DeviceMemory,
        (element, count, fills): (Element, Option<u64>, &[Fill]),
        ([before, after], border): ([u64; 2], &[Fill]),
        random: &mut Random,
    ) -> Result<(Buffer, u64), String> {
        let (before, _) = self.bytes(element, Some(before), border, random)?;
        let (bytes, count) = self.bytes(element, count, fills, random)?;
        let (after, _) = self.bytes(element, Some(after), border, random)?;
        let all = (before.len() + bytes.len() + after.len()) as u64;
        Ok((memory.allocate_between(&before, &bytes, &after).map_err(|_| no_memory(all))?, count))
    }

    fn file(&self, path: &Path, element: Element, count: u64) -> Result<Vec<u8>, String> {
        let folder = self.folder.ok_or("a built-in kernel has no files")?;
        let (path, size) = (folder.join(path), count * u64::from(element.bytes()));
        let fail = |message: String| format!("cannot read {}: {message}", path.display());
        let file = file::open(&path).map_err(fail)?;
        let length = file.metadata().map_err(|error| fail(error.to_string()))?.len();
        // The file may change its length, or have none. At most the required bytes are read.
        let mut data = Vec::new();
        data.try_reserve_exact(length.min(size) as usize).map_err(|_| no_memory(length))?;
        if length <= size {
            file.take(size.saturating_add(1)).read_to_end(&mut data).map_err(|error| fail(error.to_string()))?;
        }
        match length.max(data.len() as u64) {
            found if found == size && data.len() as u64 == size => Ok(data),
            found => Err(format!("{} has {found} bytes, {count} elements of {element} need {size}", path.display())),
        }
    }
}

/// Builds a buffer element by element, with the rules in rotation.
fn made(memory: &mut DeviceMemory, element: Element, count: u64, rules: &[Rule], random: &mut Random) -> Result<Buffer, TryReserveError> {
    let rules = rules.iter().cycle();
    let bits = (0..count).zip(rules).map(|(index, rule)| rule.bits(element, index, random));
    match element.bytes() {
        4 => memory.try_allocate(count as usize, bits.map(|bits| bits as u32)),
        8 => memory.try_allocate(2 * count as usize, bits.flat_map(|bits| [bits as u32, (bits >> 32) as u32])),
        width => {
            let width = usize::from(width);
            let mut data = Vec::new();
            data.try_reserve_exact(count as usize * width)?;
            bits.for_each(|bits| data.extend_from_slice(&bits.to_le_bytes()[..width]));
            memory.try_allocate_bytes(&data)
        }
    }
}

/// Formats the message for a buffer that exceeds the memory of the host or the limit of the
/// process.
fn no_memory(bytes: u64) -> String {
    let asked = ByteSize::b(bytes);
    format!("cannot allocate {asked} for it; use a smaller size, or raise the memory limit (`ulimit -v`)")
}

/// Returns the zero filling, the default for buffers.
pub(super) fn zeros() -> Vec<Fill> {
    vec![Fill::Made(Made::Same(0))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocated(name: &str, count: Option<u64>, words: &[&str], folder: &Path) -> Result<(Vec<u8>, u64), String> {
        let element = Element::parse(name).unwrap();
        let fills: Vec<Fill> = words.iter().map(|word| Fill::parse(element, word)).collect::<Result<_, _>>()?;
        let give = |_: Giver, part: &str| if part == "rows" { Ok(vec![7, 8]) } else { Err(format!("no {part}")) };
        let sources = Sources { scope: &Scope::default(), folder: Some(folder), words: &give };
        let mut memory = DeviceMemory::new();
        let (buffer, count) = sources.allocate(&mut memory, element, count, &fills, &mut Random::new(7))?;
        let bytes = memory.allocations().next().unwrap().1 as usize;
        Ok((memory.read(buffer.address, bytes).unwrap(), count))
    }

    fn filled(name: &str, count: u64, words: &[&str]) -> Vec<u8> {
        allocated(name, Some(count), words, Path::new("")).unwrap().0
    }

    #[test]
    fn buffers_hold_what_was_asked_for() {
        assert_eq!(filled("u16", 3, &["iota"]), [0, 0, 1, 0, 2, 0]);
        assert_eq!(filled("f32", 2, &["ones"]), [0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f]);
        assert_eq!(filled("u64", 2, &["iota"]), [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(filled("i8", 64, &["random"]), filled("i8", 64, &["random"]));
        assert_ne!(filled("i8", 64, &["random"])[..32], filled("i8", 64, &["random"])[32..]);
        assert!(filled("i8", 1000, &["random:-2:5"]).iter().all(|&byte| (-2..=5).contains(&(byte as i8))));
        assert_eq!(filled("u8", 5, &["zeros", "9"]), [0, 9, 0, 9, 0], "records, the last of them cut");
    }

    #[test]
    fn what_is_given_has_its_own_length() {
        assert_eq!(allocated("u32", None, &["graph:rows"], Path::new("")), Ok((vec![7, 0, 0, 0, 8, 0, 0, 0], 2)));
        assert_eq!(allocated("i32", Some(2), &["graph:rows"], Path::new("")).unwrap().1, 2);
        for (name, count, words, message) in [
            ("u32", Some(3), &["graph:rows"][..], "3 elements, but `rows` has 2; leave `count` out"),
            ("u8", None, &["graph:rows"], "elements of `rows` have 4 bytes, those of u8 have 1"),
            ("u32", None, &["graph:columns"], "no columns"),
            ("u32", None, &["zeros"], "missing number of elements; set `count`"),
            ("f64", Some(1 << 30), &["zeros"], "a buffer has at most 4294967296 bytes"),
            ("u32", Some(2), &["zeros", "graph:rows"], "a file, graph, picture or reference fills an entire buffer"),
        ] {
            assert_eq!(allocated(name, count, words, Path::new("")), Err(message.into()));
        }
    }

    #[test]
    fn a_file_must_have_the_size_of_its_buffer() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.bin"), [1, 2, 3, 4]).unwrap();
        let read = |count| allocated("u16", Some(count), &["file:x.bin"], folder.path());
        assert_eq!(read(2), Ok((vec![1, 2, 3, 4], 2)));
        assert!(read(3).unwrap_err().ends_with("x.bin has 4 bytes, 3 elements of u16 need 6"));
    }
}
