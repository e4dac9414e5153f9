//! Preparation of a launch from a kernel and its input: evaluates expressions, allocates and fills
//! buffers, and builds arguments.

use super::argument::{self, Argument, Launching};
use super::buffer::{MOST_BYTES, NamedBuffer, Sources};
use super::code;
use super::element::Element;
use super::expression::Scope;
use super::fill::Giver;
use super::given::Inputs;
use super::kernel::{Code, Entry, Kernel, Registers};
use super::place::{DescriptionError, Formula};
use super::ptxas;
use super::reference::{Filled, Host};
use super::spec::REGISTERS;
use super::variable;
use super::{Instance, KernelError, Prepared, Region, Spec};
use crate::input::host_memory;
use crate::random::Random;
use mias_ptx::ast::Module;
use mias_ptx::names;
use mias_ptx::{Arg, Buffer, DeviceMemory, Launch, Program, parser};
use mias_warp_trace::KernelInfo;
use std::borrow::Cow;

/// Maximum registers per thread: CUDA C programming guide, table "Technical specifications per
/// compute capability".
const MAX_REGISTERS: u32 = 255;

impl Spec {
    /// Reads PTX and the assembler's report, without allocating buffers.
    ///
    /// Returns the code, and name, geometry and resources.
    ///
    /// # Errors
    /// [`KernelError`], except for errors of buffers, arguments and limits.
    pub fn compile(&self) -> Result<(Program, KernelInfo), KernelError> {
        let scope = self.scope(&self.kernel.inputs(&self.input)?)?;
        self.compiled(&scope).map(|(program, info, _)| (program, info))
    }

    /// Prepares the launch: reads PTX and the assembler's report, and allocates and fills memory.
    /// Equal inputs give equal memory.
    ///
    /// # Errors
    /// [`KernelError`].
    pub fn prepare(&self) -> Result<Prepared, KernelError> {
        let (kernel, inputs) = (&*self.kernel, self.kernel.inputs(&self.input)?);
        let scope = self.scope(&inputs)?;
        let (program, info, dynamic) = self.compiled(&scope)?;
        let reference = kernel.reference.as_ref();
        let host = reference.map(|(reference, place)| reference.host(&inputs).map_err(|message| place.fail(message))).transpose()?;
        let placed = Placing { kernel, inputs: &inputs, scope: &scope, host: host.as_ref() }.all(&program)?;
        let expected = match (host, reference) {
            (Some(host), Some((_, place))) => Some(host.expected(&placed.filled()).map_err(|message| place.fail(message))?),
            _ => None,
        };
        let limits = kernel.launch.limits.values(&scope)?;
        let launch = Launch { grid: info.grid, block: info.block, args: placed.args, shared_bytes: dynamic, limits };
        let (entry, memory, regions) = (program.name.clone(), placed.memory, placed.regions);
        Ok(Prepared { program, instance: Instance { memory, entry, launch, regions, expected }, info })
    }

    /// Returns the names of the inputs, and the names that the kernel defines.
    fn scope(&self, inputs: &Inputs) -> Result<Scope, KernelError> {
        let mut scope = inputs.scope.clone();
        for (name, formula) in &self.kernel.launch.lets {
            scope.set(name, formula.value(&scope)?);
        }
        Ok(scope)
    }

    /// Returns the code; name, geometry and resources; and bytes of dynamic shared memory.
    fn compiled(&self, scope: &Scope) -> Result<(Program, KernelInfo, u32), KernelError> {
        let (kernel, form) = (&*self.kernel, &self.kernel.launch);
        let (file, ptx) = ptx(&kernel.code)?;
        let module = parser::parse(&file, &ptx)?;
        let program = Program::of(&module, &entry(&form.entry, &module, scope)?)?;
        let registers_per_thread = match self.input.registers {
            Some(count) => asked(kernel, count)?,
            None => registers(kernel, &program.name)?,
        };
        let dynamic = form.shared_bytes.extent(scope, 0, "dynamic shared memory in bytes")?;
        let (grid, block) = (extents(&form.grid, scope, "TBs of the grid")?, extents(&form.block, scope, "threads of a TB")?);
        let shared_bytes = program.shared_with(dynamic);
        let info = KernelInfo { name: kernel.name.clone(), grid, block, registers_per_thread, shared_bytes };
        Ok((program, info, dynamic))
    }
}

/// Reads the PTX text, and its file name for messages.
fn ptx(code: &Code) -> Result<(Cow<'_, str>, Cow<'_, str>), DescriptionError> {
    match code {
        Code::BuiltIn(files, _) => Ok((files.ptx_file.into(), files.ptx.into())),
        Code::Files { ptx, .. } => ptx.read(),
    }
}

fn entry(entry: &Entry, module: &Module<'_>, scope: &Scope) -> Result<String, KernelError> {
    match entry {
        Entry::Named(name) => Ok(name.clone()),
        Entry::Only => only_entry(module),
        Entry::BySetting { key, entries, place } => {
            let value = scope.require(key).map_err(|message| place.fail(message))?;
            let entry = entries.iter().find(|(of, _)| *of == value).map(|(_, entry)| entry.clone());
            entry.ok_or_else(|| place.fail(format!("no entry for {key} = {value}")).into())
        }
    }
}

/// Returns the entry of a module with only one.
fn only_entry(module: &Module<'_>) -> Result<String, KernelError> {
    let file = &module.file;
    match module.entries.as_slice() {
        [one] => Ok(one.name.to_owned()),
        [] => Err(DescriptionError(format!("{file}: the module has no entry")).into()),
        several => {
            let names: Vec<String> = several.iter().map(|entry| names::shown(entry.name)).collect();
            Err(DescriptionError(format!("{file}: ambiguous entry: the module has {}; name one", names.join(", "))).into())
        }
    }
}

/// Returns the registers per thread that the user requests instead of the kernel's own.
fn asked(kernel: &Kernel, count: u64) -> Result<u32, KernelError> {
    let possible = u32::try_from(count).ok().filter(|count| (1..=MAX_REGISTERS).contains(count));
    possible.ok_or_else(|| KernelError::Setting {
        kernel: kernel.name().into(),
        setting: REGISTERS.into(),
        value: count.to_string(),
        message: format!("a thread has 1 to {MAX_REGISTERS} registers"),
    })
}

/// Returns the registers per thread.
fn registers(kernel: &Kernel, entry: &str) -> Result<u32, KernelError> {
    let registers = match &kernel.code {
        Code::BuiltIn(_, Some(count)) | Code::Files { registers: Registers::Count(count), .. } => *count,
        Code::BuiltIn(files, None) => ptxas::parse(files.report_file, files.report, entry)?.registers,
        Code::Files { registers: Registers::Report(path), .. } => {
            ptxas::parse(&path.display().to_string(), &code::text(path, "ptxas report")?, entry)?.registers
        }
        Code::Files { registers: Registers::Printed(name, report), .. } => ptxas::parse(name, report, entry)?.registers,
        Code::Files { registers: Registers::OfSource(path), .. } => {
            let message = format!("{}: the number of registers per thread is unknown without a report of nvcc; set it", path.display());
            return Err(DescriptionError(message).into());
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

/// Data from which buffers and arguments are built.
struct Placing<'a> {
    kernel: &'a Kernel,
    inputs: &'a Inputs,
    scope: &'a Scope,
    host: Option<&'a Host>,
}

/// Memory with its contents.
struct Placed {
    memory: DeviceMemory,
    buffers: Vec<(String, Buffer)>,
    regions: Vec<Region>,
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
        words.ok_or_else(|| format!("no `{part}` to fill it with"))
    }

    /// Places the named buffers in order, then those of arguments.
    fn all(&self, program: &Program) -> Result<Placed, DescriptionError> {
        let form = &self.kernel.launch;
        let (given, wanted) = (form.args.len(), program.params.len());
        if given != wanted {
            let list: Vec<String> = program.params.iter().map(|p| format!("{} ({} bytes)", p.name, p.bytes)).collect();
            let list = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
            let message = format!("{given} arguments, entry {} takes {wanted}: {list}", names::quoted(&program.name));
            return Err(self.kernel.origin.fail(message));
        }
        self.check_room()?;
        let words = |giver: Giver, part: &str| self.words(giver, part);
        let sources = || Sources { scope: self.scope, folder: self.kernel.folder(), words: &words };
        let mut memory = DeviceMemory::new();
        // One random stream for all named buffers, in address order.
        let mut random = Random::new(self.inputs.seed);
        let (mut buffers, mut regions, mut known) = (Vec::new(), Vec::new(), Vec::new());
        for buffer in &form.buffers {
            let NamedBuffer { name, element, count, fills, border, place } = buffer;
            let number = |formula: &Option<Formula>| formula.as_ref().map(|formula| number_of(formula, self.scope)).transpose();
            let count = number(count)?;
            let allocated = if border.is_none() {
                sources().allocate(&mut memory, *element, count, fills, &mut random)
            } else {
                let sides = [number(&border.before)?.unwrap_or(0), number(&border.after)?.unwrap_or(0)];
                sources().allocate_between(&mut memory, (*element, count, fills), (sides, &border.fills), &mut random)
            };
            let (handle, count) = allocated.map_err(|message| place.fail(format!("buffer `{name}`: {message}")))?;
            let around = if border.is_none() { "" } else { " and its guard elements" };
            memory.label(handle, &format!("`{name}`{around}"));
            known.push((name.as_str(), *element, count, handle.address));
            regions.push(Region { name: name.clone(), address: handle.address, bytes: count * u64::from(element.bytes()) });
            buffers.push((name.clone(), handle));
        }
        let mut textures = Vec::new();
        for texture in &form.textures {
            textures.push((texture.name.as_str(), texture.bind(self.scope, &known, &mut memory)?));
        }
        let mut launching = Launching { sources: sources(), buffers: &known, textures: &textures, memory: &mut memory };
        let mut args = Vec::with_capacity(given);
        // Separate buffers have separate random streams, so that each can be omitted.
        for (number, ((place, argument), param)) in (0..).zip(form.args.iter().zip(&program.params)) {
            let arg = argument.place(param, &mut launching, self.inputs.seed.wrapping_add(number));
            let arg = arg.map_err(|message| place.fail(message))?;
            if let (Argument::Buffer(element, count, _), Arg::U64(address)) = (argument, &arg) {
                let count = argument::elements(count, self.scope).map_err(|message| place.fail(message))?;
                regions.push(Region { name: format!("arg{}", number + 1), address: *address, bytes: count * u64::from(element.bytes()) });
            }
            args.push(arg);
        }
        let mut values = Vec::with_capacity(form.variables.len());
        for (number, variable) in (given as u64..).zip(&form.variables) {
            let seed = self.inputs.seed.wrapping_add(number);
            let found = variable::find(&program.image, &variable.name).map_err(|message| variable.place.fail(message))?;
            let bytes = variable::bytes(found, &variable.value, &mut launching, seed, &mut random);
            values.push((found.address, bytes.map_err(|message| variable.place.fail(format!("variable `{}`: {message}", variable.name)))?));
        }
        self.set(program, &memory, &values)?;
        Ok(Placed { memory, buffers, regions, args })
    }

    /// Places the module's variables in memory, with the values of the description instead of those
    /// in the PTX.
    fn set(&self, program: &Program, memory: &DeviceMemory, values: &[(u64, Vec<u8>)]) -> Result<(), DescriptionError> {
        if values.is_empty() {
            return Ok(());
        }
        let loaded = memory.load(&program.image);
        let written = values.iter().try_for_each(|(address, bytes)| memory.write(*address, bytes));
        match written {
            Ok(()) if loaded => Ok(()),
            _ => Err(self.kernel.origin.fail("the variables do not fit the module")),
        }
    }

    /// Checks the sizes of all buffers before any is allocated.
    fn check_room(&self) -> Result<(), DescriptionError> {
        let mut sum: u64 = 0;
        let mut add = |counts: &[u64], element: Element, place: &dyn Fn(String) -> DescriptionError| {
            let bytes = counts.iter().fold(0, |sum: u64, &count| sum.saturating_add(count)).saturating_mul(element.bytes().into());
            if bytes > MOST_BYTES {
                return Err(place(format!("a buffer has at most {MOST_BYTES} bytes")));
            }
            sum = sum.saturating_add(bytes);
            host_memory::check(sum).map_err(place)
        };
        for NamedBuffer { name, element, count, border, place, .. } in &self.kernel.launch.buffers {
            let counts = [count, &border.before, &border.after].into_iter().flatten();
            let counts: Vec<u64> = counts.map(|count| number_of(count, self.scope)).collect::<Result<_, _>>()?;
            add(&counts, *element, &|message| place.fail(format!("buffer `{name}`: {message}")))?;
        }
        for (place, argument) in &self.kernel.launch.args {
            if let Argument::Buffer(element, count, _) = argument {
                let count = argument::elements(count, self.scope).map_err(|message| place.fail(message))?;
                add(&[count], *element, &|message| place.fail(message))?;
            }
        }
        Ok(())
    }
}

/// Returns the number of elements.
fn number_of(count: &Formula, scope: &Scope) -> Result<u64, DescriptionError> {
    let value = count.value(scope)?;
    u64::try_from(value).map_err(|_| {
        let (text, with) = (count.expression.text(), count.expression.with(scope));
        count.place.fail(format!("`{text}` elements are {value}, below 0{with}"))
    })
}
