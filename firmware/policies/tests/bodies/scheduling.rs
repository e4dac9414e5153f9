//! State machine under arbitrary events.
//!
//! It commits only fitting quotas (invariant 19 of docs/porting/guarantees.md), and assigns SMs
//! evenly (18). In the end all SMs have the same quotas, and each batch causes one rescheduling
//! (26). It comes to rest within a stated number of events.

use mias_firmware::configs::TbVector;
use mias_firmware::kernel::Kernel;
use mias_firmware::quantity::SectorRate;
use mias_firmware::resources::TbShape;
use mias_firmware::scheduler::{Command, Commands, EVENTS_TO_REST, Event, Phase, Scheduler, SearchCommand};
use mias_firmware::sm_set::SmWord;
use mias_policies::policy::{AnyPolicy, FairShareStep, MaestroStep, SearchPolicy, most_windows};
use mias_policies::search::{KernelCounts, Parameters, SmState, Supply};
use mias_registers::PolicyCode;

use super::commits_what_fits;
use super::gpu::{GPU, SETTINGS, SMS};

/// An event and the cycles before it, as arbitrary numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Input {
    /// Kind of the event.
    pub(crate) kind: u8,
    /// Slot, or word of SMs.
    pub(crate) place: u8,
    /// Shape of a launched kernel, or SMs.
    pub(crate) numbers: [u32; 3],
    /// Cycles since the previous event.
    pub(crate) later: u16,
}

impl Input {
    /// Returns the event.
    fn event(self) -> Event {
        let Input { kind, place, numbers: [a, b, c], .. } = self;
        let slot = place % 8;
        // Two words; the GPU has SMs in one.
        let sms = SmWord { word: place % 2, bits: (a % 512).max(1) };
        match kind % 24 {
            0..=2 => {
                let shape = TbShape { threads: a % 2049, thread_registers: b % 256, shared_bytes: c % 70_000 };
                Event::Launched(Kernel::new(slot, &shape, 100_000, &GPU.limits))
            }
            3 => Event::Drained(slot),
            4 | 5 => Event::Completed(slot),
            6..=9 => Event::PartitionReached(sms),
            10..=15 => Event::ProfileDone(sms),
            16..=19 => Event::Timer,
            20 | 21 => Event::CountersRead,
            _ => Event::BroadcastDone,
        }
    }
}

/// Windows of a search of 400 and 600 cycles, on SMs that can be stalled and gated.
pub(crate) const SEARCH: Parameters = Parameters {
    warm_up: 400,
    window: 600,
    loss_permille: 50,
    able: true,
    gates: true,
    limits_warps: true,
    supply: Supply {
        sms: SMS,
        schedulers: 2,
        access_sectors: 1,
        interconnect: SectorRate::lit("4"),
        l2: SectorRate::lit("3"),
        dram: SectorRate::lit("2"),
    },
    ..Parameters::NONE
};

/// Most events of a search: three timers and the counters of each window.
const SEARCH_EVENTS: u32 = 4 * most_windows(SMS) as u32;

type Machinery = Scheduler<AnyPolicy, 64>;

/// Returns arbitrary counts, as the block may show.
fn counts(input: &Input, kernel: usize) -> KernelCounts {
    let [a, b, c] = input.numbers;
    let number = |place: u32| (a ^ b.rotate_left(7 * place)).wrapping_mul(c | 1).rotate_left(11 * kernel as u32 + place);
    let counts = 1 << 27;
    KernelCounts {
        cycles: if input.place.is_multiple_of(3) { number(0) } else { 600 },
        instructions: number(1) >> (number(2) % 32),
        warp_insts: (number(3) % counts) >> (number(2) % 8),
        l2_accesses: number(4) % counts,
        l2_hits: (number(5) % counts).min(number(4) % counts),
        dram_sectors: number(6) % counts,
        row_hits: number(8) % counts,
        ended_tbs: number(7) % 2,
        l1_accesses: number(9) % counts,
        l1_misses: (number(10) % counts).min(number(9) % counts),
    }
}

/// Checks that the scheduler returns to rest after any events in any order.
pub(crate) fn always_comes_to_rest(policy: u32, inputs: impl IntoIterator<Item = Input>) {
    let code = PolicyCode::ALL[policy as usize % PolicyCode::ALL.len()];
    let fixed = TbVector([(policy >> 8) as u8, (policy >> 16) as u8, (policy >> 24) as u8, 1]);
    let mut s: Machinery = Scheduler::new(AnyPolicy::new(code, &GPU, &SETTINGS, fixed), GPU, SETTINGS);
    if let Some(searching) = s.policy_mut().searching_mut() {
        searching.state.parameters =
            Parameters { reassigns: policy >> 31 != 0, gates: policy >> 30 & 1 == 0, given: [1, 3, 1, 1], ..SEARCH };
    }
    let mut now = 0_u64;
    for input in inputs {
        now += u64::from(input.later);
        let event = input.event();
        // The driver takes no launch without a free entry, and hardware does not reuse an occupied
        // slot.
        if let Event::Launched(kernel) = event
            && (!s.has_room() || s.kernels().iter().any(|known| known.slot == kernel.slot))
        {
            continue;
        }
        if let Some(searching) = s.policy_mut().searching_mut() {
            searching.state.counts = core::array::from_fn(|kernel| counts(&input, kernel));
        }
        step(&mut s, event, now);
    }
    for _ in 0..EVENTS_TO_REST + SEARCH_EVENTS {
        let answer = match s.phase() {
            phase if phase.at_rest() => break,
            Phase::Idle | Phase::Steady => unreachable!("at rest"),
            Phase::Partition { at: deadline } | Phase::Profile { until: deadline } | Phase::Search { until: deadline, .. } => {
                now = now.max(deadline);
                Event::Timer
            }
            Phase::Transition => Event::PartitionReached(SmWord::one(0)),
            Phase::Decide => Event::CountersRead,
            Phase::Broadcast => Event::BroadcastDone,
        };
        step(&mut s, answer, now);
    }
    assert!(s.phase().at_rest(), "{:?} after {} events", s.phase(), EVENTS_TO_REST + SEARCH_EVENTS);
    assert_eq!(s.phase() == Phase::Idle, s.kernels().is_empty());
}

/// Preparation changes no answer and no visible state, for any number of parts before any event: a
/// scheduler that never prepares behaves alike. Most events are those that the phase waits for, so
/// that decisions and second rounds occur.
pub(crate) fn preparing_changes_nothing(policy: u32, inputs: impl IntoIterator<Item = Input>) {
    let code = PolicyCode::ALL[policy as usize % PolicyCode::ALL.len()];
    let new = || Machinery::new(AnyPolicy::new(code, &GPU, &SETTINGS, TbVector([1; 4])), GPU, SETTINGS);
    let (mut plain, mut prepared, mut now) = (new(), new(), 0_u64);
    for input in inputs {
        now += u64::from(input.later);
        let event = match plain.phase() {
            _ if input.kind.is_multiple_of(5) => input.event(),
            Phase::Idle | Phase::Steady => Input { kind: 0, ..input }.event(),
            // Every other batch stays open for one more kernel.
            Phase::Partition { .. } if input.place % 2 == 1 => Input { kind: 0, ..input }.event(),
            Phase::Partition { at: deadline } | Phase::Search { until: deadline, .. } => {
                now = now.max(deadline);
                Event::Timer
            }
            Phase::Transition => Event::PartitionReached(SmWord::one(0)),
            Phase::Profile { .. } => Event::ProfileDone(SmWord { word: 0, bits: (1 << SMS) - 1 }),
            Phase::Decide => Event::CountersRead,
            Phase::Broadcast => Event::BroadcastDone,
        };
        if let Event::Launched(kernel) = event
            && (!plain.has_room() || plain.kernels().iter().any(|known| known.slot == kernel.slot))
        {
            continue;
        }
        for _ in 0..input.numbers[2] % 64 {
            prepared.prepare();
        }
        for s in [&mut plain, &mut prepared] {
            for sm in (0..SMS).filter(|_| matches!(event, Event::CountersRead)) {
                if let Some(sums) = s.sums_mut(sm) {
                    (sums.sms, sums.cycles) = (sums.sms + 1, sums.cycles + 1000);
                    sums.instructions += input.numbers[usize::from(sm % 3)] % 9999;
                }
            }
        }
        assert_eq!(plain.handle(event, now), prepared.handle(event, now), "{event:?}");
        assert_eq!(plain.phase(), prepared.phase());
        assert!((0..SMS.into()).all(|sm| plain.quotas(sm) == prepared.quotas(sm)));
        let (plain, prepared) = (plain.report(), prepared.report());
        assert!(plain.tried().map(|tried| tried.entry).eq(prepared.tried().map(|tried| tried.entry)));
        assert_eq!((plain.total_configs(), plain.winner()), (prepared.total_configs(), prepared.winner()));
    }
}

/// Handles one event, and checks the state after it.
fn step(s: &mut Machinery, event: Event, now: u64) {
    let (before, reschedulings, kernels) = (s.phase(), s.reschedulings(), s.kernels().len());
    let known = |slot: u8, s: &Machinery| s.kernels().iter().any(|kernel| kernel.slot == slot);
    let completes = matches!(event, Event::Completed(slot) if known(slot, s));
    let commands = s.handle(event, now);
    // Invariant 26: a launch or a completion opens a batch, or joins the open one. Its timer causes
    // one rescheduling.
    let due = matches!((before, event), (Phase::Partition { at }, Event::Timer) if now >= at);
    assert_eq!(s.reschedulings(), reschedulings + u32::from(due), "{event:?} in {before:?}");
    if completes || s.kernels().len() > kernels {
        let open = matches!(s.phase(), Phase::Partition { .. });
        assert!(if s.kernels().is_empty() { s.phase() == Phase::Idle } else { open }, "{event:?} leads to {:?}", s.phase());
    }
    if commands.contains(&Command::Search(SearchCommand::ApplyShares)) {
        (0..SMS.into()).for_each(|sm| commits_what_fits(s, sm));
        shares_out(s);
    }
    // Quotas that are not applied reach no SM.
    if commands.contains(&Command::ApplyQuotas) {
        (0..SMS.into()).for_each(|sm| commits_what_fits(s, sm));
        deals_evenly(s, &commands);
    }
}

/// Invariant 18: every SM has a configuration, every configuration of the round has SMs, and their
/// numbers differ by at most one. Invariant 26: all SMs get the policy's choice.
fn deals_evenly(s: &Machinery, commands: &Commands) {
    if let Some(vector) = s.broadcast() {
        assert!((0..SMS.into()).all(|sm| s.quotas(sm) == vector));
        return;
    }
    let round = s.report().tried().map(|tried| tried.entry.round).max();
    let (mut least, mut most, mut dealt) = (u32::MAX, 0, 0);
    for tried in s.report().tried().filter(|tried| Some(tried.entry.round) == round) {
        let sms = (0..usize::from(SMS)).filter(|sm| s.quotas(*sm) == tried.entry.vector).count() as u32;
        (least, most, dealt) = (least.min(sms), most.max(sms), dealt + sms);
    }
    assert!(dealt == u32::from(SMS) && least >= 1 && most - least <= 1, "{dealt} SMs, {least} to {most} each: {commands:?}");
}

/// Invariant 38 of sources.md D153: every SM is active, stalled or gated. Active ones belong to a
/// kernel, and every kernel has at least one. SMs are stalled only while a search measures.
fn shares_out(s: &Machinery) {
    let searching = s.policy().searching().expect("it applies shares");
    let search = &searching.state;
    let (shares, measuring) = (&search.shares, search.measuring());
    assert_eq!(shares.holders().count(), usize::from(SMS));
    let all = |state| shares.holders().filter(|holder| holder.state == state).count();
    assert_eq!(all(SmState::Active) + all(SmState::Stalled) + all(SmState::Gated), usize::from(SMS));
    assert!(measuring || all(SmState::Stalled) == 0, "stalled for ever");
    // The result of a search for power may be measured once more.
    let divided = matches!(&searching.by, SearchPolicy::MaestroSearch(search) if search.step != MaestroStep::Divide);
    assert!(!measuring || all(SmState::Gated) == 0 || divided, "gated before the search is over");
    let one_alone = matches!(&searching.by, SearchPolicy::FairShare(search) if search.step == FairShareStep::Alone);
    for kernel in 0..shares.kernels() {
        let its = || shares.holders().filter(|holder| holder.kernel == Some(kernel));
        let active = its().filter(|holder| holder.state == SmState::Active).count();
        // One kernel may run alone while a search measures. The others keep their SMs, stalled.
        let waits = measuring && one_alone && active == 0;
        assert!(its().count() >= 1 && (waits || active >= 1), "kernel {kernel} has {active} SMs");
        assert!(waits || active == usize::from(shares.active(kernel)), "kernel {kernel} has {active} SMs");
    }
    assert!(search.windows <= most_windows(SMS));
}
