//! Coordinated TB combination (Lin et al. 2019, which the thesis names and does not evaluate): add TBs where the machine has
//! something left, instead of trying configurations (sources.md D54).
//!
//! Three resources: the issue slots of the schedulers, the interconnect from L2 to the SMs, DRAM. A kernel's critical resource is
//! the one that it uses most. While all three have much left, the kernel with the fewest TBs gets the next one; then the kernel
//! whose critical resource is the least used by all together, and of two with the same one, the kernel that is further from its
//! most TBs. Kernels of the most used resource get no more once it is nearly used up and another is not.
//!
//! The original measures after every TB. Here every kernel is measured once, alone, with as many TBs as fit, on SMs of its own
//! side by side, and a TB is taken to use its part of that (the original's linear extrapolation). The paper could not be read;
//! the rules are those of its authors' simulator.

use crate::extra::{Extra, read_extra};
use mias_firmware::configs::{ConfigTable, Entry, MAX_KERNELS, Origin, Sums, TbVector};
use mias_firmware::counters::{CounterSet, Reading};
use mias_firmware::gpu::GpuProperties;
use mias_firmware::kernel::Kernel;
use mias_firmware::policy::{Context, Plan, Policy, Verdict, beside_one_of_each, profile_alone, settle_for_spatial};
use mias_firmware::quantity::{AllSectorRate, SectorRate, SmSectorRate, Utilisation, times, whole};
use mias_registers::bus::TryBus;
use mias_registers::counters::Counter;

/// Below these shares of scheduler, interconnect and DRAM there is much left: 0.6, 0.5, 0.5.
const LOW: Shares = [percent(60), percent(50), percent(50)];
/// Resources are used alike if the most and the least used are no further apart.
const ALIKE: Utilisation = percent(5);

/// So many hundredths, to the nearest.
const fn percent(hundredths: u32) -> Utilisation {
    Utilisation::from_bits((Utilisation::ONE.to_bits() * hundredths + 50) / 100)
}

/// The scheduler's issue slots among the three resources.
const SCHEDULER: usize = 0;

/// What is used of scheduler, interconnect and DRAM.
type Shares = [Utilisation; 3];

/// TBs by utilisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coordinated;

impl Coordinated {
    /// What it has measured beside the sums of counters.
    pub const EXTRA: Extra = Extra::L2Misses;
}

impl Policy for Coordinated {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        profile_alone(context, table)
    }

    #[inline(never)]
    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        match combine(context, table.entries()) {
            Some(vector) => Verdict::Broadcast(vector),
            None => settle_for_spatial(context, table, Origin::SpatialFallback),
        }
    }

    fn counters(&self) -> CounterSet {
        CounterSet::of(&[Counter::Cycles, Counter::LoadRequests, Counter::WarpInsts])
    }

    fn read_more<B: TryBus, const C: usize>(
        &self,
        table: &mut ConfigTable<C>,
        bus: &mut B,
        reading: &Reading<'_>,
        gpu: &GpuProperties,
    ) -> Result<(), B::Error> {
        read_extra(table, bus, reading, Self::EXTRA, gpu.dram_sectors)
    }
}

/// A kernel's use of the machine, if all SMs held as many TBs of it as fit.
#[derive(Clone, Copy, Default)]
struct Use {
    shares: Shares,
    /// The resource of which it uses the largest share.
    critical: usize,
    /// Those TBs.
    tbs: u32,
}

/// The TBs of each kernel; none if a kernel was not measured.
#[inline(never)]
fn combine(context: &Context<'_>, alone: &[Entry]) -> Option<TbVector> {
    let mut uses = [Use::default(); MAX_KERNELS];
    let mut vector = TbVector::default();
    for (index, usage) in uses.iter_mut().enumerate().take(context.kernels.len()) {
        let entry = alone.get(index).filter(|entry| entry.sums.sms != 0)?;
        let shares = shares(context.gpu, entry);
        *usage = Use { shares, critical: hottest(&shares), tbs: u32::from(entry.vector.get(index)).max(1) };
        vector.set(index, 1);
    }
    let mut rest = beside_one_of_each(context)?;
    while let Some(index) = next(context, &uses, &vector, |tbs, kernel| tbs < kernel.max_tbs && rest.fits(&kernel.demand)) {
        rest = context.kernels.get(index).and_then(|kernel| rest.minus(&kernel.demand, 1))?;
        vector.set(index, vector.get(index).saturating_add(1));
    }
    Some(vector)
}

/// What all SMs would use if they did what the SMs of this configuration did.
fn shares(gpu: &GpuProperties, entry: &Entry) -> Shares {
    let sums = &entry.sums;
    let cycles = each(sums, sums.cycles).max(1);
    // Sustained, of the peak: 0.6 of the interconnect (Lin et al. 2018, section 3.1), 0.75 of DRAM (sources.md D54).
    let (reply, dram) = ((gpu.reply_sectors / 5).wrapping_mul_int(3), (gpu.dram_sectors / 4).wrapping_mul_int(3));
    let issued: Utilisation = whole(each(sums, sums.instructions));
    [
        issued / cycles.saturating_mul(gpu.schedulers).max(1),
        share_of_sectors(gpu, each(sums, sums.load_requests), cycles, reply),
        share_of_sectors(gpu, each(sums, entry.extra.count()), cycles, dram),
    ]
}

/// A sum over SMs on average: at most 19 bits.
fn each(sums: &Sums, sum: u32) -> u32 {
    sum.checked_div(sums.sms.into()).unwrap_or(0) & 0x7_FFFF
}

/// Sectors of one SM in so many cycles, times the SMs, over those that the machine moves per cycle.
#[inline(never)]
fn share_of_sectors(gpu: &GpuProperties, sectors: u32, cycles: u32, machine_sectors: SectorRate) -> Utilisation {
    let sectors: SmSectorRate = whole(sectors);
    let all = times(sectors / cycles.max(1), gpu.sm_count.into());
    // 20 fraction bits over 10 leave 10.
    let all = AllSectorRate::from_bits(all.to_bits().saturating_mul(1 << 7));
    Utilisation::from_bits(all.to_bits() / (machine_sectors.to_bits() >> 6).max(1))
}

/// The resource of which the largest share is used, the first of equals.
#[inline(never)]
fn hottest(shares: &Shares) -> usize {
    let mut hottest = (SCHEDULER, Utilisation::ZERO);
    for (resource, share) in shares.iter().enumerate() {
        if *share > hottest.1 {
            hottest = (resource, *share);
        }
    }
    hottest.0
}

/// The kernel that gets the next TB.
fn next(context: &Context<'_>, uses: &[Use; MAX_KERNELS], vector: &TbVector, takes: impl Fn(u8, &Kernel) -> bool) -> Option<usize> {
    let mut total = Shares::default();
    let mut issue_limited = false;
    for (usage, tbs) in uses.iter().zip(vector.0).take(context.kernels.len()) {
        issue_limited |= usage.critical == SCHEDULER;
        for (total, share) in total.iter_mut().zip(usage.shares) {
            *total = total.saturating_add(times(share, tbs.into()) / usage.tbs.max(1));
        }
    }
    let low = total.iter().zip(LOW).all(|(share, low)| *share < low);
    let hot_resource = hottest(&total);
    let [scheduler, interconnect, dram] = total;
    let (hot, cold) = (scheduler.max(interconnect).max(dram), scheduler.min(interconnect).min(dram));
    let apart = hot.saturating_sub(cold);
    // The crate's `>` takes two instructions more.
    let above = |share: Utilisation, hundredths| share.cmp(&percent(hundredths)).is_gt();
    let used_up = above(apart, 20) && above(hot, 90) || above(apart, 40) && above(hot, 80) && issue_limited;
    if apart < ALIKE {
        // The scheduler counts as the least used.
        total = [Utilisation::ZERO, interconnect, dram];
    }
    // Least used critical resource, then smallest part of its most TBs; or fewest TBs.
    let mut first: Option<(usize, u32, (u32, u32))> = None;
    for (index, ((kernel, usage), tbs)) in context.kernels.iter().zip(uses).zip(vector.0).enumerate() {
        if !takes(tbs, kernel) || !low && used_up && usage.critical == hot_resource {
            continue;
        }
        let load = if low { tbs.into() } else { total.get(usage.critical).map_or(0, |share| share.to_bits()) };
        let part = if low { (0, 1) } else { (u32::from(tbs), usage.tbs) };
        let before =
            first.is_none_or(|(_, least, (many, of))| load < least || load == least && part.0.wrapping_mul(of) < many.wrapping_mul(part.1));
        if before {
            first = Some((index, load, part));
        }
    }
    first.map(|(index, _, _)| index)
}
