//! A kernel on the GPU: its module, its data, and copies of its initial data.

use crate::driver::{Block, Function, Module, Stream, copy, read, write};
use crate::fit::Need;
use crate::kernel::{Kernel, Places};
use std::path::Path;

/// Allocation unit of registers per thread (`cuda_occupancy.h`: 256 per warp).
const REGISTER_UNIT: u32 = 8;

/// A kernel that can be launched.
#[derive(Debug)]
pub struct Loaded {
    /// Kernel in the library's form.
    pub kernel: Kernel,
    /// Original entry.
    pub original: Function,
    /// Slot form of the entry.
    pub slot: Function,
    /// Demand of a TB of the slot form.
    pub need: Need,
    /// Local memory of the slot form and of the original, in bytes per thread.
    pub local: [u32; 2],
    /// Registers per thread of the original.
    pub registers: u32,
    /// Arguments of the original.
    pub arguments: Vec<Vec<u8>>,
    /// The kernel's own arguments of the slot form.
    pub slot_arguments: Vec<Vec<u8>>,
    /// Bytes from one pass's own memory to the next pass's.
    pub stride: u64,
    _module: Module,
    arena: [Block; 2],
    own: Option<Block>,
    /// Address and initial contents of each variable.
    variables: Vec<(u64, Block)>,
}

impl Loaded {
    /// Assembles the kernel and fills its memory.
    ///
    /// The slot form is limited to the original's registers if it would take more units and does
    /// not spill then. If the folder `cubins` has the machine code `NAME_slot.cubin`, it is used
    /// unchanged.
    ///
    /// # Errors
    /// The driver's error, or the reason why there is no slot form.
    pub fn new(kernel: Kernel, cubins: Option<&Path>) -> Result<Self, String> {
        let entry = &kernel.prepared.instance.entry;
        let named = |error: String| format!("`{}`: {error}", kernel.word);
        let load = |registers: Option<u32>| -> Result<(Module, Function, Function), String> {
            let form = kernel.slot(registers)?;
            let cubin = cubins.and_then(|folder| std::fs::read(folder.join(format!("{}.cubin", form.name))).ok());
            let module = Module::of(cubin.as_deref().unwrap_or(form.ptx.as_bytes())).map_err(named)?;
            let (original, slot) = (module.function(entry)?, module.function(&form.name)?);
            Ok((module, original, slot))
        };
        let mut loaded = load(None)?;
        let units = |function: Function| function.registers().map(|count| count.div_ceil(REGISTER_UNIT));
        let wanted = units(loaded.1)?;
        // Retries without the limit if the assembler rejects it, or spills with it.
        if units(loaded.2)? > wanted
            && let Ok(limited) = load(Some(wanted * REGISTER_UNIT))
            && limited.2.local()? <= loaded.2.local()?
        {
            loaded = limited;
        }
        let (module, original, slot) = loaded;
        let contents = kernel.contents();
        let arena = [Block::holding(&contents)?, Block::holding(&contents)?];
        let stride = kernel.own.as_ref().map_or(0, |own| (own.end - own.start).next_multiple_of(256));
        let own = kernel.passes().map(|passes| Block::new(passes as usize * stride as usize)).transpose()?;
        let places = Places { arena: arena[0].address(), own: own.as_ref().map(Block::address) };
        let mut variables = Vec::new();
        for (name, value) in kernel.variables(places) {
            let (address, bytes) = module.variable(&name).map_err(named)?;
            if let Some(value) = value {
                write(address, &value[..bytes.min(value.len())])?;
            }
            variables.push((address, Block::holding(&read(address, bytes)?)?));
        }
        let shared = slot.shared()? + kernel.prepared.instance.launch.shared_bytes;
        Ok(Loaded {
            original,
            slot,
            need: Need { threads: kernel.threads(), registers: slot.registers()?, shared },
            local: [slot.local()?, original.local()?],
            registers: original.registers()?,
            arguments: kernel.arguments(Places { own: None, ..places }),
            slot_arguments: kernel.arguments(places),
            stride,
            _module: module,
            arena,
            own,
            variables,
            kernel,
        })
    }

    /// Restores the initial data, in a stream's order.
    ///
    /// # Errors
    /// The driver's error.
    pub fn restore(&self, stream: &Stream) -> Result<(), String> {
        let [arena, pristine] = &self.arena;
        copy(arena.address(), pristine.address(), arena.bytes(), stream)?;
        for (address, pristine) in &self.variables {
            copy(*address, pristine.address(), pristine.bytes(), stream)?;
        }
        if let (Some(copies), Some(own)) = (&self.own, &self.kernel.own) {
            let (from, bytes) = (pristine.address() + own.start - self.kernel.arena.start, (own.end - own.start) as usize);
            for pass in 0..copies.bytes() as u64 / self.stride {
                copy(copies.address() + pass * self.stride, from, bytes, stream)?;
            }
        }
        Ok(())
    }

    /// Returns the buffers after a run of the original.
    ///
    /// # Errors
    /// The driver's error.
    pub fn results(&self) -> Result<Vec<u8>, String> {
        self.arena[0].read(0, self.arena[0].bytes())
    }

    /// Returns the buffers after one pass of the slot form.
    ///
    /// # Errors
    /// The driver's error.
    pub fn slot_results(&self) -> Result<Vec<u8>, String> {
        let mut bytes = self.results()?;
        if let (Some(copies), Some(own)) = (&self.own, &self.kernel.own) {
            let [start, end] = [own.start, own.end].map(|address| (address - self.kernel.arena.start) as usize);
            bytes[start..end].copy_from_slice(&copies.read(0, end - start)?);
        }
        Ok(bytes)
    }
}
