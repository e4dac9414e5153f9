//! Hardware counters of an SM: their meaning and their widths (sources.md D34).
//!
//! Counters saturate, report saturation, and never wrap. A window is at most 2^17 - 1 cycles. An SM
//! with four schedulers of 32 lanes and 256 MSHRs therefore cannot exceed the widths. Saturation
//! means a broken counter or a larger SM.

/// Number of counters per SM.
pub const COUNTERS: usize = 12;

/// Hardware counter of an SM, in the order of [`crate::sm::COUNTERS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Counter {
    /// `C`: core cycles.
    Cycles,
    /// Cycles in which at least one scheduler issued.
    IssueCycles,
    /// `M`: cycles in which no scheduler issued and at least one warp waited on memory (sources.md
    /// D35).
    MemoryStallCycles,
    /// Load requests that leave the SM, called misses in the thesis (sources.md D36). They are new
    /// MSHR entries, sector misses included, and loads and atomics that bypass the L1. Merges and
    /// stores do not count.
    LoadRequests,
    /// Warp instructions issued.
    WarpInsts,
    /// Thread instructions issued: active lanes of each warp instruction.
    ThreadInsts,
    /// L1 accesses.
    L1Accesses,
    /// `A`: outstanding misses (MSHR entries), accumulated over memory-stalled cycles.
    OutstandingMisses,
    /// L1 reservation failures; each retry counts.
    L1ReservationFails,
    /// L2 accesses on behalf of this SM.
    L2Accesses,
    /// L2 hits on behalf of this SM.
    L2Hits,
    /// Cycles in which the load/store unit stalled (Dai et al. 2018, section 2.4). In such a cycle
    /// the L1 refused at least one look-up for lack of a line, an MSHR or a miss-queue entry.
    LsuStallCycles,
}

impl Counter {
    /// All counters in register order.
    pub const ALL: [Self; COUNTERS] = [
        Self::Cycles,
        Self::IssueCycles,
        Self::MemoryStallCycles,
        Self::LoadRequests,
        Self::WarpInsts,
        Self::ThreadInsts,
        Self::L1Accesses,
        Self::OutstandingMisses,
        Self::L1ReservationFails,
        Self::L2Accesses,
        Self::L2Hits,
        Self::LsuStallCycles,
    ];

    /// Returns the width in bits (sources.md D34).
    ///
    /// Assumption for the last three: 19 bits, as for the L1 accesses.
    #[must_use]
    pub const fn width(self) -> u32 {
        match self {
            Self::Cycles | Self::IssueCycles | Self::MemoryStallCycles | Self::LoadRequests | Self::LsuStallCycles => 17,
            Self::WarpInsts | Self::L1Accesses | Self::L1ReservationFails | Self::L2Accesses | Self::L2Hits => 19,
            Self::ThreadInsts => 24,
            Self::OutstandingMisses => 25,
        }
    }

    /// Returns the largest value, at which the counter saturates.
    #[must_use]
    pub const fn max(self) -> u32 {
        (1 << self.width()) - 1
    }

    /// Returns the position in [`Counter::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the bit of the counter in [`crate::sm::SATURATED`].
    #[must_use]
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Returns the offset of the counter's register within an SM's region.
    #[must_use]
    pub const fn register(self) -> u32 {
        crate::sm::COUNTERS + 4 * self as u32
    }
}
