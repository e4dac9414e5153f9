//! Header of a kernel trace: its leading `-key = value` lines.

use super::error::{Problem, ReadError, excerpt};
use super::opcodes::Isa;
use super::source::Lines;
use mias_warp_trace::KernelInfo;
use std::ops::RangeInclusive;

/// A CUDA stream. Launches on one stream run one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamId(pub u64);

/// Newest trace version that the reader supports.
const NEWEST_VERSION: u32 = 5;

/// Maximum number of registers per thread on any traced GPU (CUDA programming guide, compute
/// capabilities 3.5 and up).
const MAX_REGISTERS: u32 = 255;

/// Maximum number of threads per TB (same source, all compute capabilities).
const MAX_BLOCK_THREADS: u128 = 1024;

/// Maximum number of TBs per grid: no GPU has a larger extent (same source, x dimension of a grid).
const MAX_GRID_TBS: u128 = i32::MAX as u128;

/// Maximum shared memory of an SM in bytes: 228 KiB (same source, compute capabilities 9.0 and
/// 10.0).
const MAX_SHARED_BYTES: u32 = 228 << 10;

/// Header of a kernel.
#[derive(Clone, Debug)]
pub(super) struct Header {
    /// Launch geometry and resources.
    pub(super) info: KernelInfo,
    /// Number of the launch, assigned by the tracer.
    pub(super) id: Option<u64>,
    /// Version of the instrumentation as text; empty if unknown.
    pub(super) nvbit: String,
    /// Number of the instruction set.
    pub(super) binary_version: u32,
    /// Instruction set of the opcodes.
    pub(super) isa: Isa,
    /// Trace format, 1 to 5.
    pub(super) version: u32,
    /// True if each instruction starts with a source line number.
    pub(super) lineinfo: bool,
    /// Stream of the launch.
    pub(super) stream: StreamId,
    /// First address of the shared-memory window of generic accesses; 0 if unknown.
    pub(super) shared_base: u64,
    /// First address of the local-memory window of generic accesses; 0 if unknown.
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
            // Kept for copies of the trace; no result depends on these values.
            "kernel id" => self.id = value.parse().ok(),
            "nvbit version" => self.nvbit = value.to_owned(),
            "grid dim" => self.grid = Some(extents("grid dim", value, MAX_GRID_TBS, "a grid of at most 2147483647 TBs")?),
            "block dim" => self.block = Some(extents("block dim", value, MAX_BLOCK_THREADS, "a block of at most 1024 threads")?),
            "nregs" => self.registers = Some(number("nregs", value, 1..=MAX_REGISTERS, "a number of registers from 1 to 255")?),
            "shmem" => {
                let expected = "a number of bytes from 0 to 233472, the most that an SM of any GPU has";
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

/// Parses `(x,y,z)` with extents of at least 1 and a product of at most `limit`; `within` describes
/// the limit.
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
    // No factor exceeds the product, which fits into 32 bits.
    Ok(numbers.map(|n| n as u32))
}
