//! Running a kernel: geometry, arguments, TBs. TBs are independent of each other; the caller may run them in any order and
//! on any number of threads.

use super::error::ExecError;
use super::exec::memory::Memories;
use super::exec::special::WarpPlace;
use super::memory::{DeviceMemory, SharedMemory};
use super::program::Program;
use super::registers::LANES;
use super::warp::{Observer, Stop, Warp};

/// Instructions per warp after which a kernel is taken to loop forever. Assumption: about a thousand times what the longest
/// kernel of the thesis needs (binomial options, 55,760).
pub const DEFAULT_INSTRUCTION_LIMIT: u64 = 50_000_000;

/// Threads per TB: CUDA C programming guide, table "Technical specifications per compute capability".
const MAX_THREADS: u64 = 1024;

/// A kernel argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// A 32-bit integer.
    U32(u32),
    /// A signed 32-bit integer.
    I32(i32),
    /// A 32-bit float.
    F32(f32),
    /// A 64-bit integer or an address.
    U64(u64),
    /// Anything else, lowest byte first.
    Bytes(Vec<u8>),
}

impl Arg {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Arg::U32(value) => value.to_le_bytes().to_vec(),
            Arg::I32(value) => value.to_le_bytes().to_vec(),
            Arg::F32(value) => value.to_le_bytes().to_vec(),
            Arg::U64(value) => value.to_le_bytes().to_vec(),
            Arg::Bytes(bytes) => bytes.clone(),
        }
    }
}

/// How often a kernel runs, and on what.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// TBs in x, y, z.
    pub grid: [u32; 3],
    /// Threads per TB in x, y, z.
    pub block: [u32; 3],
    /// Arguments in the order of the entry's parameters.
    pub args: Vec<Arg>,
}

impl Launch {
    /// TBs of the grid.
    pub fn tbs(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// Threads per TB.
    pub fn threads(&self) -> u64 {
        self.block.iter().map(|&n| u64::from(n)).product()
    }

    /// Parameter memory for `program`.
    fn params(&self, program: &Program) -> Result<Vec<u8>, ExecError> {
        let fail = |message| ExecError::Arguments { kernel: program.name.clone(), message };
        if self.args.len() != program.params.len() {
            return Err(fail(format!("{} arguments given, the entry takes {}", self.args.len(), program.params.len())));
        }
        let mut memory = vec![0; program.params.last().map_or(0, |p| p.offset + p.bytes) as usize];
        for (index, (arg, param)) in self.args.iter().zip(&program.params).enumerate() {
            let bytes = arg.bytes();
            if bytes.len() != param.bytes as usize {
                let number = index + 1;
                return Err(fail(format!("argument {number} has {} bytes, parameter `{}` has {}", bytes.len(), param.name, param.bytes)));
            }
            memory[param.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        Ok(memory)
    }
}

/// Runs TBs of one launch, one after the other, reusing its warps. Make one per thread.
pub struct TbRunner<'a> {
    program: &'a Program,
    launch: &'a Launch,
    device: &'a DeviceMemory,
    params: Vec<u8>,
    shared: SharedMemory,
    warps: Vec<Warp>,
    addresses: Vec<u64>,
    limit: u64,
}

impl<'a> TbRunner<'a> {
    /// Checks geometry and arguments.
    ///
    /// # Errors
    /// [`ExecError::Geometry`], [`ExecError::Arguments`].
    pub fn new(program: &'a Program, launch: &'a Launch, device: &'a DeviceMemory) -> Result<Self, ExecError> {
        let impossible = |message| ExecError::Geometry { kernel: program.name.clone(), grid: launch.grid, block: launch.block, message };
        if launch.grid.contains(&0) || launch.block.contains(&0) {
            return Err(impossible("no axis may be zero"));
        }
        if launch.threads() > MAX_THREADS {
            return Err(impossible("a TB has at most 1024 threads"));
        }
        if u32::try_from(launch.tbs()).is_err() {
            return Err(impossible("a grid has at most 4294967295 TBs here"));
        }
        let params = launch.params(program)?;
        let threads = launch.threads() as u32;
        let warps = (0..threads.div_ceil(LANES as u32))
            .map(|warp| {
                let [x, y, _] = launch.block;
                let thread = |lane: usize| warp * LANES as u32 + lane as u32;
                let tid = [
                    std::array::from_fn(|lane| thread(lane) % x),
                    std::array::from_fn(|lane| thread(lane) / x % y),
                    std::array::from_fn(|lane| thread(lane) / x / y),
                ];
                Warp::new(program, WarpPlace { tid, block: launch.block, tb: [0; 3], grid: launch.grid, warp })
            })
            .collect();
        Ok(TbRunner {
            program,
            launch,
            device,
            params,
            shared: SharedMemory::new(program.shared_bytes),
            warps,
            addresses: Vec::with_capacity(LANES),
            limit: DEFAULT_INSTRUCTION_LIMIT,
        })
    }

    /// Changes the instruction limit per warp.
    #[must_use]
    pub fn limit(mut self, instructions: u64) -> Self {
        self.limit = instructions;
        self
    }

    /// Runs TB `tb` (x fastest) to its end.
    ///
    /// # Errors
    /// [`ExecError::Access`], [`ExecError::Barrier`], [`ExecError::InstructionLimit`].
    pub fn run<O: Observer>(&mut self, tb: u32, observer: &mut O) -> Result<(), ExecError> {
        let [x, y, _] = self.launch.grid;
        let index = [tb % x, tb / x % y, tb / x / y];
        let threads = self.launch.threads() as u32;
        self.shared.clear();
        for (number, warp) in self.warps.iter_mut().enumerate() {
            let lanes = (threads - number as u32 * LANES as u32).min(LANES as u32);
            warp.place.tb = index;
            warp.start(self.program, u32::MAX >> (LANES as u32 - lanes));
        }
        loop {
            let mut waiting: Option<(u8, u32)> = None;
            for warp in &mut self.warps {
                let mut memories =
                    Memories { device: self.device, shared: &mut self.shared, params: &self.params, addresses: &mut self.addresses };
                let stop = warp.run(self.program, &mut memories, self.limit, observer);
                match stop.map_err(|trap| trap.explain(self.program, &warp.place, self.limit))? {
                    Stop::Done => {}
                    Stop::Barrier { id, pc } => match waiting {
                        Some((first, _)) if first != id => {
                            return Err(ExecError::Barrier {
                                kernel: self.program.name.clone(),
                                file: self.program.file.clone(),
                                line: self.program.insts[pc as usize].at.line,
                                tb: index,
                                warp: warp.place.warp,
                                message: "the warps of the TB wait at barriers of different numbers",
                            });
                        }
                        _ => waiting = Some((id, pc)),
                    },
                }
            }
            if waiting.is_none() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
#[path = "launch_tests.rs"]
mod tests;
