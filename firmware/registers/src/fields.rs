//! Bit masks and codes inside registers.

/// Event bits of [`super::global::INT_STATUS`] and [`super::global::INT_ENABLE`].
pub mod interrupt {
    /// A kernel was launched.
    pub const LAUNCH: u32 = 1 << 0;
    /// A kernel has no TB left to issue.
    pub const DRAINED: u32 = 1 << 1;
    /// A kernel's last TB has retired.
    pub const COMPLETED: u32 = 1 << 2;
    /// An armed SM reached its partition.
    pub const PARTITION: u32 = 1 << 3;
    /// An SM's profiling window is over.
    pub const PROFILE_DONE: u32 = 1 << 4;
    /// The global timer expired.
    pub const TIMER: u32 = 1 << 5;
    /// A fault was raised.
    pub const FAULT: u32 = 1 << 6;
    /// Preemption commands of an SM are done, or refused.
    pub const PREEMPT_DONE: u32 = 1 << 7;
    /// The firmware must check the memory-issue counters. It recurs every
    /// [`super::super::global::MEMORY_INTERVAL`] cycles.
    pub const MEMORY: u32 = 1 << 8;
    /// An SM requests space for a kernel ([`super::super::preempt`]).
    pub const PREEMPT: u32 = 1 << 9;
    /// The firmware must check the chip's utilization: an interval of a kernel is over
    /// ([`super::super::global::CONTEXT_DUE`]).
    pub const OVERSUBSCRIPTION: u32 = 1 << 10;
    /// A launch entered the window of the queue, or a slot became free for a waiting launch. It
    /// occurs only while the firmware schedules launches ([`super::super::global::QUEUE_MODE`]).
    pub const QUEUE: u32 = 1 << 11;
    /// All events.
    pub const ALL: u32 = 0xFFF;
}

/// Fault bits of [`super::global::FAULT`]: hardware raises bits 0 to 7, firmware bits 8 to 15.
pub mod fault {
    /// An access to an unmapped offset, or one that violates the access rule.
    pub const BAD_ACCESS: u32 = 1 << 0;
    /// A value was clamped.
    pub const VALUE_RANGE: u32 = 1 << 1;
    /// A launch found no free slot.
    pub const LAUNCH_OVERRUN: u32 = 1 << 2;
    /// The watchdog expired.
    pub const WATCHDOG: u32 = 1 << 3;
    /// A command that this hardware does not support.
    pub const UNSUPPORTED: u32 = 1 << 4;
    /// The firmware met an impossible index and fell back to Left-over.
    pub const IMPOSSIBLE_INDEX: u32 = 1 << 8;
    /// A kernel's TB does not fit an empty SM; the launch was rejected.
    pub const KERNEL_TOO_LARGE: u32 = 1 << 9;
    /// Profiling ended without a sample, and Left-over took over.
    pub const NO_SAMPLES: u32 = 1 << 10;
    /// The GPU is larger than the image was built for. The surplus SMs stay idle.
    pub const GPU_TOO_LARGE: u32 = 1 << 11;
    /// The register block is unknown to this firmware.
    pub const WRONG_MAP: u32 = 1 << 12;
    /// The requested preemption is not supported by this firmware or its hardware. No TB is
    /// preempted.
    pub const NO_PREEMPTION: u32 = 1 << 13;
    /// The requested search for SM shares is not supported by this firmware or its hardware. The
    /// SMs are split evenly.
    pub const NO_SEARCH: u32 = 1 << 14;
    /// Firmware control of extra TBs was requested, but the hardware does not support it. There are
    /// no extra TBs.
    pub const NO_OVERSUBSCRIPTION: u32 = 1 << 15;
    /// Fault bits that the firmware may raise.
    pub const BY_FIRMWARE: u32 = 0xFF00;
    /// All fault bits.
    pub const ALL: u32 = 0xFF1F;
}

/// Hardware feature bits of [`super::global::FEATURES`].
pub mod feature {
    /// Ideal transitions (0 cycles).
    pub const IDEAL_TRANSITION: u32 = 1 << 0;
    /// Preemption commands.
    pub const PREEMPT: u32 = 1 << 1;
    /// SMs can hold back memory instructions ([`super::super::memory`]).
    pub const MEMORY_ISSUE: u32 = 1 << 2;
    /// Cache ways can be assigned to kernels ([`super::super::memory::L1_WAYS`],
    /// [`super::super::global::L2_WAYS`]).
    pub const WAYS: u32 = 1 << 3;
    /// SMs can be stalled ([`super::super::sm::STATE_REQUEST`]).
    pub const SM_STATES: u32 = 1 << 4;
    /// Empty SMs can be power-gated.
    pub const POWER_GATING: u32 = 1 << 5;
    /// Per-kernel counters exist ([`super::super::global::KERNEL_SNAPSHOT`]).
    pub const KERNEL_COUNTERS: u32 = 1 << 6;
    /// The active warps of kernels can be limited ([`super::super::sm::ACTIVE_WARPS`]).
    pub const ACTIVE_WARPS: u32 = 1 << 7;
    /// The firmware sets the number of extra TBs of each kernel
    /// ([`super::super::global::CONTEXT_ALLOWED`]).
    pub const OVERSUBSCRIPTION: u32 = 1 << 8;
    /// The order of DRAM requests can be set ([`super::super::global::DRAM_ORDER`]).
    pub const DRAM_ORDER: u32 = 1 << 9;
    /// The L1's miss resources can be partitioned among kernels
    /// ([`super::super::global::MISS_WEIGHT`]).
    pub const MISS_SHARES: u32 = 1 << 10;
    /// The firmware can select the next launch of the queue ([`super::super::global::QUEUE_MODE`]).
    pub const QUEUE: u32 = 1 << 11;
}

/// DRAM request orders, in [`super::global::DRAM_ORDER`]. Each defines the meaning of
/// [`super::global::DRAM_CAP`].
pub mod dram_order {
    /// The oldest request of a bank that hits the open row, else the oldest. No cap.
    pub const FR_FCFS: u32 = 0;
    /// The oldest request of a bank. No cap.
    pub const FCFS: u32 = 1;
    /// Requests in the order of `FR_FCFS`, with a cap on row hits that pass an older request of
    /// another kernel (after Mutlu and Moscibroda 2007). Once the cap is reached, that request goes
    /// first. A cap of 0 means 4.
    pub const KERNEL_CAP: u32 = 2;
    /// Batches with a capped number of requests of each kernel per bank (Mutlu and Moscibroda
    /// 2008). The kernel with the least work in the batch goes first. A cap of 0 means 5.
    pub const BATCH: u32 = 3;
    /// By bandwidth shares: the kernel furthest behind its share goes first (Nesbit et al. 2006).
    /// The cap limits the sectors by which row hits may run ahead. A cap of 0 means 16.
    pub const SHARES: u32 = 4;
}

/// Transition modes, in [`super::global::MODE`].
pub mod mode {
    /// TBs in excess of a quota run to their end (the thesis).
    pub const DRAIN: u32 = 0;
    /// A new partition takes effect at once, at no cost.
    pub const IDEAL: u32 = 1;
    /// TBs in excess of a quota, or that block a kernel of higher priority, leave by firmware
    /// command ([`super::super::preempt`]). Without a command they run to their end.
    pub const PREEMPT: u32 = 2;
}

/// Option bits of [`super::global::STRAP_OPTIONS`].
pub mod option {
    /// Decide by warp instructions instead of thread instructions.
    pub const WARP_IPC: u32 = 1 << 0;
    /// Use only configurations with at least one TB of every kernel.
    pub const REQUIRE_ALL_PRESENT: u32 = 1 << 1;
    /// Use Linear as printed in Nasef 2023, eq. 3.8, with the GPU-wide bracket.
    pub const LITERAL_LINEAR: u32 = 1 << 2;
    /// Always cap TBs per SM by the remaining TBs of a kernel. Without this option the cap applies
    /// to small grids only.
    pub const ALWAYS_CAP_REMAINING: u32 = 1 << 3;
    /// Read every counter for reports, including those that the metric does not need.
    pub const READ_ALL_COUNTERS: u32 = 1 << 4;
    /// Use ideal transitions.
    pub const IDEAL_TRANSITION: u32 = 1 << 5;
    /// Warped-Slicer uses the profiled IPC without the scaling factor.
    pub const UNSCALED_PROFILE: u32 = 1 << 6;
    /// The firmware limits the kernels' memory instructions in flight (Dai et al. 2018, section
    /// 3.3.2).
    pub const LIMIT_MEMORY: u32 = 1 << 7;
    /// Raise the memory-instruction limit by one after an interval with fewer reservation fails
    /// than requests. Otherwise remove it.
    pub const LIMIT_GROWS: u32 = 1 << 8;
    /// Derive the memory-instruction limit from all reservation fails. Without this option the
    /// count saturates at 12 bits per 1,024 requests.
    pub const LIMIT_WIDE: u32 = 1 << 9;
    /// Hold back memory instructions only after the decision, not while configurations are tried.
    pub const MEMORY_FROM_DECISION: u32 = 1 << 10;
    /// A search for SM shares classifies a kernel as memory-intensive by its used share of DRAM
    /// bandwidth, not by its demand.
    pub const SEARCH_BY_UTILIZATION: u32 = 1 << 11;
    /// A search for SM shares reassigns the SMs that it takes from a kernel in every step. Without
    /// this option it stalls them until it is over.
    pub const SEARCH_REASSIGNS: u32 = 1 << 12;
    /// A search for SM shares classifies a kernel as memory-intensive if its SMs of the even split
    /// demand more bandwidth than exists. Without this option the demand of all SMs of the chip
    /// counts.
    pub const SEARCH_BY_SHARE: u32 = 1 << 13;
    /// The firmware controls the number of extra TBs per kernel (Lin et al. 2018, section 6.4).
    pub const CONTROL_OVERSUBSCRIPTION: u32 = 1 << 14;
    /// The firmware selects the next launch of the queue (docs/porting/firmware.md).
    pub const SCHEDULE_LAUNCHES: u32 = 1 << 15;
    /// The firmware sets the memory-issue mode from the straps.
    pub const SET_MEMORY_ISSUE: u32 = 1 << 16;
    /// The firmware sets the DRAM request order from the straps.
    pub const SET_DRAM_ORDER: u32 = 1 << 17;
}

/// Fields of [`super::global::CONTEXT_BOUND`].
pub mod context_bound {
    /// Most extra TBs of the kernel that an SM can store.
    pub const EXTRA: u32 = 0xFF;
    /// Only the L1 has space for the contexts of extra TBs.
    pub const NEEDS_L1: u32 = 1 << 8;
}

/// Fields of [`super::global::CONTEXT_ALLOWED`].
pub mod context_allowed {
    /// Most extra TBs that an SM may have.
    pub const EXTRA: u32 = 0xFF;
    /// Contexts may lie in the L1.
    pub const IN_L1: u32 = 1 << 8;
    /// Stepwise raising has saturated a resource. For the firmware only, no effect on hardware.
    pub const STOPPED: u32 = 1 << 9;
    /// First of the 2 bits with the chip's utilization class (Lin et al. 2018, table 3); 0 before
    /// the first decision. For statistics, no effect on hardware.
    pub const CLASS_SHIFT: u32 = 10;
    /// No resource was used much.
    pub const UNDERUTILIZED: u32 = 1;
    /// Neither underutilized nor saturated.
    pub const MODERATE: u32 = 2;
    /// A resource was saturated.
    pub const SATURATED: u32 = 3;
}

/// Times at which memory instructions are held back, in [`super::global::MEMORY_ACTIVE`]. The
/// search for limits and quotas continues at other times.
pub mod memory_active {
    /// Memory instructions are never held back.
    pub const OFF: u32 = 0;
    /// Memory instructions are always held back.
    pub const ON: u32 = 1;
    /// Memory instructions are held back except on an SM that was armed, until it has its first
    /// quotas after the window.
    pub const FROM_DECISION: u32 = 2;
}

/// Fields of [`super::memory::MODE`].
pub mod memory_mode {
    /// Mask of the arbitration among kernels for memory instructions.
    pub const ORDER: u32 = 0x3;
    /// The warp scheduler decides.
    pub const SCHEDULER: u32 = 0;
    /// Kernels take turns (RBMI).
    pub const ROUND_ROBIN: u32 = 1;
    /// Kernels have quotas (QBMI).
    pub const QUOTA: u32 = 2;
    /// Mask of the source of limits on memory instructions in flight.
    pub const LIMITS: u32 = 0x30;
    /// No limit.
    pub const NONE: u32 = 0;
    /// Limits as written to [`super::super::memory::LIMIT`] (SMIL, and DMIL of the firmware).
    pub const WRITTEN: u32 = 0x10;
    /// Limits found by this SM's hardware (DMIL).
    pub const FOUND: u32 = 0x20;
    /// Limits found by the hardware of one SM, for all SMs in this mode (global DMIL).
    pub const BROADCAST: u32 = 0x30;
}

/// Fields of [`super::memory::L1_MONITOR`] and [`super::global::L2_MONITOR`].
pub mod monitor {
    /// Position in the order of use; 0 is the most recently used. The count at position n is the
    /// value of the kernel's (n + 1)-th way.
    pub const POSITION: u32 = 0x3FF;
    /// Position of the kernel's slot, 3 bits.
    pub const SLOT_SHIFT: u32 = 16;
}

/// Bits of [`super::sm::STATUS`].
pub mod sm_status {
    /// Armed, from arming until the window is over.
    pub const ARMED: u32 = 1 << 0;
    /// The profiling window is running.
    pub const RUNNING: u32 = 1 << 1;
    /// At least one latched counter saturated.
    pub const SATURATED: u32 = 1 << 2;
}

/// States of an SM, in [`super::sm::STATE_REQUEST`] and [`super::sm::STATE`] (Zhao et al. 2018,
/// section 4; sources.md D142). Every SM is in one of these states.
pub mod sm_state {
    /// The SM accepts TBs and issues.
    pub const ACTIVE: u32 = 0;
    /// The SM issues no instruction and accepts no TB. Its TBs stay, and their accesses in flight
    /// complete.
    pub const STALLED: u32 = 1;
    /// The SM is empty and power-gated.
    pub const GATED: u32 = 2;
    /// In `STATE` only: a request to gate is pending, and the SM still holds TBs. They continue,
    /// and no TB is added. The SM is gated once it is empty and its stores are done.
    pub const EMPTYING: u32 = 3;
    /// In `STATE` only: the SM regains power, for [`super::super::global::SM_WAKE_CYCLES`] cycles.
    /// It accepts no TB yet. A request to gate it takes effect once it is awake.
    pub const WAKING: u32 = 4;
}

/// Fields of [`super::global::SEARCH_FOUND`], the result of a search for SM shares.
pub mod search_found {
    /// The shares are final. 0 during a search, and without one.
    pub const DONE: u32 = 1 << 31;
    /// Slots of the memory-intensive kernels, in bits 0 to 7.
    pub const MEMORY_MASK: u32 = 0xFF;
    /// First of the 9 bits that count the measured windows.
    pub const WINDOWS_SHIFT: u32 = 8;
    /// Mask of the count of measured windows, after the shift.
    pub const WINDOWS_MASK: u32 = 0x1FF;
    /// The search limits active warps. [`super::super::sm::ACTIVE_WARPS`] has the limits that it
    /// found.
    pub const LIMITS_WARPS: u32 = 1 << 17;
}

/// Commands of [`super::sm::CONTROL`].
pub mod sm_control {
    /// Arm this SM.
    pub const ARM: u32 = 1 << 0;
    /// Disarm this SM.
    pub const DISARM: u32 = 1 << 1;
    /// Latch all counters of this SM at one instant and clear them. A running window restarts here,
    /// and its end does not move.
    pub const SNAPSHOT: u32 = 1 << 2;
}

/// Bits of [`super::slot::STATUS`].
pub mod slot_status {
    /// A kernel is in this slot.
    pub const OCCUPIED: u32 = 1 << 0;
    /// The kernel has no TB left to issue.
    pub const DRAINED: u32 = 1 << 1;
    /// The kernel's last TB has retired.
    pub const COMPLETED: u32 = 1 << 2;
}

/// Commands of [`super::slot::CONTROL`].
pub mod slot_control {
    /// Free the slot of a completed kernel. Its quotas, staged and active, become 0 on all SMs.
    pub const RELEASE: u32 = 1 << 0;
    /// Free the slot of a kernel that cannot run. The host is notified.
    pub const REJECT: u32 = 1 << 1;
}

/// Techniques by which a TB leaves its SM, in [`super::preempt::COMMAND`] and [`preempt_tb`] (Shieh
/// 2016, section 2.3).
pub mod technique {
    /// The TB stays.
    pub const NONE: u32 = 0;
    /// The TB runs until it has issued all its instructions, and no TB replaces it.
    pub const DRAIN: u32 = 1;
    /// The TB is dropped, and restarts later. It requires the TB's flush bit. A TB that has issued
    /// all its instructions has ended, as with every technique.
    pub const FLUSH: u32 = 2;
    /// The TB's context is saved, and it resumes later.
    pub const SWITCH: u32 = 3;
}

/// Fields of [`super::preempt::TB`].
pub mod preempt_tb {
    /// The place holds a TB.
    pub const LIVE: u32 = 1 << 0;
    /// The TB may be flushed: it has issued no atomic, and no store to a byte that it loads
    /// anywhere (relaxed idempotence).
    pub const FLUSH: u32 = 1 << 1;
    /// Position of the slot of the TB's kernel, 3 bits.
    pub const SLOT_SHIFT: u32 = 4;
    /// Position of the [`technique`](super::technique) by which the TB is leaving, 2 bits;
    /// [`NONE`](super::technique::NONE) if it stays.
    pub const LEAVING_SHIFT: u32 = 8;
}

/// Fields of [`super::preempt::COMMAND`]: a command and its outcome.
pub mod preempt_command {
    /// In a write, position of the firmware's estimate of the command's cycles, 24 bits,
    /// saturating. For traces, no effect on hardware.
    pub const ESTIMATE_SHIFT: u32 = 8;
    /// Position of the requested [`technique`](super::technique), 2 bits.
    pub const TECHNIQUE_SHIFT: u32 = 0;
    /// The command is in progress.
    pub const BUSY: u32 = 1 << 4;
    /// The TB has left.
    pub const DONE: u32 = 1 << 5;
    /// The command was refused. The bits from [`REASON_SHIFT`] on have the reason.
    pub const REFUSED: u32 = 1 << 6;
    /// Position of the reason, 3 bits.
    pub const REASON_SHIFT: u32 = 8;
    /// The place is empty or holds another TB than was shown, or no kernel waits for its space
    /// anymore.
    pub const NO_TB: u32 = 1;
    /// The TB may not be flushed.
    pub const NOT_IDEMPOTENT: u32 = 2;
    /// The TB is already leaving, by a flush or a switch.
    pub const LEAVING: u32 = 3;
    /// The mode is not [`PREEMPT`](super::mode::PREEMPT).
    pub const MODE: u32 = 4;
}

/// Fields of [`super::preempt::RESERVED_SLOT`].
pub mod preempt_reserve {
    /// The slot + 1; 0 for none.
    pub const SLOT: u32 = 0xF;
    /// The kernel gets the SM only once no TB of another kernel is there. It then keeps the SM
    /// until it has no TB there (Chimera, which preempts whole SMs).
    pub const WHOLE_SM: u32 = 1 << 4;
}

/// Schemes by which the firmware preempts, in [`super::global::STRAP_PREEMPT`] (Shieh 2016;
/// sources.md D134).
pub mod preempt_scheme {
    /// No preemption: transitions follow [`super::option`].
    pub const NONE: u32 = 0;
    /// Victims run to their end.
    pub const DRAIN: u32 = 1;
    /// Victims are switched.
    pub const SWITCH: u32 = 2;
    /// Victims that may be flushed are flushed, and the others are switched.
    pub const FLUSH: u32 = 3;
    /// Whole SMs, with Chimera's own estimates (Park et al. 2015, as described in Shieh 2016).
    pub const CHIMERA: u32 = 4;
    /// Whole SMs, with the estimates of Shieh 2016.
    pub const CHIMERA_PLUS: u32 = 5;
    /// Sets of TBs that free space for one TB (Shieh 2016).
    pub const SHIEH: u32 = 6;
    /// Sets of TBs that free space for one TB, with known draining times
    /// ([`super::super::preempt::TB_LEFT`]).
    pub const ORACLE: u32 = 7;
}

/// Scheduler phases, in [`super::global::PHASE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(all(feature = "defmt", target_os = "none"), derive(defmt::Format))]
#[repr(u32)]
pub enum PhaseCode {
    /// No kernel is scheduled.
    Idle = 0,
    /// Collecting launches, then generating configurations.
    Partition = 1,
    /// SMs are in transition to their configurations.
    Transition = 2,
    /// At least one SM is profiling.
    Profile = 3,
    /// Reading counters and choosing.
    Decide = 4,
    /// Writing the chosen configuration.
    Broadcast = 5,
    /// Running until the next launch or completion.
    Steady = 6,
}

impl PhaseCode {
    /// All phases in the order of their codes.
    pub const ALL: [Self; 7] = [Self::Idle, Self::Partition, Self::Transition, Self::Profile, Self::Decide, Self::Broadcast, Self::Steady];

    /// Returns the phase of a code.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| *phase as u32 == code)
    }

    /// Returns the lower-case name, for traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Partition => "partition",
            Self::Transition => "transition",
            Self::Profile => "profile",
            Self::Decide => "decide",
            Self::Broadcast => "broadcast",
            Self::Steady => "steady",
        }
    }
}
