//! From a kernel and its input to a launch: expressions get their values, buffers are allocated and filled, and arguments placed.

use super::argument::Launching;
use super::buffer::{NamedBuffer, Sources};
use super::expression::Scope;
use super::fill::Giver;
use super::given::Inputs;
use super::kernel::{Code, Entry, Kernel, Registers};
use super::place::{DescriptionError, Formula};
use super::ptxas;
use super::reference::{Filled, Host};
use super::{Instance, KernelError, Prepared, Spec};
use crate::random::Random;
use mias_hw_model::trace::KernelInfo;
use mias_ptx::{Arg, Buffer, DeviceMemory, Launch, Program, parser};
use std::borrow::Cow;

/// Registers per thread: CUDA C programming guide, table "Technical specifications per compute capability".
const MAX_REGISTERS: u32 = 255;

impl Spec {
    /// Allocates and fills memory, the same for the same input; reads PTX and the assembler's report.
    ///
    /// # Errors
    /// [`KernelError`].
    pub fn prepare(&self) -> Result<Prepared, KernelError> {
        let (kernel, inputs) = (&*self.kernel, Inputs::of(self)?);
        let form = &kernel.launch;
        let mut scope = inputs.scope.clone();
        for (name, formula) in &form.lets {
            scope.set(name, formula.value(&scope)?);
        }
        let (file, ptx) = ptx(&kernel.code)?;
        let entry = entry(&form.entry, (&file, &ptx), &scope)?;
        let program = Program::parse(&file, &ptx, &entry)?;
        let registers_per_thread = registers(kernel, &entry)?;
        let dynamic = form.shared_bytes.extent(&scope, 0, "dynamic shared memory in bytes")?;
        let (grid, block) = (extents(&form.grid, &scope, "TBs of the grid")?, extents(&form.block, &scope, "threads of a TB")?);
        let reference = kernel.reference.as_ref();
        let host = reference.map(|(reference, place)| reference.host(&inputs).map_err(|message| place.fail(message))).transpose()?;
        let placed = Placing { kernel, inputs: &inputs, scope: &scope, host: host.as_ref() }.all(&program)?;
        let expected = match (host, reference) {
            (Some(host), Some((_, place))) => Some(host.expected(&placed.filled()).map_err(|message| place.fail(message))?),
            _ => None,
        };
        let shared_bytes = program.shared_with(dynamic);
        let info = KernelInfo { name: kernel.name.clone(), grid, block, registers_per_thread, shared_bytes };
        let launch = Launch { grid, block, args: placed.args, shared_bytes: dynamic };
        Ok(Prepared { program, instance: Instance { memory: placed.memory, entry, launch, expected }, info })
    }
}

/// The PTX, and its file's name for messages.
fn ptx(code: &Code) -> Result<(Cow<'static, str>, Cow<'static, str>), DescriptionError> {
    match code {
        Code::BuiltIn(files) => Ok((files.ptx_file.into(), files.ptx.into())),
        Code::Files { ptx, .. } => Ok((ptx.display().to_string().into(), Kernel::text(ptx, "PTX file")?.into())),
    }
}

fn entry(entry: &Entry, (file, ptx): (&str, &str), scope: &Scope) -> Result<String, KernelError> {
    match entry {
        Entry::Named(name) => Ok(name.clone()),
        Entry::Only => only_entry(file, ptx),
        Entry::BySetting { key, entries, place } => {
            let value = scope.require(key).map_err(|message| place.fail(message))?;
            let entry = entries.iter().find(|(of, _)| *of == value).map(|(_, entry)| entry.clone());
            entry.ok_or_else(|| place.fail(format!("no entry for {key} = {value}")).into())
        }
    }
}

/// The entry of a module that has only one.
fn only_entry(file: &str, text: &str) -> Result<String, KernelError> {
    let module = parser::parse(file, text)?;
    match module.entries.as_slice() {
        [one] => Ok(one.name.to_owned()),
        [] => Err(DescriptionError(format!("{file}: the module has no entry")).into()),
        several => {
            let names: Vec<&str> = several.iter().map(|entry| entry.name).collect();
            Err(DescriptionError(format!("{file}: which entry? the module has {}; name one", names.join(", "))).into())
        }
    }
}

/// Registers per thread.
fn registers(kernel: &Kernel, entry: &str) -> Result<u32, KernelError> {
    let registers = match &kernel.code {
        Code::BuiltIn(files) => ptxas::parse(files.report_file, files.report, entry)?.registers,
        Code::Files { registers: Registers::Count(count), .. } => *count,
        Code::Files { registers: Registers::Report(path), .. } => {
            ptxas::parse(&path.display().to_string(), &Kernel::text(path, "ptxas report")?, entry)?.registers
        }
    };
    if registers > MAX_REGISTERS {
        let message = format!("{registers} registers per thread; a thread has at most {MAX_REGISTERS}");
        return Err(kernel.origin.fail(message).into());
    }
    Ok(registers)
}

fn extents(axes: &[Formula; 3], scope: &Scope, what: &str) -> Result<[u32; 3], DescriptionError> {
    let [x, y, z] = axes;
    Ok([x.extent(scope, 1, what)?, y.extent(scope, 1, what)?, z.extent(scope, 1, what)?])
}

/// What buffers and arguments are made of.
struct Placing<'a> {
    kernel: &'a Kernel,
    inputs: &'a Inputs,
    scope: &'a Scope,
    host: Option<&'a Host>,
}

/// Memory with all that is in it.
struct Placed {
    memory: DeviceMemory,
    buffers: Vec<(String, Buffer)>,
    args: Vec<Arg>,
}

impl Placed {
    fn filled(&self) -> Filled<'_> {
        Filled { memory: &self.memory, buffers: &self.buffers, args: &self.args }
    }
}

impl Placing<'_> {
    fn words(&self, giver: Giver, part: &str) -> Result<Vec<u32>, String> {
        let words = match giver {
            Giver::Graph | Giver::Picture => self.inputs.words(part),
            Giver::Reference => self.host.and_then(|host| host.words(part)),
        };
        words.ok_or_else(|| format!("there is no `{part}` to fill it with"))
    }

    /// The buffers that have names, in order, then those of arguments.
    fn all(&self, program: &Program) -> Result<Placed, DescriptionError> {
        let form = &self.kernel.launch;
        let (given, wanted) = (form.args.len(), program.params.len());
        if given != wanted {
            let list: Vec<String> = program.params.iter().map(|p| format!("{} ({} bytes)", p.name, p.bytes)).collect();
            let list = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
            let message = format!("{given} arguments are given, entry `{}` takes {wanted}: {list}", program.name);
            return Err(self.kernel.origin.fail(message));
        }
        let words = |giver: Giver, part: &str| self.words(giver, part);
        let sources = || Sources { scope: self.scope, folder: self.kernel.folder(), words: &words };
        let mut memory = DeviceMemory::new();
        // One stream for all of them, in the order of their addresses.
        let mut random = Random::new(self.inputs.seed);
        let (mut buffers, mut known) = (Vec::new(), Vec::new());
        for buffer in &form.buffers {
            let NamedBuffer { name, element, count, fills, place } = buffer;
            let count = count.as_ref().map(|count| number_of(count, self.scope)).transpose()?;
            let allocated = sources().allocate(&mut memory, *element, count, fills, &mut random);
            let (handle, count) = allocated.map_err(|message| place.fail(format!("buffer `{name}`: {message}")))?;
            known.push((name.as_str(), *element, count, handle.address));
            buffers.push((name.clone(), handle));
        }
        let mut launching = Launching { sources: sources(), buffers: &known, memory: &mut memory };
        let mut args = Vec::with_capacity(given);
        // Buffers without a name have streams of their own, so that each can be left out.
        for (number, ((place, argument), param)) in (0..).zip(form.args.iter().zip(&program.params)) {
            let arg = argument.place(param, &mut launching, self.inputs.seed.wrapping_add(number));
            args.push(arg.map_err(|message| place.fail(message))?);
        }
        Ok(Placed { memory, buffers, args })
    }
}

/// How many elements.
fn number_of(count: &Formula, scope: &Scope) -> Result<u64, DescriptionError> {
    let value = count.value(scope)?;
    u64::try_from(value).map_err(|_| {
        let (text, with) = (count.expression.text(), count.expression.with(scope));
        count.place.fail(format!("`{text}` elements are {value}, below 0{with}"))
    })
}
