//! A user's kernel as a TOML file.
//!
//! ```toml
//! ptx = "saxpy.ptx"         # relative to this file
//! entry = "saxpy"           # may be left out if it is the only one
//! grid = 4096               # or [x, y] or [x, y, z]
//! block = 256
//! registers = 10            # or: ptxas = "saxpy.ptxas.txt"
//! shared = 0                # dynamic shared memory in bytes, 0 if left out
//! args = [1048576, "f32:2.0", "buf:f32:1048576:random", "buf:f32:1048576:zeros"]
//! ```

use super::argument::Argument;
use super::{Registers, UserError, UserKernel};
use crate::input::toml_text::{parse_error, point_at};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KernelFile {
    ptx: PathBuf,
    entry: Option<String>,
    grid: Spanned<Extent>,
    block: Spanned<Extent>,
    registers: Option<Spanned<u32>>,
    ptxas: Option<PathBuf>,
    #[serde(default)]
    shared: u32,
    #[serde(default)]
    args: Vec<Spanned<Word>>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected a whole number, or a list of up to three")]
enum Extent {
    One(u32),
    Several(Vec<u32>),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, or a word such as \"buf:f32:1024:random\"")]
enum Word {
    Text(String),
    Integer(i64),
    Float(f64),
}

pub(super) fn parse(path: &Path, text: &str) -> Result<UserKernel, UserError> {
    let name = path.display().to_string();
    let file: KernelFile = toml::from_str(text).map_err(|error| UserError(parse_error(&name, text, &error)))?;
    let fail = |span, message: &str| UserError(point_at(&name, text, Some(span), message));
    let axes = |extent: &Spanned<Extent>| {
        let list = match extent.get_ref().clone() {
            Extent::One(x) => vec![x],
            Extent::Several(list) => list,
        };
        axes(&list).ok_or_else(|| fail(extent.span(), "expected one to three numbers, each at least 1"))
    };
    let (grid, block) = (axes(&file.grid)?, axes(&file.block)?);
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let registers = match (file.registers, file.ptxas) {
        (Some(count), None) if *count.get_ref() > 0 => Registers::Count(count.into_inner()),
        (Some(count), None) => return Err(fail(count.span(), "a thread has at least 1 register")),
        (None, Some(report)) => Registers::Report(folder.join(report)),
        _ => {
            let message = "give either registers = N per thread, or ptxas = \"FILE\", what `nvcc -cubin -Xptxas -v` printed";
            return Err(UserError(format!("{name}: {message}")));
        }
    };
    let mut arguments = Vec::with_capacity(file.args.len());
    for word in file.args {
        let line = text[..word.span().start].matches('\n').count() + 1;
        let written = match word.get_ref() {
            Word::Text(text) => text.clone(),
            Word::Integer(number) => number.to_string(),
            Word::Float(number) => number.to_string(),
        };
        let argument = Argument::parse(&written).map_err(|message| fail(word.span(), &message))?;
        arguments.push((format!("{name}:{line}: argument {}", arguments.len() + 1), argument));
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (ptx, entry, shared_bytes) = (folder.join(file.ptx), file.entry, file.shared);
    Ok(UserKernel { name: stem, ptx, entry, grid, block, registers, shared_bytes, arguments, folder, origin: name })
}

/// One to three extents, each at least 1.
pub fn axes(list: &[u32]) -> Option<[u32; 3]> {
    let mut axes = [1; 3];
    axes.get_mut(..list.len()).filter(|axes| !axes.is_empty())?.copy_from_slice(list);
    (!axes.contains(&0)).then_some(axes)
}
