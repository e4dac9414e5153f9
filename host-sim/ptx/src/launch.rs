//! Launch of a kernel: geometry, arguments, and execution of TBs. TBs are independent of each
//! other; the caller may run them in any order and on any number of threads.

use super::ast::Type;
use super::barrier::{self, Barriers, State};
use super::error::{ExecError, Limit, Position};
use super::exec::access::Memories;
use super::exec::place::WarpPlace;
use super::limits::Limits;
use super::loops::Lines;
use super::memory::{DeviceMemory, SharedMemory};
use super::nearest;
use super::program::Program;
use super::trap::Trap;
use super::warp::{Observer, SLICE, Stop, Warp};
use crate::LANES;

/// Maximum threads per TB: CUDA C programming guide, table "Technical specifications per compute
/// capability".
const MAX_THREADS: u64 = 1024;

/// Maximum TBs in y or z, and maximum threads in z: CUDA C programming guide, table "Technical
/// specifications per compute capability".
const MAX_GRID_YZ: u32 = 65_535;
const MAX_BLOCK_Z: u32 = 64;

/// Instructions observed beyond the limit, to locate the loop of a kernel. Assumption: more than
/// one iteration of any loop.
const WATCHED: u64 = 20_000;

/// Maximum shared memory per TB in bytes, static and dynamic: CUDA C programming guide, the same
/// table, 9.0.
const MAX_SHARED: u32 = 227 << 10;

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
    /// A 64-bit float.
    F64(f64),
    /// A structure by value, or an integer of another width: little-endian, with the parameter's
    /// size.
    Bytes(Vec<u8>),
}

impl Arg {
    /// Returns the bytes in parameter memory.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Arg::F64(value) => value.to_le_bytes().to_vec(),
            Arg::Bytes(bytes) => bytes.clone(),
            Arg::U32(value) => value.to_le_bytes().to_vec(),
            Arg::I32(value) => value.to_le_bytes().to_vec(),
            Arg::F32(value) => value.to_le_bytes().to_vec(),
            Arg::U64(value) => value.to_le_bytes().to_vec(),
        }
    }
}

/// Geometry, arguments and limits of a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launch {
    /// TBs in x, y, z.
    pub grid: [u32; 3],
    /// Threads per TB in x, y, z.
    pub block: [u32; 3],
    /// Arguments in the order of the entry's parameters.
    pub args: Vec<Arg>,
    /// Dynamic shared memory per TB in bytes, in addition to the static part.
    pub shared_bytes: u32,
    /// Limits of the launch.
    pub limits: Limits,
}

impl Launch {
    /// Returns the number of TBs of the grid.
    pub fn tbs(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// Returns the number of threads per TB.
    pub fn threads(&self) -> u64 {
        self.block.iter().map(|&n| u64::from(n)).product()
    }

    /// Builds the parameter memory for `program`.
    fn params(&self, program: &Program) -> Result<Vec<u8>, ExecError> {
        let fail = |message| ExecError::Arguments { kernel: program.name.clone(), message };
        if self.args.len() != program.params.len() {
            return Err(fail(format!("{} arguments, the entry takes {}", self.args.len(), program.params.len())));
        }
        let mut memory = vec![0; program.param_bytes as usize];
        for (index, (arg, param)) in self.args.iter().zip(&program.params).enumerate() {
            let bytes = arg.bytes();
            if bytes.len() != param.bytes as usize {
                let number = index + 1;
                return Err(fail(format!("argument {number} has {} bytes, parameter `{}` has {}", bytes.len(), param.name, param.bytes)));
            }
            // nvcc declares integers of either sign as `.u32`, and structures as bytes.
            let float = matches!(arg, Arg::F32(_) | Arg::F64(_));
            let fits = match param.ty {
                Type::Float(_) => float || matches!(arg, Arg::Bytes(_)),
                Type::Unsigned(_) | Type::Signed(_) => !float,
                _ => true,
            };
            if !fits {
                let (number, ty) = (index + 1, param.ty.name());
                return Err(fail(format!("argument {number} is {arg:?}, parameter `{}` is `.{ty}`", param.name)));
            }
            memory[param.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        Ok(memory)
    }
}

/// Runner for the TBs of one launch, one after the other, which reuses its warps. Each thread needs
/// a separate runner.
pub struct TbRunner<'a> {
    program: &'a Program,
    launch: &'a Launch,
    device: &'a DeviceMemory,
    params: Vec<u8>,
    shared: SharedMemory,
    warps: Vec<Warp>,
    states: Vec<State>,
    barriers: Barriers,
    addresses: Vec<u64>,
    limits: Limits,
    /// Instructions after which a warp yields to others.
    pub(super) slice: u64,
    /// Instructions of all warps so far.
    spent: u64,
}

impl<'a> TbRunner<'a> {
    /// Creates a runner after checking geometry and arguments.
    ///
    /// # Errors
    /// [`ExecError::Geometry`], [`ExecError::Arguments`], [`ExecError::Module`].
    pub fn new(program: &'a Program, launch: &'a Launch, device: &'a DeviceMemory) -> Result<Self, ExecError> {
        let impossible = |message| ExecError::Geometry { kernel: program.name.clone(), grid: launch.grid, block: launch.block, message };
        if launch.grid.contains(&0) || launch.block.contains(&0) {
            return Err(impossible("no axis may be zero"));
        }
        if launch.grid[1].max(launch.grid[2]) > MAX_GRID_YZ || launch.block[2] > MAX_BLOCK_Z {
            return Err(impossible("a grid has at most 65535 TBs in y and in z, a TB at most 64 threads in z"));
        }
        if launch.threads() > MAX_THREADS {
            return Err(impossible("a TB has at most 1024 threads"));
        }
        if u32::try_from(launch.tbs()).is_err() {
            return Err(impossible("a grid has at most 4294967295 TBs here"));
        }
        let shared_bytes = program.shared_with(launch.shared_bytes);
        if shared_bytes > MAX_SHARED {
            return Err(impossible("a TB has at most 227 KiB of shared memory"));
        }
        let params = launch.params(program)?;
        if program.is_cooperative() {
            device.reserve_workspace();
        }
        if !device.load(&program.image) {
            return Err(ExecError::Module { kernel: program.name.clone(), file: program.file.clone() });
        }
        let threads = launch.threads() as u32;
        let shared = [shared_bytes, launch.shared_bytes];
        let warps: Vec<Warp> = (0..threads.div_ceil(LANES as u32))
            .map(|warp| {
                let [x, y, _] = launch.block;
                let thread = |lane: usize| warp * LANES as u32 + lane as u32;
                let tid = [
                    std::array::from_fn(|lane| thread(lane) % x),
                    std::array::from_fn(|lane| thread(lane) / x % y),
                    std::array::from_fn(|lane| thread(lane) / x / y),
                ];
                let place = WarpPlace { tid, block: launch.block, tb: [0; 3], grid: launch.grid, warp, shared, executed: 0 };
                Warp::new(program, place, launch.limits.stack_bytes)
            })
            .collect();
        Ok(TbRunner {
            program,
            launch,
            device,
            params,
            shared: SharedMemory::new(shared_bytes),
            states: vec![State::Ready; warps.len()],
            warps,
            barriers: Barriers::default(),
            addresses: Vec::with_capacity(LANES),
            limits: launch.limits,
            slice: SLICE,
            spent: 0,
        })
    }

    /// Changes the instruction limit per warp.
    #[must_use]
    pub fn limit(mut self, instructions: u64) -> Self {
        self.limits.warp_instructions = instructions;
        self
    }

    /// Runs TB `tb` (x fastest) to its end.
    ///
    /// # Errors
    /// [`ExecError::Access`], [`ExecError::Barrier`], [`ExecError::Trap`], [`ExecError::Endless`].
    pub fn run<O: Observer>(&mut self, tb: u32, observer: &mut O) -> Result<(), ExecError> {
        self.run_while(tb, observer, || true).map(|_| ())
    }

    /// Runs a TB as [`TbRunner::run`] does, while `goes_on` returns true. It is called after every
    /// warp has run up to a barrier or for a slice of instructions. Returns false if the TB was
    /// stopped before its end.
    ///
    /// # Errors
    /// As [`TbRunner::run`].
    pub fn run_while<O: Observer>(&mut self, tb: u32, observer: &mut O, mut goes_on: impl FnMut() -> bool) -> Result<bool, ExecError> {
        self.begin(tb);
        while self.turn(observer)? {
            if !goes_on() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Starts TB `tb`.
    pub(super) fn begin(&mut self, tb: u32) {
        let [x, y, _] = self.launch.grid;
        let index = [tb % x, tb / x % y, tb / x / y];
        let threads = self.launch.threads() as u32;
        self.shared.clear();
        self.barriers.clear();
        self.states.fill(State::Ready);
        self.spent = 0;
        let first = u64::from(tb) * self.warps.len() as u64;
        for (number, warp) in self.warps.iter_mut().enumerate() {
            let lanes = (threads - number as u32 * LANES as u32).min(LANES as u32);
            warp.place.tb = index;
            warp.start(self.program, u32::MAX >> (LANES as u32 - lanes), first + number as u64);
        }
    }

    /// Runs every warp once; returns false when all have ended.
    pub(super) fn turn<O: Observer>(&mut self, observer: &mut O) -> Result<bool, ExecError> {
        let (number, trap) = match self.pass(self.limits, observer) {
            Ok(goes_on) => return Ok(goes_on),
            Err((number, trap @ Trap::Limit(..))) => (number, trap),
            Err((number, trap)) => return Err(self.explain(number, trap)),
        };
        // Continue for a few instructions, to locate the loop.
        let mut watched = Lines::new(self.program, number as u32);
        let mut error = self.explain(number, trap);
        let further = self.warps[number].place.executed.max(self.limits.warp_instructions).saturating_add(WATCHED);
        let watching = Limits { warp_instructions: further, tb_instructions: u64::MAX, record_bytes: u64::MAX, ..self.limits };
        let slice = std::mem::replace(&mut self.slice, WATCHED);
        let enough = self.warps[number].place.executed.saturating_add(WATCHED);
        // One pass for each barrier in the loop.
        while self.warps[number].place.executed < enough && self.pass(watching, &mut watched) == Ok(true) {}
        self.slice = slice;
        if let ExecError::Endless { lines, source_line, .. } = &mut error
            && let Some(found) = watched.found()
        {
            (*lines, *source_line) = found;
        }
        Err(error)
    }

    fn explain(&self, warp: usize, trap: Trap) -> ExecError {
        let place = |pc: u32| self.program.insts.get(pc as usize).map_or(Position::default(), |i| i.at);
        let line = |pc: u32| place(pc).line;
        if let (Trap::Hang, State::Waiting(arrival)) = (trap, self.states[warp]) {
            return ExecError::Barrier {
                kernel: self.program.name.clone(),
                file: self.program.file.clone(),
                line: line(arrival.pc),
                source_line: self.program.source.note(place(arrival.pc)),
                tb: self.warps[warp].place.tb,
                warp: warp as u32,
                message: barrier::hang(&self.states, line),
            };
        }
        let nearest = match &trap {
            Trap::Access(_, fault) => {
                nearest::describe(fault, self.device, self.launch, self.program.shared_with(self.launch.shared_bytes))
            }
            _ => String::new(),
        };
        trap.explain(self.program, &self.warps[warp].place, (self.device, nearest))
    }

    /// Runs each ready warp within limits, and opens barriers; returns false when all have ended.
    /// The error includes the number of the warp.
    fn pass<O: Observer>(&mut self, limits: Limits, observer: &mut O) -> Result<bool, (usize, Trap)> {
        let mut ran = false;
        for (number, (warp, state)) in self.warps.iter_mut().zip(&mut self.states).enumerate() {
            if *state != State::Ready {
                continue;
            }
            let mut memories =
                Memories { device: self.device, shared: &mut self.shared, params: &self.params, addresses: &mut self.addresses };
            ran = true;
            let before = warp.place.executed;
            let stop = warp.run(self.program, &mut memories, (&limits, self.slice), observer).map_err(|trap| (number, trap))?;
            self.spent += warp.place.executed - before;
            if stop == Stop::Slice && self.spent > limits.tb_instructions {
                return Err((number, Trap::Limit(None, Limit::Tb(limits.tb_instructions))));
            }
            *state = match stop {
                Stop::Done => State::Ended,
                Stop::Slice => State::Ready,
                Stop::Barrier(arrival) => self.barriers.arrive(arrival).map_err(|message| (number, Trap::Barrier(arrival.pc, message)))?,
            };
        }
        let warps = &mut self.warps;
        let opened = self.barriers.open(&mut self.states, |warp, reduction, result| warps[warp].reduced(reduction, result));
        if ran || opened {
            return Ok(true);
        }
        let waiting = |state: &State| matches!(state, State::Waiting(_));
        match self.states.iter().position(waiting) {
            None => Ok(false),
            Some(number) => Err((number, Trap::Hang)),
        }
    }
}

#[cfg(test)]
#[path = "launch_tests.rs"]
mod tests;
