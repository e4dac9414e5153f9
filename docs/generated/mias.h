/* Register block of the MIAS thread-block scheduler, for C99, C11 and C++11.
 *
 * Written by `cargo xtask docs` from firmware/registers/src/; a test fails when it is not current. Do not edit it.
 *
 * Every register is 32 bits wide, little endian, at a byte offset that is a multiple of four. docs/reference/registers.md has the access rules.
 * For a block that is mapped into memory: struct mias_block. For one behind a serial bus: the offsets.
 */
#ifndef MIAS_H
#define MIAS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* What ID holds: "MIAS", most significant byte first. */
#define MIAS_ID_VALUE UINT32_C(0x4d494153)
/* What VERSION holds: major in the upper half, minor in the lower. */
#define MIAS_VERSION_VALUE UINT32_C(0x1000c)
/* SMs that the map has room for. */
#define MIAS_MAX_SMS UINT32_C(0x100)
/* Kernel slots that the map has room for. */
#define MIAS_KERNEL_SLOTS UINT32_C(0x8)
/* Longest profiling window in cycles. */
#define MIAS_MAX_WINDOW UINT32_C(0x1ffff)
/* First byte offset beyond the map. */
#define MIAS_MAP_END UINT32_C(0x70000)
/* Byte offset of slot 0. */
#define MIAS_SLOT_BASE UINT32_C(0x800)
/* Bytes from slot to slot. */
#define MIAS_SLOT_STRIDE UINT32_C(0x40)
/* Byte offset of entry 0 of the window of the queue. */
#define MIAS_QUEUE_BASE UINT32_C(0x1000)
/* Bytes from entry to entry. */
#define MIAS_QUEUE_STRIDE UINT32_C(0x40)
/* Entries of the window. */
#define MIAS_QUEUE_WINDOW UINT32_C(0x10)
/* Byte offset of memory issue of SM 0. */
#define MIAS_MEMORY_BASE UINT32_C(0x2000)
/* Bytes from SM to SM in memory issue. */
#define MIAS_MEMORY_STRIDE UINT32_C(0xe0)
/* Byte offset of SM 0. */
#define MIAS_SM_BASE UINT32_C(0x10000)
/* Bytes from SM to SM. */
#define MIAS_SM_STRIDE UINT32_C(0x100)
/* Byte offset of preemption of SM 0. */
#define MIAS_PREEMPT_BASE UINT32_C(0x20000)
/* Bytes from SM to SM in preemption. */
#define MIAS_PREEMPT_STRIDE UINT32_C(0x500)

/* Global registers: byte offsets in the block. Elements of an array are 4 bytes apart. */
/* Read only. Always ID_VALUE. */
#define MIAS_ID UINT32_C(0x0)
/* Read only. Layout version, VERSION_VALUE. */
#define MIAS_VERSION UINT32_C(0x4)
/* Read only. Hardware features: feature. */
#define MIAS_FEATURES UINT32_C(0x8)
/* Read only. SMs on the chip, 1 to 256. */
#define MIAS_SM_COUNT UINT32_C(0xc)
/* Read only. Kernel slots, 1 to 8. */
#define MIAS_SLOT_COUNT UINT32_C(0x10)
/* Read only. Resident threads per SM. */
#define MIAS_SM_THREADS UINT32_C(0x14)
/* Read only. 32-bit registers per SM. */
#define MIAS_SM_REGISTERS UINT32_C(0x18)
/* Read only. Shared memory per SM in bytes. */
#define MIAS_SM_SHARED_BYTES UINT32_C(0x1c)
/* Read only. Resident TBs per SM, at most 255. */
#define MIAS_SM_TBS UINT32_C(0x20)
/* Read only. Threads per warp. */
#define MIAS_WARP_THREADS UINT32_C(0x24)
/* Read only. Granule to which registers per thread are rounded up. */
#define MIAS_REGISTER_GRANULE UINT32_C(0x28)
/* Read only. Granule in bytes to which shared memory per TB is rounded up. */
#define MIAS_SHARED_GRANULE_BYTES UINT32_C(0x2c)
/* Read only. Linear's coefficient (Nasef 2023, eq. 3.7) in per-SM units, Q16.16: stall cycles per
 * accumulated outstanding access. */
#define MIAS_LINEAR_COEFFICIENT UINT32_C(0x30)
/* Read only. Warp schedulers per SM; each issues at most one warp instruction per cycle. */
#define MIAS_SM_SCHEDULERS UINT32_C(0x34)
/* Read only. Peak bandwidth of the interconnect from L2 to all SMs together, in sectors of 32 bytes
 * per core cycle, Q16.16. */
#define MIAS_REPLY_SECTORS UINT32_C(0x38)
/* Read only. Peak bandwidth of all DRAM channels together, in sectors of 32 bytes per core cycle,
 * Q16.16. */
#define MIAS_DRAM_SECTORS UINT32_C(0x3c)
/* Read only. Strap: policy to run, PolicyCode. */
#define MIAS_STRAP_POLICY UINT32_C(0x40)
/* Read only. Strap: profiling window in cycles, 1 to 131,071. */
#define MIAS_STRAP_PROFILE_WINDOW UINT32_C(0x44)
/* Read only. Strap: cycles for which launches are collected before they are scheduled together. */
#define MIAS_STRAP_COALESCE_WINDOW UINT32_C(0x48)
/* Read only. Strap: option bits. */
#define MIAS_STRAP_OPTIONS UINT32_C(0x4c)
/* Read only. 8 of them. Strap: TBs per SM of the n-th kernel launched, for the fixed-configuration
 * policy. */
#define MIAS_STRAP_FIXED UINT32_C(0x50)
/* Read only. Strap: predicted loss above which Warped-Slicer falls back to Spatial. It is in
 * thousandths of a kernel's isolated performance, and is divided by the number of kernels. */
#define MIAS_STRAP_LOSS_THRESHOLD UINT32_C(0x70)
/* Read only. Strap: cycles between two checks of the memory-issue counters, if the firmware limits
 * memory instructions. */
#define MIAS_STRAP_MEMORY_INTERVAL UINT32_C(0x74)
/* Read only. Strap: preemption scheme of the firmware: preempt_scheme. */
#define MIAS_STRAP_PREEMPT UINT32_C(0x78)
/* Read only. Strap: most cycles of a preemption from an SM's request for space. It applies to
 * kernels without a limit of their own (slot::LATENCY_LIMIT). */
#define MIAS_STRAP_PREEMPT_LIMIT UINT32_C(0x7c)
/* Read only. Low word of the core-cycle counter; reading it latches CYCLE_HIGH. */
#define MIAS_CYCLE_LOW UINT32_C(0x80)
/* Read only. High word of the core-cycle counter as of the last read of CYCLE_LOW. */
#define MIAS_CYCLE_HIGH UINT32_C(0x84)
/* Read and write. Low word of the timer's compare value; held until TIMER_HIGH is written. */
#define MIAS_TIMER_LOW UINT32_C(0x88)
/* Read and write. High word of the timer's compare value; writing it arms the timer. TIMER is raised
 * once, when cycle >= compare. */
#define MIAS_TIMER_HIGH UINT32_C(0x8c)
/* Read and write. 1 while the timer is armed. Writing 0 disarms it. Writing 1 arms it with the
 * current compare value. */
#define MIAS_TIMER_ARMED UINT32_C(0x90)
/* Write 1 to clear. Events since they were last cleared: interrupt. */
#define MIAS_INT_STATUS UINT32_C(0xa0)
/* Read and write. Events that raise the interrupt line. */
#define MIAS_INT_ENABLE UINT32_C(0xa4)
/* Read only. INT_STATUS & INT_ENABLE; the line is high while this is not 0. */
#define MIAS_INT_PENDING UINT32_C(0xa8)
/* Write 1 to clear. Slots whose kernel has no TB left to issue. */
#define MIAS_DRAINED UINT32_C(0xac)
/* Write 1 to clear. Slots whose kernel has completed: the last TB has retired. */
#define MIAS_COMPLETED UINT32_C(0xb0)
/* Read and write. Transition mode: mode. */
#define MIAS_MODE UINT32_C(0xc0)
/* Read and write. Length of a profiling window in cycles, 1 to 131,071; applies to windows that
 * start after the write. */
#define MIAS_PROFILE_WINDOW UINT32_C(0xc4)
/* Write only. Makes all staged quotas effective, in the order of the SMs. The value is ignored. */
#define MIAS_COMMIT UINT32_C(0xc8)
/* Read and write. Scheduler phase, PhaseCode: for traces, no effect on hardware. */
#define MIAS_PHASE UINT32_C(0xcc)
/* Read and write. Reschedulings so far: for traces, no effect on hardware. */
#define MIAS_RESCHEDULINGS UINT32_C(0xd0)
/* Write 1 to clear. Faults since they were last cleared: fault. */
#define MIAS_FAULT UINT32_C(0xd4)
/* Write only. Raises the firmware's faults, bits 8 to 15; the others are ignored. */
#define MIAS_FAULT_SET UINT32_C(0xd8)
/* Read and write. Cycles without a feed until the watchdog expires; 0 turns it off. Writing it also
 * feeds the watchdog. */
#define MIAS_WATCHDOG_PERIOD UINT32_C(0xdc)
/* Write only. Feeds the watchdog. The value is ignored. */
#define MIAS_WATCHDOG_FEED UINT32_C(0xe0)
/* Read and write. Low word of the cycle at which the last decision started, after its windows ended.
 * For traces, no effect on hardware. */
#define MIAS_DECISION_BEGIN UINT32_C(0xe8)
/* Read and write. Cycles from the start of the last decision until its quotas were in effect. For
 * traces, no effect on hardware. */
#define MIAS_DECISION_CYCLES UINT32_C(0xec)
/* Read only. Launches waiting in the FIFO. */
#define MIAS_LAUNCH_COUNT UINT32_C(0x100)
/* Read only. Slot of the oldest waiting launch; its descriptor is in that slot. 0 when none waits. */
#define MIAS_LAUNCH_SLOT UINT32_C(0x104)
/* Write only. Removes the oldest waiting launch from the FIFO. The launch stays in its slot. The
 * value is ignored. */
#define MIAS_LAUNCH_POP UINT32_C(0x108)
/* Read only. Peak bandwidth from all L2 slices to the interconnect, in sectors of 32 bytes per core
 * cycle, Q16.16. The off-SM bandwidth model of Zhao et al. 2018 (eq. 1 and 2) takes it,
 * REPLY_SECTORS, DRAM_SECTORS and SM_SCHEDULERS from the GPU. */
#define MIAS_L2_SECTORS UINT32_C(0x110)
/* Read only. Most bytes per L2 access: a sector of 32, or a whole line if caches have no sectors. */
#define MIAS_L2_ACCESS_BYTES UINT32_C(0x114)
/* Read only. Cycles from the request to wake a gated SM until it accepts TBs; 0 without
 * feature::POWER_GATING. */
#define MIAS_SM_WAKE_CYCLES UINT32_C(0x118)
/* Read only. Strap: cycles of the intervals after which the firmware checks the chip's utilization,
 * if it controls extra TBs. */
#define MIAS_STRAP_CONTEXT_INTERVAL UINT32_C(0x11c)
/* Read only. Strap: unmeasured cycles at the start of each step of a search for SM shares (Zhao et
 * al. 2018, sections 4.1.2 and 4.2), 1 to 131,071. */
#define MIAS_STRAP_SEARCH_WARM_UP UINT32_C(0x120)
/* Read only. Strap: measured cycles of each step of a search for SM shares, 1 to 131,071. */
#define MIAS_STRAP_SEARCH_WINDOW UINT32_C(0x124)
/* Read only. Strap: accepted loss of a kernel's IPC relative to its even share of the SMs, in
 * thousandths. */
#define MIAS_STRAP_SEARCH_LOSS UINT32_C(0x128)
/* Read only. Strap: share of DRAM bandwidth, in thousandths, above which a kernel is
 * memory-intensive, with option::SEARCH_BY_UTILIZATION. */
#define MIAS_STRAP_SEARCH_UTILIZATION UINT32_C(0x12c)
/* Read only. 8 of them. Strap: SMs of the n-th scheduled kernel, for the policy with given shares. */
#define MIAS_STRAP_SHARES UINT32_C(0x130)
/* Read and write. Result of a search for SM shares, search_found: for traces, no effect on hardware. */
#define MIAS_SEARCH_FOUND UINT32_C(0x150)
/* Read only. Strap: DRAM throughput of a kernel alone if every access opens a row, in thousandths of
 * the peak. For a policy that estimates slowdowns by a model. */
#define MIAS_STRAP_SEARCH_REACH UINT32_C(0x154)
/* Read only. Strap: additional DRAM throughput if no access opens a row, in thousandths of the peak. */
#define MIAS_STRAP_SEARCH_REACH_OF_HITS UINT32_C(0x158)
/* Read and write. 8 of them. Progress of the kernel in each slot on the shares that a search for SM
 * shares has found. It is its IPC over its IPC alone on all SMs, as the firmware estimates it, in
 * parts of 2^14; 0 without an estimate. For traces, no effect on hardware. */
#define MIAS_SEARCH_PROGRESS UINT32_C(0x160)
/* Read and write. Cycles from one MEMORY event to the next; 0 for none. Writing it starts the first
 * interval. */
#define MIAS_MEMORY_INTERVAL UINT32_C(0x180)
/* Write only. Latches and clears the memory-issue counters on all SMs at one instant. It affects
 * slots with at least memory::SAMPLE_REQUESTS requests since their last latch. The others continue.
 * The value is ignored. */
#define MIAS_MEMORY_SNAPSHOT UINT32_C(0x184)
/* Read and write. Times at which memory instructions are held back by memory::MODE: memory_active. */
#define MIAS_MEMORY_ACTIVE UINT32_C(0x188)
/* Write only. Sets the mode of all SMs: memory_mode. */
#define MIAS_MEMORY_MODE_ALL UINT32_C(0x18c)
/* Read and write. Selects the count of the L2's utility monitors that L2_MONITOR_HITS shows:
 * monitor. */
#define MIAS_L2_MONITOR UINT32_C(0x190)
/* Read only. Hits in the L2, counted as in memory::L1_MONITOR_HITS, summed over the slices. */
#define MIAS_L2_MONITOR_HITS UINT32_C(0x194)
/* Read and write. 4 of them. Ways per set of every L2 slice for the kernels in two slots: as
 * memory::L1_WAYS. */
#define MIAS_L2_WAYS UINT32_C(0x1a0)
/* Write only. 4 of them. Sets memory::L1_WAYS of all SMs. */
#define MIAS_L1_WAYS_ALL UINT32_C(0x1b0)
/* Read and write. Cycles of an interval of a kernel; 0 for none. Writing it starts the first
 * interval of every kernel. */
#define MIAS_CONTEXT_INTERVAL UINT32_C(0x1c0)
/* Write 1 to clear. Slots with a finished interval and latched counts (CONTEXT_INSTS and the
 * registers after it), one bit each. While a slot's bit is set its counts stay. An interval that
 * ends meanwhile is lost, and raises OVERSUBSCRIPTION again. */
#define MIAS_CONTEXT_DUE UINT32_C(0x1c4)
/* Write 1 to set. 8 of them. Arms SMs, one bit each. Reads show the armed SMs, from arming to
 * PROFILE_DONE. */
#define MIAS_ARM UINT32_C(0x200)
/* Write only. 8 of them. Disarms SMs, one bit each. It raises no event, and counters continue. */
#define MIAS_DISARM UINT32_C(0x220)
/* Write 1 to clear. 8 of them. SMs whose partition was reached while armed. */
#define MIAS_PARTITION UINT32_C(0x240)
/* Write 1 to clear. 8 of them. SMs whose profiling window is over and whose counters are latched. */
#define MIAS_PROFILE_DONE UINT32_C(0x260)
/* Write only. 8 of them. Stages a quota for a slot on every SM. */
#define MIAS_QUOTA_ALL UINT32_C(0x300)
/* Read and write. 8 of them. SMs that QUOTA_SOME applies to, one bit each. Bits of SMs that the GPU
 * does not have are stored without effect. */
#define MIAS_QUOTA_SMS UINT32_C(0x320)
/* Write only. 8 of them. Stages a quota for a slot on the SMs of QUOTA_SMS. A row of quotas, one for
 * each slot, takes as many writes for many SMs as for one. */
#define MIAS_QUOTA_SOME UINT32_C(0x340)
/* Read only. 8 of them. SMs with a slot that the last MEMORY_SNAPSHOT latched, one bit each. */
#define MIAS_MEMORY_READY UINT32_C(0x360)
/* Write only. 8 of them. Sets a slot's limit on all SMs: memory::LIMIT. */
#define MIAS_MEMORY_LIMIT_ALL UINT32_C(0x380)
/* Write 1 to clear. 8 of them. SMs that request space for a kernel. Writing a bit clears it. It is
 * set again if the SM still needs space after its commands are done, or if another kernel needs
 * space there. */
#define MIAS_PREEMPT_WANTED UINT32_C(0x3a0)
/* Write 1 to clear. 8 of them. SMs whose preemption commands are all done or refused since the bit
 * was cleared. */
#define MIAS_PREEMPT_DONE UINT32_C(0x3c0)
/* Write only. Latches the kernel counters of the slots whose bits are set, all at one instant, and
 * clears them. The next latch therefore covers the time since this one. Counters of other slots
 * continue. Bits of slots that the GPU does not have raise VALUE_RANGE and are ignored. */
#define MIAS_KERNEL_SNAPSHOT UINT32_C(0x3e0)
/* Read only. 8 of them. Saturated latched counters of each slot: bit n for the n-th of the following
 * arrays, KERNEL_CYCLES being the first. */
#define MIAS_KERNEL_SATURATED UINT32_C(0x400)
/* Read only. 8 of them. Cycles that the latched counters cover: since the last latch of the slot, or
 * since the launch; 32 bits. The following registers count over the whole chip and saturate. They
 * have KERNEL_COUNT_BITS bits unless stated otherwise. All are 0 for a kernel that is new in its
 * slot. */
#define MIAS_KERNEL_CYCLES UINT32_C(0x420)
/* Read only. 8 of them. Warp instructions issued. */
#define MIAS_KERNEL_WARP_INSTS UINT32_C(0x440)
/* Read only. 8 of them. Thread instructions issued; 32 bits. */
#define MIAS_KERNEL_THREAD_INSTS UINT32_C(0x460)
/* Read only. 8 of them. L2 accesses, each of at most L2_ACCESS_BYTES. */
#define MIAS_KERNEL_L2_ACCESSES UINT32_C(0x480)
/* Read only. 8 of them. L2 hits. An access to data in flight is not a hit. */
#define MIAS_KERNEL_L2_HITS UINT32_C(0x4a0)
/* Read only. 8 of them. DRAM reads, each of one sector. */
#define MIAS_KERNEL_DRAM_READS UINT32_C(0x4c0)
/* Read only. 8 of them. DRAM writes, each of one sector. */
#define MIAS_KERNEL_DRAM_WRITES UINT32_C(0x4e0)
/* Read only. 8 of them. DRAM reads and writes that found their row open. */
#define MIAS_KERNEL_ROW_HITS UINT32_C(0x500)
/* Read only. 8 of them. TBs that have ended. */
#define MIAS_KERNEL_ENDED_TBS UINT32_C(0x520)
/* Read only. 8 of them. Accesses of the L1s, loads and stores. */
#define MIAS_KERNEL_L1_ACCESSES UINT32_C(0x540)
/* Read only. 8 of them. L1 misses. An access to data in flight is not a miss. */
#define MIAS_KERNEL_L1_MISSES UINT32_C(0x560)
/* Write only. 8 of them. Limits a slot's active warps on all SMs: 0 to 63, as in sm::ACTIVE_WARPS. */
#define MIAS_ACTIVE_WARPS_ALL UINT32_C(0x580)
/* Read only. 8 of them. Most extra TBs, beyond those that fit, of the kernel in each slot that an SM
 * can store: context_bound. */
#define MIAS_CONTEXT_BOUND UINT32_C(0x5a0)
/* Read and write. 8 of them. Extra TBs of the kernel in each slot that an SM may hold:
 * context_allowed, at most the bound; 0 for a kernel that is new in its slot. */
#define MIAS_CONTEXT_ALLOWED UINT32_C(0x5c0)
/* Read only. 6 of them. Largest value of each of the following six counts in an interval, in their
 * order, rounded down. For the interconnect it is the sustainable value. */
#define MIAS_CONTEXT_CAPACITY UINT32_C(0x5e0)
/* Read only. 8 of them. Warp instructions of all kernels that the whole chip issued in the slot's
 * last interval. Intervals follow each other from the cycle in which the kernel's TBs may issue,
 * and the first is skipped. This and the following registers are latched at the end of an interval,
 * have 32 bits, and saturate. They are 0 for a kernel that is new in its slot. */
#define MIAS_CONTEXT_INSTS UINT32_C(0x600)
/* Read only. 8 of them. L1 accesses that hit. Each occupies the data port of a bank for a cycle. */
#define MIAS_CONTEXT_L1_HITS UINT32_C(0x620)
/* Read only. 8 of them. Flits from the SMs toward the L2. */
#define MIAS_CONTEXT_REQUEST_FLITS UINT32_C(0x640)
/* Read only. 8 of them. Flits from the L2 toward the SMs. */
#define MIAS_CONTEXT_REPLY_FLITS UINT32_C(0x660)
/* Read only. 8 of them. L2 look-ups that hit. Each occupies the data port of a slice while its data
 * pass. */
#define MIAS_CONTEXT_L2_HITS UINT32_C(0x680)
/* Read only. 8 of them. Sectors of 32 bytes that DRAM moved. */
#define MIAS_CONTEXT_DRAM_SECTORS UINT32_C(0x6a0)
/* Read and write. Order in which a DRAM channel serves requests: dram_order. This and the following
 * registers take effect two core cycles after the write. */
#define MIAS_DRAM_ORDER UINT32_C(0x6c0)
/* Read and write. Cap of the DRAM order, defined by dram_order: 1 to 255; 0 for the order's default. */
#define MIAS_DRAM_CAP UINT32_C(0x6c4)
/* Read and write. 8 of them. Share of each channel's bandwidth for the kernel in each slot while
 * other kernels need theirs, with dram_order::SHARES. In parts of 1,024: 0 to 1,024; 0 counts as 1,
 * so that no kernel starves. Only the ratios of shares matter, not their sum. Shares stay with
 * their slot when its kernel changes. */
#define MIAS_DRAM_SHARE UINT32_C(0x6e0)
/* Read and write. 8 of them. Warp instructions that the kernel in each slot may issue on an SM
 * before all other quotas there are spent: 1 to 2^32 - 2, 0 for unlimited. A changed quota is full
 * on each SM. A kernel that is new in its slot has the GPU's quota. Needs feature::MEMORY_ISSUE. */
#define MIAS_WARP_QUOTA UINT32_C(0x700)
/* Read and write. 8 of them. Weight of the kernel in each slot for the L1's MSHRs, miss-queue
 * entries and lines in flight per set. Shares are by weight among the kernels with TBs on the SM: 0
 * to 1024, as written. If all are 0, the GPU's partitioning applies; otherwise 0 counts as 1.
 * Weights stay with their slot when its kernel changes. Needs feature::MISS_SHARES. */
#define MIAS_MISS_WEIGHT UINT32_C(0x720)
/* Read and write. Source of the launch order: 0 for hardware, in the order in which launches became
 * due; 1 for the firmware (queue). If 0 is written while launches are in the window, these come
 * first, oldest first. Needs feature::QUEUE. */
#define MIAS_QUEUE_MODE UINT32_C(0x740)
/* Read only. Entries of the window with a launch, one bit each. */
#define MIAS_QUEUE_ENTRIES UINT32_C(0x744)
/* Read only. Slots that are available to a launch, one bit each: free, with no access of the
 * previous kernel in flight. */
#define MIAS_QUEUE_ROOM UINT32_C(0x748)
/* Write only. Assigns the first available slot to the launch in this entry, which is then launched
 * as any other. Without an available slot the write has no effect, and QUEUE is raised once there
 * is one. An entry that is empty or does not exist raises VALUE_RANGE. */
#define MIAS_QUEUE_ADMIT UINT32_C(0x74c)
/* Read only. Strap: number of times that a launch may be passed over before it must be next; 0
 * admits launches in the order in which they became due. */
#define MIAS_STRAP_QUEUE_PATIENCE UINT32_C(0x750)
/* Read only. Strap: memory-issue mode that the firmware sets on all SMs, memory_mode, with
 * option::SET_MEMORY_ISSUE. */
#define MIAS_STRAP_MEMORY_MODE UINT32_C(0x754)
/* Read only. Strap: the order of DRAM requests that the firmware sets, dram_order, with
 * option::SET_DRAM_ORDER. */
#define MIAS_STRAP_DRAM_ORDER UINT32_C(0x758)
/* Read only. Strap: cap of the order of DRAM requests, as in DRAM_CAP. */
#define MIAS_STRAP_DRAM_CAP UINT32_C(0x75c)

/* Registers of a slot: byte offsets in the slot. */
/* Read only. slot_status bits. */
#define MIAS_SLOT_REG_STATUS UINT32_C(0x0)
/* Write only. slot_control commands. */
#define MIAS_SLOT_REG_CONTROL UINT32_C(0x4)
/* Read only. TBs of the grid. */
#define MIAS_SLOT_REG_GRID_TBS UINT32_C(0x8)
/* Read only. Threads per TB. */
#define MIAS_SLOT_REG_TB_THREADS UINT32_C(0xc)
/* Read only. Registers per thread. */
#define MIAS_SLOT_REG_THREAD_REGISTERS UINT32_C(0x10)
/* Read only. Shared memory per TB in bytes, static and dynamic. */
#define MIAS_SLOT_REG_TB_SHARED_BYTES UINT32_C(0x14)
/* Read only. Priority, larger is more urgent; 0 by default. */
#define MIAS_SLOT_REG_PRIORITY UINT32_C(0x18)
/* Read only. Stream that the kernel was launched into. */
#define MIAS_SLOT_REG_STREAM UINT32_C(0x1c)
/* Read only. TBs not yet issued. */
#define MIAS_SLOT_REG_UNISSUED_TBS UINT32_C(0x20)
/* Read only. TBs not yet retired. */
#define MIAS_SLOT_REG_UNFINISHED_TBS UINT32_C(0x24)
/* Read only. Cycles from the moment at which the kernel's TBs may issue until it must have its room;
 * 0 if the launch has no limit. */
#define MIAS_SLOT_REG_LATENCY_LIMIT UINT32_C(0x28)
/* Read only. Identity of the kernel: launches with the same number execute the same code; 0 if the
 * host gives none. */
#define MIAS_SLOT_REG_IDENTITY UINT32_C(0x2c)

/* Registers of an entry of the queue's window: byte offsets in the entry. */
/* Read only. Identity of the kernel, as in slot::IDENTITY. */
#define MIAS_QUEUE_REG_IDENTITY UINT32_C(0x0)
/* Read only. TBs of the grid. */
#define MIAS_QUEUE_REG_GRID_TBS UINT32_C(0x4)
/* Read only. Threads per TB. */
#define MIAS_QUEUE_REG_TB_THREADS UINT32_C(0x8)
/* Read only. Registers per thread. */
#define MIAS_QUEUE_REG_THREAD_REGISTERS UINT32_C(0xc)
/* Read only. Shared memory per TB in bytes, static and dynamic. */
#define MIAS_QUEUE_REG_TB_SHARED_BYTES UINT32_C(0x10)
/* Read only. Priority, larger is more urgent; 0 by default. */
#define MIAS_QUEUE_REG_PRIORITY UINT32_C(0x14)
/* Read only. Stream that the kernel was launched into. */
#define MIAS_QUEUE_REG_STREAM UINT32_C(0x18)
/* Read only. Cycles in which the kernel must have its room, as in slot::LATENCY_LIMIT. */
#define MIAS_QUEUE_REG_LATENCY_LIMIT UINT32_C(0x1c)
/* Read only. Launches that entered the window earlier, since reset, modulo 2^32. It gives the order
 * of age. */
#define MIAS_QUEUE_REG_NUMBER UINT32_C(0x20)
/* Read only. Number of times that the launch was passed over: launches that entered the window later
 * and were admitted earlier. It saturates at MOST_PASSED. */
#define MIAS_QUEUE_REG_PASSED UINT32_C(0x24)

/* Registers of memory issue: byte offsets in those of an SM. */
/* Read and write. Mode by which memory instructions are held back: memory_mode. */
#define MIAS_MEMORY_REG_MODE UINT32_C(0x0)
/* Read only. Slots that the last snapshot has latched, one bit each. */
#define MIAS_MEMORY_REG_READY UINT32_C(0x4)
/* Read and write. Selects the count of the L1's utility monitors that L1_MONITOR_HITS shows:
 * monitor. */
#define MIAS_MEMORY_REG_L1_MONITOR UINT32_C(0x8)
/* Read only. Hits that the kernel selected in L1_MONITOR would have at the selected position if it
 * had the L1 alone. They are latched when the firmware is called. Counts from before the end of a
 * period count half. 32 bits; 0 without monitors, and at positions beyond the ways. */
#define MIAS_MEMORY_REG_L1_MONITOR_HITS UINT32_C(0xc)
/* Read and write. 4 of them. Ways per set of the L1 for the kernels in two slots, the even slot in
 * the low half: 0 to 1024, as written. If all words are 0, the GPU's partitioning applies;
 * otherwise a kernel with 0 has one way. */
#define MIAS_MEMORY_REG_L1_WAYS UINT32_C(0x10)
/* Read only. 8 of them. Requests of the kernel in each slot, latched; 24 bits. They are L1 accesses
 * and accesses that bypass the L1. */
#define MIAS_MEMORY_REG_REQUESTS UINT32_C(0x20)
/* Read only. 8 of them. Reservation fails of the kernel in each slot, latched; 24 bits. */
#define MIAS_MEMORY_REG_FAILS UINT32_C(0x40)
/* Read only. 8 of them. Scheduler-cycles in which warps could have issued but were all held back,
 * latched; 24 bits. They are charged to the kernel of the oldest warp. */
#define MIAS_MEMORY_REG_HELD_CYCLES UINT32_C(0x60)
/* Read only. 8 of them. Peak number of memory instructions in flight, latched; 10 bits. */
#define MIAS_MEMORY_REG_PEAK UINT32_C(0x80)
/* Read only. 8 of them. Memory instructions in flight when the firmware was called; 10 bits. */
#define MIAS_MEMORY_REG_IN_FLIGHT UINT32_C(0xa0)
/* Read and write. 8 of them. Limit on memory instructions in flight: 1 to 127, 0 for unlimited.
 * Reads show the limit in effect, which equals the written one only in mode WRITTEN. */
#define MIAS_MEMORY_REG_LIMIT UINT32_C(0xc0)

/* Registers of an SM: byte offsets in the SM. */
/* Read only. sm_status bits. */
#define MIAS_SM_REG_STATUS UINT32_C(0x0)
/* Write only. sm_control commands. */
#define MIAS_SM_REG_CONTROL UINT32_C(0x4)
/* Read only. Saturated latched counters: bit n for the n-th Counter. */
#define MIAS_SM_REG_SATURATED UINT32_C(0x8)
/* Read only. 12 of them. Counters as latched by the last PROFILE_DONE or snapshot, in the order of
 * Counter. */
#define MIAS_SM_REG_COUNTERS UINT32_C(0x10)
/* Read only. 8 of them. Warp instructions of the kernel in each slot, latched with the counters.
 * Their sum is the counter of that name, and as wide. */
#define MIAS_SM_REG_SLOT_WARP_INSTS UINT32_C(0x40)
/* Read only. 8 of them. Thread instructions of the kernel in each slot, latched with the counters.
 * Their sum is the counter of that name, and as wide. */
#define MIAS_SM_REG_SLOT_THREAD_INSTS UINT32_C(0x60)
/* Read and write. 8 of them. Staged quota per slot: TBs of that kernel that the SM may hold, 0 to
 * SM_TBS. */
#define MIAS_SM_REG_QUOTA UINT32_C(0x80)
/* Read only. 8 of them. Resident TBs per slot. */
#define MIAS_SM_REG_RESIDENT UINT32_C(0xa0)
/* Read only. 8 of them. Quota in effect per slot: as of the last commit that has reached the SM. */
#define MIAS_SM_REG_ACTIVE_QUOTA UINT32_C(0xc0)
/* Read and write. Requested state of the SM, a code of sm_state: ACTIVE, STALLED or GATED. A code
 * beyond these is clamped to GATED. STALLED and ACTIVE take effect in the cycle of the write. GATED
 * without feature::POWER_GATING raises UNSUPPORTED and does not change the request. */
#define MIAS_SM_REG_STATE_REQUEST UINT32_C(0xe0)
/* Read only. State of the SM: sm_state. */
#define MIAS_SM_REG_STATE UINT32_C(0xe4)
/* Read and write. 2 of them. Active-warp limits of the kernels in four slots, the first in the low
 * byte. Each warp scheduler issues only from that number of the kernel's warps, 1 to 63; 0 for all.
 * They are the oldest that wait at no barrier and have instructions left. A kernel that is new in
 * its slot starts with the GPU's limit. */
#define MIAS_SM_REG_ACTIVE_WARPS UINT32_C(0xe8)

/* Registers of preemption: byte offsets in those of an SM. */
/* Read only. 32 of them. TB in each place: preempt_tb; 0 if the place is empty. */
#define MIAS_PREEMPT_REG_TB UINT32_C(0x0)
/* Read only. 32 of them. Warp instructions that the TB in each place has issued, saturating. */
#define MIAS_PREEMPT_REG_TB_INSTS UINT32_C(0x80)
/* Read only. 32 of them. Cycles since the TB arrived or resumed, saturating. A TB that was switched
 * continues its earlier count. */
#define MIAS_PREEMPT_REG_TB_CYCLES UINT32_C(0x100)
/* Read only. 32 of them. First register of the TB in each place. */
#define MIAS_PREEMPT_REG_TB_REGISTERS UINT32_C(0x180)
/* Read only. 32 of them. First byte of shared memory of the TB in each place. */
#define MIAS_PREEMPT_REG_TB_SHARED UINT32_C(0x200)
/* Read only. 32 of them. Cycles until the TB ends if nothing changes, if a source outside the
 * machine provides them (the oracle of Shieh 2016, section 4.2); otherwise UNKNOWN. */
#define MIAS_PREEMPT_REG_TB_LEFT UINT32_C(0x280)
/* Read and write. 32 of them. Makes the TB in a place leave: writes are technique codes. Reads show
 * the outcome of the last command for this place: preempt_command. */
#define MIAS_PREEMPT_REG_COMMAND UINT32_C(0x300)
/* Read only. 8 of them. TBs of each slot's kernel that have ended on this SM. This and the following
 * four are halved together when one of them would overflow, which keeps their ratios. */
#define MIAS_PREEMPT_REG_ENDED_TBS UINT32_C(0x380)
/* Read only. 8 of them. Warp instructions of the ended TBs. */
#define MIAS_PREEMPT_REG_ENDED_INSTS UINT32_C(0x3a0)
/* Read only. 8 of them. Cycles of the ended TBs on the SM. */
#define MIAS_PREEMPT_REG_ENDED_CYCLES UINT32_C(0x3c0)
/* Read only. 8 of them. Sum of the ended TBs' cycles per warp instruction, each rounded down to
 * sixteenths and at most 4,095. */
#define MIAS_PREEMPT_REG_ENDED_CPI UINT32_C(0x3e0)
/* Read only. 8 of them. Sum of the squares of the ended TBs' cycles per warp instruction, in 256ths. */
#define MIAS_PREEMPT_REG_ENDED_CPI_SQUARES UINT32_C(0x400)
/* Read only. Kernel that requests space: the slot + 1 in bits 0 to 3, 0 for none. Bits 8 to 15 have
 * the number of further TBs that its quota allows here. */
#define MIAS_PREEMPT_REG_WANTED UINT32_C(0x420)
/* Read and write. Kernel with reserved positions: preempt_reserve. Writing 0 frees them. */
#define MIAS_PREEMPT_REG_RESERVED_SLOT UINT32_C(0x424)
/* Read and write. Reserved positions 0 to 31, one bit each. A bit is cleared when a TB of that
 * kernel takes the position. All are cleared when the kernel has no TB left to issue. */
#define MIAS_PREEMPT_REG_RESERVED_LOW UINT32_C(0x428)
/* Read and write. Reserved positions 32 to 63. */
#define MIAS_PREEMPT_REG_RESERVED_HIGH UINT32_C(0x42c)

/* Elements of an SM's COUNTERS, and bits of its SATURATED. */
/* 17 bits; saturates. */
#define MIAS_COUNTER_CYCLES UINT32_C(0x0)
/* 17 bits; saturates. */
#define MIAS_COUNTER_ISSUE_CYCLES UINT32_C(0x1)
/* 17 bits; saturates. */
#define MIAS_COUNTER_MEMORY_STALL_CYCLES UINT32_C(0x2)
/* 17 bits; saturates. */
#define MIAS_COUNTER_LOAD_REQUESTS UINT32_C(0x3)
/* 19 bits; saturates. */
#define MIAS_COUNTER_WARP_INSTS UINT32_C(0x4)
/* 24 bits; saturates. */
#define MIAS_COUNTER_THREAD_INSTS UINT32_C(0x5)
/* 19 bits; saturates. */
#define MIAS_COUNTER_L1_ACCESSES UINT32_C(0x6)
/* 25 bits; saturates. */
#define MIAS_COUNTER_OUTSTANDING_MISSES UINT32_C(0x7)
/* 19 bits; saturates. */
#define MIAS_COUNTER_L1_RESERVATION_FAILS UINT32_C(0x8)
/* 19 bits; saturates. */
#define MIAS_COUNTER_L2_ACCESSES UINT32_C(0x9)
/* 19 bits; saturates. */
#define MIAS_COUNTER_L2_HITS UINT32_C(0xa)
/* 17 bits; saturates. */
#define MIAS_COUNTER_LSU_STALL_CYCLES UINT32_C(0xb)

/* Event bits of global::INT_STATUS and global::INT_ENABLE. */
/* A kernel was launched. */
#define MIAS_INTERRUPT_LAUNCH UINT32_C(0x1)
/* A kernel has no TB left to issue. */
#define MIAS_INTERRUPT_DRAINED UINT32_C(0x2)
/* A kernel's last TB has retired. */
#define MIAS_INTERRUPT_COMPLETED UINT32_C(0x4)
/* An armed SM reached its partition. */
#define MIAS_INTERRUPT_PARTITION UINT32_C(0x8)
/* An SM's profiling window is over. */
#define MIAS_INTERRUPT_PROFILE_DONE UINT32_C(0x10)
/* The global timer expired. */
#define MIAS_INTERRUPT_TIMER UINT32_C(0x20)
/* A fault was raised. */
#define MIAS_INTERRUPT_FAULT UINT32_C(0x40)
/* Preemption commands of an SM are done, or refused. */
#define MIAS_INTERRUPT_PREEMPT_DONE UINT32_C(0x80)
/* The firmware must check the memory-issue counters. It recurs every global::MEMORY_INTERVAL cycles. */
#define MIAS_INTERRUPT_MEMORY UINT32_C(0x100)
/* An SM requests space for a kernel (preempt). */
#define MIAS_INTERRUPT_PREEMPT UINT32_C(0x200)
/* The firmware must check the chip's utilization: an interval of a kernel is over
 * (global::CONTEXT_DUE). */
#define MIAS_INTERRUPT_OVERSUBSCRIPTION UINT32_C(0x400)
/* A launch entered the window of the queue, or a slot became free for a waiting launch. It occurs
 * only while the firmware schedules launches (global::QUEUE_MODE). */
#define MIAS_INTERRUPT_QUEUE UINT32_C(0x800)
/* All events. */
#define MIAS_INTERRUPT_ALL UINT32_C(0xfff)

/* Fault bits of global::FAULT: hardware raises bits 0 to 7, firmware bits 8 to 15. */
/* An access to an unmapped offset, or one that violates the access rule. */
#define MIAS_FAULT_BAD_ACCESS UINT32_C(0x1)
/* A value was clamped. */
#define MIAS_FAULT_VALUE_RANGE UINT32_C(0x2)
/* A launch found no free slot. */
#define MIAS_FAULT_LAUNCH_OVERRUN UINT32_C(0x4)
/* The watchdog expired. */
#define MIAS_FAULT_WATCHDOG UINT32_C(0x8)
/* A command that this hardware does not support. */
#define MIAS_FAULT_UNSUPPORTED UINT32_C(0x10)
/* The firmware met an impossible index and fell back to Left-over. */
#define MIAS_FAULT_IMPOSSIBLE_INDEX UINT32_C(0x100)
/* A kernel's TB does not fit an empty SM; the launch was rejected. */
#define MIAS_FAULT_KERNEL_TOO_LARGE UINT32_C(0x200)
/* Profiling ended without a sample, and Left-over took over. */
#define MIAS_FAULT_NO_SAMPLES UINT32_C(0x400)
/* The GPU is larger than the image was built for. The surplus SMs stay idle. */
#define MIAS_FAULT_GPU_TOO_LARGE UINT32_C(0x800)
/* The register block is unknown to this firmware. */
#define MIAS_FAULT_WRONG_MAP UINT32_C(0x1000)
/* The requested preemption is not supported by this firmware or its hardware. No TB is preempted. */
#define MIAS_FAULT_NO_PREEMPTION UINT32_C(0x2000)
/* The requested search for SM shares is not supported by this firmware or its hardware. The SMs are
 * split evenly. */
#define MIAS_FAULT_NO_SEARCH UINT32_C(0x4000)
/* Firmware control of extra TBs was requested, but the hardware does not support it. There are no
 * extra TBs. */
#define MIAS_FAULT_NO_OVERSUBSCRIPTION UINT32_C(0x8000)
/* Fault bits that the firmware may raise. */
#define MIAS_FAULT_BY_FIRMWARE UINT32_C(0xff00)
/* All fault bits. */
#define MIAS_FAULT_ALL UINT32_C(0xff1f)

/* Hardware feature bits of global::FEATURES. */
/* Ideal transitions (0 cycles). */
#define MIAS_FEATURE_IDEAL_TRANSITION UINT32_C(0x1)
/* Preemption commands. */
#define MIAS_FEATURE_PREEMPT UINT32_C(0x2)
/* SMs can hold back memory instructions (memory). */
#define MIAS_FEATURE_MEMORY_ISSUE UINT32_C(0x4)
/* Cache ways can be assigned to kernels (memory::L1_WAYS, global::L2_WAYS). */
#define MIAS_FEATURE_WAYS UINT32_C(0x8)
/* SMs can be stalled (sm::STATE_REQUEST). */
#define MIAS_FEATURE_SM_STATES UINT32_C(0x10)
/* Empty SMs can be power-gated. */
#define MIAS_FEATURE_POWER_GATING UINT32_C(0x20)
/* Per-kernel counters exist (global::KERNEL_SNAPSHOT). */
#define MIAS_FEATURE_KERNEL_COUNTERS UINT32_C(0x40)
/* The active warps of kernels can be limited (sm::ACTIVE_WARPS). */
#define MIAS_FEATURE_ACTIVE_WARPS UINT32_C(0x80)
/* The firmware sets the number of extra TBs of each kernel (global::CONTEXT_ALLOWED). */
#define MIAS_FEATURE_OVERSUBSCRIPTION UINT32_C(0x100)
/* The order of DRAM requests can be set (global::DRAM_ORDER). */
#define MIAS_FEATURE_DRAM_ORDER UINT32_C(0x200)
/* The L1's miss resources can be partitioned among kernels (global::MISS_WEIGHT). */
#define MIAS_FEATURE_MISS_SHARES UINT32_C(0x400)
/* The firmware can select the next launch of the queue (global::QUEUE_MODE). */
#define MIAS_FEATURE_QUEUE UINT32_C(0x800)

/* DRAM request orders, in global::DRAM_ORDER. Each defines the meaning of global::DRAM_CAP. */
/* The oldest request of a bank that hits the open row, else the oldest. No cap. */
#define MIAS_DRAM_ORDER_FR_FCFS UINT32_C(0x0)
/* The oldest request of a bank. No cap. */
#define MIAS_DRAM_ORDER_FCFS UINT32_C(0x1)
/* Requests in the order of FR_FCFS, with a cap on row hits that pass an older request of another
 * kernel (after Mutlu and Moscibroda 2007). Once the cap is reached, that request goes first. A cap
 * of 0 means 4. */
#define MIAS_DRAM_ORDER_KERNEL_CAP UINT32_C(0x2)
/* Batches with a capped number of requests of each kernel per bank (Mutlu and Moscibroda 2008). The
 * kernel with the least work in the batch goes first. A cap of 0 means 5. */
#define MIAS_DRAM_ORDER_BATCH UINT32_C(0x3)
/* By bandwidth shares: the kernel furthest behind its share goes first (Nesbit et al. 2006). The cap
 * limits the sectors by which row hits may run ahead. A cap of 0 means 16. */
#define MIAS_DRAM_ORDER_SHARES UINT32_C(0x4)

/* Transition modes, in global::MODE. */
/* TBs in excess of a quota run to their end (the thesis). */
#define MIAS_MODE_DRAIN UINT32_C(0x0)
/* A new partition takes effect at once, at no cost. */
#define MIAS_MODE_IDEAL UINT32_C(0x1)
/* TBs in excess of a quota, or that block a kernel of higher priority, leave by firmware command
 * (preempt). Without a command they run to their end. */
#define MIAS_MODE_PREEMPT UINT32_C(0x2)

/* Option bits of global::STRAP_OPTIONS. */
/* Decide by warp instructions instead of thread instructions. */
#define MIAS_OPTION_WARP_IPC UINT32_C(0x1)
/* Use only configurations with at least one TB of every kernel. */
#define MIAS_OPTION_REQUIRE_ALL_PRESENT UINT32_C(0x2)
/* Use Linear as printed in Nasef 2023, eq. 3.8, with the GPU-wide bracket. */
#define MIAS_OPTION_LITERAL_LINEAR UINT32_C(0x4)
/* Always cap TBs per SM by the remaining TBs of a kernel. Without this option the cap applies to
 * small grids only. */
#define MIAS_OPTION_ALWAYS_CAP_REMAINING UINT32_C(0x8)
/* Read every counter for reports, including those that the metric does not need. */
#define MIAS_OPTION_READ_ALL_COUNTERS UINT32_C(0x10)
/* Use ideal transitions. */
#define MIAS_OPTION_IDEAL_TRANSITION UINT32_C(0x20)
/* Warped-Slicer uses the profiled IPC without the scaling factor. */
#define MIAS_OPTION_UNSCALED_PROFILE UINT32_C(0x40)
/* The firmware limits the kernels' memory instructions in flight (Dai et al. 2018, section 3.3.2). */
#define MIAS_OPTION_LIMIT_MEMORY UINT32_C(0x80)
/* Raise the memory-instruction limit by one after an interval with fewer reservation fails than
 * requests. Otherwise remove it. */
#define MIAS_OPTION_LIMIT_GROWS UINT32_C(0x100)
/* Derive the memory-instruction limit from all reservation fails. Without this option the count
 * saturates at 12 bits per 1,024 requests. */
#define MIAS_OPTION_LIMIT_WIDE UINT32_C(0x200)
/* Hold back memory instructions only after the decision, not while configurations are tried. */
#define MIAS_OPTION_MEMORY_FROM_DECISION UINT32_C(0x400)
/* A search for SM shares classifies a kernel as memory-intensive by its used share of DRAM
 * bandwidth, not by its demand. */
#define MIAS_OPTION_SEARCH_BY_UTILIZATION UINT32_C(0x800)
/* A search for SM shares reassigns the SMs that it takes from a kernel in every step. Without this
 * option it stalls them until it is over. */
#define MIAS_OPTION_SEARCH_REASSIGNS UINT32_C(0x1000)
/* A search for SM shares classifies a kernel as memory-intensive if its SMs of the even split demand
 * more bandwidth than exists. Without this option the demand of all SMs of the chip counts. */
#define MIAS_OPTION_SEARCH_BY_SHARE UINT32_C(0x2000)
/* The firmware controls the number of extra TBs per kernel (Lin et al. 2018, section 6.4). */
#define MIAS_OPTION_CONTROL_OVERSUBSCRIPTION UINT32_C(0x4000)
/* The firmware selects the next launch of the queue (docs/porting/firmware.md). */
#define MIAS_OPTION_SCHEDULE_LAUNCHES UINT32_C(0x8000)
/* The firmware sets the memory-issue mode from the straps. */
#define MIAS_OPTION_SET_MEMORY_ISSUE UINT32_C(0x10000)
/* The firmware sets the DRAM request order from the straps. */
#define MIAS_OPTION_SET_DRAM_ORDER UINT32_C(0x20000)

/* Fields of global::CONTEXT_BOUND. */
/* Most extra TBs of the kernel that an SM can store. */
#define MIAS_CONTEXT_BOUND_EXTRA UINT32_C(0xff)
/* Only the L1 has space for the contexts of extra TBs. */
#define MIAS_CONTEXT_BOUND_NEEDS_L1 UINT32_C(0x100)

/* Fields of global::CONTEXT_ALLOWED. */
/* Most extra TBs that an SM may have. */
#define MIAS_CONTEXT_ALLOWED_EXTRA UINT32_C(0xff)
/* Contexts may lie in the L1. */
#define MIAS_CONTEXT_ALLOWED_IN_L1 UINT32_C(0x100)
/* Stepwise raising has saturated a resource. For the firmware only, no effect on hardware. */
#define MIAS_CONTEXT_ALLOWED_STOPPED UINT32_C(0x200)
/* First of the 2 bits with the chip's utilization class (Lin et al. 2018, table 3); 0 before the
 * first decision. For statistics, no effect on hardware. */
#define MIAS_CONTEXT_ALLOWED_CLASS_SHIFT UINT32_C(0xa)
/* No resource was used much. */
#define MIAS_CONTEXT_ALLOWED_UNDERUTILIZED UINT32_C(0x1)
/* Neither underutilized nor saturated. */
#define MIAS_CONTEXT_ALLOWED_MODERATE UINT32_C(0x2)
/* A resource was saturated. */
#define MIAS_CONTEXT_ALLOWED_SATURATED UINT32_C(0x3)

/* Times at which memory instructions are held back, in global::MEMORY_ACTIVE. The search for limits
 * and quotas continues at other times. */
/* Memory instructions are never held back. */
#define MIAS_MEMORY_ACTIVE_OFF UINT32_C(0x0)
/* Memory instructions are always held back. */
#define MIAS_MEMORY_ACTIVE_ON UINT32_C(0x1)
/* Memory instructions are held back except on an SM that was armed, until it has its first quotas
 * after the window. */
#define MIAS_MEMORY_ACTIVE_FROM_DECISION UINT32_C(0x2)

/* Fields of memory::MODE. */
/* Mask of the arbitration among kernels for memory instructions. */
#define MIAS_MEMORY_MODE_ORDER UINT32_C(0x3)
/* The warp scheduler decides. */
#define MIAS_MEMORY_MODE_SCHEDULER UINT32_C(0x0)
/* Kernels take turns (RBMI). */
#define MIAS_MEMORY_MODE_ROUND_ROBIN UINT32_C(0x1)
/* Kernels have quotas (QBMI). */
#define MIAS_MEMORY_MODE_QUOTA UINT32_C(0x2)
/* Mask of the source of limits on memory instructions in flight. */
#define MIAS_MEMORY_MODE_LIMITS UINT32_C(0x30)
/* No limit. */
#define MIAS_MEMORY_MODE_NONE UINT32_C(0x0)
/* Limits as written to memory::LIMIT (SMIL, and DMIL of the firmware). */
#define MIAS_MEMORY_MODE_WRITTEN UINT32_C(0x10)
/* Limits found by this SM's hardware (DMIL). */
#define MIAS_MEMORY_MODE_FOUND UINT32_C(0x20)
/* Limits found by the hardware of one SM, for all SMs in this mode (global DMIL). */
#define MIAS_MEMORY_MODE_BROADCAST UINT32_C(0x30)

/* Fields of memory::L1_MONITOR and global::L2_MONITOR. */
/* Position in the order of use; 0 is the most recently used. The count at position n is the value of
 * the kernel's (n + 1)-th way. */
#define MIAS_MONITOR_POSITION UINT32_C(0x3ff)
/* Position of the kernel's slot, 3 bits. */
#define MIAS_MONITOR_SLOT_SHIFT UINT32_C(0x10)

/* Bits of sm::STATUS. */
/* Armed, from arming until the window is over. */
#define MIAS_SM_STATUS_ARMED UINT32_C(0x1)
/* The profiling window is running. */
#define MIAS_SM_STATUS_RUNNING UINT32_C(0x2)
/* At least one latched counter saturated. */
#define MIAS_SM_STATUS_SATURATED UINT32_C(0x4)

/* States of an SM, in sm::STATE_REQUEST and sm::STATE (Zhao et al. 2018, section 4; sources.md
 * D142). Every SM is in one of these states. */
/* The SM accepts TBs and issues. */
#define MIAS_SM_STATE_ACTIVE UINT32_C(0x0)
/* The SM issues no instruction and accepts no TB. Its TBs stay, and their accesses in flight
 * complete. */
#define MIAS_SM_STATE_STALLED UINT32_C(0x1)
/* The SM is empty and power-gated. */
#define MIAS_SM_STATE_GATED UINT32_C(0x2)
/* In STATE only: a request to gate is pending, and the SM still holds TBs. They continue, and no TB
 * is added. The SM is gated once it is empty and its stores are done. */
#define MIAS_SM_STATE_EMPTYING UINT32_C(0x3)
/* In STATE only: the SM regains power, for global::SM_WAKE_CYCLES cycles. It accepts no TB yet. A
 * request to gate it takes effect once it is awake. */
#define MIAS_SM_STATE_WAKING UINT32_C(0x4)

/* Fields of global::SEARCH_FOUND, the result of a search for SM shares. */
/* The shares are final. 0 during a search, and without one. */
#define MIAS_SEARCH_FOUND_DONE UINT32_C(0x80000000)
/* Slots of the memory-intensive kernels, in bits 0 to 7. */
#define MIAS_SEARCH_FOUND_MEMORY_MASK UINT32_C(0xff)
/* First of the 9 bits that count the measured windows. */
#define MIAS_SEARCH_FOUND_WINDOWS_SHIFT UINT32_C(0x8)
/* Mask of the count of measured windows, after the shift. */
#define MIAS_SEARCH_FOUND_WINDOWS_MASK UINT32_C(0x1ff)
/* The search limits active warps. sm::ACTIVE_WARPS has the limits that it found. */
#define MIAS_SEARCH_FOUND_LIMITS_WARPS UINT32_C(0x20000)

/* Commands of sm::CONTROL. */
/* Arm this SM. */
#define MIAS_SM_CONTROL_ARM UINT32_C(0x1)
/* Disarm this SM. */
#define MIAS_SM_CONTROL_DISARM UINT32_C(0x2)
/* Latch all counters of this SM at one instant and clear them. A running window restarts here, and
 * its end does not move. */
#define MIAS_SM_CONTROL_SNAPSHOT UINT32_C(0x4)

/* Bits of slot::STATUS. */
/* A kernel is in this slot. */
#define MIAS_SLOT_STATUS_OCCUPIED UINT32_C(0x1)
/* The kernel has no TB left to issue. */
#define MIAS_SLOT_STATUS_DRAINED UINT32_C(0x2)
/* The kernel's last TB has retired. */
#define MIAS_SLOT_STATUS_COMPLETED UINT32_C(0x4)

/* Commands of slot::CONTROL. */
/* Free the slot of a completed kernel. Its quotas, staged and active, become 0 on all SMs. */
#define MIAS_SLOT_CONTROL_RELEASE UINT32_C(0x1)
/* Free the slot of a kernel that cannot run. The host is notified. */
#define MIAS_SLOT_CONTROL_REJECT UINT32_C(0x2)

/* Techniques by which a TB leaves its SM, in preempt::COMMAND and preempt_tb (Shieh 2016, section
 * 2.3). */
/* The TB stays. */
#define MIAS_TECHNIQUE_NONE UINT32_C(0x0)
/* The TB runs until it has issued all its instructions, and no TB replaces it. */
#define MIAS_TECHNIQUE_DRAIN UINT32_C(0x1)
/* The TB is dropped, and restarts later. It requires the TB's flush bit. A TB that has issued all
 * its instructions has ended, as with every technique. */
#define MIAS_TECHNIQUE_FLUSH UINT32_C(0x2)
/* The TB's context is saved, and it resumes later. */
#define MIAS_TECHNIQUE_SWITCH UINT32_C(0x3)

/* Fields of preempt::TB. */
/* The place holds a TB. */
#define MIAS_PREEMPT_TB_LIVE UINT32_C(0x1)
/* The TB may be flushed: it has issued no atomic, and no store to a byte that it loads anywhere
 * (relaxed idempotence). */
#define MIAS_PREEMPT_TB_FLUSH UINT32_C(0x2)
/* Position of the slot of the TB's kernel, 3 bits. */
#define MIAS_PREEMPT_TB_SLOT_SHIFT UINT32_C(0x4)
/* Position of the technique(technique) by which the TB is leaving, 2 bits; NONE(technique::NONE) if
 * it stays. */
#define MIAS_PREEMPT_TB_LEAVING_SHIFT UINT32_C(0x8)

/* Fields of preempt::COMMAND: a command and its outcome. */
/* In a write, position of the firmware's estimate of the command's cycles, 24 bits, saturating. For
 * traces, no effect on hardware. */
#define MIAS_PREEMPT_COMMAND_ESTIMATE_SHIFT UINT32_C(0x8)
/* Position of the requested technique(technique), 2 bits. */
#define MIAS_PREEMPT_COMMAND_TECHNIQUE_SHIFT UINT32_C(0x0)
/* The command is in progress. */
#define MIAS_PREEMPT_COMMAND_BUSY UINT32_C(0x10)
/* The TB has left. */
#define MIAS_PREEMPT_COMMAND_DONE UINT32_C(0x20)
/* The command was refused. The bits from REASON_SHIFT on have the reason. */
#define MIAS_PREEMPT_COMMAND_REFUSED UINT32_C(0x40)
/* Position of the reason, 3 bits. */
#define MIAS_PREEMPT_COMMAND_REASON_SHIFT UINT32_C(0x8)
/* The place is empty or holds another TB than was shown, or no kernel waits for its space anymore. */
#define MIAS_PREEMPT_COMMAND_NO_TB UINT32_C(0x1)
/* The TB may not be flushed. */
#define MIAS_PREEMPT_COMMAND_NOT_IDEMPOTENT UINT32_C(0x2)
/* The TB is already leaving, by a flush or a switch. */
#define MIAS_PREEMPT_COMMAND_LEAVING UINT32_C(0x3)
/* The mode is not PREEMPT(mode::PREEMPT). */
#define MIAS_PREEMPT_COMMAND_MODE UINT32_C(0x4)

/* Fields of preempt::RESERVED_SLOT. */
/* The slot + 1; 0 for none. */
#define MIAS_PREEMPT_RESERVE_SLOT UINT32_C(0xf)
/* The kernel gets the SM only once no TB of another kernel is there. It then keeps the SM until it
 * has no TB there (Chimera, which preempts whole SMs). */
#define MIAS_PREEMPT_RESERVE_WHOLE_SM UINT32_C(0x10)

/* Schemes by which the firmware preempts, in global::STRAP_PREEMPT (Shieh 2016; sources.md D134). */
/* No preemption: transitions follow option. */
#define MIAS_PREEMPT_SCHEME_NONE UINT32_C(0x0)
/* Victims run to their end. */
#define MIAS_PREEMPT_SCHEME_DRAIN UINT32_C(0x1)
/* Victims are switched. */
#define MIAS_PREEMPT_SCHEME_SWITCH UINT32_C(0x2)
/* Victims that may be flushed are flushed, and the others are switched. */
#define MIAS_PREEMPT_SCHEME_FLUSH UINT32_C(0x3)
/* Whole SMs, with Chimera's own estimates (Park et al. 2015, as described in Shieh 2016). */
#define MIAS_PREEMPT_SCHEME_CHIMERA UINT32_C(0x4)
/* Whole SMs, with the estimates of Shieh 2016. */
#define MIAS_PREEMPT_SCHEME_CHIMERA_PLUS UINT32_C(0x5)
/* Sets of TBs that free space for one TB (Shieh 2016). */
#define MIAS_PREEMPT_SCHEME_SHIEH UINT32_C(0x6)
/* Sets of TBs that free space for one TB, with known draining times (preempt::TB_LEFT). */
#define MIAS_PREEMPT_SCHEME_ORACLE UINT32_C(0x7)

/* Scheduler phases, in global::PHASE. */
/* No kernel is scheduled. */
#define MIAS_PHASE_IDLE UINT32_C(0x0)
/* Collecting launches, then generating configurations. */
#define MIAS_PHASE_PARTITION UINT32_C(0x1)
/* SMs are in transition to their configurations. */
#define MIAS_PHASE_TRANSITION UINT32_C(0x2)
/* At least one SM is profiling. */
#define MIAS_PHASE_PROFILE UINT32_C(0x3)
/* Reading counters and choosing. */
#define MIAS_PHASE_DECIDE UINT32_C(0x4)
/* Writing the chosen configuration. */
#define MIAS_PHASE_BROADCAST UINT32_C(0x5)
/* Running until the next launch or completion. */
#define MIAS_PHASE_STEADY UINT32_C(0x6)

/* Policies, in global::STRAP_POLICY. */
/* Left-over. */
#define MIAS_POLICY_LEFT_OVER UINT32_C(0x0)
/* Spatial. */
#define MIAS_POLICY_SPATIAL UINT32_C(0x1)
/* MIAS deciding by IPC. */
#define MIAS_POLICY_MIAS_IPC UINT32_C(0x2)
/* MIAS deciding by IPM*IPC. */
#define MIAS_POLICY_MIAS_IPM_IPC UINT32_C(0x3)
/* MIAS deciding by Factor. */
#define MIAS_POLICY_MIAS_FACTOR UINT32_C(0x4)
/* MIAS deciding by Linear. */
#define MIAS_POLICY_MIAS_LINEAR UINT32_C(0x5)
/* The vector in STRAP_FIXED on all SMs. */
#define MIAS_POLICY_FIXED_CONFIG UINT32_C(0x6)
/* SMK-P: TBs by dominant resource fairness. */
#define MIAS_POLICY_SMK UINT32_C(0x7)
/* Warped-Slicer. */
#define MIAS_POLICY_WARPED_SLICER UINT32_C(0x8)
/* Warped-Slicer, by the sum of performances. */
#define MIAS_POLICY_WARPED_SLICER_SUM UINT32_C(0x9)
/* MIAS deciding by STP. */
#define MIAS_POLICY_MIAS_STP UINT32_C(0xa)
/* MIAS deciding by IPM*IPC, with guard. */
#define MIAS_POLICY_MIAS_GUARD UINT32_C(0xb)
/* The better of Spatial and SMK-P, as measured. */
#define MIAS_POLICY_MAESTRO UINT32_C(0xc)
/* Coordinated TB combination. */
#define MIAS_POLICY_COORDINATED UINT32_C(0xd)
/* MIAS deciding by what the whole GPU would do, in S and STP. */
#define MIAS_POLICY_MIAS_ROOFLINE UINT32_C(0xe)
/* The same, in STP alone. */
#define MIAS_POLICY_MIAS_ROOFLINE_STP UINT32_C(0xf)
/* Classification-driven search, in the mode that the kernels call for. */
#define MIAS_POLICY_CD_SEARCH UINT32_C(0x10)
/* The same for performance. */
#define MIAS_POLICY_CD_SEARCH_PERFORMANCE UINT32_C(0x11)
/* The same for power. */
#define MIAS_POLICY_CD_SEARCH_POWER UINT32_C(0x12)
/* Spatial with as many SMs of each kernel as STRAP_SHARES says. */
#define MIAS_POLICY_GIVEN_SHARES UINT32_C(0x13)
/* The better of Spatial and shared SMs, with hill climbing. */
#define MIAS_POLICY_MAESTRO_SEARCH UINT32_C(0x14)
/* The better of what classification-driven search finds and shared SMs. */
#define MIAS_POLICY_CD_SEARCH_MAESTRO UINT32_C(0x15)
/* SMs for each kernel so that all are equally slow, by what each does alone. */
#define MIAS_POLICY_FAIR_SHARE UINT32_C(0x16)
/* The same, by a model of what each would do alone. */
#define MIAS_POLICY_FAIR_SHARE_MODEL UINT32_C(0x17)
/* Active warps of each kernel by the sum of effective bandwidths. */
#define MIAS_POLICY_EFFECTIVE_BANDWIDTH UINT32_C(0x18)
/* The same by the smallest of them over the largest. */
#define MIAS_POLICY_EFFECTIVE_BANDWIDTH_FAIR UINT32_C(0x19)
/* The same by their harmonic mean. */
#define MIAS_POLICY_EFFECTIVE_BANDWIDTH_HARMONIC UINT32_C(0x1a)
/* The better of what MiasRooflineStp and Smk choose, each tried on the whole GPU. */
#define MIAS_POLICY_MIAS_DUEL UINT32_C(0x1b)
/* What Smk has, a TB of each kernel, or fewer of one that gains little, each tried on the whole GPU. */
#define MIAS_POLICY_MIAS_TRIAL UINT32_C(0x1c)

/* A launched kernel. */
struct mias_slot {
    /* Read only. slot_status bits. */
    const volatile uint32_t status;
    /* Write only. slot_control commands. */
    volatile uint32_t control;
    /* Read only. TBs of the grid. */
    const volatile uint32_t grid_tbs;
    /* Read only. Threads per TB. */
    const volatile uint32_t tb_threads;
    /* Read only. Registers per thread. */
    const volatile uint32_t thread_registers;
    /* Read only. Shared memory per TB in bytes, static and dynamic. */
    const volatile uint32_t tb_shared_bytes;
    /* Read only. Priority, larger is more urgent; 0 by default. */
    const volatile uint32_t priority;
    /* Read only. Stream that the kernel was launched into. */
    const volatile uint32_t stream;
    /* Read only. TBs not yet issued. */
    const volatile uint32_t unissued_tbs;
    /* Read only. TBs not yet retired. */
    const volatile uint32_t unfinished_tbs;
    /* Read only. Cycles from the moment at which the kernel's TBs may issue until it must have its
     * room; 0 if the launch has no limit. */
    const volatile uint32_t latency_limit;
    /* Read only. Identity of the kernel: launches with the same number execute the same code; 0 if
     * the host gives none. */
    const volatile uint32_t identity;
    uint32_t reserved_30[4];
};

/* A launch that waits, in the window of the queue. */
struct mias_queue_entry {
    /* Read only. Identity of the kernel, as in slot::IDENTITY. */
    const volatile uint32_t identity;
    /* Read only. TBs of the grid. */
    const volatile uint32_t grid_tbs;
    /* Read only. Threads per TB. */
    const volatile uint32_t tb_threads;
    /* Read only. Registers per thread. */
    const volatile uint32_t thread_registers;
    /* Read only. Shared memory per TB in bytes, static and dynamic. */
    const volatile uint32_t tb_shared_bytes;
    /* Read only. Priority, larger is more urgent; 0 by default. */
    const volatile uint32_t priority;
    /* Read only. Stream that the kernel was launched into. */
    const volatile uint32_t stream;
    /* Read only. Cycles in which the kernel must have its room, as in slot::LATENCY_LIMIT. */
    const volatile uint32_t latency_limit;
    /* Read only. Launches that entered the window earlier, since reset, modulo 2^32. It gives the
     * order of age. */
    const volatile uint32_t number;
    /* Read only. Number of times that the launch was passed over: launches that entered the window
     * later and were admitted earlier. It saturates at MOST_PASSED. */
    const volatile uint32_t passed;
    uint32_t reserved_28[6];
};

/* Memory issue of a streaming multiprocessor. */
struct mias_memory {
    /* Read and write. Mode by which memory instructions are held back: memory_mode. */
    volatile uint32_t mode;
    /* Read only. Slots that the last snapshot has latched, one bit each. */
    const volatile uint32_t ready;
    /* Read and write. Selects the count of the L1's utility monitors that L1_MONITOR_HITS shows:
     * monitor. */
    volatile uint32_t l1_monitor;
    /* Read only. Hits that the kernel selected in L1_MONITOR would have at the selected position if
     * it had the L1 alone. They are latched when the firmware is called. Counts from before the end
     * of a period count half. 32 bits; 0 without monitors, and at positions beyond the ways. */
    const volatile uint32_t l1_monitor_hits;
    /* Read and write. 4 of them. Ways per set of the L1 for the kernels in two slots, the even slot
     * in the low half: 0 to 1024, as written. If all words are 0, the GPU's partitioning applies;
     * otherwise a kernel with 0 has one way. */
    volatile uint32_t l1_ways[4];
    /* Read only. 8 of them. Requests of the kernel in each slot, latched; 24 bits. They are L1
     * accesses and accesses that bypass the L1. */
    const volatile uint32_t requests[8];
    /* Read only. 8 of them. Reservation fails of the kernel in each slot, latched; 24 bits. */
    const volatile uint32_t fails[8];
    /* Read only. 8 of them. Scheduler-cycles in which warps could have issued but were all held
     * back, latched; 24 bits. They are charged to the kernel of the oldest warp. */
    const volatile uint32_t held_cycles[8];
    /* Read only. 8 of them. Peak number of memory instructions in flight, latched; 10 bits. */
    const volatile uint32_t peak[8];
    /* Read only. 8 of them. Memory instructions in flight when the firmware was called; 10 bits. */
    const volatile uint32_t in_flight[8];
    /* Read and write. 8 of them. Limit on memory instructions in flight: 1 to 127, 0 for unlimited.
     * Reads show the limit in effect, which equals the written one only in mode WRITTEN. */
    volatile uint32_t limit[8];
};

/* A streaming multiprocessor. */
struct mias_sm {
    /* Read only. sm_status bits. */
    const volatile uint32_t status;
    /* Write only. sm_control commands. */
    volatile uint32_t control;
    /* Read only. Saturated latched counters: bit n for the n-th Counter. */
    const volatile uint32_t saturated;
    uint32_t reserved_c[1];
    /* Read only. 12 of them. Counters as latched by the last PROFILE_DONE or snapshot, in the order
     * of Counter. */
    const volatile uint32_t counters[12];
    /* Read only. 8 of them. Warp instructions of the kernel in each slot, latched with the counters.
     * Their sum is the counter of that name, and as wide. */
    const volatile uint32_t slot_warp_insts[8];
    /* Read only. 8 of them. Thread instructions of the kernel in each slot, latched with the
     * counters. Their sum is the counter of that name, and as wide. */
    const volatile uint32_t slot_thread_insts[8];
    /* Read and write. 8 of them. Staged quota per slot: TBs of that kernel that the SM may hold, 0
     * to SM_TBS. */
    volatile uint32_t quota[8];
    /* Read only. 8 of them. Resident TBs per slot. */
    const volatile uint32_t resident[8];
    /* Read only. 8 of them. Quota in effect per slot: as of the last commit that has reached the SM. */
    const volatile uint32_t active_quota[8];
    /* Read and write. Requested state of the SM, a code of sm_state: ACTIVE, STALLED or GATED. A
     * code beyond these is clamped to GATED. STALLED and ACTIVE take effect in the cycle of the
     * write. GATED without feature::POWER_GATING raises UNSUPPORTED and does not change the
     * request. */
    volatile uint32_t state_request;
    /* Read only. State of the SM: sm_state. */
    const volatile uint32_t state;
    /* Read and write. 2 of them. Active-warp limits of the kernels in four slots, the first in the
     * low byte. Each warp scheduler issues only from that number of the kernel's warps, 1 to 63; 0
     * for all. They are the oldest that wait at no barrier and have instructions left. A kernel
     * that is new in its slot starts with the GPU's limit. */
    volatile uint32_t active_warps[2];
    uint32_t reserved_f0[4];
};

/* Preemption of a streaming multiprocessor. */
struct mias_preempt {
    /* Read only. 32 of them. TB in each place: preempt_tb; 0 if the place is empty. */
    const volatile uint32_t tb[32];
    /* Read only. 32 of them. Warp instructions that the TB in each place has issued, saturating. */
    const volatile uint32_t tb_insts[32];
    /* Read only. 32 of them. Cycles since the TB arrived or resumed, saturating. A TB that was
     * switched continues its earlier count. */
    const volatile uint32_t tb_cycles[32];
    /* Read only. 32 of them. First register of the TB in each place. */
    const volatile uint32_t tb_registers[32];
    /* Read only. 32 of them. First byte of shared memory of the TB in each place. */
    const volatile uint32_t tb_shared[32];
    /* Read only. 32 of them. Cycles until the TB ends if nothing changes, if a source outside the
     * machine provides them (the oracle of Shieh 2016, section 4.2); otherwise UNKNOWN. */
    const volatile uint32_t tb_left[32];
    /* Read and write. 32 of them. Makes the TB in a place leave: writes are technique codes. Reads
     * show the outcome of the last command for this place: preempt_command. */
    volatile uint32_t command[32];
    /* Read only. 8 of them. TBs of each slot's kernel that have ended on this SM. This and the
     * following four are halved together when one of them would overflow, which keeps their ratios. */
    const volatile uint32_t ended_tbs[8];
    /* Read only. 8 of them. Warp instructions of the ended TBs. */
    const volatile uint32_t ended_insts[8];
    /* Read only. 8 of them. Cycles of the ended TBs on the SM. */
    const volatile uint32_t ended_cycles[8];
    /* Read only. 8 of them. Sum of the ended TBs' cycles per warp instruction, each rounded down to
     * sixteenths and at most 4,095. */
    const volatile uint32_t ended_cpi[8];
    /* Read only. 8 of them. Sum of the squares of the ended TBs' cycles per warp instruction, in
     * 256ths. */
    const volatile uint32_t ended_cpi_squares[8];
    /* Read only. Kernel that requests space: the slot + 1 in bits 0 to 3, 0 for none. Bits 8 to 15
     * have the number of further TBs that its quota allows here. */
    const volatile uint32_t wanted;
    /* Read and write. Kernel with reserved positions: preempt_reserve. Writing 0 frees them. */
    volatile uint32_t reserved_slot;
    /* Read and write. Reserved positions 0 to 31, one bit each. A bit is cleared when a TB of that
     * kernel takes the position. All are cleared when the kernel has no TB left to issue. */
    volatile uint32_t reserved_low;
    /* Read and write. Reserved positions 32 to 63. */
    volatile uint32_t reserved_high;
    uint32_t reserved_430[52];
};

/* The register block. */
struct mias_block {
    /* Read only. Always ID_VALUE. */
    const volatile uint32_t id;
    /* Read only. Layout version, VERSION_VALUE. */
    const volatile uint32_t version;
    /* Read only. Hardware features: feature. */
    const volatile uint32_t features;
    /* Read only. SMs on the chip, 1 to 256. */
    const volatile uint32_t sm_count;
    /* Read only. Kernel slots, 1 to 8. */
    const volatile uint32_t slot_count;
    /* Read only. Resident threads per SM. */
    const volatile uint32_t sm_threads;
    /* Read only. 32-bit registers per SM. */
    const volatile uint32_t sm_registers;
    /* Read only. Shared memory per SM in bytes. */
    const volatile uint32_t sm_shared_bytes;
    /* Read only. Resident TBs per SM, at most 255. */
    const volatile uint32_t sm_tbs;
    /* Read only. Threads per warp. */
    const volatile uint32_t warp_threads;
    /* Read only. Granule to which registers per thread are rounded up. */
    const volatile uint32_t register_granule;
    /* Read only. Granule in bytes to which shared memory per TB is rounded up. */
    const volatile uint32_t shared_granule_bytes;
    /* Read only. Linear's coefficient (Nasef 2023, eq. 3.7) in per-SM units, Q16.16: stall cycles
     * per accumulated outstanding access. */
    const volatile uint32_t linear_coefficient;
    /* Read only. Warp schedulers per SM; each issues at most one warp instruction per cycle. */
    const volatile uint32_t sm_schedulers;
    /* Read only. Peak bandwidth of the interconnect from L2 to all SMs together, in sectors of 32
     * bytes per core cycle, Q16.16. */
    const volatile uint32_t reply_sectors;
    /* Read only. Peak bandwidth of all DRAM channels together, in sectors of 32 bytes per core
     * cycle, Q16.16. */
    const volatile uint32_t dram_sectors;
    /* Read only. Strap: policy to run, PolicyCode. */
    const volatile uint32_t strap_policy;
    /* Read only. Strap: profiling window in cycles, 1 to 131,071. */
    const volatile uint32_t strap_profile_window;
    /* Read only. Strap: cycles for which launches are collected before they are scheduled together. */
    const volatile uint32_t strap_coalesce_window;
    /* Read only. Strap: option bits. */
    const volatile uint32_t strap_options;
    /* Read only. 8 of them. Strap: TBs per SM of the n-th kernel launched, for the
     * fixed-configuration policy. */
    const volatile uint32_t strap_fixed[8];
    /* Read only. Strap: predicted loss above which Warped-Slicer falls back to Spatial. It is in
     * thousandths of a kernel's isolated performance, and is divided by the number of kernels. */
    const volatile uint32_t strap_loss_threshold;
    /* Read only. Strap: cycles between two checks of the memory-issue counters, if the firmware
     * limits memory instructions. */
    const volatile uint32_t strap_memory_interval;
    /* Read only. Strap: preemption scheme of the firmware: preempt_scheme. */
    const volatile uint32_t strap_preempt;
    /* Read only. Strap: most cycles of a preemption from an SM's request for space. It applies to
     * kernels without a limit of their own (slot::LATENCY_LIMIT). */
    const volatile uint32_t strap_preempt_limit;
    /* Read only. Low word of the core-cycle counter; reading it latches CYCLE_HIGH. */
    const volatile uint32_t cycle_low;
    /* Read only. High word of the core-cycle counter as of the last read of CYCLE_LOW. */
    const volatile uint32_t cycle_high;
    /* Read and write. Low word of the timer's compare value; held until TIMER_HIGH is written. */
    volatile uint32_t timer_low;
    /* Read and write. High word of the timer's compare value; writing it arms the timer. TIMER is
     * raised once, when cycle >= compare. */
    volatile uint32_t timer_high;
    /* Read and write. 1 while the timer is armed. Writing 0 disarms it. Writing 1 arms it with the
     * current compare value. */
    volatile uint32_t timer_armed;
    uint32_t reserved_94[3];
    /* Write 1 to clear. Events since they were last cleared: interrupt. */
    volatile uint32_t int_status;
    /* Read and write. Events that raise the interrupt line. */
    volatile uint32_t int_enable;
    /* Read only. INT_STATUS & INT_ENABLE; the line is high while this is not 0. */
    const volatile uint32_t int_pending;
    /* Write 1 to clear. Slots whose kernel has no TB left to issue. */
    volatile uint32_t drained;
    /* Write 1 to clear. Slots whose kernel has completed: the last TB has retired. */
    volatile uint32_t completed;
    uint32_t reserved_b4[3];
    /* Read and write. Transition mode: mode. */
    volatile uint32_t mode;
    /* Read and write. Length of a profiling window in cycles, 1 to 131,071; applies to windows that
     * start after the write. */
    volatile uint32_t profile_window;
    /* Write only. Makes all staged quotas effective, in the order of the SMs. The value is ignored. */
    volatile uint32_t commit;
    /* Read and write. Scheduler phase, PhaseCode: for traces, no effect on hardware. */
    volatile uint32_t phase;
    /* Read and write. Reschedulings so far: for traces, no effect on hardware. */
    volatile uint32_t reschedulings;
    /* Write 1 to clear. Faults since they were last cleared: fault. */
    volatile uint32_t fault;
    /* Write only. Raises the firmware's faults, bits 8 to 15; the others are ignored. */
    volatile uint32_t fault_set;
    /* Read and write. Cycles without a feed until the watchdog expires; 0 turns it off. Writing it
     * also feeds the watchdog. */
    volatile uint32_t watchdog_period;
    /* Write only. Feeds the watchdog. The value is ignored. */
    volatile uint32_t watchdog_feed;
    uint32_t reserved_e4[1];
    /* Read and write. Low word of the cycle at which the last decision started, after its windows
     * ended. For traces, no effect on hardware. */
    volatile uint32_t decision_begin;
    /* Read and write. Cycles from the start of the last decision until its quotas were in effect.
     * For traces, no effect on hardware. */
    volatile uint32_t decision_cycles;
    uint32_t reserved_f0[4];
    /* Read only. Launches waiting in the FIFO. */
    const volatile uint32_t launch_count;
    /* Read only. Slot of the oldest waiting launch; its descriptor is in that slot. 0 when none
     * waits. */
    const volatile uint32_t launch_slot;
    /* Write only. Removes the oldest waiting launch from the FIFO. The launch stays in its slot. The
     * value is ignored. */
    volatile uint32_t launch_pop;
    uint32_t reserved_10c[1];
    /* Read only. Peak bandwidth from all L2 slices to the interconnect, in sectors of 32 bytes per
     * core cycle, Q16.16. The off-SM bandwidth model of Zhao et al. 2018 (eq. 1 and 2) takes it,
     * REPLY_SECTORS, DRAM_SECTORS and SM_SCHEDULERS from the GPU. */
    const volatile uint32_t l2_sectors;
    /* Read only. Most bytes per L2 access: a sector of 32, or a whole line if caches have no
     * sectors. */
    const volatile uint32_t l2_access_bytes;
    /* Read only. Cycles from the request to wake a gated SM until it accepts TBs; 0 without
     * feature::POWER_GATING. */
    const volatile uint32_t sm_wake_cycles;
    /* Read only. Strap: cycles of the intervals after which the firmware checks the chip's
     * utilization, if it controls extra TBs. */
    const volatile uint32_t strap_context_interval;
    /* Read only. Strap: unmeasured cycles at the start of each step of a search for SM shares (Zhao
     * et al. 2018, sections 4.1.2 and 4.2), 1 to 131,071. */
    const volatile uint32_t strap_search_warm_up;
    /* Read only. Strap: measured cycles of each step of a search for SM shares, 1 to 131,071. */
    const volatile uint32_t strap_search_window;
    /* Read only. Strap: accepted loss of a kernel's IPC relative to its even share of the SMs, in
     * thousandths. */
    const volatile uint32_t strap_search_loss;
    /* Read only. Strap: share of DRAM bandwidth, in thousandths, above which a kernel is
     * memory-intensive, with option::SEARCH_BY_UTILIZATION. */
    const volatile uint32_t strap_search_utilization;
    /* Read only. 8 of them. Strap: SMs of the n-th scheduled kernel, for the policy with given
     * shares. */
    const volatile uint32_t strap_shares[8];
    /* Read and write. Result of a search for SM shares, search_found: for traces, no effect on
     * hardware. */
    volatile uint32_t search_found;
    /* Read only. Strap: DRAM throughput of a kernel alone if every access opens a row, in
     * thousandths of the peak. For a policy that estimates slowdowns by a model. */
    const volatile uint32_t strap_search_reach;
    /* Read only. Strap: additional DRAM throughput if no access opens a row, in thousandths of the
     * peak. */
    const volatile uint32_t strap_search_reach_of_hits;
    uint32_t reserved_15c[1];
    /* Read and write. 8 of them. Progress of the kernel in each slot on the shares that a search for
     * SM shares has found. It is its IPC over its IPC alone on all SMs, as the firmware estimates
     * it, in parts of 2^14; 0 without an estimate. For traces, no effect on hardware. */
    volatile uint32_t search_progress[8];
    /* Read and write. Cycles from one MEMORY event to the next; 0 for none. Writing it starts the
     * first interval. */
    volatile uint32_t memory_interval;
    /* Write only. Latches and clears the memory-issue counters on all SMs at one instant. It affects
     * slots with at least memory::SAMPLE_REQUESTS requests since their last latch. The others
     * continue. The value is ignored. */
    volatile uint32_t memory_snapshot;
    /* Read and write. Times at which memory instructions are held back by memory::MODE:
     * memory_active. */
    volatile uint32_t memory_active;
    /* Write only. Sets the mode of all SMs: memory_mode. */
    volatile uint32_t memory_mode_all;
    /* Read and write. Selects the count of the L2's utility monitors that L2_MONITOR_HITS shows:
     * monitor. */
    volatile uint32_t l2_monitor;
    /* Read only. Hits in the L2, counted as in memory::L1_MONITOR_HITS, summed over the slices. */
    const volatile uint32_t l2_monitor_hits;
    uint32_t reserved_198[2];
    /* Read and write. 4 of them. Ways per set of every L2 slice for the kernels in two slots: as
     * memory::L1_WAYS. */
    volatile uint32_t l2_ways[4];
    /* Write only. 4 of them. Sets memory::L1_WAYS of all SMs. */
    volatile uint32_t l1_ways_all[4];
    /* Read and write. Cycles of an interval of a kernel; 0 for none. Writing it starts the first
     * interval of every kernel. */
    volatile uint32_t context_interval;
    /* Write 1 to clear. Slots with a finished interval and latched counts (CONTEXT_INSTS and the
     * registers after it), one bit each. While a slot's bit is set its counts stay. An interval
     * that ends meanwhile is lost, and raises OVERSUBSCRIPTION again. */
    volatile uint32_t context_due;
    uint32_t reserved_1c8[14];
    /* Write 1 to set. 8 of them. Arms SMs, one bit each. Reads show the armed SMs, from arming to
     * PROFILE_DONE. */
    volatile uint32_t arm[8];
    /* Write only. 8 of them. Disarms SMs, one bit each. It raises no event, and counters continue. */
    volatile uint32_t disarm[8];
    /* Write 1 to clear. 8 of them. SMs whose partition was reached while armed. */
    volatile uint32_t partition[8];
    /* Write 1 to clear. 8 of them. SMs whose profiling window is over and whose counters are
     * latched. */
    volatile uint32_t profile_done[8];
    uint32_t reserved_280[32];
    /* Write only. 8 of them. Stages a quota for a slot on every SM. */
    volatile uint32_t quota_all[8];
    /* Read and write. 8 of them. SMs that QUOTA_SOME applies to, one bit each. Bits of SMs that the
     * GPU does not have are stored without effect. */
    volatile uint32_t quota_sms[8];
    /* Write only. 8 of them. Stages a quota for a slot on the SMs of QUOTA_SMS. A row of quotas, one
     * for each slot, takes as many writes for many SMs as for one. */
    volatile uint32_t quota_some[8];
    /* Read only. 8 of them. SMs with a slot that the last MEMORY_SNAPSHOT latched, one bit each. */
    const volatile uint32_t memory_ready[8];
    /* Write only. 8 of them. Sets a slot's limit on all SMs: memory::LIMIT. */
    volatile uint32_t memory_limit_all[8];
    /* Write 1 to clear. 8 of them. SMs that request space for a kernel. Writing a bit clears it. It
     * is set again if the SM still needs space after its commands are done, or if another kernel
     * needs space there. */
    volatile uint32_t preempt_wanted[8];
    /* Write 1 to clear. 8 of them. SMs whose preemption commands are all done or refused since the
     * bit was cleared. */
    volatile uint32_t preempt_done[8];
    /* Write only. Latches the kernel counters of the slots whose bits are set, all at one instant,
     * and clears them. The next latch therefore covers the time since this one. Counters of other
     * slots continue. Bits of slots that the GPU does not have raise VALUE_RANGE and are ignored. */
    volatile uint32_t kernel_snapshot;
    uint32_t reserved_3e4[7];
    /* Read only. 8 of them. Saturated latched counters of each slot: bit n for the n-th of the
     * following arrays, KERNEL_CYCLES being the first. */
    const volatile uint32_t kernel_saturated[8];
    /* Read only. 8 of them. Cycles that the latched counters cover: since the last latch of the
     * slot, or since the launch; 32 bits. The following registers count over the whole chip and
     * saturate. They have KERNEL_COUNT_BITS bits unless stated otherwise. All are 0 for a kernel
     * that is new in its slot. */
    const volatile uint32_t kernel_cycles[8];
    /* Read only. 8 of them. Warp instructions issued. */
    const volatile uint32_t kernel_warp_insts[8];
    /* Read only. 8 of them. Thread instructions issued; 32 bits. */
    const volatile uint32_t kernel_thread_insts[8];
    /* Read only. 8 of them. L2 accesses, each of at most L2_ACCESS_BYTES. */
    const volatile uint32_t kernel_l2_accesses[8];
    /* Read only. 8 of them. L2 hits. An access to data in flight is not a hit. */
    const volatile uint32_t kernel_l2_hits[8];
    /* Read only. 8 of them. DRAM reads, each of one sector. */
    const volatile uint32_t kernel_dram_reads[8];
    /* Read only. 8 of them. DRAM writes, each of one sector. */
    const volatile uint32_t kernel_dram_writes[8];
    /* Read only. 8 of them. DRAM reads and writes that found their row open. */
    const volatile uint32_t kernel_row_hits[8];
    /* Read only. 8 of them. TBs that have ended. */
    const volatile uint32_t kernel_ended_tbs[8];
    /* Read only. 8 of them. Accesses of the L1s, loads and stores. */
    const volatile uint32_t kernel_l1_accesses[8];
    /* Read only. 8 of them. L1 misses. An access to data in flight is not a miss. */
    const volatile uint32_t kernel_l1_misses[8];
    /* Write only. 8 of them. Limits a slot's active warps on all SMs: 0 to 63, as in
     * sm::ACTIVE_WARPS. */
    volatile uint32_t active_warps_all[8];
    /* Read only. 8 of them. Most extra TBs, beyond those that fit, of the kernel in each slot that
     * an SM can store: context_bound. */
    const volatile uint32_t context_bound[8];
    /* Read and write. 8 of them. Extra TBs of the kernel in each slot that an SM may hold:
     * context_allowed, at most the bound; 0 for a kernel that is new in its slot. */
    volatile uint32_t context_allowed[8];
    /* Read only. 6 of them. Largest value of each of the following six counts in an interval, in
     * their order, rounded down. For the interconnect it is the sustainable value. */
    const volatile uint32_t context_capacity[6];
    uint32_t reserved_5f8[2];
    /* Read only. 8 of them. Warp instructions of all kernels that the whole chip issued in the
     * slot's last interval. Intervals follow each other from the cycle in which the kernel's TBs
     * may issue, and the first is skipped. This and the following registers are latched at the end
     * of an interval, have 32 bits, and saturate. They are 0 for a kernel that is new in its slot. */
    const volatile uint32_t context_insts[8];
    /* Read only. 8 of them. L1 accesses that hit. Each occupies the data port of a bank for a cycle. */
    const volatile uint32_t context_l1_hits[8];
    /* Read only. 8 of them. Flits from the SMs toward the L2. */
    const volatile uint32_t context_request_flits[8];
    /* Read only. 8 of them. Flits from the L2 toward the SMs. */
    const volatile uint32_t context_reply_flits[8];
    /* Read only. 8 of them. L2 look-ups that hit. Each occupies the data port of a slice while its
     * data pass. */
    const volatile uint32_t context_l2_hits[8];
    /* Read only. 8 of them. Sectors of 32 bytes that DRAM moved. */
    const volatile uint32_t context_dram_sectors[8];
    /* Read and write. Order in which a DRAM channel serves requests: dram_order. This and the
     * following registers take effect two core cycles after the write. */
    volatile uint32_t dram_order;
    /* Read and write. Cap of the DRAM order, defined by dram_order: 1 to 255; 0 for the order's
     * default. */
    volatile uint32_t dram_cap;
    uint32_t reserved_6c8[6];
    /* Read and write. 8 of them. Share of each channel's bandwidth for the kernel in each slot while
     * other kernels need theirs, with dram_order::SHARES. In parts of 1,024: 0 to 1,024; 0 counts
     * as 1, so that no kernel starves. Only the ratios of shares matter, not their sum. Shares stay
     * with their slot when its kernel changes. */
    volatile uint32_t dram_share[8];
    /* Read and write. 8 of them. Warp instructions that the kernel in each slot may issue on an SM
     * before all other quotas there are spent: 1 to 2^32 - 2, 0 for unlimited. A changed quota is
     * full on each SM. A kernel that is new in its slot has the GPU's quota. Needs
     * feature::MEMORY_ISSUE. */
    volatile uint32_t warp_quota[8];
    /* Read and write. 8 of them. Weight of the kernel in each slot for the L1's MSHRs, miss-queue
     * entries and lines in flight per set. Shares are by weight among the kernels with TBs on the
     * SM: 0 to 1024, as written. If all are 0, the GPU's partitioning applies; otherwise 0 counts
     * as 1. Weights stay with their slot when its kernel changes. Needs feature::MISS_SHARES. */
    volatile uint32_t miss_weight[8];
    /* Read and write. Source of the launch order: 0 for hardware, in the order in which launches
     * became due; 1 for the firmware (queue). If 0 is written while launches are in the window,
     * these come first, oldest first. Needs feature::QUEUE. */
    volatile uint32_t queue_mode;
    /* Read only. Entries of the window with a launch, one bit each. */
    const volatile uint32_t queue_entries;
    /* Read only. Slots that are available to a launch, one bit each: free, with no access of the
     * previous kernel in flight. */
    const volatile uint32_t queue_room;
    /* Write only. Assigns the first available slot to the launch in this entry, which is then
     * launched as any other. Without an available slot the write has no effect, and QUEUE is raised
     * once there is one. An entry that is empty or does not exist raises VALUE_RANGE. */
    volatile uint32_t queue_admit;
    /* Read only. Strap: number of times that a launch may be passed over before it must be next; 0
     * admits launches in the order in which they became due. */
    const volatile uint32_t strap_queue_patience;
    /* Read only. Strap: memory-issue mode that the firmware sets on all SMs, memory_mode, with
     * option::SET_MEMORY_ISSUE. */
    const volatile uint32_t strap_memory_mode;
    /* Read only. Strap: the order of DRAM requests that the firmware sets, dram_order, with
     * option::SET_DRAM_ORDER. */
    const volatile uint32_t strap_dram_order;
    /* Read only. Strap: cap of the order of DRAM requests, as in DRAM_CAP. */
    const volatile uint32_t strap_dram_cap;
    uint32_t reserved_760[40];
    struct mias_slot slot[8];
    uint32_t reserved_a00[384];
    struct mias_queue_entry queue[16];
    uint32_t reserved_1400[768];
    struct mias_memory memory[256];
    struct mias_sm sm[256];
    struct mias_preempt preempt[256];
};

/* The structures are as the offsets say; C99 cannot ask. */
#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L
static_assert(offsetof(struct mias_block, id) == MIAS_ID, "MIAS_ID");
static_assert(offsetof(struct mias_block, version) == MIAS_VERSION, "MIAS_VERSION");
static_assert(offsetof(struct mias_block, features) == MIAS_FEATURES, "MIAS_FEATURES");
static_assert(offsetof(struct mias_block, sm_count) == MIAS_SM_COUNT, "MIAS_SM_COUNT");
static_assert(offsetof(struct mias_block, slot_count) == MIAS_SLOT_COUNT, "MIAS_SLOT_COUNT");
static_assert(offsetof(struct mias_block, sm_threads) == MIAS_SM_THREADS, "MIAS_SM_THREADS");
static_assert(offsetof(struct mias_block, sm_registers) == MIAS_SM_REGISTERS, "MIAS_SM_REGISTERS");
static_assert(offsetof(struct mias_block, sm_shared_bytes) == MIAS_SM_SHARED_BYTES, "MIAS_SM_SHARED_BYTES");
static_assert(offsetof(struct mias_block, sm_tbs) == MIAS_SM_TBS, "MIAS_SM_TBS");
static_assert(offsetof(struct mias_block, warp_threads) == MIAS_WARP_THREADS, "MIAS_WARP_THREADS");
static_assert(offsetof(struct mias_block, register_granule) == MIAS_REGISTER_GRANULE, "MIAS_REGISTER_GRANULE");
static_assert(offsetof(struct mias_block, shared_granule_bytes) == MIAS_SHARED_GRANULE_BYTES, "MIAS_SHARED_GRANULE_BYTES");
static_assert(offsetof(struct mias_block, linear_coefficient) == MIAS_LINEAR_COEFFICIENT, "MIAS_LINEAR_COEFFICIENT");
static_assert(offsetof(struct mias_block, sm_schedulers) == MIAS_SM_SCHEDULERS, "MIAS_SM_SCHEDULERS");
static_assert(offsetof(struct mias_block, reply_sectors) == MIAS_REPLY_SECTORS, "MIAS_REPLY_SECTORS");
static_assert(offsetof(struct mias_block, dram_sectors) == MIAS_DRAM_SECTORS, "MIAS_DRAM_SECTORS");
static_assert(offsetof(struct mias_block, strap_policy) == MIAS_STRAP_POLICY, "MIAS_STRAP_POLICY");
static_assert(offsetof(struct mias_block, strap_profile_window) == MIAS_STRAP_PROFILE_WINDOW, "MIAS_STRAP_PROFILE_WINDOW");
static_assert(offsetof(struct mias_block, strap_coalesce_window) == MIAS_STRAP_COALESCE_WINDOW, "MIAS_STRAP_COALESCE_WINDOW");
static_assert(offsetof(struct mias_block, strap_options) == MIAS_STRAP_OPTIONS, "MIAS_STRAP_OPTIONS");
static_assert(offsetof(struct mias_block, strap_fixed) == MIAS_STRAP_FIXED, "MIAS_STRAP_FIXED");
static_assert(offsetof(struct mias_block, strap_loss_threshold) == MIAS_STRAP_LOSS_THRESHOLD, "MIAS_STRAP_LOSS_THRESHOLD");
static_assert(offsetof(struct mias_block, strap_memory_interval) == MIAS_STRAP_MEMORY_INTERVAL, "MIAS_STRAP_MEMORY_INTERVAL");
static_assert(offsetof(struct mias_block, strap_preempt) == MIAS_STRAP_PREEMPT, "MIAS_STRAP_PREEMPT");
static_assert(offsetof(struct mias_block, strap_preempt_limit) == MIAS_STRAP_PREEMPT_LIMIT, "MIAS_STRAP_PREEMPT_LIMIT");
static_assert(offsetof(struct mias_block, cycle_low) == MIAS_CYCLE_LOW, "MIAS_CYCLE_LOW");
static_assert(offsetof(struct mias_block, cycle_high) == MIAS_CYCLE_HIGH, "MIAS_CYCLE_HIGH");
static_assert(offsetof(struct mias_block, timer_low) == MIAS_TIMER_LOW, "MIAS_TIMER_LOW");
static_assert(offsetof(struct mias_block, timer_high) == MIAS_TIMER_HIGH, "MIAS_TIMER_HIGH");
static_assert(offsetof(struct mias_block, timer_armed) == MIAS_TIMER_ARMED, "MIAS_TIMER_ARMED");
static_assert(offsetof(struct mias_block, int_status) == MIAS_INT_STATUS, "MIAS_INT_STATUS");
static_assert(offsetof(struct mias_block, int_enable) == MIAS_INT_ENABLE, "MIAS_INT_ENABLE");
static_assert(offsetof(struct mias_block, int_pending) == MIAS_INT_PENDING, "MIAS_INT_PENDING");
static_assert(offsetof(struct mias_block, drained) == MIAS_DRAINED, "MIAS_DRAINED");
static_assert(offsetof(struct mias_block, completed) == MIAS_COMPLETED, "MIAS_COMPLETED");
static_assert(offsetof(struct mias_block, mode) == MIAS_MODE, "MIAS_MODE");
static_assert(offsetof(struct mias_block, profile_window) == MIAS_PROFILE_WINDOW, "MIAS_PROFILE_WINDOW");
static_assert(offsetof(struct mias_block, commit) == MIAS_COMMIT, "MIAS_COMMIT");
static_assert(offsetof(struct mias_block, phase) == MIAS_PHASE, "MIAS_PHASE");
static_assert(offsetof(struct mias_block, reschedulings) == MIAS_RESCHEDULINGS, "MIAS_RESCHEDULINGS");
static_assert(offsetof(struct mias_block, fault) == MIAS_FAULT, "MIAS_FAULT");
static_assert(offsetof(struct mias_block, fault_set) == MIAS_FAULT_SET, "MIAS_FAULT_SET");
static_assert(offsetof(struct mias_block, watchdog_period) == MIAS_WATCHDOG_PERIOD, "MIAS_WATCHDOG_PERIOD");
static_assert(offsetof(struct mias_block, watchdog_feed) == MIAS_WATCHDOG_FEED, "MIAS_WATCHDOG_FEED");
static_assert(offsetof(struct mias_block, decision_begin) == MIAS_DECISION_BEGIN, "MIAS_DECISION_BEGIN");
static_assert(offsetof(struct mias_block, decision_cycles) == MIAS_DECISION_CYCLES, "MIAS_DECISION_CYCLES");
static_assert(offsetof(struct mias_block, launch_count) == MIAS_LAUNCH_COUNT, "MIAS_LAUNCH_COUNT");
static_assert(offsetof(struct mias_block, launch_slot) == MIAS_LAUNCH_SLOT, "MIAS_LAUNCH_SLOT");
static_assert(offsetof(struct mias_block, launch_pop) == MIAS_LAUNCH_POP, "MIAS_LAUNCH_POP");
static_assert(offsetof(struct mias_block, l2_sectors) == MIAS_L2_SECTORS, "MIAS_L2_SECTORS");
static_assert(offsetof(struct mias_block, l2_access_bytes) == MIAS_L2_ACCESS_BYTES, "MIAS_L2_ACCESS_BYTES");
static_assert(offsetof(struct mias_block, sm_wake_cycles) == MIAS_SM_WAKE_CYCLES, "MIAS_SM_WAKE_CYCLES");
static_assert(offsetof(struct mias_block, strap_context_interval) == MIAS_STRAP_CONTEXT_INTERVAL, "MIAS_STRAP_CONTEXT_INTERVAL");
static_assert(offsetof(struct mias_block, strap_search_warm_up) == MIAS_STRAP_SEARCH_WARM_UP, "MIAS_STRAP_SEARCH_WARM_UP");
static_assert(offsetof(struct mias_block, strap_search_window) == MIAS_STRAP_SEARCH_WINDOW, "MIAS_STRAP_SEARCH_WINDOW");
static_assert(offsetof(struct mias_block, strap_search_loss) == MIAS_STRAP_SEARCH_LOSS, "MIAS_STRAP_SEARCH_LOSS");
static_assert(offsetof(struct mias_block, strap_search_utilization) == MIAS_STRAP_SEARCH_UTILIZATION, "MIAS_STRAP_SEARCH_UTILIZATION");
static_assert(offsetof(struct mias_block, strap_shares) == MIAS_STRAP_SHARES, "MIAS_STRAP_SHARES");
static_assert(offsetof(struct mias_block, search_found) == MIAS_SEARCH_FOUND, "MIAS_SEARCH_FOUND");
static_assert(offsetof(struct mias_block, strap_search_reach) == MIAS_STRAP_SEARCH_REACH, "MIAS_STRAP_SEARCH_REACH");
static_assert(offsetof(struct mias_block, strap_search_reach_of_hits) == MIAS_STRAP_SEARCH_REACH_OF_HITS, "MIAS_STRAP_SEARCH_REACH_OF_HITS");
static_assert(offsetof(struct mias_block, search_progress) == MIAS_SEARCH_PROGRESS, "MIAS_SEARCH_PROGRESS");
static_assert(offsetof(struct mias_block, memory_interval) == MIAS_MEMORY_INTERVAL, "MIAS_MEMORY_INTERVAL");
static_assert(offsetof(struct mias_block, memory_snapshot) == MIAS_MEMORY_SNAPSHOT, "MIAS_MEMORY_SNAPSHOT");
static_assert(offsetof(struct mias_block, memory_active) == MIAS_MEMORY_ACTIVE, "MIAS_MEMORY_ACTIVE");
static_assert(offsetof(struct mias_block, memory_mode_all) == MIAS_MEMORY_MODE_ALL, "MIAS_MEMORY_MODE_ALL");
static_assert(offsetof(struct mias_block, l2_monitor) == MIAS_L2_MONITOR, "MIAS_L2_MONITOR");
static_assert(offsetof(struct mias_block, l2_monitor_hits) == MIAS_L2_MONITOR_HITS, "MIAS_L2_MONITOR_HITS");
static_assert(offsetof(struct mias_block, l2_ways) == MIAS_L2_WAYS, "MIAS_L2_WAYS");
static_assert(offsetof(struct mias_block, l1_ways_all) == MIAS_L1_WAYS_ALL, "MIAS_L1_WAYS_ALL");
static_assert(offsetof(struct mias_block, context_interval) == MIAS_CONTEXT_INTERVAL, "MIAS_CONTEXT_INTERVAL");
static_assert(offsetof(struct mias_block, context_due) == MIAS_CONTEXT_DUE, "MIAS_CONTEXT_DUE");
static_assert(offsetof(struct mias_block, arm) == MIAS_ARM, "MIAS_ARM");
static_assert(offsetof(struct mias_block, disarm) == MIAS_DISARM, "MIAS_DISARM");
static_assert(offsetof(struct mias_block, partition) == MIAS_PARTITION, "MIAS_PARTITION");
static_assert(offsetof(struct mias_block, profile_done) == MIAS_PROFILE_DONE, "MIAS_PROFILE_DONE");
static_assert(offsetof(struct mias_block, quota_all) == MIAS_QUOTA_ALL, "MIAS_QUOTA_ALL");
static_assert(offsetof(struct mias_block, quota_sms) == MIAS_QUOTA_SMS, "MIAS_QUOTA_SMS");
static_assert(offsetof(struct mias_block, quota_some) == MIAS_QUOTA_SOME, "MIAS_QUOTA_SOME");
static_assert(offsetof(struct mias_block, memory_ready) == MIAS_MEMORY_READY, "MIAS_MEMORY_READY");
static_assert(offsetof(struct mias_block, memory_limit_all) == MIAS_MEMORY_LIMIT_ALL, "MIAS_MEMORY_LIMIT_ALL");
static_assert(offsetof(struct mias_block, preempt_wanted) == MIAS_PREEMPT_WANTED, "MIAS_PREEMPT_WANTED");
static_assert(offsetof(struct mias_block, preempt_done) == MIAS_PREEMPT_DONE, "MIAS_PREEMPT_DONE");
static_assert(offsetof(struct mias_block, kernel_snapshot) == MIAS_KERNEL_SNAPSHOT, "MIAS_KERNEL_SNAPSHOT");
static_assert(offsetof(struct mias_block, kernel_saturated) == MIAS_KERNEL_SATURATED, "MIAS_KERNEL_SATURATED");
static_assert(offsetof(struct mias_block, kernel_cycles) == MIAS_KERNEL_CYCLES, "MIAS_KERNEL_CYCLES");
static_assert(offsetof(struct mias_block, kernel_warp_insts) == MIAS_KERNEL_WARP_INSTS, "MIAS_KERNEL_WARP_INSTS");
static_assert(offsetof(struct mias_block, kernel_thread_insts) == MIAS_KERNEL_THREAD_INSTS, "MIAS_KERNEL_THREAD_INSTS");
static_assert(offsetof(struct mias_block, kernel_l2_accesses) == MIAS_KERNEL_L2_ACCESSES, "MIAS_KERNEL_L2_ACCESSES");
static_assert(offsetof(struct mias_block, kernel_l2_hits) == MIAS_KERNEL_L2_HITS, "MIAS_KERNEL_L2_HITS");
static_assert(offsetof(struct mias_block, kernel_dram_reads) == MIAS_KERNEL_DRAM_READS, "MIAS_KERNEL_DRAM_READS");
static_assert(offsetof(struct mias_block, kernel_dram_writes) == MIAS_KERNEL_DRAM_WRITES, "MIAS_KERNEL_DRAM_WRITES");
static_assert(offsetof(struct mias_block, kernel_row_hits) == MIAS_KERNEL_ROW_HITS, "MIAS_KERNEL_ROW_HITS");
static_assert(offsetof(struct mias_block, kernel_ended_tbs) == MIAS_KERNEL_ENDED_TBS, "MIAS_KERNEL_ENDED_TBS");
static_assert(offsetof(struct mias_block, kernel_l1_accesses) == MIAS_KERNEL_L1_ACCESSES, "MIAS_KERNEL_L1_ACCESSES");
static_assert(offsetof(struct mias_block, kernel_l1_misses) == MIAS_KERNEL_L1_MISSES, "MIAS_KERNEL_L1_MISSES");
static_assert(offsetof(struct mias_block, active_warps_all) == MIAS_ACTIVE_WARPS_ALL, "MIAS_ACTIVE_WARPS_ALL");
static_assert(offsetof(struct mias_block, context_bound) == MIAS_CONTEXT_BOUND, "MIAS_CONTEXT_BOUND");
static_assert(offsetof(struct mias_block, context_allowed) == MIAS_CONTEXT_ALLOWED, "MIAS_CONTEXT_ALLOWED");
static_assert(offsetof(struct mias_block, context_capacity) == MIAS_CONTEXT_CAPACITY, "MIAS_CONTEXT_CAPACITY");
static_assert(offsetof(struct mias_block, context_insts) == MIAS_CONTEXT_INSTS, "MIAS_CONTEXT_INSTS");
static_assert(offsetof(struct mias_block, context_l1_hits) == MIAS_CONTEXT_L1_HITS, "MIAS_CONTEXT_L1_HITS");
static_assert(offsetof(struct mias_block, context_request_flits) == MIAS_CONTEXT_REQUEST_FLITS, "MIAS_CONTEXT_REQUEST_FLITS");
static_assert(offsetof(struct mias_block, context_reply_flits) == MIAS_CONTEXT_REPLY_FLITS, "MIAS_CONTEXT_REPLY_FLITS");
static_assert(offsetof(struct mias_block, context_l2_hits) == MIAS_CONTEXT_L2_HITS, "MIAS_CONTEXT_L2_HITS");
static_assert(offsetof(struct mias_block, context_dram_sectors) == MIAS_CONTEXT_DRAM_SECTORS, "MIAS_CONTEXT_DRAM_SECTORS");
static_assert(offsetof(struct mias_block, dram_order) == MIAS_DRAM_ORDER, "MIAS_DRAM_ORDER");
static_assert(offsetof(struct mias_block, dram_cap) == MIAS_DRAM_CAP, "MIAS_DRAM_CAP");
static_assert(offsetof(struct mias_block, dram_share) == MIAS_DRAM_SHARE, "MIAS_DRAM_SHARE");
static_assert(offsetof(struct mias_block, warp_quota) == MIAS_WARP_QUOTA, "MIAS_WARP_QUOTA");
static_assert(offsetof(struct mias_block, miss_weight) == MIAS_MISS_WEIGHT, "MIAS_MISS_WEIGHT");
static_assert(offsetof(struct mias_block, queue_mode) == MIAS_QUEUE_MODE, "MIAS_QUEUE_MODE");
static_assert(offsetof(struct mias_block, queue_entries) == MIAS_QUEUE_ENTRIES, "MIAS_QUEUE_ENTRIES");
static_assert(offsetof(struct mias_block, queue_room) == MIAS_QUEUE_ROOM, "MIAS_QUEUE_ROOM");
static_assert(offsetof(struct mias_block, queue_admit) == MIAS_QUEUE_ADMIT, "MIAS_QUEUE_ADMIT");
static_assert(offsetof(struct mias_block, strap_queue_patience) == MIAS_STRAP_QUEUE_PATIENCE, "MIAS_STRAP_QUEUE_PATIENCE");
static_assert(offsetof(struct mias_block, strap_memory_mode) == MIAS_STRAP_MEMORY_MODE, "MIAS_STRAP_MEMORY_MODE");
static_assert(offsetof(struct mias_block, strap_dram_order) == MIAS_STRAP_DRAM_ORDER, "MIAS_STRAP_DRAM_ORDER");
static_assert(offsetof(struct mias_block, strap_dram_cap) == MIAS_STRAP_DRAM_CAP, "MIAS_STRAP_DRAM_CAP");
static_assert(offsetof(struct mias_slot, status) == MIAS_SLOT_REG_STATUS, "MIAS_SLOT_REG_STATUS");
static_assert(offsetof(struct mias_slot, control) == MIAS_SLOT_REG_CONTROL, "MIAS_SLOT_REG_CONTROL");
static_assert(offsetof(struct mias_slot, grid_tbs) == MIAS_SLOT_REG_GRID_TBS, "MIAS_SLOT_REG_GRID_TBS");
static_assert(offsetof(struct mias_slot, tb_threads) == MIAS_SLOT_REG_TB_THREADS, "MIAS_SLOT_REG_TB_THREADS");
static_assert(offsetof(struct mias_slot, thread_registers) == MIAS_SLOT_REG_THREAD_REGISTERS, "MIAS_SLOT_REG_THREAD_REGISTERS");
static_assert(offsetof(struct mias_slot, tb_shared_bytes) == MIAS_SLOT_REG_TB_SHARED_BYTES, "MIAS_SLOT_REG_TB_SHARED_BYTES");
static_assert(offsetof(struct mias_slot, priority) == MIAS_SLOT_REG_PRIORITY, "MIAS_SLOT_REG_PRIORITY");
static_assert(offsetof(struct mias_slot, stream) == MIAS_SLOT_REG_STREAM, "MIAS_SLOT_REG_STREAM");
static_assert(offsetof(struct mias_slot, unissued_tbs) == MIAS_SLOT_REG_UNISSUED_TBS, "MIAS_SLOT_REG_UNISSUED_TBS");
static_assert(offsetof(struct mias_slot, unfinished_tbs) == MIAS_SLOT_REG_UNFINISHED_TBS, "MIAS_SLOT_REG_UNFINISHED_TBS");
static_assert(offsetof(struct mias_slot, latency_limit) == MIAS_SLOT_REG_LATENCY_LIMIT, "MIAS_SLOT_REG_LATENCY_LIMIT");
static_assert(offsetof(struct mias_slot, identity) == MIAS_SLOT_REG_IDENTITY, "MIAS_SLOT_REG_IDENTITY");
static_assert(offsetof(struct mias_sm, status) == MIAS_SM_REG_STATUS, "MIAS_SM_REG_STATUS");
static_assert(offsetof(struct mias_sm, control) == MIAS_SM_REG_CONTROL, "MIAS_SM_REG_CONTROL");
static_assert(offsetof(struct mias_sm, saturated) == MIAS_SM_REG_SATURATED, "MIAS_SM_REG_SATURATED");
static_assert(offsetof(struct mias_sm, counters) == MIAS_SM_REG_COUNTERS, "MIAS_SM_REG_COUNTERS");
static_assert(offsetof(struct mias_sm, slot_warp_insts) == MIAS_SM_REG_SLOT_WARP_INSTS, "MIAS_SM_REG_SLOT_WARP_INSTS");
static_assert(offsetof(struct mias_sm, slot_thread_insts) == MIAS_SM_REG_SLOT_THREAD_INSTS, "MIAS_SM_REG_SLOT_THREAD_INSTS");
static_assert(offsetof(struct mias_sm, quota) == MIAS_SM_REG_QUOTA, "MIAS_SM_REG_QUOTA");
static_assert(offsetof(struct mias_sm, resident) == MIAS_SM_REG_RESIDENT, "MIAS_SM_REG_RESIDENT");
static_assert(offsetof(struct mias_sm, active_quota) == MIAS_SM_REG_ACTIVE_QUOTA, "MIAS_SM_REG_ACTIVE_QUOTA");
static_assert(offsetof(struct mias_sm, state_request) == MIAS_SM_REG_STATE_REQUEST, "MIAS_SM_REG_STATE_REQUEST");
static_assert(offsetof(struct mias_sm, state) == MIAS_SM_REG_STATE, "MIAS_SM_REG_STATE");
static_assert(offsetof(struct mias_sm, active_warps) == MIAS_SM_REG_ACTIVE_WARPS, "MIAS_SM_REG_ACTIVE_WARPS");
static_assert(offsetof(struct mias_preempt, tb) == MIAS_PREEMPT_REG_TB, "MIAS_PREEMPT_REG_TB");
static_assert(offsetof(struct mias_preempt, tb_insts) == MIAS_PREEMPT_REG_TB_INSTS, "MIAS_PREEMPT_REG_TB_INSTS");
static_assert(offsetof(struct mias_preempt, tb_cycles) == MIAS_PREEMPT_REG_TB_CYCLES, "MIAS_PREEMPT_REG_TB_CYCLES");
static_assert(offsetof(struct mias_preempt, tb_registers) == MIAS_PREEMPT_REG_TB_REGISTERS, "MIAS_PREEMPT_REG_TB_REGISTERS");
static_assert(offsetof(struct mias_preempt, tb_shared) == MIAS_PREEMPT_REG_TB_SHARED, "MIAS_PREEMPT_REG_TB_SHARED");
static_assert(offsetof(struct mias_preempt, tb_left) == MIAS_PREEMPT_REG_TB_LEFT, "MIAS_PREEMPT_REG_TB_LEFT");
static_assert(offsetof(struct mias_preempt, command) == MIAS_PREEMPT_REG_COMMAND, "MIAS_PREEMPT_REG_COMMAND");
static_assert(offsetof(struct mias_preempt, ended_tbs) == MIAS_PREEMPT_REG_ENDED_TBS, "MIAS_PREEMPT_REG_ENDED_TBS");
static_assert(offsetof(struct mias_preempt, ended_insts) == MIAS_PREEMPT_REG_ENDED_INSTS, "MIAS_PREEMPT_REG_ENDED_INSTS");
static_assert(offsetof(struct mias_preempt, ended_cycles) == MIAS_PREEMPT_REG_ENDED_CYCLES, "MIAS_PREEMPT_REG_ENDED_CYCLES");
static_assert(offsetof(struct mias_preempt, ended_cpi) == MIAS_PREEMPT_REG_ENDED_CPI, "MIAS_PREEMPT_REG_ENDED_CPI");
static_assert(offsetof(struct mias_preempt, ended_cpi_squares) == MIAS_PREEMPT_REG_ENDED_CPI_SQUARES, "MIAS_PREEMPT_REG_ENDED_CPI_SQUARES");
static_assert(offsetof(struct mias_preempt, wanted) == MIAS_PREEMPT_REG_WANTED, "MIAS_PREEMPT_REG_WANTED");
static_assert(offsetof(struct mias_preempt, reserved_slot) == MIAS_PREEMPT_REG_RESERVED_SLOT, "MIAS_PREEMPT_REG_RESERVED_SLOT");
static_assert(offsetof(struct mias_preempt, reserved_low) == MIAS_PREEMPT_REG_RESERVED_LOW, "MIAS_PREEMPT_REG_RESERVED_LOW");
static_assert(offsetof(struct mias_preempt, reserved_high) == MIAS_PREEMPT_REG_RESERVED_HIGH, "MIAS_PREEMPT_REG_RESERVED_HIGH");
static_assert(offsetof(struct mias_block, slot) == MIAS_SLOT_BASE, "MIAS_SLOT_BASE");
static_assert(offsetof(struct mias_block, sm) == MIAS_SM_BASE, "MIAS_SM_BASE");
static_assert(offsetof(struct mias_block, preempt) == MIAS_PREEMPT_BASE, "MIAS_PREEMPT_BASE");
static_assert(sizeof(struct mias_slot) == MIAS_SLOT_STRIDE, "MIAS_SLOT_STRIDE");
static_assert(sizeof(struct mias_sm) == MIAS_SM_STRIDE, "MIAS_SM_STRIDE");
static_assert(sizeof(struct mias_preempt) == MIAS_PREEMPT_STRIDE, "MIAS_PREEMPT_STRIDE");
static_assert(sizeof(struct mias_block) == MIAS_MAP_END, "MIAS_MAP_END");
#endif

#endif
