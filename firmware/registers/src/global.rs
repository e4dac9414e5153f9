//! Global registers: what the machine is, what the firmware was asked to do, time, interrupts and control.

use super::{KERNEL_SLOTS, SM_WORDS};

/// Offset of this region.
pub const BASE: u32 = 0;

registers! {
    /// Always [`super::ID_VALUE`].
    ID = 0x000, ReadOnly, Some(super::ID_VALUE);
    /// Layout version, [`super::VERSION_VALUE`].
    VERSION = 0x004, ReadOnly, Some(super::VERSION_VALUE);
    /// What the hardware can do: [`super::feature`].
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
    /// Registers per thread are rounded up to a multiple of this.
    REGISTER_GRANULE = 0x028, ReadOnly, None;
    /// Shared memory per TB is rounded up to a multiple of this many bytes.
    SHARED_GRANULE_BYTES = 0x02C, ReadOnly, None;
    /// Linear's coefficient (Nasef 2023, eq. 3.7) in per-SM units, Q16.16: stall cycles per accumulated outstanding access.
    LINEAR_COEFFICIENT = 0x030, ReadOnly, None;
    /// Warp schedulers per SM; each issues at most one warp instruction per cycle.
    SM_SCHEDULERS = 0x034, ReadOnly, None;
    /// Most sectors of 32 bytes that the interconnect moves from L2 to all SMs together per core cycle, Q16.16.
    REPLY_SECTORS = 0x038, ReadOnly, None;
    /// Most sectors of 32 bytes that all DRAM channels together move per core cycle, Q16.16.
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
    /// Strap: Warped-Slicer gives way to Spatial if a kernel is predicted to lose more than this over the number of kernels, in
    /// thousandths of what it does alone.
    STRAP_LOSS_THRESHOLD = 0x070, ReadOnly, None;
    /// Strap: cycles between two looks of the firmware at the counters of memory issue, if it is to limit memory instructions.
    STRAP_MEMORY_INTERVAL = 0x074, ReadOnly, None;
    /// Strap: whom the firmware preempts, and how: [`super::preempt_scheme`].
    STRAP_PREEMPT = 0x078, ReadOnly, None;
    /// Strap: cycles that a preemption may take from the moment at which an SM wants room, for kernels whose launch does not say
    /// ([`super::slot::LATENCY_LIMIT`]).
    STRAP_PREEMPT_LIMIT = 0x07C, ReadOnly, None;

    /// Low word of the core-cycle counter; reading it latches `CYCLE_HIGH`.
    CYCLE_LOW = 0x080, ReadOnly;
    /// High word of the core-cycle counter as of the last read of `CYCLE_LOW`.
    CYCLE_HIGH = 0x084, ReadOnly;
    /// Low word of the timer's compare value; held until `TIMER_HIGH` is written.
    TIMER_LOW = 0x088, ReadWrite;
    /// High word of the timer's compare value; writing it arms the timer. TIMER is raised once, when cycle >= compare.
    TIMER_HIGH = 0x08C, ReadWrite;
    /// 1 while the timer is armed. Writing 0 disarms it, writing 1 arms it with the compare value at hand.
    TIMER_ARMED = 0x090, ReadWrite;

    /// Events since they were last cleared: [`super::interrupt`].
    INT_STATUS = 0x0A0, WriteOneToClear;
    /// Which events raise the interrupt line.
    INT_ENABLE = 0x0A4, ReadWrite;
    /// `INT_STATUS & INT_ENABLE`; the line is high while this is not 0.
    INT_PENDING = 0x0A8, ReadOnly;
    /// Slots whose kernel has no TB left to issue.
    DRAINED = 0x0AC, WriteOneToClear;
    /// Slots whose kernel has completed: the last TB has retired.
    COMPLETED = 0x0B0, WriteOneToClear;

    /// Transition mode: [`super::mode`].
    MODE = 0x0C0, ReadWrite;
    /// Length of a profiling window in cycles, 1 to 131,071; applies to windows that start after the write.
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
    /// Cycles without a feed until the watchdog expires; 0 turns it off. Writing it also feeds.
    WATCHDOG_PERIOD = 0x0DC, ReadWrite;
    /// Feeds the watchdog. The value is ignored.
    WATCHDOG_FEED = 0x0E0, WriteOnly;
    /// Low word of the cycle at which the firmware took up its last decision, the windows being over: for traces, no effect on
    /// hardware.
    DECISION_BEGIN = 0x0E8, ReadWrite;
    /// Cycles from there until the chosen quotas were in effect: for traces, no effect on hardware.
    DECISION_CYCLES = 0x0EC, ReadWrite;

    /// Launches waiting in the FIFO.
    LAUNCH_COUNT = 0x100, ReadOnly;
    /// Slot of the oldest waiting launch; its descriptor is in that slot. 0 when none waits.
    LAUNCH_SLOT = 0x104, ReadOnly;
    /// Removes the oldest waiting launch from the FIFO (it stays in its slot). The value is ignored.
    LAUNCH_POP = 0x108, WriteOnly;

    /// Most sectors of 32 bytes that all L2 slices together hand to the interconnect per core cycle, Q16.16. With `REPLY_SECTORS`,
    /// `DRAM_SECTORS` and `SM_SCHEDULERS` it is what the off-SM bandwidth model of Zhao et al. 2018 (eq. 1 and 2) takes from the machine.
    L2_SECTORS = 0x110, ReadOnly, None;
    /// Bytes that an L2 access moves at most: a sector of 32, or a whole line where caches have no sectors.
    L2_ACCESS_BYTES = 0x114, ReadOnly, None;
    /// Cycles from the request to wake a gated SM until it takes TBs; 0 without [`super::feature::POWER_GATING`].
    SM_WAKE_CYCLES = 0x118, ReadOnly, None;
    /// Strap: cycles of the intervals after which the firmware looks at how busy the chip was, if it is to control extra TBs.
    STRAP_CONTEXT_INTERVAL = 0x11C, ReadOnly, None;

    /// Strap: cycles of each step of a search for SMs that are not measured (Zhao et al. 2018, sections 4.1.2 and 4.2), 1 to 131,071.
    STRAP_SEARCH_WARM_UP = 0x120, ReadOnly, None;
    /// Strap: cycles of each step that are measured then, 1 to 131,071.
    STRAP_SEARCH_WINDOW = 0x124, ReadOnly, None;
    /// Strap: what a kernel may lose of its IPC on its even share of the SMs, in thousandths.
    STRAP_SEARCH_LOSS = 0x128, ReadOnly, None;
    /// Strap: the share of DRAM's bandwidth, in thousandths, above which a kernel is memory-intensive, with
    /// [`super::option::SEARCH_BY_UTILISATION`].
    STRAP_SEARCH_UTILISATION = 0x12C, ReadOnly, None;
    /// Strap: SMs of the n-th kernel scheduled, for the policy that deals them out as given.
    STRAP_SHARES[KERNEL_SLOTS] = 0x130, ReadOnly, None;
    /// What a search for SMs has found, [`super::search_found`]: for traces, no effect on hardware.
    SEARCH_FOUND = 0x150, ReadWrite;
    /// Strap: what DRAM moves for a kernel alone of which every access opens a row, in thousandths of its peak, for a policy that tells by a model how slow
    /// kernels are.
    STRAP_SEARCH_REACH = 0x154, ReadOnly, None;
    /// Strap: how much more it moves where no access does, in thousandths.
    STRAP_SEARCH_REACH_OF_HITS = 0x158, ReadOnly, None;
    /// The progress that the kernel in each slot makes on the shares that a search for SMs has found: its IPC over that alone on all SMs, as the
    /// firmware estimates it, in parts of 2^14; 0 where it does not. For traces, no effect on hardware.
    SEARCH_PROGRESS[KERNEL_SLOTS] = 0x160, ReadWrite;

    /// Cycles from one MEMORY event to the next; 0: none. Writing it begins the first interval.
    MEMORY_INTERVAL = 0x180, ReadWrite;
    /// Latches and clears, on all SMs at one instant, the counters of memory issue of those slots that have had
    /// [`super::memory::SAMPLE_REQUESTS`] requests since they were latched last. The others go on. The value is ignored.
    MEMORY_SNAPSHOT = 0x184, WriteOnly;
    /// When memory instructions are held back as [`super::memory::MODE`] says: [`super::memory_active`].
    MEMORY_ACTIVE = 0x188, ReadWrite, Some(1);
    /// Sets the mode of all SMs: [`super::memory_mode`].
    MEMORY_MODE_ALL = 0x18C, WriteOnly;

    /// Which count of the L2's utility monitors `L2_MONITOR_HITS` shows: [`super::monitor`].
    L2_MONITOR = 0x190, ReadWrite;
    /// As [`super::memory::L1_MONITOR_HITS`], of the L2: the sum over its slices.
    L2_MONITOR_HITS = 0x194, ReadOnly;
    /// Ways of every L2 slice's sets that the kernels in two slots have: as [`super::memory::L1_WAYS`].
    L2_WAYS[super::memory::WAYS_WORDS] = 0x1A0, ReadWrite;
    /// Sets [`super::memory::L1_WAYS`] of all SMs.
    L1_WAYS_ALL[super::memory::WAYS_WORDS] = 0x1B0, WriteOnly;

    /// Cycles of an interval of a kernel; 0: none. Writing it begins the first interval of every kernel.
    CONTEXT_INTERVAL = 0x1C0, ReadWrite;
    /// Slots of which an interval is over and its counts are latched (`CONTEXT_INSTS` and what follows), one bit each. While a slot's bit is set
    /// its counts stay: an interval that ends meanwhile is lost, and raises CONTEXTS again.
    CONTEXT_DUE = 0x1C4, WriteOneToClear;

    /// Arms SMs, one bit each; reads show the armed ones, from arming to PROFILE_DONE.
    ARM[SM_WORDS] = 0x200, WriteOneToSet;
    /// Disarms SMs, one bit each: no event, counters go on.
    DISARM[SM_WORDS] = 0x220, WriteOnly;
    /// SMs whose partition was reached while armed.
    PARTITION[SM_WORDS] = 0x240, WriteOneToClear;
    /// SMs whose profiling window is over and whose counters are latched.
    PROFILE_DONE[SM_WORDS] = 0x260, WriteOneToClear;

    /// Stages a quota for a slot on every SM.
    QUOTA_ALL[KERNEL_SLOTS] = 0x300, WriteOnly;
    /// The SMs that `QUOTA_SOME` is for, one bit each; bits of SMs that the machine does not have are kept and mean nothing.
    QUOTA_SMS[SM_WORDS] = 0x320, ReadWrite;
    /// Stages a quota for a slot on the SMs of `QUOTA_SMS`: a row of quotas, one for each slot, takes as many writes for many SMs as for
    /// one.
    QUOTA_SOME[KERNEL_SLOTS] = 0x340, WriteOnly;

    /// SMs of which the last `MEMORY_SNAPSHOT` has latched a slot, one bit each.
    MEMORY_READY[SM_WORDS] = 0x360, ReadOnly;
    /// Sets a slot's limit on all SMs: [`super::memory::LIMIT`].
    MEMORY_LIMIT_ALL[KERNEL_SLOTS] = 0x380, WriteOnly;

    /// SMs that want room for a kernel. A bit is cleared by writing it, and set again after the commands of that SM are done if it wants room
    /// still, or when another kernel wants room there.
    PREEMPT_WANTED[SM_WORDS] = 0x3A0, WriteOneToClear;
    /// SMs of which all preemption commands are done or refused, since the bit was cleared.
    PREEMPT_DONE[SM_WORDS] = 0x3C0, WriteOneToClear;

    /// Latches the counters of kernels of the slots whose bits are set, all at one instant, and clears them, so that the next latch is of what
    /// came after this one. Counters of other slots go on. Bits of slots that the machine does not have raise VALUE_RANGE and are ignored.
    KERNEL_SNAPSHOT = 0x3E0, WriteOnly;
    /// Of each slot, which of its latched counters saturated: bit n for the n-th of the arrays that follow, `KERNEL_CYCLES` the first.
    KERNEL_SATURATED[KERNEL_SLOTS] = 0x400, ReadOnly;
    /// Cycles that the latched counters are of: since the last latch of the slot, or since the launch; 32 bits. What follows counts the
    /// whole chip, saturates, and is of [`super::KERNEL_COUNT_BITS`] bits where nothing else is said. All are 0 for a kernel that is new in
    /// its slot.
    KERNEL_CYCLES[KERNEL_SLOTS] = 0x420, ReadOnly;
    /// Warp instructions issued.
    KERNEL_WARP_INSTS[KERNEL_SLOTS] = 0x440, ReadOnly;
    /// Thread instructions issued; 32 bits.
    KERNEL_THREAD_INSTS[KERNEL_SLOTS] = 0x460, ReadOnly;
    /// L2 accesses, each of at most `L2_ACCESS_BYTES`.
    KERNEL_L2_ACCESSES[KERNEL_SLOTS] = 0x480, ReadOnly;
    /// Of these, hits; an access to what is on its way is none.
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
    /// Of these, misses; an access to what is on its way is none.
    KERNEL_L1_MISSES[KERNEL_SLOTS] = 0x560, ReadOnly;
    /// Limits a slot's active warps on all SMs: 0 to 63, as in [`super::sm::ACTIVE_WARPS`].
    ACTIVE_WARPS_ALL[KERNEL_SLOTS] = 0x580, WriteOnly;

    /// How many TBs beyond those that fit, extra ones, an SM has room for of the kernel in each slot: [`super::context_bound`].
    CONTEXT_BOUND[KERNEL_SLOTS] = 0x5A0, ReadOnly;
    /// How many an SM may have: [`super::context_allowed`], at most the bound; 0 for a kernel that is new in its slot.
    CONTEXT_ALLOWED[KERNEL_SLOTS] = 0x5C0, ReadWrite;
    /// The most of each of the six counts that follow in an interval, in their order, rounded down; of the interconnect, what it can sustain.
    CONTEXT_CAPACITY[super::CONTEXT_COUNTS] = 0x5E0, ReadOnly;
    /// Warp instructions that the whole chip issued in the slot's last interval, whatever kernel they are of. Intervals follow each other from the
    /// cycle on in which the kernel's TBs may be issued; the first is let pass. This and what follows are latched when an interval is over,
    /// of 32 bits, saturate, and are 0 for a kernel that is new in its slot.
    CONTEXT_INSTS[KERNEL_SLOTS] = 0x600, ReadOnly;
    /// Accesses of the L1s that hit: each keeps the data port of a bank for a cycle.
    CONTEXT_L1_HITS[KERNEL_SLOTS] = 0x620, ReadOnly;
    /// Flits from the SMs towards the L2.
    CONTEXT_REQUEST_FLITS[KERNEL_SLOTS] = 0x640, ReadOnly;
    /// Flits from the L2 towards the SMs.
    CONTEXT_REPLY_FLITS[KERNEL_SLOTS] = 0x660, ReadOnly;
    /// Look-ups of the L2 that hit: each keeps the data port of a slice while its data pass.
    CONTEXT_L2_HITS[KERNEL_SLOTS] = 0x680, ReadOnly;
    /// Sectors of 32 bytes that DRAM moved.
    CONTEXT_DRAM_SECTORS[KERNEL_SLOTS] = 0x6A0, ReadOnly;

    /// In which order the requests of a DRAM channel are served: [`super::dram_order`]. This and what follows are in effect two core cycles after
    /// the write.
    DRAM_ORDER = 0x6C0, ReadWrite, None;
    /// What the order is held by, [`super::dram_order`] says what: 1 to 255; 0 for the order's own.
    DRAM_CAP = 0x6C4, ReadWrite, None;
    /// Of the bandwidth of each channel, the part that the kernel in each slot has while others want theirs, in parts of 1,024, with
    /// [`super::dram_order::SHARES`]: 0 to 1,024; 0 counts as 1, so that nobody waits for ever. What the sum is to 1,024 means nothing, only what
    /// shares are to each other does. They stay with their slot whatever kernel takes it.
    DRAM_SHARE[KERNEL_SLOTS] = 0x6E0, ReadWrite, None;

    /// Warp instructions that the kernel in each slot may issue on an SM until those of all others there that have a quota are spent: 1 to 2^32 - 2, 0 for any
    /// number. One that has changed is whole on each SM. A kernel that is new in its slot has the machine's. Needs [`super::feature::MEMORY_ISSUE`].
    WARP_QUOTA[KERNEL_SLOTS] = 0x700, ReadWrite, None;
    /// The kernel's part of the L1's MSHRs, of the places in its miss queue, and of each set's lines those that may be on their way, by weight among the
    /// kernels with TBs on the SM: 0 to 1024, as written. While all are 0 they are divided as the machine does; else 0 counts as 1. They stay with their slot
    /// whatever kernel takes it. Needs [`super::feature::MISS_SHARES`].
    MISS_WEIGHT[KERNEL_SLOTS] = 0x720, ReadWrite;

    /// Who says which launch is next: 0 hardware, in the order in which they became due; 1 the firmware ([`super::queue`]). Written as 0 while launches are
    /// in the window, these come first, the oldest first. Needs [`super::feature::QUEUE`].
    QUEUE_MODE = 0x740, ReadWrite;
    /// Entries of the window with a launch, one bit each.
    QUEUE_ENTRIES = 0x744, ReadOnly;
    /// Slots that a launch could have now, one bit each: free, and nothing of the kernel before is in flight.
    QUEUE_ROOM = 0x748, ReadOnly, None;
    /// Gives the launch in this entry the first of those slots: then it is launched as any other. Without a slot nothing happens, and QUEUE is raised when there is
    /// one. An entry that is empty or does not exist raises VALUE_RANGE.
    QUEUE_ADMIT = 0x74C, WriteOnly;
    /// Strap: how often a launch may be passed over until it is next whatever there is; 0: launches are admitted in the order in which they became due.
    STRAP_QUEUE_PATIENCE = 0x750, ReadOnly, None;
    /// Strap: what the firmware sets of memory issue on all SMs, [`super::memory_mode`], with [`super::option::SET_MEMORY_ISSUE`].
    STRAP_MEMORY_MODE = 0x754, ReadOnly, None;
    /// Strap: the order of DRAM requests that the firmware sets, [`super::dram_order`], with [`super::option::SET_DRAM_ORDER`].
    STRAP_DRAM_ORDER = 0x758, ReadOnly, None;
    /// Strap: what that order is held by, as in `DRAM_CAP`.
    STRAP_DRAM_CAP = 0x75C, ReadOnly, None;
}
