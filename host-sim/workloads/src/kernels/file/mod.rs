//! Kernel files in TOML. docs/reference/kernel-file.md describes every key, and the package
//! `mias-kernels` has examples. The shortest is:
//!
//! ```toml
//! ptx = "saxpy.ptx"         # relative to this file
//! grid = 4096               # or [x, y] or [x, y, z]
//! block = 256
//! registers = 10            # or: ptxas = "saxpy.ptxas.txt"
//! args = [1048576, "f32:2.0", "buf:f32:1048576:random", "buf:f32:1048576:zeros"]
//! ```

mod form;
mod launch;
#[cfg(test)]
mod limits_tests;
#[cfg(test)]
mod memory_tests;
mod numbers;
mod reader;
mod schema;
mod spanned;
#[cfg(test)]
mod tests;
mod textures;
mod variables;

pub use schema::schema;

use super::code::{self, Ptx};
use super::given::{Generator, Takes};
use super::kernel::{Code, LaunchForm};
use super::place::{DescriptionError, Formula, Place};
use super::reference::{self, Reference};
use super::{Kernel, Registers};
use crate::input::suggest;
use form::{KernelForm, in_order};
use reader::Reader;
use spanned::Spanned;
use std::path::{Path, PathBuf};

/// Maximum step for picture sides (assumption: no kernel uses larger blocks of pixels).
const LARGEST_STEP: u32 = 1024;

/// Origin of a kernel file.
#[derive(Clone, Copy)]
enum Origin<'a> {
    Path(&'a Path),
    BuiltIn(&'static mias_kernels::Kernel),
}

/// Reads the kernel file at `path`.
///
/// # Errors
/// [`DescriptionError`] with file and line.
pub fn read(path: &Path) -> Result<Kernel, DescriptionError> {
    parse(&path.display().to_string(), &code::text(path, "kernel file")?, Origin::Path(path))
}

/// Reads the file of a built-in kernel.
///
/// # Errors
/// [`DescriptionError`]; never for the existing files.
pub fn built_in(files: &'static mias_kernels::Kernel) -> Result<Kernel, DescriptionError> {
    parse(files.description_file, files.description, Origin::BuiltIn(files))
}

/// Parses the kernel in `text`; `file` is its name in messages.
fn parse(file: &str, text: &str, origin: Origin<'_>) -> Result<Kernel, DescriptionError> {
    let mut reader = Reader::new(file, text);
    let form = reader.form()?;
    let name = name(&reader, form.name.as_ref(), origin)?;
    let code = code(&reader, &form, origin)?;
    let takes = takes(&reader, &form)?;
    takes.names().iter().for_each(|name| reader.take(name));
    takes.settings().iter().for_each(|setting| reader.take(&setting.key));
    let mut settings = numbers::settings(&mut reader, form.settings)?;
    let size = form.size.map(|size| numbers::size(&reader, size)).transpose()?;
    if size.is_some() || takes != Takes::Numbers {
        takes.names().iter().for_each(|name| reader.know(name));
    }
    let mut lets = Vec::new();
    for (name, value) in in_order(form.lets) {
        reader.new_name(&name)?;
        let value = reader.formula(&value)?;
        reader.know(name.get_ref());
        lets.push((name.into_inner(), value));
    }
    let reference = form.reference.map(|name| reference_of(&reader, &name, origin)).transpose()?;
    let parts = reference.as_ref().map_or(&[][..], |(reference, _)| reference.parts);
    let buffers = launch::buffers(&reader, form.buffers, takes, parts)?;
    let textures = textures::textures(&reader, form.textures, &buffers)?;
    let variables = variables::variables(&reader, form.variables, &buffers, parts)?;
    let launch = LaunchForm {
        entry: form.entry.map_or(Ok(super::kernel::Entry::Only), |entry| launch::entry(&reader, entry, &settings))?,
        grid: launch::extents(&reader, &form.grid)?,
        block: launch::extents(&reader, &form.block)?,
        shared_bytes: form.shared.map_or_else(|| Ok(Formula::constant(0, Place::of(file))), |bytes| reader.formula(&bytes))?,
        lets,
        args: launch::args(&reader, &form.args, &buffers, &textures)?,
        variables,
        buffers,
        textures,
        limits: launch::limits(&reader, &form.limits)?,
    };
    settings.extend(takes.settings());
    let description = form.description.unwrap_or_else(|| match &code {
        Code::Files { ptx: Ptx::File(path), .. } => path.display().to_string(),
        Code::Files { ptx: Ptx::Text(name, _), .. } => name.clone(),
        Code::BuiltIn(files, _) => files.ptx_file.to_owned(),
    });
    let (suite, kernel_type, origin) = (form.suite, form.kernel_type, Place::of(file));
    Ok(Kernel { name, suite, description, kernel_type, size, settings, takes, code, launch, reference, origin })
}

/// Returns the name stated in the file, or the name of the file.
fn name(reader: &Reader<'_>, given: Option<&Spanned<String>>, origin: Origin<'_>) -> Result<String, DescriptionError> {
    let Some(name) = given else {
        return Ok(match origin {
            Origin::Path(path) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            Origin::BuiltIn(files) => files.name.to_owned(),
        });
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.get_ref().is_empty() || !name.get_ref().chars().all(plain) {
        return Err(reader.at(name.span()).fail("a kernel's name has letters, digits, -, _ and ., and no other characters"));
    }
    Ok(name.get_ref().clone())
}

fn code(reader: &Reader<'_>, form: &KernelForm, origin: Origin<'_>) -> Result<Code, DescriptionError> {
    let path = match origin {
        Origin::BuiltIn(files) => return Ok(Code::BuiltIn(files, form.registers.as_ref().map(|count| *count.get_ref()))),
        Origin::Path(path) => path,
    };
    let folder: PathBuf = path.parent().unwrap_or(Path::new("")).to_owned();
    let registers = match (&form.registers, &form.ptxas) {
        (Some(count), None) if *count.get_ref() > 0 => Registers::Count(*count.get_ref()),
        (Some(count), None) => return Err(reader.at(count.span()).fail("a thread has at least 1 register")),
        (None, Some(report)) => Registers::Report(folder.join(report)),
        _ => {
            let message = "give either registers = N per thread, or ptxas = \"FILE\", what `nvcc -cubin -Xptxas -v` printed";
            return Err(Place::of(&path.display().to_string()).fail(message));
        }
    };
    Ok(Code::Files { ptx: Ptx::File(folder.join(&form.ptx)), registers, folder })
}

fn takes(reader: &Reader<'_>, form: &KernelForm) -> Result<Takes, DescriptionError> {
    match (&form.graph, &form.picture) {
        (None, None) => Ok(Takes::Numbers),
        (Some(_), Some(picture)) => Err(reader.at(picture.span()).fail("a kernel takes a graph or a picture, not both")),
        (Some(graph), None) if form.size.is_none() => {
            Err(reader.at(graph.span()).fail("a random graph has a size: give [size] with a default number of nodes"))
        }
        (Some(graph), None) => Ok(Takes::Graph(graph.get_ref().default.unwrap_or(Generator::Uniform))),
        (None, Some(picture)) => match &picture.get_ref().multiple_of {
            None => Ok(Takes::Picture(1)),
            Some(step) if (1..=LARGEST_STEP).contains(step.get_ref()) => Ok(Takes::Picture(*step.get_ref() as usize)),
            Some(step) => Err(reader.at(step.span()).fail(format!("expected 1 to {LARGEST_STEP}"))),
        },
    }
}

/// Returns the reference of a built-in kernel.
fn reference_of(reader: &Reader<'_>, name: &Spanned<String>, origin: Origin<'_>) -> Result<(&'static Reference, Place), DescriptionError> {
    let place = reader.at(name.span());
    if let Origin::Path(_) = origin {
        return Err(place.fail("only the simulator's own kernels have a reference; leave it out, and results are not checked"));
    }
    let known: Vec<&str> = reference::ALL.iter().map(|reference| reference.name).collect();
    match reference::ALL.iter().find(|reference| reference.name == name.get_ref()) {
        Some(reference) => Ok((reference, place)),
        None => Err(place.fail(suggest::unknown("reference", name.get_ref(), &known))),
    }
}
