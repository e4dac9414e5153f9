//! Statistics of context moves on whole GPUs: log for timelines, counts by SM, and energy. Log and
//! counts are independent, so each verifies the other.

use super::oversubscription::{any_oversubscription, any_small, chases, small, with};
use super::*;
use crate::config::{OversubscriptionConfig, OversubscriptionMechanism};
use crate::energy::EnergyReport;
use crate::sm::{ContextEvent, ContextNote, MovedContext, OversubscriptionCounts, Resources};

/// Runs a kernel to its end and returns the statistics with the log of context moves.
fn noted(config: &GpuConfig, trace: &Arc<KernelTrace>, most: usize) -> (Stats, ContextLog) {
    let mut gpu = gpu(config);
    gpu.record_context_moves(most);
    gpu.launch(once(trace.clone())).expect("fits");
    assert_eq!(gpu.run(&mut Table::fixed(&[32]), 20_000_000), RunEnd::AllComplete);
    let log = gpu.take_context_log();
    (gpu.stats(), log)
}

fn bytes(context: Option<&MovedContext>) -> u64 {
    context.map_or(0, |context| context.bytes.iter().map(|&bytes| u64::from(bytes)).sum())
}

/// Counts from the log of an SM; moves follow each other, and take their bytes over the bandwidth.
fn told(notes: &[ContextNote], bandwidth: u64, end: u64) -> OversubscriptionCounts {
    let mut counts = OversubscriptionCounts::default();
    let (mut free_from, mut since, mut absent) = (0, 0, 0);
    for note in notes {
        match note.event {
            ContextEvent::Moves { out, into, cycles, .. } => {
                assert!(note.cycle >= free_from, "{note:?} before cycle {free_from}");
                assert_eq!(cycles, [out, into].iter().map(|context| bytes(context.as_ref()).div_ceil(bandwidth)).sum::<u64>());
                free_from = note.cycle + cycles;
                counts.moving_cycles += cycles;
                counts.switched_out += u64::from(out.is_some());
                counts.switched_in += u64::from(into.is_some());
            }
            ContextEvent::Holds { absent_warps, .. } => {
                counts.absent_warp_cycles += absent * (note.cycle - since);
                (since, absent) = (note.cycle, u64::from(absent_warps));
            }
        }
    }
    counts.absent_warp_cycles += absent * (end - since);
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The log equals the counts, SM by SM; SMs add up to the launch; and recording changes
    /// nothing.
    #[test]
    fn notes_come_to_what_is_counted(recipe in random_kernel(), config in any_small(), oversubscription in any_oversubscription()) {
        let trace = recipe.trace();
        prop_assume!(Resources::of_sm(&config.sm).fits(&Resources::of_tb(trace.info(), &config.sm)));
        let config = with(config, oversubscription);
        let (stats, log) = noted(&config, &trace, 1 << 20);
        prop_assert_eq!((log.left_out, log.sms.len()), (0, stats.sms.len()));
        let mut sum = OversubscriptionCounts::default();
        for (sm, notes) in stats.sms.iter().zip(&log.sms) {
            let counts = sm.oversubscription.expect("it takes extra TBs");
            let told = told(notes, oversubscription.bandwidth().into(), stats.cycles);
            let of = |counts: &OversubscriptionCounts| (counts.switched_out, counts.switched_in, counts.moving_cycles, counts.absent_warp_cycles);
            prop_assert_eq!(of(&told), of(&counts));
            sum.add(&counts);
        }
        prop_assert_eq!(sum, stats.oversubscription[0].counts);
        let mut plain = gpu(&config);
        plain.launch(once(trace)).expect("fits");
        plain.run(&mut Table::fixed(&[32]), 20_000_000);
        prop_assert_eq!(plain.stats(), stats);
    }
}

/// GPU whose kernels leave 17 units of each warp's context to shared memory.
fn spilling() -> (GpuConfig, Arc<KernelTrace>) {
    let duet = OversubscriptionConfig {
        live_permille: Some(250),
        extra: Some(1),
        table_warps: Some(32),
        ..OversubscriptionConfig::of(OversubscriptionMechanism::Duet)
    };
    (with(small(), duet), chases(32, 64, 64, 0, 40))
}

/// A warp has 16 live registers and a state of 128 bytes, all moved to shared memory. The first
/// warp of an arriving TB is new.
#[test]
fn a_move_says_who_and_how_much() {
    let (config, trace) = spilling();
    let (stats, log) = noted(&config, &trace, 1 << 20);
    let moves = log.sms.iter().flatten().filter_map(|note| match note.event {
        ContextEvent::Moves { launch, out, into, .. } => Some((launch, [out, into])),
        ContextEvent::Holds { .. } => None,
    });
    let mut oversubscription = 0;
    for (launch, both) in moves {
        assert_eq!(launch, 0);
        for context in both.into_iter().flatten() {
            assert_eq!(context.bytes, [17 * 128, 0, 0]);
            assert!(context.tb < 32 && context.warp.is_some_and(|warp| warp < 2), "{context:?}");
            oversubscription += 1;
        }
    }
    let counts = stats.oversubscription[0].counts;
    assert_eq!(oversubscription, counts.switched_out + counts.switched_in);
    let most = log.sms.iter().flatten().filter_map(|note| match note.event {
        ContextEvent::Holds { extra_tbs, absent_warps } => Some((extra_tbs, absent_warps)),
        ContextEvent::Moves { .. } => None,
    });
    assert_eq!(most.max().map(|(extra, absent)| (extra, absent > 0)), Some((1, true)));
}

/// The log has at most its capacity, and the number of missing notes is known.
#[test]
fn notes_are_bounded() {
    let (config, trace) = spilling();
    let (_, all) = noted(&config, &trace, 1 << 20);
    let (_, few) = noted(&config, &trace, 20);
    let count = |log: &ContextLog| log.sms.iter().map(Vec::len).sum::<usize>();
    assert_eq!(few.sms.iter().map(Vec::len).collect::<Vec<_>>(), [10, 10]);
    assert_eq!(count(&few) + few.left_out as usize, count(&all));
    assert!(few.sms.iter().zip(&all.sms).all(|(few, all)| all.starts_with(few)), "the first ones");
}

/// By hand: a context is 17 units, so 17 x 32 lanes of registers on one side and 17 passes on the
/// other.
#[test]
fn moving_costs_what_it_reads_and_writes() {
    let (config, trace) = spilling();
    let (stats, _) = noted(&config, &trace, 0);
    let OversubscriptionCounts { switched_out, switched_in, .. } = stats.oversubscription[0].counts;
    let each = config.energy.as_ref().expect("the shipped file has them");
    let lanes = 17 * 32;
    let fj = switched_out * (lanes * u64::from(each.register_read_fj) + 17 * u64::from(each.shared_pass_fj))
        + switched_in * (lanes * u64::from(each.register_write_fj) + 17 * u64::from(each.shared_pass_fj));
    let energy = EnergyReport::of(&config, &stats).expect("it has coefficients").launches[0];
    assert!(fj > 0);
    assert_eq!(energy.contexts, u128::from(fj));
}
