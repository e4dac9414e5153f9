//! Bits and codes inside registers.

/// Events, in [`super::global::INT_STATUS`] and [`super::global::INT_ENABLE`].
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
    /// The global timer.
    pub const TIMER: u32 = 1 << 5;
    /// A fault was raised.
    pub const FAULT: u32 = 1 << 6;
    /// Preemption commands of an SM are done, or refused.
    pub const PREEMPT_DONE: u32 = 1 << 7;
    /// The firmware is to look at the counters of memory issue: so many cycles have passed as [`super::super::global::MEMORY_INTERVAL`] says.
    pub const MEMORY: u32 = 1 << 8;
    /// An SM wants room for a kernel ([`super::super::preempt`]).
    pub const PREEMPT: u32 = 1 << 9;
    /// The firmware is to look at how busy the chip was: an interval of a kernel is over ([`super::super::global::CONTEXT_DUE`]).
    pub const CONTEXTS: u32 = 1 << 10;
    /// A launch came into the window of the queue, or there is a slot again for one that waits there; only while the firmware says which is next
    /// ([`super::super::global::QUEUE_MODE`]).
    pub const QUEUE: u32 = 1 << 11;
    /// All events.
    pub const ALL: u32 = 0xFFF;
}

/// Faults, in [`super::global::FAULT`]. Bits 0 to 7 are raised by hardware, 8 to 15 by firmware.
pub mod fault {
    /// Access to an unmapped offset, or against the access rule.
    pub const BAD_ACCESS: u32 = 1 << 0;
    /// A value was clamped.
    pub const VALUE_RANGE: u32 = 1 << 1;
    /// A launch found no free slot.
    pub const LAUNCH_OVERRUN: u32 = 1 << 2;
    /// The watchdog expired.
    pub const WATCHDOG: u32 = 1 << 3;
    /// A command that this hardware does not have.
    pub const UNSUPPORTED: u32 = 1 << 4;
    /// Firmware met an index that cannot happen, and fell back to Left-over.
    pub const IMPOSSIBLE_INDEX: u32 = 1 << 8;
    /// A kernel's TB does not fit an empty SM; the launch was rejected.
    pub const KERNEL_TOO_LARGE: u32 = 1 << 9;
    /// Profiling ended without a single sample; Left-over took over.
    pub const NO_SAMPLES: u32 = 1 << 10;
    /// The machine is larger than the image was built for; the surplus SMs stay idle.
    pub const MACHINE_TOO_LARGE: u32 = 1 << 11;
    /// The register block is not one that this firmware knows.
    pub const WRONG_MAP: u32 = 1 << 12;
    /// Asked to preempt in a way that this firmware or its hardware does not have; nobody is preempted.
    pub const NO_PREEMPTION: u32 = 1 << 13;
    /// Asked to search how many SMs each kernel needs, which this firmware or its hardware cannot; the SMs are split evenly.
    pub const NO_SEARCH: u32 = 1 << 14;
    /// Asked to control extra TBs, which the hardware does not leave to firmware; there are none.
    pub const NO_CONTEXTS: u32 = 1 << 15;
    /// The bits that firmware may raise.
    pub const BY_FIRMWARE: u32 = 0xFF00;
    /// All fault bits.
    pub const ALL: u32 = 0xFF1F;
}

/// Hardware abilities, in [`super::global::FEATURES`].
pub mod feature {
    /// Ideal transitions (0 cycles).
    pub const IDEAL_TRANSITION: u32 = 1 << 0;
    /// Preemption commands.
    pub const PREEMPT: u32 = 1 << 1;
    /// SMs can hold memory instructions back ([`super::super::memory`]).
    pub const MEMORY_ISSUE: u32 = 1 << 2;
    /// Kernels can be given ways of the caches ([`super::super::memory::L1_WAYS`], [`super::super::global::L2_WAYS`]).
    pub const WAYS: u32 = 1 << 3;
    /// SMs can be stalled ([`super::super::sm::STATE_REQUEST`]).
    pub const SM_STATES: u32 = 1 << 4;
    /// Empty SMs can be gated.
    pub const POWER_GATING: u32 = 1 << 5;
    /// Counters of kernels ([`super::super::global::KERNEL_SNAPSHOT`]).
    pub const KERNEL_COUNTERS: u32 = 1 << 6;
    /// The active warps of kernels can be limited ([`super::super::sm::ACTIVE_WARPS`]).
    pub const ACTIVE_WARPS: u32 = 1 << 7;
    /// How many TBs beyond those that fit an SM a kernel may have is the firmware's to say ([`super::super::global::CONTEXT_ALLOWED`]).
    pub const CONTEXTS: u32 = 1 << 8;
    /// The order of DRAM requests can be set ([`super::super::global::DRAM_ORDER`]).
    pub const DRAM_ORDER: u32 = 1 << 9;
    /// The L1's miss resources can be shared out between kernels ([`super::super::global::MISS_WEIGHT`]).
    pub const MISS_SHARES: u32 = 1 << 10;
    /// The firmware can say which launch of the queue is next ([`super::super::global::QUEUE_MODE`]).
    pub const QUEUE: u32 = 1 << 11;
}

/// Orders of DRAM requests, in [`super::global::DRAM_ORDER`], each with what [`super::global::DRAM_CAP`] means.
pub mod dram_order {
    /// Of a bank's requests the oldest that hits the open row, else the oldest. No cap.
    pub const FR_FCFS: u32 = 0;
    /// The oldest. No cap.
    pub const FCFS: u32 = 1;
    /// As `FR_FCFS`, but an older request of another kernel goes first after so many row hits that went before one: 4 if the cap is 0 (after
    /// Mutlu and Moscibroda 2007).
    pub const KERNEL_CAP: u32 = 2;
    /// Batches of as many requests of each kernel in a bank, 5 if the cap is 0, in which the kernel with the least to do goes first (Mutlu
    /// and Moscibroda 2008).
    pub const BATCH: u32 = 3;
    /// By shares: the kernel furthest behind goes first, and row hits may run ahead by so many sectors, 16 if the cap is 0 (Nesbit et al. 2006).
    pub const SHARES: u32 = 4;
}

/// Transition modes, in [`super::global::MODE`].
pub mod mode {
    /// TBs in excess of a quota run to their end (the thesis).
    pub const DRAIN: u32 = 0;
    /// A new partition is in place at once, at no cost.
    pub const IDEAL: u32 = 1;
    /// TBs in excess of a quota, or in the way of a kernel of higher priority, leave as the firmware commands
    /// ([`super::super::preempt`]); without a command they run to their end.
    pub const PREEMPT: u32 = 2;
}

/// Options, in [`super::global::STRAP_OPTIONS`].
pub mod option {
    /// Decide by warp instructions instead of thread instructions.
    pub const WARP_IPC: u32 = 1 << 0;
    /// Only configurations with at least one TB of every kernel.
    pub const REQUIRE_ALL_PRESENT: u32 = 1 << 1;
    /// Linear as printed in Nasef 2023, eq. 3.8, with the GPU-wide bracket.
    pub const LITERAL_LINEAR: u32 = 1 << 2;
    /// Always cap TBs per SM by the TBs that a kernel has left (else only for small grids).
    pub const ALWAYS_CAP_REMAINING: u32 = 1 << 3;
    /// Read every counter, also those that the metric does not need, for reports.
    pub const READ_ALL_COUNTERS: u32 = 1 << 4;
    /// Ideal transitions.
    pub const IDEAL_TRANSITION: u32 = 1 << 5;
    /// Warped-Slicer takes the IPC that it profiles as it is, without the scaling factor.
    pub const UNSCALED_PROFILE: u32 = 1 << 6;
    /// The firmware limits kernels' memory instructions in flight (Dai et al. 2018, section 3.3.2).
    pub const LIMIT_MEMORY: u32 = 1 << 7;
    /// Such a limit is raised by one after an interval with fewer reservation fails than requests; else it is taken away.
    pub const LIMIT_GROWS: u32 = 1 << 8;
    /// Such a limit comes from all reservation fails; else from as many as 12 bits count in 1,024 requests.
    pub const LIMIT_WIDE: u32 = 1 << 9;
    /// Memory instructions are held back from the decision on, and not while configurations are tried.
    pub const MEMORY_FROM_DECISION: u32 = 1 << 10;
    /// A search for SMs calls a kernel memory-intensive by the share of DRAM's bandwidth that it uses, and not by what it asks for.
    pub const SEARCH_BY_UTILISATION: u32 = 1 << 11;
    /// A search for SMs hands over in every step the SMs that it takes from a kernel, in place of stalling them until it is over.
    pub const SEARCH_REASSIGNS: u32 = 1 << 12;
    /// A search for SMs calls a kernel memory-intensive if the SMs that it has on the even split would ask for more than there is; otherwise if
    /// all SMs of the chip would.
    pub const SEARCH_BY_SHARE: u32 = 1 << 13;
    /// The firmware controls how many extra TBs kernels may have (Lin et al. 2018, section 6.4).
    pub const CONTROL_CONTEXTS: u32 = 1 << 14;
    /// The firmware says which launch of the queue is next (docs/firmware.md).
    pub const SCHEDULE_LAUNCHES: u32 = 1 << 15;
    /// The firmware sets how memory instructions are held back, to what the straps say.
    pub const SET_MEMORY_ISSUE: u32 = 1 << 16;
    /// The firmware sets the order of DRAM requests, to what the straps say.
    pub const SET_DRAM_ORDER: u32 = 1 << 17;
}

/// Fields of [`super::global::CONTEXT_BOUND`].
pub mod context_bound {
    /// Most extra TBs of the kernel that an SM has room for.
    pub const EXTRA: u32 = 0xFF;
    /// There is room for them in the L1 only.
    pub const NEEDS_L1: u32 = 1 << 8;
}

/// Fields of [`super::global::CONTEXT_ALLOWED`].
pub mod context_allowed {
    /// Most extra TBs that an SM may have.
    pub const EXTRA: u32 = 0xFF;
    /// Contexts may lie in the L1.
    pub const IN_L1: u32 = 1 << 8;
    /// Raising it step by step has saturated something. The firmware's note to itself, no effect on hardware.
    pub const STOPPED: u32 = 1 << 9;
    /// First of the 2 bits that say how busy the chip was (Lin et al. 2018, table 3), 0 before the first decision: for statistics, no effect on
    /// hardware.
    pub const CLASS_SHIFT: u32 = 10;
    /// Nothing was used much.
    pub const UNDERUTILISED: u32 = 1;
    /// Neither the one nor the other.
    pub const MODERATE: u32 = 2;
    /// Something was saturated.
    pub const SATURATED: u32 = 3;
}

/// When memory instructions are held back, in [`super::global::MEMORY_ACTIVE`]. What finds limits and quotas goes on while they are not.
pub mod memory_active {
    /// Never.
    pub const OFF: u32 = 0;
    /// Always.
    pub const ON: u32 = 1;
    /// Not on an SM that was armed, until the first quotas that it has after its window.
    pub const FROM_DECISION: u32 = 2;
}

/// Fields of [`super::memory::MODE`].
pub mod memory_mode {
    /// Whose memory instruction is next.
    pub const ORDER: u32 = 0x3;
    /// The warp scheduler decides.
    pub const SCHEDULER: u32 = 0;
    /// Kernels take turns (RBMI).
    pub const ROUND_ROBIN: u32 = 1;
    /// Kernels have quotas (QBMI).
    pub const QUOTA: u32 = 2;
    /// What limits memory instructions in flight.
    pub const LIMITS: u32 = 0x30;
    /// Nothing.
    pub const NONE: u32 = 0;
    /// [`super::super::memory::LIMIT`], as written (SMIL, and DMIL of the firmware).
    pub const WRITTEN: u32 = 0x10;
    /// What this SM's hardware finds (DMIL).
    pub const FOUND: u32 = 0x20;
    /// What the hardware of one SM finds, for all that have this mode (global DMIL).
    pub const BROADCAST: u32 = 0x30;
}

/// Fields of [`super::memory::L1_MONITOR`] and [`super::global::L2_MONITOR`].
pub mod monitor {
    /// Position in the order of use, from 0 for what was used last: its count is what the `n`-th way would be worth.
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

/// What an SM is to be or is, in [`super::sm::STATE_REQUEST`] and [`super::sm::STATE`] (Zhao et al. 2018, section 4; sources.md D142). Every
/// SM is in one of these states.
pub mod sm_state {
    /// It takes TBs and issues.
    pub const ACTIVE: u32 = 0;
    /// It issues no instruction and takes no TB. Its TBs stay, and what they have in flight comes back.
    pub const STALLED: u32 = 1;
    /// It is empty and without power.
    pub const GATED: u32 = 2;
    /// In `STATE` only: it is to be gated and still holds TBs. They run on, and no TB comes. It is gated when it is empty and its stores are
    /// done.
    pub const EMPTYING: u32 = 3;
    /// In `STATE` only: it was gated and gets power again, for [`super::super::global::SM_WAKE_CYCLES`] cycles. It takes no TB yet. A request to
    /// gate it is heeded when it is awake.
    pub const WAKING: u32 = 4;
}

/// What a search for SMs has found, in [`super::global::SEARCH_FOUND`].
pub mod search_found {
    /// The shares stay. 0 while it goes on, and where there is none.
    pub const DONE: u32 = 1 << 31;
    /// Slots of the kernels that are memory-intensive, in bits 0 to 7.
    pub const MEMORY_MASK: u32 = 0xFF;
    /// First of the 9 bits that count the windows that were measured.
    pub const WINDOWS_SHIFT: u32 = 8;
    /// Bits of that count.
    pub const WINDOWS_MASK: u32 = 0x1FF;
    /// It limits active warps of kernels: [`super::super::sm::ACTIVE_WARPS`] has what it has found.
    pub const LIMITS_WARPS: u32 = 1 << 17;
}

/// Commands of [`super::sm::CONTROL`].
pub mod sm_control {
    /// Arm this SM.
    pub const ARM: u32 = 1 << 0;
    /// Disarm this SM.
    pub const DISARM: u32 = 1 << 1;
    /// Latch all counters of this SM at one instant and clear them. A running window starts over from here, its end does not
    /// move.
    pub const SNAPSHOT: u32 = 1 << 2;
}

/// Bits of [`super::slot::STATUS`].
pub mod slot_status {
    /// A kernel is in this slot.
    pub const OCCUPIED: u32 = 1 << 0;
    /// It has no TB left to issue.
    pub const DRAINED: u32 = 1 << 1;
    /// Its last TB has retired.
    pub const COMPLETED: u32 = 1 << 2;
}

/// Commands of [`super::slot::CONTROL`].
pub mod slot_control {
    /// Free the slot of a completed kernel; its quotas, staged and active, become 0 on all SMs.
    pub const RELEASE: u32 = 1 << 0;
    /// Free the slot of a kernel that cannot run; the host is told.
    pub const REJECT: u32 = 1 << 1;
}

/// How a TB leaves its SM, in [`super::preempt::COMMAND`] and [`preempt_tb`] (Shieh 2016, section 2.3).
pub mod technique {
    /// It stays.
    pub const NONE: u32 = 0;
    /// It runs until it has issued all it has, and none comes after it.
    pub const DRAIN: u32 = 1;
    /// It is dropped, and begins again later. Only while its flush bit is set. One that has issued all it has, has ended, as with every
    /// technique.
    pub const FLUSH: u32 = 2;
    /// Its context is saved, and it goes on later.
    pub const SWITCH: u32 = 3;
}

/// Fields of [`super::preempt::TB`].
pub mod preempt_tb {
    /// A TB is in this place.
    pub const LIVE: u32 = 1 << 0;
    /// It may be flushed: it has issued no atomic yet, and no store to a byte that it loads anywhere (relaxed idempotence).
    pub const FLUSH: u32 = 1 << 1;
    /// Position of its kernel's slot, 3 bits.
    pub const SLOT_SHIFT: u32 = 4;
    /// Position of the [`technique`](super::technique) by which it is leaving, 2 bits; [`NONE`](super::technique::NONE) if it is not.
    pub const LEAVING_SHIFT: u32 = 8;
}

/// A command and what came of it, in [`super::preempt::COMMAND`].
pub mod preempt_command {
    /// In a write, position of the cycles that the firmware expects it to take, 24 bits, saturating: for traces, no effect on hardware.
    pub const ESTIMATE_SHIFT: u32 = 8;
    /// Position of the [`technique`](super::technique) asked for, 2 bits.
    pub const TECHNIQUE_SHIFT: u32 = 0;
    /// It is being carried out.
    pub const BUSY: u32 = 1 << 4;
    /// The TB has left.
    pub const DONE: u32 = 1 << 5;
    /// Refused; why is in the bits from [`REASON_SHIFT`] on.
    pub const REFUSED: u32 = 1 << 6;
    /// Position of the reason, 3 bits.
    pub const REASON_SHIFT: u32 = 8;
    /// No TB is in that place, or another than was shown, or nobody waits for its room any more.
    pub const NO_TB: u32 = 1;
    /// The TB may not be flushed.
    pub const NOT_IDEMPOTENT: u32 = 2;
    /// The TB is leaving already, by a flush or a switch.
    pub const LEAVING: u32 = 3;
    /// The mode is not [`PREEMPT`](super::mode::PREEMPT).
    pub const MODE: u32 = 4;
}

/// Fields of [`super::preempt::RESERVED_SLOT`].
pub mod preempt_reserve {
    /// The slot + 1, 0 for nobody.
    pub const SLOT: u32 = 0xF;
    /// The kernel gets the SM only when no TB of another kernel is there any more, and nobody else does until it has no TB there (Chimera,
    /// which preempts whole SMs).
    pub const WHOLE_SM: u32 = 1 << 4;
}

/// Whom the firmware preempts, and how, in [`super::global::STRAP_PREEMPT`] (Shieh 2016; sources.md D134).
pub mod preempt_scheme {
    /// Nobody: transitions are as [`super::option`] says.
    pub const NONE: u32 = 0;
    /// Victims run to their end.
    pub const DRAIN: u32 = 1;
    /// Victims are switched out.
    pub const SWITCH: u32 = 2;
    /// Victims that may be flushed are, the others are switched out.
    pub const FLUSH: u32 = 3;
    /// Whole SMs, with its own estimates (Park et al. 2015, as Shieh 2016 has it).
    pub const CHIMERA: u32 = 4;
    /// The same with the estimates of Shieh 2016.
    pub const CHIMERA_PLUS: u32 = 5;
    /// Sets of TBs that make room for one TB (Shieh 2016).
    pub const SHIEH: u32 = 6;
    /// The same with known draining times ([`super::super::preempt::TB_LEFT`]).
    pub const ORACLE: u32 = 7;
}

/// Scheduler phases, in [`super::global::PHASE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(all(feature = "defmt", target_os = "none"), derive(defmt::Format))]
#[repr(u32)]
pub enum PhaseCode {
    /// No kernel.
    Idle = 0,
    /// Collecting launches, then generating configurations.
    Partition = 1,
    /// SMs are on their way to their configurations.
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

    /// The phase of a code.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| *phase as u32 == code)
    }

    /// Lower-case name, for traces.
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
