//! Maximum waiting times and shares, in the closed forms of the orders' files.

use super::tests::{queue, settings};
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Number of kernels of the mixes here. Each has its own rows.
const KERNELS: u32 = 3;

/// Request of a kernel to the `n`-th of its rows.
fn of_kernel(kernel: u32, bank: u32, n: u32, sector: u64) -> DramRequest {
    DramRequest { kernel: kernel as u8, bank, row: KERNELS * n + kernel, sector, atoms: 1, ..DramRequest::default() }
}

/// State of a waiting request in the tests.
#[derive(Clone, Copy, Default)]
struct Waits {
    kernel: u8,
    bank: u32,
    /// Number of older requests in the bank at the request's arrival, and of those of the same
    /// kernel.
    older: u64,
    older_own: u64,
    /// Number of younger requests that the bank has served since the arrival: of the same kernel,
    /// of others, and of all.
    own: u64,
    others: u64,
    all: u64,
    /// Number of batches at the request's arrival.
    batches: u64,
}

/// Keeps a queue of 32 full with requests of random kernels, banks and rows, and takes from banks
/// in turn. Passes each served request to `served`; returns their number.
fn mix(queue: &mut RequestQueue, banks: u32, made: &[(u32, u32, u32)], mut served: impl FnMut(Waits, u64)) -> usize {
    let mut waiting: BTreeMap<u64, Waits> = BTreeMap::new();
    let (mut rows, mut turn, mut count) = (vec![0; banks as usize], 0, 0);
    let mut made = (0..).zip(made).peekable();
    while made.peek().is_some() || !queue.is_empty() {
        while !queue.is_full()
            && let Some((sector, (kernel, bank, n))) = made.next()
        {
            let request = of_kernel(*kernel, bank % banks, *n, sector);
            let of_bank = || waiting.values().filter(|waits| waits.bank == request.bank);
            let older = of_bank().count() as u64;
            let older_own = of_bank().filter(|waits| waits.kernel == request.kernel).count() as u64;
            let Waits { own, others, all, .. } = Waits::default();
            let waits = Waits { kernel: request.kernel, bank: request.bank, older, older_own, own, others, all, batches: batches(queue) };
            waiting.insert(sector, waits);
            queue.push(request, 0);
        }
        turn = (turn + 1) % banks as usize;
        let Some((taken, _)) = queue.take(turn, rows[turn], 0) else { continue };
        rows[turn] = taken.row;
        let waits = waiting.remove(&taken.sector).expect("it waited");
        for (_, older) in waiting.range_mut(..taken.sector).filter(|(_, older)| older.bank == taken.bank) {
            let passed = if older.kernel == taken.kernel { &mut older.own } else { &mut older.others };
            *passed += 1;
        }
        waiting.values_mut().filter(|other| other.bank == taken.bank).for_each(|other| other.all += 1);
        count += 1;
        served(waits, batches(queue));
    }
    assert!(waiting.is_empty(), "{} were lost", waiting.len());
    count
}

/// Number of batches that a queue has formed.
fn batches(queue: &RequestQueue) -> u64 {
    if let Order::Batch(batch) = &queue.order { batch.formed } else { 0 }
}

fn any_mix() -> impl Strategy<Value = Vec<(u32, u32, u32)>> {
    // Mostly the same row of a kernel.
    let row = prop_oneof![6 => Just(0u32), 1 => 1u32..4];
    prop::collection::vec((0..KERNELS, 0u32..64, row), 50..500)
}

/// Removes all waiting requests, from banks in turn, each of which keeps its row.
fn drain(queue: &mut RequestQueue, banks: u32) -> Vec<u64> {
    let mut rows = vec![0; banks as usize];
    let mut taken = Vec::new();
    for turn in (0..banks as usize).cycle() {
        if queue.is_empty() {
            break;
        }
        if let Some((request, _)) = queue.take(turn, rows[turn], 0) {
            rows[turn] = request.row;
            taken.push(request.sector);
        }
    }
    taken
}

proptest! {
    /// At most (k + o + 1)(cap + 1) younger requests of other kernels bypass a request. It has k
    /// older ones in its bank, and o younger ones of its own kernel bypass it.
    #[test]
    fn a_cap_bounds_what_others_take(made in any_mix(), cap in 1u8..7, banks in 1u32..4) {
        let mut queue = queue(32, banks, settings(DramOrder::KernelCap, cap, &[]));
        let mut most = Ok(());
        let served = mix(&mut queue, banks, &made, |waits, _| {
            let bound = (waits.older + waits.own + 1) * (u64::from(cap) + 1);
            if waits.others > bound {
                most = Err(format!("{} of others, bound {bound}", waits.others));
            }
        });
        prop_assert_eq!(most, Ok(()));
        prop_assert_eq!(served, made.len());
    }

    /// A request with k older ones of its kernel in its bank is served in one of the next ceil((k +
    /// 1) / cap) batches. In a channel with one bank, it is among the next cap requests per kernel
    /// of that many batches and the rest of the previous one.
    #[test]
    fn batches_bound_the_wait(made in any_mix(), cap in 1u8..7, banks in 1u32..4) {
        let mut queue = queue(32, banks, settings(DramOrder::Batch, cap, &[]));
        let mut most = Ok(());
        let served = mix(&mut queue, banks, &made, |waits, now| {
            let batches = (waits.older_own + 1).div_ceil(cap.into());
            let served = (batches + 1) * u64::from(cap) * u64::from(KERNELS);
            if now - waits.batches > batches || banks == 1 && waits.all > served {
                most = Err(format!("{} batches of {batches}, {} requests of {served}", now - waits.batches, waits.all));
            }
        });
        prop_assert_eq!(most, Ok(()));
        prop_assert_eq!(served, made.len());
    }

    /// Kernels that always have a request in every bank: none is ahead of another by more than the
    /// cap and one request of its own sectors, for any rows, request sizes and shares, including 0.
    /// Compared times differ by less than 2^31.
    #[test]
    fn shares_are_attained(
        shares in prop::collection::vec(0u16..300, KERNELS as usize),
        cap in any::<u8>(),
        made in prop::collection::vec((0u32..3, 0u32..4, 1u8..5), 100..1_000),
    ) {
        let banks = 2;
        let asked = settings(DramOrder::Shares, cap, &shares);
        let mut queue = queue(2 * banks * KERNELS, banks, asked);
        let mut sector = 0;
        let mut push = |queue: &mut RequestQueue, kernel: u32, bank: u32, n: u32, atoms: u8| {
            queue.push(DramRequest { atoms, ..of_kernel(kernel, bank, n, sector) }, 0);
            sector += 1;
        };
        for bank in 0..banks {
            (0..2 * KERNELS).for_each(|i| push(&mut queue, i % KERNELS, bank, 0, 1));
        }
        let cost: Vec<u64> = shares.iter().map(|&share| (1 << 20) / u64::from(share.max(1))).collect();
        let (mut served, mut rows) = (vec![0; KERNELS as usize], [0; 2]);
        for (bank, n, atoms) in made {
            let bank = bank % banks;
            let (taken, _) = queue.take(bank as usize, rows[bank as usize], 0).expect("all wait");
            rows[bank as usize] = taken.row;
            served[usize::from(taken.kernel)] += u64::from(taken.atoms);
            push(&mut queue, taken.kernel.into(), bank, n, atoms);
            let cap = asked.cap();
            for (i, j) in (0..KERNELS as usize).flat_map(|i| (0..KERNELS as usize).map(move |j| (i, j))) {
                let ahead = served[i] * cost[i];
                prop_assert!(ahead <= served[j] * cost[j] + u64::from(cap + 4) * cost[i], "{served:?}, shares {shares:?}, cap {cap}");
            }
            let Order::Shares(order) = &queue.order else { panic!("shares") };
            prop_assert!(order.spread() < 1 << 31);
        }
    }

    /// A single kernel is served as by FR-FCFS with caps and shares. With batches, and first come,
    /// first served, this holds if all requests of a bank are to one row, or no two of them.
    #[test]
    fn one_kernel_alone_is_served_as_ever(made in any_mix(), cap in any::<u8>(), share in 0u16..1_025, kernel in 0u32..8, banks in 1u32..4) {
        let same = |by: DramOrder, row: &dyn Fn(u64, u32) -> u32| {
            let taken = |by: DramOrder| {
                let mut queue = queue(32, banks, settings(by, cap, &[share; 8]));
                let mut taken = Vec::new();
                for (sector, (_, bank, n)) in (0..).zip(&made) {
                    if queue.is_full() {
                        taken.extend(drain(&mut queue, banks));
                    }
                    let request = DramRequest { row: row(sector, *n), ..of_kernel(0, bank % banks, 0, sector) };
                    queue.push(DramRequest { kernel: kernel as u8, ..request }, 0);
                }
                taken.extend(drain(&mut queue, banks));
                taken
            };
            (taken(by), taken(DramOrder::FrFcfs))
        };
        for by in [DramOrder::KernelCap, DramOrder::Shares] {
            let (taken, usual) = same(by, &|_, n| n);
            prop_assert_eq!(taken, usual, "{:?}", by);
        }
        for by in [DramOrder::Batch, DramOrder::Fcfs] {
            let rows: [&dyn Fn(u64, u32) -> u32; 2] = [&|_, _| 7, &|sector, _| 9 + sector as u32];
            for row in rows {
                let (taken, usual) = same(by, row);
                prop_assert_eq!(taken, usual, "{:?}", by);
            }
        }
    }
}

/// Sectors of the next `count` that each of three always-waiting kernels gets.
fn sectors(queue: &mut RequestQueue, count: u32) -> [u32; 3] {
    let mut served = [0; 3];
    for _ in 0..count {
        // No two requests are to one row.
        let (taken, _) = queue.take(0, 0, 0).expect("all wait");
        served[usize::from(taken.kernel)] += 1;
        queue.push(DramRequest { sector: taken.sector + 100, row: taken.row + 100, ..taken }, 0);
    }
    served
}

fn waiting(by_shares: &[u16], kernels: std::ops::Range<u32>) -> RequestQueue {
    let mut queue = queue(16, 1, settings(DramOrder::Shares, 0, by_shares));
    kernels.for_each(|kernel| queue.push(of_kernel(kernel, 0, 1 + kernel, kernel.into()), 0));
    queue
}

/// Shares of 512, 256 and 256 of 1,024, in sectors; of 1,023 and 0, which counts as 1; and equal
/// shares if none are given.
#[test]
fn sectors_are_as_shares_say() {
    assert_eq!(sectors(&mut waiting(&[512, 256, 256], 0..3), 4_000), [2_000, 1_000, 1_000]);
    assert_eq!(sectors(&mut waiting(&[1_024, 0], 0..2), 2_050), [2_048, 2, 0]);
    assert_eq!(sectors(&mut waiting(&[], 0..3), 3_000), [1_000; 3]);
    // Only the ratio of the shares matters.
    assert_eq!(sectors(&mut waiting(&[2, 1, 1], 0..3), 4_000), [2_000, 1_000, 1_000]);
}

/// A kernel without service for 10,000 sectors gets its share from then on, and no compensation.
#[test]
fn who_was_idle_has_saved_nothing() {
    let mut queue = waiting(&[256, 256], 0..1);
    assert_eq!(sectors(&mut queue, 10_000), [10_000, 0, 0]);
    queue.push(of_kernel(1, 0, 5, 99), 0);
    let [first, second, _] = sectors(&mut queue, 1_000);
    assert!(first.abs_diff(second) <= 2, "{first} and {second}");
}

/// Five hits of one kernel before the other's request: the batch serves as many requests of each as
/// its cap, hits first.
#[test]
fn a_batch_by_hand() {
    let mut queue = queue(16, 2, settings(DramOrder::Batch, 2, &[]));
    // Kernel 0 has three requests to its open row in bank 0, kernel 1 one older to another row, and
    // one in bank 1.
    for (sector, (kernel, bank, row)) in [(1, 0, 9), (0, 0, 4), (0, 0, 4), (0, 0, 4), (1, 1, 9)].into_iter().enumerate() {
        queue.push(DramRequest { kernel, bank, row, sector: sector as u64, atoms: 1, ..DramRequest::default() }, 0);
    }
    let mut take = |bank, row| queue.take(bank, row, 0).map(|(request, _)| request.sector);
    // Marked are 0, 1, 2 and 4. Hits go first, then the other marked one, and only then the third
    // hit.
    assert_eq!([take(0, 4), take(0, 4), take(0, 4)], [Some(1), Some(2), Some(0)]);
    assert_eq!([take(1, 0), take(0, 9)], [Some(4), Some(3)]);
}

/// Two kernels whose requests all miss: the one with fewer marked in its fullest bank goes first,
/// then the one with fewer in all.
#[test]
fn a_batch_begins_with_the_least_to_do() {
    let of = |requests: &[(u8, u32)]| {
        let mut queue = queue(16, 2, settings(DramOrder::Batch, 5, &[]));
        for (sector, &(kernel, bank)) in requests.iter().enumerate() {
            queue.push(DramRequest { kernel, bank, row: 10 + sector as u32, sector: sector as u64, ..DramRequest::default() }, 0);
        }
        queue.take(0, 0, 0).map(|(request, _)| request.kernel)
    };
    assert_eq!(of(&[(0, 0), (0, 0), (1, 0)]), Some(1));
    // Both have as many in the fullest bank: kernel 0 has two in all, kernel 1 one.
    assert_eq!(of(&[(0, 0), (0, 1), (1, 0)]), Some(1));
    // Both have as many in all: the lower slot.
    assert_eq!(of(&[(1, 0), (0, 0)]), Some(0));
}
