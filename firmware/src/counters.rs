//! The counters of an SM: their meaning, their widths (sources.md D34), and sums over replicas of a configuration.
//!
//! Counters saturate, and say so; they never wrap. A window is at most 2^17 - 1 cycles, so the widths cannot be exceeded by
//! an SM with four schedulers of 32 lanes and 256 MSHRs; saturation means a broken counter or a larger SM.

/// Number of counters per SM.
pub const COUNTERS: usize = 12;

/// A hardware counter, in the order of [`crate::regs::sm::COUNTERS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Counter {
    /// `C`: core cycles.
    Cycles,
    /// Cycles in which at least one scheduler issued.
    IssueCycles,
    /// `M`: cycles in which no scheduler issued and at least one warp waits on memory (sources.md D35).
    MemoryStallCycles,
    /// Load requests leaving the SM, the thesis' misses: new MSHR entries, sector misses included, and loads and atomics that bypass
    /// the L1; no merges, no stores (sources.md D36).
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
    /// Cycles in which the L1 refused at least one look-up for want of a line, an MSHR or a miss-queue entry, so that the load/store
    /// unit stood still (Dai et al. 2018, section 2.4).
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

    /// Width in bits (sources.md D34; of the last three 19, as the L1 accesses, assumption).
    #[must_use]
    pub const fn width(self) -> u32 {
        match self {
            Self::Cycles | Self::IssueCycles | Self::MemoryStallCycles | Self::LoadRequests | Self::LsuStallCycles => 17,
            Self::WarpInsts | Self::L1Accesses | Self::L1ReservationFails | Self::L2Accesses | Self::L2Hits => 19,
            Self::ThreadInsts => 24,
            Self::OutstandingMisses => 25,
        }
    }

    /// Largest value, at which the counter stays.
    #[must_use]
    pub const fn max(self) -> u32 {
        (1 << self.width()) - 1
    }

    /// Position in [`Counter::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The counter's bit in a [`CounterSet`] and in [`crate::regs::sm::SATURATED`].
    #[must_use]
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Offset of its register within an SM's region.
    #[must_use]
    pub const fn register(self) -> u32 {
        crate::regs::sm::COUNTERS + 4 * self as u32
    }
}

/// What can be measured of a configuration beside the sums of its counters: in [`crate::configs::Entry::extra`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Extra {
    /// Progress: what each kernel did over what it does alone in the same time, summed over kernels and SMs: a
    /// [`crate::quantity::Gain`]. Alone is how the configuration with TBs of that kernel only was measured.
    Progress = 1 << 30,
    /// L2 accesses that did not hit, summed over SMs.
    L2Misses = 1 << 31,
    /// Speedup and progress as predicted for the whole GPU, in one number ([`crate::metric::roofline`]); of kernels alone, their traffic.
    Speedup = 1 << 29,
    /// Progress as predicted for the whole GPU; of kernels alone, their traffic.
    WholeProgress = 1 << 28,
}

/// A set of counters: which ones a decision needs, and what else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterSet(u32);

impl CounterSet {
    /// What reports ask for: every counter up to the L2 hits, and whether one saturated. Those behind are for other readers of the block;
    /// no policy of the firmware sums them.
    pub const ALL: Self = Self((Counter::L2Hits.bit() << 1) - 1);

    /// The set of the counters given.
    #[must_use]
    pub const fn of(counters: &[Counter]) -> Self {
        let mut bits = 0;
        let mut rest = counters;
        while let [first, tail @ ..] = rest {
            bits |= first.bit();
            rest = tail;
        }
        Self(bits)
    }

    /// One bit per counter, as in [`Counter::bit`], and per further measurement.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The set and one more measurement.
    #[must_use]
    pub const fn with(self, extra: Extra) -> Self {
        Self(self.0 | extra as u32)
    }

    /// The further measurement.
    #[must_use]
    pub const fn extra(self) -> Option<Extra> {
        if self.0 & Extra::Progress as u32 != 0 {
            Some(Extra::Progress)
        } else if self.0 & Extra::L2Misses as u32 != 0 {
            Some(Extra::L2Misses)
        } else if self.0 & Extra::Speedup as u32 != 0 {
            Some(Extra::Speedup)
        } else if self.0 & Extra::WholeProgress as u32 != 0 {
            Some(Extra::WholeProgress)
        } else {
            None
        }
    }

    /// Whether a counter is in the set.
    #[must_use]
    pub const fn contains(self, counter: Counter) -> bool {
        self.0 & counter.bit() != 0
    }
}
