//! Coordinated TB combination (Lin et al. 2019, which the thesis names and does not evaluate): add
//! TBs while the GPU has unused resources, instead of trying configurations (sources.md D54).
//!
//! There are three resources: the schedulers' issue slots, the interconnect from L2 to the SMs, and
//! DRAM. A kernel's critical resource is the one that it uses most. While all three have much left,
//! the kernel with the fewest TBs gets the next one. Later it is the kernel whose critical resource
//! has the lowest total use. Between two with the same one, it is the kernel that is further from
//! its maximum of TBs. Kernels of the most used resource get no more once it is nearly exhausted
//! and another is not.
//!
//! The original measures after every TB. Here every kernel is measured once, alone, with as many
//! TBs as fit, on SMs of its own. A TB is assumed to use its part of that (the original's linear
//! extrapolation). The paper was not available to us; the rules are those of its authors'
//! simulator.

use crate::extra::{Extra, read_extra};
use mias_firmware::configs::{ConfigTable, Entry, MAX_KERNELS, Origin, Sums, TbVector};
use mias_firmware::counters::{CounterSet, Reading};
use mias_firmware::gpu::GpuProperties;
use mias_firmware::kernel::Kernel;
use mias_firmware::policy::{Context, Plan, Policy, Verdict, beside_one_of_each, profile_alone, settle_for_spatial};
use mias_firmware::quantity::{AllSectorRate, SectorRate, SmSectorRate, Utilization, times, whole};
use mias_registers::bus::TryBus;
use mias_registers::counters::Counter;

/// Shares of scheduler, interconnect and DRAM below which much is left: 0.6, 0.5, 0.5.
const LOW: Shares = [percent(60), percent(50), percent(50)];
/// Largest difference between the most and the least used resource at which all count as equally
/// used.
const ALIKE: Utilization = percent(5);

/// Converts hundredths to a utilization, rounded to nearest.
const fn percent(hundredths: u32) -> Utilization {
    Utilization::from_bits((Utilization::ONE.to_bits() * hundredths + 50) / 100)
}

/// Index of the scheduler's issue slots among the three resources.
const SCHEDULER: usize = 0;

/// Utilization of scheduler, interconnect and DRAM.
type Shares = [Utilization; 3];

/// Policy that adds TBs by utilization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coordinated;

impl Coordinated {
    /// Additional measurement of this policy.
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

/// Use of the GPU by a kernel, if all SMs held as many of its TBs as fit.
#[derive(Clone, Copy, Default)]
struct Use {
    shares: Shares,
    /// Resource with the largest share.
    critical: usize,
    /// Number of the kernel's TBs that fit on an SM.
    tbs: u32,
}

/// Returns the TBs of each kernel; none if a kernel was not measured.
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

/// Returns the utilization if all SMs ran this configuration.
fn shares(gpu: &GpuProperties, entry: &Entry) -> Shares {
    let sums = &entry.sums;
    let cycles = each(sums, sums.cycles).max(1);
    // Sustained parts of the peak: 0.6 of the interconnect (Lin et al. 2018, section 3.1), 0.75 of
    // DRAM (sources.md D54).
    let (reply, dram) = ((gpu.reply_sectors / 5).wrapping_mul_int(3), (gpu.dram_sectors / 4).wrapping_mul_int(3));
    let issued: Utilization = whole(each(sums, sums.instructions));
    [
        issued / cycles.saturating_mul(gpu.schedulers).max(1),
        share_of_sectors(gpu, each(sums, sums.load_requests), cycles, reply),
        share_of_sectors(gpu, each(sums, entry.extra.count()), cycles, dram),
    ]
}

/// Returns the average of a sum over SMs: at most 19 bits.
fn each(sums: &Sums, sum: u32) -> u32 {
    sum.checked_div(sums.sms.into()).unwrap_or(0) & 0x7_FFFF
}

/// Returns the sectors of one SM in a number of cycles, times the SMs, over the GPU's sectors
/// per cycle.
#[inline(never)]
fn share_of_sectors(gpu: &GpuProperties, sectors: u32, cycles: u32, gpu_sectors: SectorRate) -> Utilization {
    let sectors: SmSectorRate = whole(sectors);
    let all = times(sectors / cycles.max(1), gpu.sm_count.into());
    // 20 fraction bits over 10 leave 10.
    let all = AllSectorRate::from_bits(all.to_bits().saturating_mul(1 << 7));
    Utilization::from_bits(all.to_bits() / (gpu_sectors.to_bits() >> 6).max(1))
}

/// Returns the resource with the largest share, the first of equals.
#[inline(never)]
fn hottest(shares: &Shares) -> usize {
    let mut hottest = (SCHEDULER, Utilization::ZERO);
    for (resource, share) in shares.iter().enumerate() {
        if *share > hottest.1 {
            hottest = (resource, *share);
        }
    }
    hottest.0
}

/// Returns the kernel that gets the next TB.
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
    // The crate's `>` takes two more instructions.
    let above = |share: Utilization, hundredths| share.cmp(&percent(hundredths)).is_gt();
    let used_up = above(apart, 20) && above(hot, 90) || above(apart, 40) && above(hot, 80) && issue_limited;
    if apart < ALIKE {
        // The scheduler counts as the least used.
        total = [Utilization::ZERO, interconnect, dram];
    }
    // Least used critical resource, then smallest part of its maximum of TBs; or fewest TBs.
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
