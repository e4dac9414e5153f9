//! PTX text of a kernel, with advice for files that contain CUDA source or machine code instead.

use super::place::DescriptionError;
use crate::input::file;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Maximum length of PTX text in bytes. Assumption: nvcc's PTX of a large file has a few megabytes.
const MOST_BYTES: u64 = 64 << 20;

/// Options of nvcc for PTX, except the architecture.
pub(super) const NVCC_OPTIONS: &str = "-O3";

/// Recommended architecture: Turing, the architecture of built-in GPUs.
pub const ARCHITECTURE: &str = "sm_75";

/// Source of PTX text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ptx {
    /// A file.
    File(PathBuf),
    /// Text in memory: its name in messages, and the text.
    Text(String, String),
}

impl Ptx {
    /// Returns the name in messages and the text.
    ///
    /// # Errors
    /// [`DescriptionError`] for a file that is unreadable or not PTX.
    pub(super) fn read(&self) -> Result<(Cow<'_, str>, Cow<'_, str>), DescriptionError> {
        match self {
            Ptx::Text(name, text) => Ok((name.into(), text.into())),
            Ptx::File(path) => {
                if let Some(advice) = advice(path) {
                    return Err(DescriptionError(advice));
                }
                Ok((path.display().to_string().into(), text(path, "PTX file")?.into()))
            }
        }
    }
}

/// Reads a text file that a description names.
pub(super) fn text(path: &Path, what: &str) -> Result<String, DescriptionError> {
    let fail = |message: String| DescriptionError(format!("cannot read the {what} {}: {message}", path.display()));
    let bytes = file::beginning(path, MOST_BYTES).map_err(fail)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(fail(format!("it has more than {MOST_BYTES} bytes: wrong file format")));
    }
    String::from_utf8(bytes).map_err(|_| fail("it is not text".into()))
}

/// Returns whether the extension of the path is that of CUDA source.
pub fn is_cuda_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("cu"))
}

/// Returns the command that converts a file to PTX; `None` if the file may be PTX. CUDA sources and
/// cubins are also recognized by their extensions if the files do not exist.
pub fn advice(path: &Path) -> Option<String> {
    let shown = path.display();
    let nvcc = |source: &str| format!("`nvcc -ptx -arch={ARCHITECTURE} {NVCC_OPTIONS} {source}`");
    if is_cuda_source(path) {
        let nvcc = nvcc(&shown.to_string());
        return Some(format!("{shown} is CUDA source, expected PTX: compile it with {nvcc}, or pass --nvcc to `mias run`"));
    }
    let source = nvcc("FILE.cu");
    match kind(&file::beginning(path, HEAD).unwrap_or_default(), path)? {
        Kind::Cubin => Some(format!("{shown} is GPU machine code, expected PTX: compile the source with {source}")),
        Kind::Holder => Some(format!(
            "{shown} is a program, library or object file, expected PTX: extract it with `cuobjdump -xptx all {shown}`, or \
             compile the source with {source}"
        )),
    }
}

/// Number of leading bytes that identify a file.
const HEAD: u64 = 64;

/// Kind of file with machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Machine code of a GPU only.
    Cubin,
    /// Container that may also include PTX.
    Holder,
}

/// Returns the kind of a file by its first bytes: ELF (System V ABI, chapter 4; machine 190 is
/// CUDA), an archive (ar(5)), a fat binary (header in `fatbinary_section.h` of the CUDA toolkit),
/// or a program of Windows or macOS (`MZ`; `Mach-O`, `mach-o/loader.h`).
fn kind(head: &[u8], path: &Path) -> Option<Kind> {
    const CUDA_MACHINE: [u8; 2] = 190u16.to_le_bytes();
    const FAT_BINARY: [u8; 4] = 0xba55_ed50u32.to_le_bytes();
    const MACH_O: [u8; 4] = 0xfeed_facfu32.to_le_bytes();
    if head.starts_with(b"\x7fELF") {
        return Some(if head.get(18..20) == Some(&CUDA_MACHINE) { Kind::Cubin } else { Kind::Holder });
    }
    let holds = [&FAT_BINARY[..], b"!<arch>\n", b"MZ", &MACH_O];
    if holds.iter().any(|magic| head.starts_with(magic)) {
        return Some(Kind::Holder);
    }
    let cubin = head.is_empty() && path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("cubin"));
    cubin.then_some(Kind::Cubin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_ptx_is_told_by_its_bytes() {
        let elf = |gpu: u16| [&b"\x7fELF\x02\x01\x01"[..], &[0; 11], &gpu.to_le_bytes(), &[0; 44]].concat();
        for (bytes, expected) in [
            (&b".version 7.8\n"[..], None),
            (b"// a comment", None),
            (b"", None),
            (&elf(190), Some(Kind::Cubin)),
            (&elf(62), Some(Kind::Holder)),
            (b"\x7fELF", Some(Kind::Holder)),
            (b"\x50\xed\x55\xba\x01\x00", Some(Kind::Holder)),
            (b"!<arch>\nx.o/", Some(Kind::Holder)),
            (b"MZ\x90", Some(Kind::Holder)),
        ] {
            assert_eq!(kind(bytes, Path::new("x.bin")), expected, "{bytes:?}");
        }
        assert_eq!(kind(b"", Path::new("no/x.cubin")), Some(Kind::Cubin));
    }

    #[test]
    fn the_remedy_is_a_command() {
        let source = advice(Path::new("a/saxpy.cu")).unwrap();
        assert!(source.starts_with("a/saxpy.cu is CUDA source, ") && source.contains("`nvcc -ptx -arch=sm_75 -O3 a/saxpy.cu`"), "{source}");
        assert_eq!(advice(Path::new("no.ptx")), None);
    }

    #[test]
    fn texts_are_files_of_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.ptx");
        std::fs::write(&path, b"\xff\xfe").unwrap();
        let message = |path: &Path| text(path, "PTX file").unwrap_err().to_string();
        assert!(message(&path).ends_with("x.ptx: it is not text"));
        assert!(message(folder.path()).ends_with("is a directory"));
    }
}
