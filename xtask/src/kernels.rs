//! `cargo xtask kernels`: recompiles the CUDA sources in `kernels/`. Its output is committed, so
//! that building and testing need no CUDA. The front end runs the PTX, and ptxas' report of
//! registers and shared memory determines occupancy. Kernels that a paper compiled for another
//! architecture have a report for that one, too.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use tempfile::NamedTempFile;

use crate::util::{command, output, root, write_file};

/// Compute capability of the GPUs in `configs/gpus/`: Turing.
const ARCH: &str = "75";

/// Compute capability for which Lin et al. 2018, section 3.1, compile: Maxwell. Their kernels have
/// a second report, `<name>.sm_50.ptxas.txt`.
const LIN_ARCH: &str = "50";

/// Compiles every `kernels/<suite>/<name>/<name>.cu`; a kernel's files are written only if all of
/// it compiled.
pub(crate) fn run() -> Result<()> {
    for tool in ["nvcc", "ptxas"] {
        if output(&mut command(tool, ["--version"])).is_err() {
            bail!(
                "`{tool}` is not installed. The committed PTX needs no CUDA; to change a kernel, install the CUDA toolkit (the committed files are from 11.8)"
            );
        }
    }
    let sources = sources()?;
    ensure!(!sources.is_empty(), "no kernels/<suite>/<name>/<name>.cu found");
    for source in sources {
        compile(&source).with_context(|| source.display().to_string())?;
    }
    Ok(())
}

/// Returns the CUDA sources, relative to the root and in order of their paths.
fn sources() -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for suite in folders(Path::new("kernels"))? {
        for kernel in folders(&suite)? {
            let name = kernel.file_name().unwrap_or_default();
            let source = kernel.join(name).with_extension("cu");
            if root().join(&source).is_file() {
                found.push(source);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the folders in `folder`; both relative to the root.
fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join(folder)).with_context(|| format!("cannot list {}", folder.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(folder.join(entry.file_name()));
        }
    }
    Ok(found)
}

fn compile(source: &Path) -> Result<()> {
    let (ptx, report) = for_architecture(source, ARCH)?;
    let mut files = vec![("ptx".to_owned(), ptx), ("ptxas.txt".to_owned(), report)];
    if is_of_lin(source) {
        files.push((format!("sm_{LIN_ARCH}.ptxas.txt"), for_architecture(source, LIN_ARCH)?.1));
    }
    for (extension, text) in files {
        write_file(source.with_extension(extension), text)?;
    }
    Ok(())
}

/// Returns PTX and the assembler's report.
fn for_architecture(source: &Path, arch: &str) -> Result<(String, String)> {
    let ptx = printed("nvcc", &["-ptx", &format!("-arch=compute_{arch}"), "-Wno-deprecated-gpu-targets", "-o", "-"], source)?.0;
    let mut scratch = NamedTempFile::with_suffix(".ptx")?;
    scratch.write_all(ptx.as_bytes())?;
    let report = printed("ptxas", &["-v", &format!("-arch=sm_{arch}"), "-o", "/dev/null"], scratch.path())?.1;
    Ok((ptx, report))
}

/// Returns whether a source is one of the kernels of Lin et al. 2018.
fn is_of_lin(source: &Path) -> bool {
    let name = source.file_stem().and_then(|name| name.to_str());
    mias_kernels::LIN.iter().any(|(_, word)| word.split(':').next() == name)
}

/// Returns the standard output and standard error of `tool` for `source`.
fn printed(tool: &str, args: &[&str], source: &Path) -> Result<(String, String)> {
    let result = output(command(tool, args).arg(source))?;
    let (out, err) = (String::from_utf8_lossy(&result.stdout), String::from_utf8_lossy(&result.stderr));
    ensure!(result.status.success(), "{tool} failed ({}):\n{}", result.status, err.trim());
    Ok((out.into_owned(), err.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_found_by_suite() {
        let sources = sources().unwrap();
        assert!(sources.contains(&PathBuf::from("kernels/cuda-samples/mm/mm.cu")), "{sources:?}");
        assert!(sources.contains(&PathBuf::from("kernels/rodinia/bfs/bfs.cu")), "{sources:?}");
        assert_eq!(sources.iter().filter(|source| is_of_lin(source)).count(), mias_kernels::LIN.len());
    }
}
