//! The `-key = value` lines that start a kernel trace.

use super::error::{Problem, ReadError, excerpt};
use super::opcodes::Isa;
use super::source::Lines;
use mias_warp_trace::KernelInfo;
use std::ops::RangeInclusive;

/// A CUDA stream. Launches of one stream run one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamId(pub u64);

/// Newest trace version that the reader knows.
const NEWEST_VERSION: u32 = 5;

/// Most registers that a thread can have on any machine traced (CUDA programming guide, compute capabilities 3.5 and up).
const MAX_REGISTERS: u32 = 255;

/// Most threads of a TB (the same, all compute capabilities).
const MAX_BLOCK_THREADS: u128 = 1024;

/// Most TBs of a grid: no extent has more on any machine (the same, x dimension of a grid).
const MAX_GRID_TBS: u128 = i32::MAX as u128;

/// Most shared memory of an SM in bytes: 228 KiB (the same, compute capabilities 9.0 and 10.0).
const MAX_SHARED_BYTES: u32 = 228 << 10;

/// A kernel's header.
#[derive(Clone, Debug)]
pub(super) struct Header {
    /// Launch geometry and resources.
    pub(super) info: KernelInfo,
    /// Number that the tracer gave the launch.
    pub(super) id: Option<u64>,
    /// Version of the instrumentation, as it calls itself; empty if unknown.
    pub(super) nvbit: String,
    /// The instruction set by its number.
    pub(super) binary_version: u32,
    /// Instruction set of the opcodes.
    pub(super) isa: Isa,
    /// Trace format, 1 to 5.
    pub(super) version: u32,
    /// Each instruction starts with a source line number.
    pub(super) lineinfo: bool,
    /// The stream launched on.
    pub(super) stream: StreamId,
    /// First address of the shared-memory window of generic accesses, 0 if unknown.
    pub(super) shared_base: u64,
    /// First address of the local-memory window of generic accesses, 0 if unknown.
    pub(super) local_base: u64,
}

/// Reads the header up to and including the first `#` line.
pub(super) fn read(lines: &mut Lines) -> Result<Header, ReadError> {
    let mut found = Found::default();
    while let Some(line) = lines.next()? {
        if line.starts_with(b"#") {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let result = match split(line) {
            Some((key, value)) => found.set(&key, &value),
            None => Err(Problem::Structure(format!("header line `-key = value` expected, found `{}`", excerpt(line)))),
        };
        result.map_err(|problem| lines.error(problem))?;
    }
    found.complete().map_err(|problem| lines.error(problem))
}

/// The values found so far.
#[derive(Default)]
struct Found {
    name: Option<String>,
    id: Option<u64>,
    nvbit: String,
    grid: Option<[u32; 3]>,
    block: Option<[u32; 3]>,
    registers: Option<u32>,
    isa: Option<(u32, Isa)>,
    version: Option<u32>,
    shared_bytes: u32,
    lineinfo: bool,
    stream: u64,
    shared_base: u64,
    local_base: u64,
}

impl Found {
    fn set(&mut self, key: &str, value: &str) -> Result<(), Problem> {
        match key {
            "kernel name" => self.name = Some(value.to_owned()),
            // Kept for a copy of the trace; nothing depends on them.
            "kernel id" => self.id = value.parse().ok(),
            "nvbit version" => self.nvbit = value.to_owned(),
            "grid dim" => self.grid = Some(extents("grid dim", value, MAX_GRID_TBS, "a grid of at most 2147483647 TBs")?),
            "block dim" => self.block = Some(extents("block dim", value, MAX_BLOCK_THREADS, "a block of at most 1024 threads")?),
            "nregs" => self.registers = Some(number("nregs", value, 1..=MAX_REGISTERS, "a number of registers from 1 to 255")?),
            "shmem" => {
                let expected = "a number of bytes from 0 to 233472, the most that an SM of any machine has";
                self.shared_bytes = number("shmem", value, 0..=MAX_SHARED_BYTES, expected)?;
            }
            "binary version" => {
                let expected = "a known instruction set (60 to 62 Pascal; 70 Volta; 72, 75 Turing; 80, 86, 87, 89 Ampere; 90 Hopper)";
                let isa = value.parse().ok().and_then(|number| Some((number, Isa::from_binary_version(number)?)));
                self.isa = Some(isa.ok_or_else(|| wrong("binary version", value, expected))?);
            }
            "accelsim tracer version" => {
                self.version = Some(number("accelsim tracer version", value, 1..=NEWEST_VERSION, "a version from 1 to 5")?);
            }
            "enable lineinfo" => self.lineinfo = number("enable lineinfo", value, 0..=1, "0 or 1")? == 1,
            "cuda stream id" => self.stream = value.parse().map_err(|_| wrong("cuda stream id", value, "a number"))?,
            "shmem base_addr" => self.shared_base = address("shmem base_addr", value)?,
            "local mem base_addr" => self.local_base = address("local mem base_addr", value)?,
            _ => {}
        }
        Ok(())
    }

    fn complete(self) -> Result<Header, Problem> {
        let missing = |key| move || Problem::HeaderMissing(key);
        let info = KernelInfo {
            name: self.name.ok_or_else(missing("kernel name"))?,
            grid: self.grid.ok_or_else(missing("grid dim"))?,
            block: self.block.ok_or_else(missing("block dim"))?,
            registers_per_thread: self.registers.ok_or_else(missing("nregs"))?,
            shared_bytes: self.shared_bytes,
        };
        let (binary_version, isa) = self.isa.ok_or_else(missing("binary version"))?;
        let version = self.version.ok_or_else(missing("accelsim tracer version"))?;
        let Found { id, nvbit, lineinfo, stream, shared_base, local_base, .. } = self;
        Ok(Header { info, id, nvbit, binary_version, isa, version, lineinfo, stream: StreamId(stream), shared_base, local_base })
    }
}

fn split(line: &[u8]) -> Option<(String, String)> {
    let text = String::from_utf8_lossy(line.strip_prefix(b"-")?);
    let (key, value) = text.split_once('=')?;
    Some((key.trim().to_owned(), value.trim().to_owned()))
}

fn wrong(key: &'static str, value: &str, expected: &'static str) -> Problem {
    Problem::HeaderValue { key, value: excerpt(value.as_bytes()), expected }
}

fn number(key: &'static str, value: &str, range: RangeInclusive<u32>, expected: &'static str) -> Result<u32, Problem> {
    value.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| wrong(key, value, expected))
}

fn address(key: &'static str, value: &str) -> Result<u64, Problem> {
    u64::from_str_radix(value.trim_start_matches("0x"), 16).map_err(|_| wrong(key, value, "a hexadecimal address"))
}

/// `(x,y,z)`, each at least 1, whose product is at most `limit`; `within` says what it then is.
fn extents(key: &'static str, value: &str, limit: u128, within: &'static str) -> Result<[u32; 3], Problem> {
    let malformed = || wrong(key, value, "three whole numbers (x,y,z)");
    let inner = value.strip_prefix('(').and_then(|v| v.strip_suffix(')')).ok_or_else(malformed)?;
    let numbers: Vec<u64> = inner.split(',').map(|n| n.trim().parse().map_err(|_| malformed())).collect::<Result<_, _>>()?;
    let numbers: [u64; 3] = numbers.try_into().map_err(|_| malformed())?;
    if numbers.contains(&0) {
        return Err(wrong(key, value, "three numbers (x,y,z) of at least 1"));
    }
    let product = numbers.iter().try_fold(1u128, |product, &n| product.checked_mul(n.into()));
    if product.is_none_or(|product| product > limit) {
        return Err(wrong(key, value, within));
    }
    // None of the factors is above the product, which 32 bits hold.
    Ok(numbers.map(|n| n as u32))
}
