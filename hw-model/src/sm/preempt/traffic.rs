//! The way of contexts between an SM and device memory: one TB after the other, a request per cycle where the crossbar has room, behind the
//! load/store unit and past the L1 (sources.md D133).
//!
//! A context is written from the TB's registers and shared memory to an area of its own, by the sector (or by the line, where caches fetch
//! lines), and has left when all of it is acknowledged; it is back when all of it has come. Beside it stands the paper's own model, in which
//! a TB waits and nothing moves (Shieh 2016, section 4.1).

use crate::memory::{Port, Request, RequestKind};
use std::collections::VecDeque;

/// Set in the tags of requests of contexts. The load/store unit's tags are smaller, or of fills.
pub(in crate::sm) const TAG_CONTEXT: u32 = 1 << 30;

/// First sector of the area of contexts (assumption: above all that kernels address; 47 bits of bytes are what a GPU has).
const AREA: u64 = 1 << 41;
/// Sectors of the area for each kernel slot.
const SLOT_BITS: u32 = 36;

/// Which way a context goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Out,
    In,
}

/// A context on its way.
#[derive(Clone, Copy, Debug)]
struct Context {
    place: u8,
    way: Way,
    kernel: u8,
    /// The next sector to ask for, and how many are left.
    sector: u64,
    left: u32,
    /// Asked for and not answered.
    outstanding: u32,
    /// When it is there at the earliest: with the paper's model, when its time is over.
    due: u64,
}

/// Contexts of an SM.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    sm: u16,
    /// Sectors per request, a power of two.
    sectors: u32,
    /// In the order in which they go: the front is the one that asks, earlier ones await answers.
    contexts: VecDeque<Context>,
}

impl Traffic {
    /// Of SM `sm`, whose requests are of so many sectors.
    pub(super) fn new(sm: u16, sectors: u32) -> Self {
        Traffic { sm, sectors, contexts: VecDeque::new() }
    }

    /// A context of `bytes` goes through the crossbar, of TB `index` of the kernel in slot `kernel`.
    pub(super) fn send(&mut self, place: u8, way: Way, kernel: u8, index: u32, bytes: u32) {
        let requests = bytes.div_ceil(32 * self.sectors).max(1);
        let sector = AREA + (u64::from(kernel) << SLOT_BITS) + u64::from(index) * u64::from(requests * self.sectors);
        self.contexts.push_back(Context { place, way, kernel, sector, left: requests, outstanding: 0, due: 0 });
    }

    /// A context that is there in cycle `due`, without traffic.
    pub(super) fn wait(&mut self, place: u8, way: Way, kernel: u8, due: u64) {
        self.contexts.push_back(Context { place, way, kernel, sector: 0, left: 0, outstanding: 0, due });
    }

    /// A request of the context in `place` has been answered, which is seen from cycle `from` on.
    pub(super) fn answered(&mut self, place: u8, from: u64) {
        if let Some(context) = self.contexts.iter_mut().find(|context| context.place == place) {
            context.outstanding -= 1;
            context.due = from;
        }
    }

    /// Whether a context waits for one before it that moves.
    pub(super) fn is_queued(&self) -> bool {
        self.contexts.iter().filter(|context| context.left > 0).nth(1).is_some()
    }

    /// Asks for one request more, if there is room.
    pub(super) fn cycle(&mut self, port: &mut Port<'_>) {
        let Some(context) = self.contexts.iter_mut().find(|context| context.left > 0) else { return };
        let kind = match context.way {
            Way::Out => RequestKind::Write,
            Way::In => RequestKind::Read,
        };
        if !port.can_inject(kind) {
            return;
        }
        port.inject(Request {
            sector: context.sector,
            byte_mask: u32::MAX,
            more_sectors: (self.sectors - 1) as u8,
            sm: self.sm,
            kernel: context.kernel,
            kind,
            tag: TAG_CONTEXT | u32::from(context.place),
        });
        context.sector += u64::from(self.sectors);
        context.left -= 1;
        context.outstanding += 1;
    }

    /// A context that has arrived by cycle `now`: its place and way.
    pub(super) fn take_arrived(&mut self, now: u64) -> Option<(u8, Way)> {
        let at = self.contexts.iter().position(|context| context.left == 0 && context.outstanding == 0 && context.due <= now)?;
        self.contexts.remove(at).map(|context| (context.place, context.way))
    }

    /// The next cycle after `now` in which something happens by itself.
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        let due = |context: &Context| match (context.left, context.outstanding) {
            (0, 0) => Some(context.due.max(now + 1)),
            (0, _) => None,
            _ => Some(now + 1),
        };
        self.contexts.iter().filter_map(due).min()
    }
}
