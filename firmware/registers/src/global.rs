//! Global registers: GPU description, straps, time, interrupts and control.

use super::{KERNEL_SLOTS, SM_WORDS};

/// Offset of this region.
pub const BASE: u32 = 0;

registers! {
    /// Always [`super::ID_VALUE`].
    ID = 0x000, ReadOnly, Some(super::ID_VALUE);
    /// Layout version, [`super::VERSION_VALUE`].
    VERSION = 0x004, ReadOnly, Some(super::VERSION_VALUE);
    /// Hardware features: [`super::feature`].
    FEATURES = 0x008, ReadOnly, None;
    /// SMs on the chip, 1 to 256.
    SM_COUNT = 0x00C, ReadOnly, None;
    /// Kernel slots, 1 to 8.
    SLOT_COUNT = 0x010, ReadOnly, None;
    /// Resident threads per SM.
    SM_THREADS = 0x014, ReadOnly, None;
    /// 32-bit registers per SM.
    SM_REGISTERS = 0x018, ReadOnly, None;
    /// Shared memory per SM in bytes.
    SM_SHARED_BYTES = 0x01C, ReadOnly, None;
    /// Resident TBs per SM, at most 255.
    SM_TBS = 0x020, ReadOnly, None;
    /// Threads per warp.
    WARP_THREADS = 0x024, ReadOnly, None;
    /// Granule to which registers per thread are rounded up.
    REGISTER_GRANULE = 0x028, ReadOnly, None;
    /// Granule in bytes to which shared memory per TB is rounded up.
    SHARED_GRANULE_BYTES = 0x02C, ReadOnly, None;
    /// Linear's coefficient (Nasef 2023, eq. 3.7) in per-SM units, Q16.16: stall cycles per
    /// accumulated outstanding access.
    LINEAR_COEFFICIENT = 0x030, ReadOnly, None;
    /// Warp schedulers per SM; each issues at most one warp instruction per cycle.
    SM_SCHEDULERS = 0x034, ReadOnly, None;
    /// Peak bandwidth of the interconnect from L2 to all SMs together, in sectors of 32 bytes per
    /// core cycle, Q16.16.
    REPLY_SECTORS = 0x038, ReadOnly, None;
    /// Peak bandwidth of all DRAM channels together, in sectors of 32 bytes per core cycle, Q16.16.
    DRAM_SECTORS = 0x03C, ReadOnly, None;

    /// Strap: policy to run, [`super::PolicyCode`].
    STRAP_POLICY = 0x040, ReadOnly, None;
    /// Strap: profiling window in cycles, 1 to 131,071.
    STRAP_PROFILE_WINDOW = 0x044, ReadOnly, None;
    /// Strap: cycles for which launches are collected before they are scheduled together.
    STRAP_COALESCE_WINDOW = 0x048, ReadOnly, None;
    /// Strap: [`super::option`] bits.
    STRAP_OPTIONS = 0x04C, ReadOnly, None;
    /// Strap: TBs per SM of the n-th kernel launched, for the fixed-configuration policy.
    STRAP_FIXED[KERNEL_SLOTS] = 0x050, ReadOnly, None;
    /// Strap: predicted loss above which Warped-Slicer falls back to Spatial. It is in thousandths
    /// of a kernel's isolated performance, and is divided by the number of kernels.
    STRAP_LOSS_THRESHOLD = 0x070, ReadOnly, None;
    /// Strap: cycles between two checks of the memory-issue counters, if the firmware limits memory
    /// instructions.
    STRAP_MEMORY_INTERVAL = 0x074, ReadOnly, None;
    /// Strap: preemption scheme of the firmware: [`super::preempt_scheme`].
    STRAP_PREEMPT = 0x078, ReadOnly, None;
    /// Strap: most cycles of a preemption from an SM's request for space. It applies to kernels
    /// without a limit of their own ([`super::slot::LATENCY_LIMIT`]).
    STRAP_PREEMPT_LIMIT = 0x07C, ReadOnly, None;

    /// Low word of the core-cycle counter; reading it latches `CYCLE_HIGH`.
    CYCLE_LOW = 0x080, ReadOnly;
    /// High word of the core-cycle counter as of the last read of `CYCLE_LOW`.
    CYCLE_HIGH = 0x084, ReadOnly;
    /// Low word of the timer's compare value; held until `TIMER_HIGH` is written.
    TIMER_LOW = 0x088, ReadWrite;
    /// High word of the timer's compare value; writing it arms the timer. TIMER is raised once,
    /// when cycle >= compare.
    TIMER_HIGH = 0x08C, ReadWrite;
    /// 1 while the timer is armed. Writing 0 disarms it. Writing 1 arms it with the current compare
    /// value.
    TIMER_ARMED = 0x090, ReadWrite;

    /// Events since they were last cleared: [`super::interrupt`].
    INT_STATUS = 0x0A0, WriteOneToClear;
    /// Events that raise the interrupt line.
    INT_ENABLE = 0x0A4, ReadWrite;
    /// `INT_STATUS & INT_ENABLE`; the line is high while this is not 0.
    INT_PENDING = 0x0A8, ReadOnly;
    /// Slots whose kernel has no TB left to issue.
    DRAINED = 0x0AC, WriteOneToClear;
    /// Slots whose kernel has completed: the last TB has retired.
    COMPLETED = 0x0B0, WriteOneToClear;

    /// Transition mode: [`super::mode`].
    MODE = 0x0C0, ReadWrite;
    /// Length of a profiling window in cycles, 1 to 131,071; applies to windows that start after
    /// the write.
    PROFILE_WINDOW = 0x0C4, ReadWrite, Some(super::MAX_WINDOW);
    /// Makes all staged quotas effective, in the order of the SMs. The value is ignored.
    COMMIT = 0x0C8, WriteOnly;
    /// Scheduler phase, [`super::PhaseCode`]: for traces, no effect on hardware.
    PHASE = 0x0CC, ReadWrite;
    /// Reschedulings so far: for traces, no effect on hardware.
    RESCHEDULINGS = 0x0D0, ReadWrite;
    /// Faults since they were last cleared: [`super::fault`].
    FAULT = 0x0D4, WriteOneToClear;
    /// Raises the firmware's faults, bits 8 to 15; the others are ignored.
    FAULT_SET = 0x0D8, WriteOnly;
    /// Cycles without a feed until the watchdog expires; 0 turns it off. Writing it also feeds the
    /// watchdog.
    WATCHDOG_PERIOD = 0x0DC, ReadWrite;
    /// Feeds the watchdog. The value is ignored.
    WATCHDOG_FEED = 0x0E0, WriteOnly;
    /// Low word of the cycle at which the last decision started, after its windows ended. For
    /// traces, no effect on hardware.
    DECISION_BEGIN = 0x0E8, ReadWrite;
    /// Cycles from the start of the last decision until its quotas were in effect. For traces, no
    /// effect on hardware.
    DECISION_CYCLES = 0x0EC, ReadWrite;

    /// Launches waiting in the FIFO.
    LAUNCH_COUNT = 0x100, ReadOnly;
    /// Slot of the oldest waiting launch; its descriptor is in that slot. 0 when none waits.
    LAUNCH_SLOT = 0x104, ReadOnly;
    /// Removes the oldest waiting launch from the FIFO. The launch stays in its slot. The value is
    /// ignored.
    LAUNCH_POP = 0x108, WriteOnly;

    /// Peak bandwidth from all L2 slices to the interconnect, in sectors of 32 bytes per core
    /// cycle, Q16.16. The off-SM bandwidth model of Zhao et al. 2018 (eq. 1 and 2) takes it,
    /// `REPLY_SECTORS`, `DRAM_SECTORS` and `SM_SCHEDULERS` from the GPU.
    L2_SECTORS = 0x110, ReadOnly, None;
    /// Most bytes per L2 access: a sector of 32, or a whole line if caches have no sectors.
    L2_ACCESS_BYTES = 0x114, ReadOnly, None;
    /// Cycles from the request to wake a gated SM until it accepts TBs; 0 without
    /// [`super::feature::POWER_GATING`].
    SM_WAKE_CYCLES = 0x118, ReadOnly, None;
    /// Strap: cycles of the intervals after which the firmware checks the chip's utilization, if it
    /// controls extra TBs.
    STRAP_CONTEXT_INTERVAL = 0x11C, ReadOnly, None;

    /// Strap: unmeasured cycles at the start of each step of a search for SM shares (Zhao et al.
    /// 2018, sections 4.1.2 and 4.2), 1 to 131,071.
    STRAP_SEARCH_WARM_UP = 0x120, ReadOnly, None;
    /// Strap: measured cycles of each step of a search for SM shares, 1 to 131,071.
    STRAP_SEARCH_WINDOW = 0x124, ReadOnly, None;
    /// Strap: accepted loss of a kernel's IPC relative to its even share of the SMs, in
    /// thousandths.
    STRAP_SEARCH_LOSS = 0x128, ReadOnly, None;
    /// Strap: share of DRAM bandwidth, in thousandths, above which a kernel is memory-intensive,
    /// with [`super::option::SEARCH_BY_UTILIZATION`].
    STRAP_SEARCH_UTILIZATION = 0x12C, ReadOnly, None;
    /// Strap: SMs of the n-th scheduled kernel, for the policy with given shares.
    STRAP_SHARES[KERNEL_SLOTS] = 0x130, ReadOnly, None;
    /// Result of a search for SM shares, [`super::search_found`]: for traces, no effect on
    /// hardware.
    SEARCH_FOUND = 0x150, ReadWrite;
    /// Strap: DRAM throughput of a kernel alone if every access opens a row, in thousandths of the
    /// peak. For a policy that estimates slowdowns by a model.
    STRAP_SEARCH_REACH = 0x154, ReadOnly, None;
    /// Strap: additional DRAM throughput if no access opens a row, in thousandths of the peak.
    STRAP_SEARCH_REACH_OF_HITS = 0x158, ReadOnly, None;
    /// Progress of the kernel in each slot on the shares that a search for SM shares has found. It
    /// is its IPC over its IPC alone on all SMs, as the firmware estimates it, in parts of 2^14; 0
    /// without an estimate. For traces, no effect on hardware.
    SEARCH_PROGRESS[KERNEL_SLOTS] = 0x160, ReadWrite;

    /// Cycles from one MEMORY event to the next; 0 for none. Writing it starts the first interval.
    MEMORY_INTERVAL = 0x180, ReadWrite;
    /// Latches and clears the memory-issue counters on all SMs at one instant. It affects slots
    /// with at least [`super::memory::SAMPLE_REQUESTS`] requests since their last latch. The others
    /// continue. The value is ignored.
    MEMORY_SNAPSHOT = 0x184, WriteOnly;
    /// Times at which memory instructions are held back by [`super::memory::MODE`]:
    /// [`super::memory_active`].
    MEMORY_ACTIVE = 0x188, ReadWrite, Some(1);
    /// Sets the mode of all SMs: [`super::memory_mode`].
    MEMORY_MODE_ALL = 0x18C, WriteOnly;

    /// Selects the count of the L2's utility monitors that `L2_MONITOR_HITS` shows:
    /// [`super::monitor`].
    L2_MONITOR = 0x190, ReadWrite;
    /// Hits in the L2, counted as in [`super::memory::L1_MONITOR_HITS`], summed over the slices.
    L2_MONITOR_HITS = 0x194, ReadOnly;
    /// Ways per set of every L2 slice for the kernels in two slots: as [`super::memory::L1_WAYS`].
    L2_WAYS[super::memory::WAYS_WORDS] = 0x1A0, ReadWrite;
    /// Sets [`super::memory::L1_WAYS`] of all SMs.
    L1_WAYS_ALL[super::memory::WAYS_WORDS] = 0x1B0, WriteOnly;

    /// Cycles of an interval of a kernel; 0 for none. Writing it starts the first interval of every
    /// kernel.
    CONTEXT_INTERVAL = 0x1C0, ReadWrite;
    /// Slots with a finished interval and latched counts (`CONTEXT_INSTS` and the registers after
    /// it), one bit each. While a slot's bit is set its counts stay. An interval that ends
    /// meanwhile is lost, and raises OVERSUBSCRIPTION again.
    CONTEXT_DUE = 0x1C4, WriteOneToClear;

    /// Arms SMs, one bit each. Reads show the armed SMs, from arming to PROFILE_DONE.
    ARM[SM_WORDS] = 0x200, WriteOneToSet;
    /// Disarms SMs, one bit each. It raises no event, and counters continue.
    DISARM[SM_WORDS] = 0x220, WriteOnly;
    /// SMs whose partition was reached while armed.
    PARTITION[SM_WORDS] = 0x240, WriteOneToClear;
    /// SMs whose profiling window is over and whose counters are latched.
    PROFILE_DONE[SM_WORDS] = 0x260, WriteOneToClear;

    /// Stages a quota for a slot on every SM.
    QUOTA_ALL[KERNEL_SLOTS] = 0x300, WriteOnly;
    /// SMs that `QUOTA_SOME` applies to, one bit each. Bits of SMs that the GPU does not have
    /// are stored without effect.
    QUOTA_SMS[SM_WORDS] = 0x320, ReadWrite;
    /// Stages a quota for a slot on the SMs of `QUOTA_SMS`. A row of quotas, one for each slot,
    /// takes as many writes for many SMs as for one.
    QUOTA_SOME[KERNEL_SLOTS] = 0x340, WriteOnly;

    /// SMs with a slot that the last `MEMORY_SNAPSHOT` latched, one bit each.
    MEMORY_READY[SM_WORDS] = 0x360, ReadOnly;
    /// Sets a slot's limit on all SMs: [`super::memory::LIMIT`].
    MEMORY_LIMIT_ALL[KERNEL_SLOTS] = 0x380, WriteOnly;

    /// SMs that request space for a kernel. Writing a bit clears it. It is set again if the SM
    /// still needs space after its commands are done, or if another kernel needs space there.
    PREEMPT_WANTED[SM_WORDS] = 0x3A0, WriteOneToClear;
    /// SMs whose preemption commands are all done or refused since the bit was cleared.
    PREEMPT_DONE[SM_WORDS] = 0x3C0, WriteOneToClear;

    /// Latches the kernel counters of the slots whose bits are set, all at one instant, and clears
    /// them. The next latch therefore covers the time since this one. Counters of other slots
    /// continue. Bits of slots that the GPU does not have raise VALUE_RANGE and are ignored.
    KERNEL_SNAPSHOT = 0x3E0, WriteOnly;
    /// Saturated latched counters of each slot: bit n for the n-th of the following arrays,
    /// `KERNEL_CYCLES` being the first.
    KERNEL_SATURATED[KERNEL_SLOTS] = 0x400, ReadOnly;
    /// Cycles that the latched counters cover: since the last latch of the slot, or since the
    /// launch; 32 bits. The following registers count over the whole chip and saturate. They have
    /// [`super::KERNEL_COUNT_BITS`] bits unless stated otherwise. All are 0 for a kernel that is
    /// new in its slot.
    KERNEL_CYCLES[KERNEL_SLOTS] = 0x420, ReadOnly;
    /// Warp instructions issued.
    KERNEL_WARP_INSTS[KERNEL_SLOTS] = 0x440, ReadOnly;
    /// Thread instructions issued; 32 bits.
    KERNEL_THREAD_INSTS[KERNEL_SLOTS] = 0x460, ReadOnly;
    /// L2 accesses, each of at most `L2_ACCESS_BYTES`.
    KERNEL_L2_ACCESSES[KERNEL_SLOTS] = 0x480, ReadOnly;
    /// L2 hits. An access to data in flight is not a hit.
    KERNEL_L2_HITS[KERNEL_SLOTS] = 0x4A0, ReadOnly;
    /// DRAM reads, each of one sector.
    KERNEL_DRAM_READS[KERNEL_SLOTS] = 0x4C0, ReadOnly;
    /// DRAM writes, each of one sector.
    KERNEL_DRAM_WRITES[KERNEL_SLOTS] = 0x4E0, ReadOnly;
    /// DRAM reads and writes that found their row open.
    KERNEL_ROW_HITS[KERNEL_SLOTS] = 0x500, ReadOnly;
    /// TBs that have ended.
    KERNEL_ENDED_TBS[KERNEL_SLOTS] = 0x520, ReadOnly;
    /// Accesses of the L1s, loads and stores.
    KERNEL_L1_ACCESSES[KERNEL_SLOTS] = 0x540, ReadOnly;
    /// L1 misses. An access to data in flight is not a miss.
    KERNEL_L1_MISSES[KERNEL_SLOTS] = 0x560, ReadOnly;
    /// Limits a slot's active warps on all SMs: 0 to 63, as in [`super::sm::ACTIVE_WARPS`].
    ACTIVE_WARPS_ALL[KERNEL_SLOTS] = 0x580, WriteOnly;

    /// Most extra TBs, beyond those that fit, of the kernel in each slot that an SM can store:
    /// [`super::context_bound`].
    CONTEXT_BOUND[KERNEL_SLOTS] = 0x5A0, ReadOnly;
    /// Extra TBs of the kernel in each slot that an SM may hold: [`super::context_allowed`], at
    /// most the bound; 0 for a kernel that is new in its slot.
    CONTEXT_ALLOWED[KERNEL_SLOTS] = 0x5C0, ReadWrite;
    /// Largest value of each of the following six counts in an interval, in their order, rounded
    /// down. For the interconnect it is the sustainable value.
    CONTEXT_CAPACITY[super::CONTEXT_COUNTS] = 0x5E0, ReadOnly;
    /// Warp instructions of all kernels that the whole chip issued in the slot's last interval.
    /// Intervals follow each other from the cycle in which the kernel's TBs may issue, and the
    /// first is skipped. This and the following registers are latched at the end of an interval,
    /// have 32 bits, and saturate. They are 0 for a kernel that is new in its slot.
    CONTEXT_INSTS[KERNEL_SLOTS] = 0x600, ReadOnly;
    /// L1 accesses that hit. Each occupies the data port of a bank for a cycle.
    CONTEXT_L1_HITS[KERNEL_SLOTS] = 0x620, ReadOnly;
    /// Flits from the SMs toward the L2.
    CONTEXT_REQUEST_FLITS[KERNEL_SLOTS] = 0x640, ReadOnly;
    /// Flits from the L2 toward the SMs.
    CONTEXT_REPLY_FLITS[KERNEL_SLOTS] = 0x660, ReadOnly;
    /// L2 look-ups that hit. Each occupies the data port of a slice while its data pass.
    CONTEXT_L2_HITS[KERNEL_SLOTS] = 0x680, ReadOnly;
    /// Sectors of 32 bytes that DRAM moved.
    CONTEXT_DRAM_SECTORS[KERNEL_SLOTS] = 0x6A0, ReadOnly;

    /// Order in which a DRAM channel serves requests: [`super::dram_order`]. This and the following
    /// registers take effect two core cycles after the write.
    DRAM_ORDER = 0x6C0, ReadWrite, None;
    /// Cap of the DRAM order, defined by [`super::dram_order`]: 1 to 255; 0 for the order's
    /// default.
    DRAM_CAP = 0x6C4, ReadWrite, None;
    /// Share of each channel's bandwidth for the kernel in each slot while other kernels need
    /// theirs, with [`super::dram_order::SHARES`]. In parts of 1,024: 0 to 1,024; 0 counts as 1, so
    /// that no kernel starves. Only the ratios of shares matter, not their sum. Shares stay with
    /// their slot when its kernel changes.
    DRAM_SHARE[KERNEL_SLOTS] = 0x6E0, ReadWrite, None;

    /// Warp instructions that the kernel in each slot may issue on an SM before all other quotas
    /// there are spent: 1 to 2^32 - 2, 0 for unlimited. A changed quota is full on each SM. A
    /// kernel that is new in its slot has the GPU's quota. Needs
    /// [`super::feature::MEMORY_ISSUE`].
    WARP_QUOTA[KERNEL_SLOTS] = 0x700, ReadWrite, None;
    /// Weight of the kernel in each slot for the L1's MSHRs, miss-queue entries and lines in flight
    /// per set. Shares are by weight among the kernels with TBs on the SM: 0 to 1024, as written.
    /// If all are 0, the GPU's partitioning applies; otherwise 0 counts as 1. Weights stay with
    /// their slot when its kernel changes. Needs [`super::feature::MISS_SHARES`].
    MISS_WEIGHT[KERNEL_SLOTS] = 0x720, ReadWrite;

    /// Source of the launch order: 0 for hardware, in the order in which launches became due; 1 for
    /// the firmware ([`super::queue`]). If 0 is written while launches are in the window, these
    /// come first, oldest first. Needs [`super::feature::QUEUE`].
    QUEUE_MODE = 0x740, ReadWrite;
    /// Entries of the window with a launch, one bit each.
    QUEUE_ENTRIES = 0x744, ReadOnly;
    /// Slots that are available to a launch, one bit each: free, with no access of the previous
    /// kernel in flight.
    QUEUE_ROOM = 0x748, ReadOnly, None;
    /// Assigns the first available slot to the launch in this entry, which is then launched as any
    /// other. Without an available slot the write has no effect, and QUEUE is raised once there is
    /// one. An entry that is empty or does not exist raises VALUE_RANGE.
    QUEUE_ADMIT = 0x74C, WriteOnly;
    /// Strap: number of times that a launch may be passed over before it must be next; 0 admits
    /// launches in the order in which they became due.
    STRAP_QUEUE_PATIENCE = 0x750, ReadOnly, None;
    /// Strap: memory-issue mode that the firmware sets on all SMs, [`super::memory_mode`], with
    /// [`super::option::SET_MEMORY_ISSUE`].
    STRAP_MEMORY_MODE = 0x754, ReadOnly, None;
    /// Strap: the order of DRAM requests that the firmware sets, [`super::dram_order`], with
    /// [`super::option::SET_DRAM_ORDER`].
    STRAP_DRAM_ORDER = 0x758, ReadOnly, None;
    /// Strap: cap of the order of DRAM requests, as in `DRAM_CAP`.
    STRAP_DRAM_CAP = 0x75C, ReadOnly, None;
}
