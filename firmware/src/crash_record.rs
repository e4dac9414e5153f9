//! Crash record after a fault or a bus failure: the last events and the stop address.
//!
//! It is in memory at a fixed address that no reset clears. The images keep it at the start of RAM
//! (`images/memory/*.x`), where a debugger or the host reads it. It is an [`Observer`]: it records
//! every event passed to the scheduler, and closes when the bus fails.

use crate::driver::Observer;
use crate::scheduler::Event;

/// Capacity in events: a power of two.
pub const EVENTS: usize = 8;

/// Value of [`CrashRecord::magic`] after a fault: "RIP!" in ASCII, most significant byte first.
pub const MAGIC: u32 = 0x5249_5021;

/// Value of [`CrashRecord::cause`] after a bus failure: "BUS!" in ASCII, most significant byte
/// first.
///
/// No exception has that number: on Arm they are below 2^9, and RISC-V reserves codes from 64 on.
pub const BUS_FAILED: u32 = 0x4255_5321;

/// Crash record, with its words in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CrashRecord {
    /// [`MAGIC`] after a fault; any other value before one.
    pub magic: u32,
    /// Cause: the exception number on Arm, `mcause` on RISC-V, or [`BUS_FAILED`].
    pub cause: u32,
    /// Address of the faulting instruction; after a bus failure, the byte offset of the register.
    pub address: u32,
    /// Number of events so far, modulo 2^32.
    pub count: u32,
    /// Last events: event `n` is in place `n mod 8`. The lowest byte is the code ([`code`]), and
    /// the next the slot or the word of SMs. The upper two are the lower half of the cycle.
    pub events: [u32; EVENTS],
}

impl CrashRecord {
    /// A record without events.
    pub const EMPTY: Self = Self { magic: 0, cause: 0, address: 0, count: 0, events: [0; EVENTS] };

    /// Closes the record with the cause and the address.
    pub fn close(&mut self, cause: u32, address: u32) {
        (self.cause, self.address) = (cause, address);
        self.magic = MAGIC;
    }
}

impl Observer for CrashRecord {
    fn event(&mut self, event: &Event, now: u64) {
        let (code, detail) = code(event);
        if let Some(place) = self.events.get_mut(self.count as usize % EVENTS) {
            *place = (now as u32) << 16 | u32::from(detail) << 8 | u32::from(code);
        }
        self.count = self.count.wrapping_add(1);
    }

    fn bus_failed(&mut self, register: u32) {
        self.close(BUS_FAILED, register);
    }
}

/// Returns the code of an event, from 1 in the order of [`Event`], and its slot or word of SMs.
#[must_use]
pub const fn code(event: &Event) -> (u8, u8) {
    match event {
        Event::Launched(kernel) => (1, kernel.slot),
        Event::Drained(slot) => (2, *slot),
        Event::Completed(slot) => (3, *slot),
        Event::PartitionReached(sms) => (4, sms.word),
        Event::ProfileDone(sms) => (5, sms.word),
        Event::Timer => (6, 0),
        Event::CountersRead => (7, 0),
        Event::BroadcastDone => (8, 0),
    }
}
