//! Tests of the whole memory system: latency, bandwidth, conservation, back-pressure, skipping.

use super::*;
use crate::config::L2WriteMiss;
use crate::hand_made::config;
use proptest::prelude::*;

fn request(sector: u64, sm: u16, kind: RequestKind, tag: u32) -> Request {
    let byte_mask = if kind == RequestKind::Write { 0xffff } else { u32::MAX };
    Request { sector, byte_mask, more_sectors: 0, sm, kernel: (sm % 2) as u8, kind, tag }
}

/// Number of ticks from injection until the reply is visible.
fn latency(memory: &mut MemorySystem, sector: u64) -> u32 {
    memory.inject(request(sector, 0, RequestKind::Read, 9));
    for ticks in 1..5_000 {
        memory.tick();
        if memory.peek_reply(0).is_some() {
            assert_eq!(memory.pop_reply(0).map(|r| (r.sector, r.tag)), Some((sector, 9)));
            return ticks;
        }
    }
    panic!("no reply");
}

/// L2 hit: one tick to the crossbar's output, one to the slice, the delay, one from the delay to
/// the look-up, one to the crossbar and through it.
#[test]
fn unloaded_hit_latency_is_the_sum_of_its_parts() {
    let config = config();
    let mut memory = MemorySystem::new(&config);
    memory.preload(1000);
    assert_eq!(latency(&mut memory, 1000), 1 + 1 + config.l2.latency + 1 + 1);
}

/// An SM's L2 counters are as late as the reply: zero after the slice's look-up, complete when the
/// SM takes the reply.
#[test]
fn look_ups_are_counted_when_their_reply_is_taken() {
    let mut memory = MemorySystem::new(&config());
    memory.preload(1000);
    for (sector, hits) in [(1000, 1), (77_000, 1), (1000, 2)] {
        let before = memory.sm_l2(0);
        memory.inject(request(sector, 0, RequestKind::Read, 9));
        while memory.peek_reply(0).is_none() {
            memory.tick();
            assert_eq!(memory.sm_l2(0), before);
        }
        memory.pop_reply(0);
        assert_eq!(memory.sm_l2(0), SmL2 { accesses: before.accesses + 1, hits });
    }
    assert_eq!(memory.sm_l2(1), SmL2::default());
}

/// L2 miss: the fixed latency before DRAM, the DRAM cycles of a closed bank or of a row conflict,
/// and the queues.
#[test]
fn unloaded_miss_latency_is_the_sum_of_its_parts() {
    let config = config();
    let t = &config.dram.timing;
    let core_cycles = |dram_cycles: u32| f64::from(dram_cycles) * 1365.0 / 3500.5;
    let mut memory = MemorySystem::new(&config);
    memory.preload(0);
    let hit = latency(&mut memory, 0);
    let parts = [
        (12 * 8 * 128 * 7, t.t_rcd + t.t_cl, "closed bank"),
        (12 * 8 * 128 * 7 + 1, t.t_cl, "open row"),
        (12 * 8 * 128 * 8, t.t_rp + t.t_rcd + t.t_cl, "other row"),
    ];
    for (sector, dram_cycles, what) in parts {
        let extra = f64::from(latency(&mut memory, sector) - hit);
        // Miss queue, then two DRAM cycles into the controller and one out of it, then the fill:
        // each waits for its clock.
        let expected = 1.0 + f64::from(config.dram.latency) + core_cycles(dram_cycles + 3) + 1.0;
        assert!((extra - expected).abs() <= 3.0, "{what}: {extra}, parts {expected:.1}");
    }
}

/// Streams `count` reads of consecutive sectors from all SMs. Returns the number of ticks from the
/// first reply to the last.
fn stream(memory: &mut MemorySystem, count: u64, address: impl Fn(u64) -> u64) -> u64 {
    let (mut sent, mut received, mut first, mut ticks) = (0, 0, None, 0u64);
    while received < count {
        for sm in 0..30 {
            received += u64::from(memory.pop_reply(sm).is_some());
        }
        if received > 0 && first.is_none() {
            first = Some(ticks);
        }
        memory.tick();
        for sm in 0..30 {
            if sent < count && memory.can_inject(sm, RequestKind::Read) {
                memory.inject(request(address(sent), sm, RequestKind::Read, sent as u32));
                sent += 1;
            }
        }
        ticks += 1;
        assert!(ticks < 1_000_000, "no progress");
    }
    ticks - first.unwrap_or(0)
}

/// Hits stream at the throughput of the narrower side of the crossbar: the slices' 24 ports at the
/// head-of-line limit of 24 to 30 ports. It may be higher, since consecutive sectors are more
/// regular than random ones, but never above one per port.
#[test]
fn l2_hits_stream_near_the_crossbars_limit() {
    let config = config();
    let mut memory = MemorySystem::new(&config);
    (0..60_000).for_each(|sector| memory.preload(sector));
    let ticks = stream(&mut memory, 60_000, |i| i);
    let per_slice = 60_000.0 / ticks as f64 / 24.0;
    assert!((0.55..=1.0).contains(&per_slice), "sectors per slice and cycle: {per_slice:.3}");
    println!("L2 hits: {:.3} sectors per slice and cycle", per_slice);
}

/// Streaming reads reach most of the 336 GB/s: one atom per 4 command cycles and channel.
#[test]
fn dram_streams_near_its_peak() {
    let mut memory = MemorySystem::new(&config());
    let ticks = stream(&mut memory, 120_000, |i| i);
    let peak_per_tick = 12.0 * 3500.5 / 1365.0 / 4.0;
    let efficiency = 120_000.0 / ticks as f64 / peak_per_tick;
    assert!((0.6..=1.0).contains(&efficiency), "efficiency {efficiency:.3}");
    println!("DRAM stream: {:.3} of 336 GB/s", efficiency);
}

/// Sector number of the n-th sector of an L2 slice, from the reference's address map: 12 channels
/// of 256 bytes; bit 7 selects the slice of a channel.
fn sector_of_slice(slice: u64, n: u64) -> u64 {
    let (block, sector) = (n / 4, n % 4);
    ((block * 12 + slice / 2) * 256 + (slice % 2) * 128) / 32 + sector
}

/// Number of ticks in which `per_sm` hits return to each of `sms` SMs, from the first reply to the
/// last; SM s reads slice `slice(s)`.
fn stream_hits(sms: u16, per_sm: u64, slice: impl Fn(u64) -> u64) -> u64 {
    let mut memory = MemorySystem::new(&config());
    for sm in 0..u64::from(sms) {
        (0..512).for_each(|n| memory.preload(sector_of_slice(slice(sm), n)));
    }
    let (mut sent, mut received) = (vec![0; usize::from(sms)], 0);
    let (mut first, mut tick) = (None, 0);
    while received < per_sm * u64::from(sms) {
        assert!(tick < 1_000_000, "no progress");
        for sm in 0..sms {
            if memory.pop_reply(sm).is_some() {
                received += 1;
                first.get_or_insert(tick);
            }
            let sent = &mut sent[usize::from(sm)];
            if *sent < per_sm && memory.can_inject(sm, RequestKind::Read) {
                memory.inject(request(sector_of_slice(slice(sm.into()), *sent % 512), sm, RequestKind::Read, 0));
                *sent += 1;
            }
        }
        memory.tick();
        tick += 1;
    }
    assert_eq!(memory.counters(0).l2_misses() + memory.counters(1).l2_misses(), 0);
    tick - first.unwrap_or(0)
}

/// L2 hits at the peak of 32 bytes per slice and cycle, exactly: one SM per slice, so there is no
/// conflict in the crossbar.
#[test]
fn l2_hits_stream_at_the_peak_where_nothing_meets() {
    assert_eq!(stream_hits(24, 4_000, |sm| sm), 4_000);
}

/// All SMs at one slice share the bandwidth of its one port: 32 bytes per cycle.
#[test]
fn one_slice_gives_one_sector_per_cycle() {
    assert_eq!(stream_hits(10, 400, |_| 5), 10 * 400);
}

/// Request of a random mix: (sm, sector, kind, idle ticks before it).
fn mix() -> impl Strategy<Value = Vec<(u16, u64, RequestKind, u16)>> {
    let kind = prop_oneof![3 => Just(RequestKind::Read), 2 => Just(RequestKind::Write), 1 => Just(RequestKind::Atomic)];
    let sector = prop_oneof![0u64..200, (0u64..40_000).prop_map(|s| s * 12 * 8), any::<u32>().prop_map(u64::from)];
    let gap = prop_oneof![20 => Just(0u16), 1 => 1u16..900];
    prop::collection::vec((0u16..30, sector, kind, gap), 1..600)
}

/// Replies that the SMs see: (tick, sm, reply).
type Seen = Vec<(u64, u16, Reply)>;

fn drive(config: &crate::config::GpuConfig, requests: &[(u16, u64, RequestKind, u16)], skip: bool) -> (Seen, MemorySystem) {
    let (seen, _, memory) = drive_ahead(config, requests, skip, 0);
    (seen, memory)
}

/// Drives a memory system, and returns the replies, the skipped cycles as (first, number), and the
/// system. Every `n`-th tick is begun ahead; none if 0.
fn drive_ahead(
    config: &crate::config::GpuConfig,
    requests: &[(u16, u64, RequestKind, u16)],
    skip: bool,
    begin: u64,
) -> (Seen, Vec<(u64, u64)>, MemorySystem) {
    let mut skipped = Vec::new();
    let mut memory = MemorySystem::new(config);
    let (mut seen, mut next, mut tick, mut due) = (Vec::new(), 0, 0u64, 0u64);
    while next < requests.len() || !memory.is_idle() {
        assert!(tick < 2_000_000, "no progress");
        for sm in 0..30 {
            seen.extend(memory.pop_reply(sm).map(|reply| (tick, sm, reply)));
        }
        memory.tick();
        tick += 1;
        while next < requests.len() && due <= tick && memory.can_inject(requests[next].0, requests[next].2) {
            let (sm, sector, kind, gap) = requests[next];
            memory.inject(request(sector, sm, kind, next as u32));
            next += 1;
            due = tick + u64::from(gap);
        }
        if begin != 0 && tick.is_multiple_of(begin) {
            memory.begin_tick();
        }
        if skip && memory.replies_waiting().iter().all(|&word| word == 0) {
            let limit = if next < requests.len() { due.saturating_sub(tick + 1) } else { u64::MAX };
            let quiet = memory.quiet_cycles().min(limit);
            if quiet != u64::MAX {
                skipped.extend((quiet > 0).then_some((tick, quiet)));
                memory.skip(quiet);
                tick += quiet;
            }
        }
    }
    // The begun part is counted with its tick.
    memory.tick();
    (seen, skipped, memory)
}

fn small_queues() -> crate::config::GpuConfig {
    let mut config = config();
    config.interconnect.input_buffer = 1;
    config.interconnect.output_buffer = 1;
    config.l2.mshrs = 2;
    config.l2.mshr_merges = 2;
    config.l2.miss_queue = 2;
    config.l2.queues = crate::config::L2Queues { from_crossbar: 4, to_dram: 1, from_dram: 1, to_crossbar: 1 };
    config.l2.sets = 16;
    config.l2.ways = 1;
    config.dram.queue = 2;
    config.dram.return_queue = 1;
    config
}

/// Whole lines and packets of several flits, with large or small queues.
fn whole_lines(tight: bool) -> crate::config::GpuConfig {
    let mut config = if tight { small_queues() } else { config() };
    (config.l1.sector_bytes, config.l2.sector_bytes, config.l2.write_miss) = (128, 128, L2WriteMiss::Fetch);
    (config.interconnect.flit_bytes, config.interconnect.header_bytes) = (32, 8);
    config.l2.miss_queue = config.l2.miss_queue.max(3);
    config
}

fn gpus() -> impl Strategy<Value = crate::config::GpuConfig> {
    prop_oneof![Just(config()), Just(small_queues()), Just(whole_lines(false)), Just(whole_lines(true))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Every request is answered exactly once, under any back-pressure, and the counters add up.
    #[test]
    fn conserves_requests(requests in mix(), config in gpus()) {
        let (seen, memory) = drive(&config, &requests, false);
        let mut tags: Vec<u32> = seen.iter().map(|(.., reply)| reply.tag).collect();
        tags.sort_unstable();
        prop_assert_eq!(tags, (0..requests.len() as u32).collect::<Vec<_>>());
        for (_, sm, reply) in &seen {
            let (from, sector, kind, _) = requests[reply.tag as usize];
            prop_assert_eq!((*sm, reply.sector, reply.kind), (from, sector, kind));
        }
        for kernel in 0..2u8 {
            let sent = requests.iter().filter(|r| r.0 % 2 == u16::from(kernel)).count() as u64;
            let c = memory.counters(kernel);
            let of_kernel = requests.iter().filter(|r| r.0 % 2 == u16::from(kernel));
            prop_assert_eq!(c.l2_accesses(), sent);
            if config.interconnect.header_bytes == 0 {
                prop_assert_eq!((c.request_packets, c.reply_packets), (sent, sent));
            } else {
                // A header and a sector are two flits.
                let long = |short: RequestKind| of_kernel.clone().filter(|r| r.2 != short).count() as u64;
                let flits = (sent + long(RequestKind::Read), sent + long(RequestKind::Write));
                prop_assert_eq!((c.request_packets, c.reply_packets), flits);
            }
            if config.l2.write_miss == L2WriteMiss::LazyFetch {
                prop_assert_eq!(c.dram_writes, c.l2_write_back_sectors);
                prop_assert!(c.dram_reads <= c.l2_read_misses);
            } else {
                // Forwarded writes of one sector, each at most once.
                let writes = of_kernel.filter(|r| r.2 == RequestKind::Write).count() as u64;
                prop_assert!((c.l2_write_misses..=writes).contains(&(c.dram_writes - c.l2_write_back_sectors)));
                prop_assert!(c.dram_reads <= 4 * c.l2_misses());
            }
        }
        // The L2 counts of the SMs equal those of the kernels.
        let of_sms = (0..30).map(|sm| memory.sm_l2(sm)).fold((0, 0), |sum, sm| (sum.0 + sm.accesses, sum.1 + sm.hits));
        let of_kernels = (0..2).map(|kernel| memory.counters(kernel)).fold((0, 0), |sum, c| (sum.0 + c.l2_accesses(), sum.1 + c.l2_hits()));
        prop_assert_eq!(of_sms, of_kernels);
    }

    /// With quiet cycles skipped, the SMs see the same replies at the same times, and the counts
    /// are equal.
    #[test]
    fn skipping_equals_ticking(requests in mix(), config in gpus()) {
        let (ticked, memory) = drive(&config, &requests, false);
        let (skipped, memory_skipped) = drive(&config, &requests, true);
        prop_assert_eq!(ticked, skipped);
        for kernel in 0..2 {
            prop_assert_eq!(memory.counters(kernel), memory_skipped.counters(kernel));
        }
    }

    /// Beginning a tick ahead changes no reply and no count, and skipping is allowed as before.
    #[test]
    fn beginning_a_tick_changes_nothing(requests in mix(), config in gpus(), begin in 1u64..4) {
        let (seen, skipped, memory) = drive_ahead(&config, &requests, true, 0);
        let (seen_begun, skipped_begun, memory_begun) = drive_ahead(&config, &requests, true, begin);
        prop_assert_eq!(seen, seen_begun);
        prop_assert_eq!(skipped, skipped_begun);
        for kernel in 0..2 {
            prop_assert_eq!(memory.counters(kernel), memory_begun.counters(kernel));
        }
    }
}

/// Sends requests one after the other, each to its end; returns the counts of kernel 0, and the
/// ticks of the last request.
fn one_by_one(config: &crate::config::GpuConfig, requests: &[Request]) -> (MemoryCounters, u32) {
    let mut memory = MemorySystem::new(config);
    let mut ticks = 0;
    for &request in requests {
        memory.inject(request);
        ticks = 0;
        while memory.pop_reply(0).is_none() {
            memory.tick();
            ticks += 1;
        }
        while !memory.is_idle() {
            memory.tick();
        }
    }
    (memory.counters(0), ticks)
}

/// A read fetches its whole line, four atoms by one request, and the reply is a header and the
/// line: five flits of 32 bytes.
#[test]
fn whole_lines_come_in_flits() {
    let config = whole_lines(false);
    let line = |sector| Request { more_sectors: 3, ..request(sector, 0, RequestKind::Read, 0) };
    let (c, hit) = one_by_one(&config, &[line(4_000), line(4_000)]);
    assert_eq!((c.l2_read_misses, c.l2_read_hits, c.dram_reads, c.dram_row_misses), (1, 1, 4, 1));
    assert_eq!((c.request_packets, c.reply_packets), (2, 10));
    assert_eq!(hit, 1 + 1 + config.l2.latency + 1 + 5);
    // Another sector of the line is present too; its reply is two flits.
    let (c, hit) = one_by_one(&config, &[line(4_000), request(4_003, 0, RequestKind::Read, 0)]);
    assert_eq!((c.l2_read_hits, hit), (1, 1 + 1 + config.l2.latency + 1 + 2));
}

/// A write miss is forwarded to DRAM with its data and acknowledged there; then the line is
/// fetched. A write hit stays in the line, which is written back when it is evicted.
#[test]
fn a_write_miss_fetches_and_goes_on() {
    let config = whole_lines(false);
    let write = |sector, more_sectors| Request { more_sectors, ..request(sector, 0, RequestKind::Write, 0) };
    let at = sector_of_slice(0, 8);
    let (c, ticks) = one_by_one(&config, &[write(at, 1)]);
    assert_eq!((c.l2_write_misses, c.dram_writes, c.dram_reads, c.l2_write_back_sectors), (1, 2, 4, 0));
    assert_eq!((c.request_packets, c.reply_packets), (3, 1), "a header and two sectors are three flits");
    assert!(ticks > config.l2.latency + config.dram.latency, "{ticks} ticks");
    let (c, ticks) = one_by_one(&config, &[write(at, 1), write(at + 2, 0)]);
    assert_eq!((c.l2_write_hits, c.dram_writes, c.dram_reads), (1, 2, 4));
    assert_eq!(ticks, 2 + 1 + config.l2.latency + 1 + 1, "two flits there, one back");
    // Twice as many lines as the slice has, of which its set gets more than it holds: the written
    // line leaves whole.
    let others =
        (1..=2 * u64::from(config.l2.sets * config.l2.ways)).map(|n| request(sector_of_slice(0, 8 + 4 * n), 0, RequestKind::Read, 0));
    let all: Vec<Request> = [write(at, 1), write(at + 2, 0)].into_iter().chain(others).collect();
    let (c, _) = one_by_one(&config, &all);
    assert_eq!((c.l2_write_back_sectors, c.dram_writes), (4, 2 + 4));
}

/// One slice sends a line in as many cycles as it has flits, to any SM.
#[test]
fn one_slice_gives_one_flit_per_cycle() {
    let config = whole_lines(false);
    let mut memory = MemorySystem::new(&config);
    memory.preload(sector_of_slice(5, 0));
    let (mut first, mut received, mut sent) = (None, 0u64, 0);
    for tick in 0..10_000u64 {
        for sm in 0..10 {
            received += u64::from(memory.pop_reply(sm).is_some());
            if sent < 1_000 && memory.can_inject(sm, RequestKind::Read) {
                memory.inject(Request { more_sectors: 3, ..request(sector_of_slice(5, 0), sm, RequestKind::Read, 0) });
                sent += 1;
            }
        }
        if received == 1 {
            first.get_or_insert(tick);
        }
        if received == 1_000 {
            assert_eq!(tick - first.unwrap_or(0), 5 * 999);
            return;
        }
        memory.tick();
    }
    panic!("{received} of 1,000 lines");
}

/// A write miss fetches nothing. Reading it back fetches only if bytes are unknown. The line goes
/// to DRAM when evicted.
#[test]
fn write_back_and_lazy_fetch() {
    let mut memory = MemorySystem::new(&config());
    let run = |memory: &mut MemorySystem, request: Request| {
        memory.inject(request);
        while !memory.is_idle() {
            memory.tick();
            memory.pop_reply(0);
        }
        memory.counters(0)
    };
    let whole = Request { byte_mask: u32::MAX, ..request(64, 0, RequestKind::Write, 0) };
    assert_eq!(run(&mut memory, whole).dram_reads, 0);
    assert_eq!(run(&mut memory, request(64, 0, RequestKind::Read, 0)).l2_read_hits, 1);
    run(&mut memory, request(65, 0, RequestKind::Write, 0));
    let partial = run(&mut memory, request(65, 0, RequestKind::Read, 0));
    assert_eq!((partial.l2_read_misses, partial.dram_reads, partial.dram_writes), (1, 1, 0));
    // The test then reads every line of the memory system, plus one more per set.
    for line in 0..2 * 24 * 1024 {
        memory.inject(request((1 << 20) | (line * 4), 0, RequestKind::Read, 0));
        while !memory.is_idle() && !memory.can_inject(0, RequestKind::Read) {
            memory.tick();
            memory.pop_reply(0);
        }
    }
    let end = run(&mut memory, request(0, 0, RequestKind::Read, 0));
    assert_eq!((end.l2_write_back_sectors, end.dram_writes), (2, 2));
}
