//! Transport of contexts between an SM and device memory: one TB after the other, one request per
//! cycle where the crossbar has space, after the load/store unit and past the L1 (sources.md D133).
//!
//! A context is written from the TB's registers and shared memory to its own area, by sector (or by
//! line, where caches fetch lines). It has left when all of it is acknowledged, and is back when
//! all of it has arrived. The alternative is the paper's own model, in which a TB waits and nothing
//! moves (Shieh 2016, section 4.1).

use crate::memory::{Port, Request, RequestKind};
use std::collections::VecDeque;

/// Flag in the tags of context requests. The load/store unit's tags are smaller, or of fills.
pub(in crate::sm) const TAG_CONTEXT: u32 = 1 << 30;

/// First sector of the context area (assumption: above all addresses of kernels; a GPU has 47-bit
/// byte addresses).
const AREA: u64 = 1 << 41;
/// Logarithm of the sectors of the area for each kernel slot.
const SLOT_BITS: u32 = 36;

/// Direction of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Out,
    In,
}

/// Moving context.
#[derive(Clone, Copy, Debug)]
struct Context {
    place: u8,
    way: Way,
    kernel: u8,
    /// Next sector to request, and number of sectors left.
    sector: u64,
    left: u32,
    /// Number of unanswered requests.
    outstanding: u32,
    /// Earliest cycle of arrival; with the paper's model, the end of the wait.
    due: u64,
}

/// Contexts of an SM.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    sm: u16,
    /// Sectors per request, a power of two.
    sectors: u32,
    /// Contexts in the order of their moves: the front one sends requests, earlier ones await
    /// answers.
    contexts: VecDeque<Context>,
}

impl Traffic {
    /// Creates the transport of SM `sm`, with requests of `sectors` sectors.
    pub(super) fn new(sm: u16, sectors: u32) -> Self {
        Traffic { sm, sectors, contexts: VecDeque::new() }
    }

    /// Queues a context of `bytes` for the crossbar, of TB `index` of the kernel in slot `kernel`.
    pub(super) fn send(&mut self, place: u8, way: Way, kernel: u8, index: u32, bytes: u32) {
        let requests = bytes.div_ceil(32 * self.sectors).max(1);
        let sector = AREA + (u64::from(kernel) << SLOT_BITS) + u64::from(index) * u64::from(requests * self.sectors);
        self.contexts.push_back(Context { place, way, kernel, sector, left: requests, outstanding: 0, due: 0 });
    }

    /// Queues a context that arrives in cycle `due`, without traffic.
    pub(super) fn wait(&mut self, place: u8, way: Way, kernel: u8, due: u64) {
        self.contexts.push_back(Context { place, way, kernel, sector: 0, left: 0, outstanding: 0, due });
    }

    /// Handles the answer to a request of the context in `place`, visible from cycle `from` on.
    pub(super) fn answered(&mut self, place: u8, from: u64) {
        if let Some(context) = self.contexts.iter_mut().find(|context| context.place == place) {
            context.outstanding -= 1;
            context.due = from;
        }
    }

    /// True if a context waits for a previous one that moves.
    pub(super) fn is_queued(&self) -> bool {
        self.contexts.iter().filter(|context| context.left > 0).nth(1).is_some()
    }

    /// Sends one more request, if there is space.
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

    /// Takes a context that has arrived by cycle `now`: its position and direction.
    pub(super) fn take_arrived(&mut self, now: u64) -> Option<(u8, Way)> {
        let at = self.contexts.iter().position(|context| context.left == 0 && context.outstanding == 0 && context.due <= now)?;
        self.contexts.remove(at).map(|context| (context.place, context.way))
    }

    /// Next cycle after `now` with an internal event.
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        let due = |context: &Context| match (context.left, context.outstanding) {
            (0, 0) => Some(context.due.max(now + 1)),
            (0, _) => None,
            _ => Some(now + 1),
        };
        self.contexts.iter().filter_map(due).min()
    }
}
