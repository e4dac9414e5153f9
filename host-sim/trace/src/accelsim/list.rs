//! Parser for `kernelslist.g`, which lists the commands of the traced program, one per line.

use super::error::{Problem, ReadError, excerpt};
use super::source::Lines;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A command of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Host-to-device copy. It passes through the L2; the replay decides whether it has an effect.
    CopyToDevice {
        /// Address of the first byte written.
        address: u64,
        /// Number of bytes written.
        bytes: u64,
    },
    /// A kernel launch and its trace file.
    Kernel(PathBuf),
}

/// End of the device addresses that traces may contain, as for accesses (`addresses`).
const ADDRESSES: u64 = 1 << 57;

/// Commands of a kernel list, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Commands in file order.
    pub commands: Vec<Command>,
}

impl List {
    /// Returns the kernel files in launch order.
    pub fn kernels(&self) -> impl Iterator<Item = &Path> {
        self.commands.iter().filter_map(|command| match command {
            Command::Kernel(path) => Some(path.as_path()),
            Command::CopyToDevice { .. } => None,
        })
    }
}

/// Reads a kernel list.
///
/// File names are relative to the list. If `kernel-1.traceg` is named but only `kernel-1.traceg.xz`
/// exists, or vice versa, the existing file is used. Lines other than launches and copies to the
/// device are ignored.
///
/// # Errors
/// [`ReadError`] if the list cannot be read, has a malformed copy, names a file that does not
/// exist, names no kernel, or is a trace itself.
pub fn read_list(path: &Path) -> Result<List, ReadError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    read_lines(Lines::open(path)?, &|name| find(folder, name))
}

/// Reads a kernel list from plain bytes.
///
/// `name` is the file name in messages. `find` maps a name in the list to a file, or to `None` if
/// the file does not exist.
///
/// # Errors
/// As [`read_list`].
pub fn read_list_from(input: impl Read + Send + 'static, name: &Path, find: &dyn Fn(&str) -> Option<PathBuf>) -> Result<List, ReadError> {
    read_lines(Lines::over(Box::new(input), name), find)
}

fn read_lines(mut lines: Lines, find: &dyn Fn(&str) -> Option<PathBuf>) -> Result<List, ReadError> {
    let mut commands = Vec::new();
    while let Some(line) = lines.next()? {
        let text = line.trim_ascii().to_owned();
        if text.starts_with(b"-kernel name") {
            return Err(lines.error(Problem::NoList));
        }
        if text.starts_with(b"MemcpyHtoD") {
            let copy = parse_copy(&text).ok_or_else(|| lines.error(Problem::Copy(excerpt(&text))))?;
            commands.push(copy);
        } else if text.starts_with(b"kernel") {
            let name = String::from_utf8_lossy(&text).into_owned();
            let file = find(&name).ok_or_else(|| lines.error(Problem::MissingKernel(name)))?;
            commands.push(Command::Kernel(file));
        }
    }
    let list = List { commands };
    if list.kernels().next().is_none() {
        return Err(lines.error_in_file(Problem::EmptyList));
    }
    Ok(list)
}

fn parse_copy(text: &[u8]) -> Option<Command> {
    let text = std::str::from_utf8(text).ok()?;
    let mut parts = text.split(',').map(str::trim);
    let ("MemcpyHtoD", address, bytes, None) = (parts.next()?, parts.next()?, parts.next()?, parts.next()) else { return None };
    let address = u64::from_str_radix(address.trim_start_matches("0x"), 16).ok()?;
    let bytes: u64 = bytes.parse().ok()?;
    let end = address.checked_add(bytes)?;
    (end <= ADDRESSES).then_some(Command::CopyToDevice { address, bytes })
}

fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let other = name.strip_suffix(".xz").map_or_else(|| format!("{name}.xz"), str::to_owned);
    [folder.join(name), folder.join(other)].into_iter().find(|file| file.is_file())
}
