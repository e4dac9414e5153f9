//! Bus over a register block in the target's address space.

use core::ptr::NonNull;

use safe_mmio::fields::ReadWrite;
use safe_mmio::{UniqueMmioPointer, field};

use super::Bus;
#[cfg(feature = "preempt")]
use crate::{MAP_END, preempt};
use crate::{MAX_SMS, sm};

/// Words of an SM's region, which are one row of the map. The number of rows is a power of two, and
/// half of them belong to SMs. An offset that is masked to this range therefore stays within the
/// map.
const ROW_WORDS: usize = sm::STRIDE as usize / 4;
const _: () = assert!(ROW_WORDS.is_power_of_two() && MAX_SMS.is_power_of_two() && sm::BASE as usize == MAX_SMS * ROW_WORDS * 4);

type Row = [ReadWrite<u32>; ROW_WORDS];

/// Memory layout of the register block.
#[repr(C)]
struct Block {
    /// Global registers and slots.
    head: [Row; MAX_SMS],
    sms: [Row; MAX_SMS],
    /// Preemption registers, used only by an image with that feature.
    #[cfg(feature = "preempt")]
    preempt: [Row; PREEMPT_ROWS],
}

/// Rows of the preemption registers, which follow those of the SMs.
#[cfg(feature = "preempt")]
const PREEMPT_ROWS: usize = (preempt::STRIDE / sm::STRIDE) as usize * MAX_SMS;
#[cfg(feature = "preempt")]
const _: () =
    assert!(preempt::STRIDE.is_multiple_of(sm::STRIDE) && preempt::BASE == 2 * sm::BASE && size_of::<Block>() == MAP_END as usize);

/// Volatile 32-bit accesses to a register block that is mapped at a fixed address.
///
/// A barrier is DSB on Arm, and a fence of all accesses on RISC-V. Every offset that the driver
/// uses is within the map. Any other offset wraps around, so no access leaves the block.
#[derive(Debug)]
pub struct MappedBus {
    block: UniqueMmioPointer<'static, Block>,
}

impl MappedBus {
    /// Creates a bus over the register block at `base`.
    ///
    /// # Safety
    /// `base` is not 0 and is aligned to 4 bytes. `base .. base + MAP_END` is device memory that
    /// answers 32-bit accesses. Nothing else accesses it during the lifetime of this value.
    #[must_use]
    pub const unsafe fn new(base: usize) -> Self {
        // SAFETY: not null, as the caller promised.
        let base = unsafe { NonNull::new_unchecked(base as *mut Block) };
        // SAFETY: aligned, mapped and not shared, as the caller promised.
        Self { block: unsafe { UniqueMmioPointer::new(base) } }
    }
}

impl MappedBus {
    /// Calls `access` with the word at an offset.
    #[inline(always)]
    fn with<T: Default>(&mut self, offset: u32, access: impl FnOnce(&mut UniqueMmioPointer<'_, ReadWrite<u32>>) -> T) -> T {
        #[cfg(feature = "preempt")]
        if let Some(beyond) = offset.checked_sub(preempt::BASE) {
            let mut rows = field!(self.block, preempt);
            let (row, column) = ((beyond / sm::STRIDE) as usize, (offset / 4) as usize % ROW_WORDS);
            let mut row = rows.get(row);
            return row.as_mut().and_then(|row| row.get(column)).map_or_else(T::default, |mut word| access(&mut word));
        }
        let (row, column) = ((offset / sm::STRIDE) as usize % MAX_SMS, (offset / 4) as usize % ROW_WORDS);
        let mut rows = if offset & sm::BASE == 0 { field!(self.block, head) } else { field!(self.block, sms) };
        let mut row = rows.get(row);
        row.as_mut().and_then(|row| row.get(column)).map_or_else(T::default, |mut word| access(&mut word))
    }
}

impl Bus for MappedBus {
    #[inline(always)]
    fn read32(&mut self, offset: u32) -> u32 {
        self.with(offset, |word| word.read())
    }

    #[inline(always)]
    fn write32(&mut self, offset: u32, value: u32) {
        self.with(offset, |word| word.write(value));
    }

    #[inline(always)]
    fn barrier(&mut self) {
        // SAFETY: a barrier changes no value. Without `nomem`, it also orders the compiler's
        // accesses.
        #[cfg(target_arch = "arm")]
        unsafe {
            core::arch::asm!("dsb sy", options(nostack, preserves_flags));
        }
        // SAFETY: as above.
        #[cfg(target_arch = "riscv32")]
        unsafe {
            core::arch::asm!("fence iorw, iorw", options(nostack, preserves_flags));
        }
    }

    #[inline(always)]
    fn read_sm_registers<const N: usize>(&mut self, sm: usize, registers: [u32; N]) -> [u32; N] {
        let mut rows = field!(self.block, sms);
        let mut row = rows.get(sm);
        registers.map(|register| {
            let word = row.as_mut().and_then(|row| row.get((register / 4) as usize % ROW_WORDS));
            word.map_or(0, |mut word| word.read())
        })
    }

    #[inline(always)]
    fn read_sms<const N: usize>(
        &mut self,
        (first, step, end): (usize, usize, usize),
        registers: [u32; N],
        mut each: impl FnMut([u32; N]),
    ) -> usize {
        let stride = step.clamp(1, MAX_SMS) * size_of::<Row>();
        let rows = field!(self.block, sms).ptr_mut().cast::<Row>();
        // Addresses instead of indices, so that the loop has one variable.
        let (start, past) = (rows.wrapping_add(first), rows.wrapping_add(end.min(MAX_SMS)));
        let mut at = start;
        while at < past {
            // SAFETY: `at` starts at a row of the block and is not null. It is below `past`, which
            // is at most one row beyond the last. `self` is borrowed for as long as the row is.
            let mut row = unsafe { UniqueMmioPointer::new(NonNull::new_unchecked(at)) };
            each(registers.map(|register| row.get((register / 4) as usize % ROW_WORDS).map_or(0, |mut word| word.read())));
            at = at.wrapping_byte_add(stride);
            // SAFETY: no instruction at all. It keeps the compiler from unrolling the loop. A
            // configuration runs on few SMs, and leaving an unrolled loop early costs more than it
            // saves.
            unsafe { core::arch::asm!("", options(nomem, nostack, preserves_flags)) };
        }
        (at as usize).wrapping_sub(start as usize) / stride
    }
}
