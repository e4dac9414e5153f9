//! Tables 1 and 2 and figures 2 to 4: the machine, the kernels alone, and what their curves promise for pairs.

use super::super::means::{self, joined, of, of_mean, plain};
use super::super::page::Page;
use super::super::palette::{self, GREEN, VERMILLION};
use super::bars::{self, SPEEDUP};
use super::paper::{self, KERNELS, MEMORY_INTENSIVE};
use crate::evaluation::figure::{Bar, Bars, Chart, Cluster, Curve, Curves, Figure, Key, Panel, RATIO, Series, Unit};
use mias_hw_model::config::{GpuConfig, WarpSchedulerKind};
use mias_lab::evaluate::results::{AloneResult, GroupResult, StudyResult};
use mias_lab::evaluate::statistics::geometric;
use mias_lab::table::{DASH, config, number, percent};

/// Bars of two things that are no policies.
fn two(names: [&str; 2]) -> (Vec<Series>, Key) {
    means::named(names.into_iter(), |at| palette::of(&[GREEN, VERMILLION], at))
}

/// The machine, beside the paper's.
pub(super) fn table_1(page: &mut Page, study: &StudyResult) {
    let name = study.gpu.split(' ').next().unwrap_or_default();
    let Ok(gpu) = mias_lab::gpus::load(name) else { return };
    page.heading("Table 1: the machine");
    page.table(&["", "paper", "here"], &rows_of(&gpu), false);
    let changed = if name == study.gpu { String::new() } else { format!(" The runs of this report are on {}.", study.gpu) };
    page.note(&format!("Here: the file of {name}.{changed}"));
}

fn rows_of(gpu: &GpuConfig) -> Vec<Vec<String>> {
    let (sm, l1, l2, dram) = (&gpu.sm, &gpu.l1, &gpu.l2, &gpu.dram);
    let kib = |bytes: u32| format!("{} KB", bytes / 1024);
    let ghz = |khz: u32| format!("{} GHz", f64::from(khz) / 1e6);
    let scheduler = match sm.warp_scheduler {
        WarpSchedulerKind::Gto => "greedy then oldest",
        WarpSchedulerKind::Lrr => "loose round robin",
        WarpSchedulerKind::KernelLrr => "kernels in turn, greedy then oldest",
    };
    let gb_per_s = f64::from(dram.channels) * f64::from(dram.bus_bytes * dram.beats_per_cycle) * f64::from(gpu.clocks.dram_khz) / 1e6;
    let row = |what: &str, paper: &str, here: String| vec![what.to_owned(), paper.to_owned(), here];
    vec![
        row("SMs", "16, SIMD width 32, 1.4 GHz", format!("{}, {}", sm.count, ghz(gpu.clocks.core_khz))),
        row("warp schedulers per SM", "4, greedy then oldest", format!("{}, {scheduler}", sm.sub_cores)),
        row(
            "limits per SM",
            "3072 threads, 96 warps, 16 TBs, 128 MSHRs",
            format!("{} threads, {} warps, {} TBs, {} MSHRs", sm.threads, sm.threads / 32, sm.tbs, l1.mshrs),
        ),
        row(
            "L1 data cache",
            "24 KB, 128-byte lines, 6 ways",
            format!("{}, {}-byte lines, {} ways", kib(l1.sets * l1.ways * l1.line_bytes), l1.line_bytes, l1.ways),
        ),
        row("shared memory", "96 KB, 32 banks", kib(sm.shared_bytes)),
        row(
            "L2",
            "2048 KB, 128 KB per partition, 128-byte lines, 16 ways, 128 MSHRs",
            format!(
                "{}, {} per partition, {}-byte lines, {} ways, {} MSHRs",
                kib(dram.channels * l2.slices_per_channel * l2.sets * l2.ways * l2.line_bytes),
                kib(l2.sets * l2.ways * l2.line_bytes),
                l2.line_bytes,
                l2.ways,
                l2.mshrs
            ),
        ),
        row(
            "interconnect",
            "16 x 16 crossbar, flits of 32 bytes, 1.4 GHz",
            format!(
                "{} x {} crossbar, flits of {} bytes, {}",
                sm.count,
                dram.channels * l2.slices_per_channel,
                gpu.interconnect.flit_bytes,
                ghz(gpu.clocks.interconnect_khz)
            ),
        ),
        row(
            "DRAM",
            "16 channels, FR-FCFS, 924 MHz, 48 bytes per cycle (read as 177.4 GB/s in all)",
            format!("{} channels, FR-FCFS, {gb_per_s:.1} GB/s in all", dram.channels),
        ),
    ]
}

/// The kernels alone, beside the paper's.
pub(super) fn table_2(page: &mut Page, study: &StudyResult) {
    page.heading("Table 2: the kernels");
    let mut rows = Vec::new();
    for kernel in &study.kernels {
        let name = plain(&kernel.name);
        let Some(paper) = KERNELS.iter().find(|known| known.name == name) else { continue };
        let memory = kernel.memory.as_ref();
        let stalls = memory.and_then(|memory| memory.lsu_stall_share);
        let class = stalls.map_or(DASH, |stalls| if stalls > MEMORY_INTENSIVE { "M" } else { "C" });
        let tbs = 16.0 * paper.occupancy[3] / 100.0;
        rows.push(vec![
            name.into_owned(),
            format!("{tbs:.0}"),
            kernel.max_tbs.to_string(),
            paper.per_memory[0].to_string(),
            number(kernel.asks.and_then(|asks| asks.compute_per_memory), 2),
            paper.per_memory[1].to_string(),
            number(kernel.asks.and_then(|asks| asks.requests_per_memory), 2),
            number(Some(paper.miss_rate), 2),
            number(memory.and_then(|memory| memory.l1_miss_rate), 2),
            number(Some(paper.fails), 2),
            number(memory.and_then(|memory| memory.fails_per_access), 2),
            percent(stalls),
            paper.class.to_string(),
            class.to_owned(),
        ]);
    }
    let headings = [
        "kernel",
        "TBs per SM, paper",
        "TBs per SM, here",
        "Cinst/Minst, paper",
        "Cinst/Minst, here",
        "Req/Minst, paper",
        "Req/Minst, here",
        "miss rate, paper",
        "miss rate, here",
        "fails per access, paper",
        "fails per access, here",
        "LSU stall cycles, here",
        "type, paper",
        "type, here",
    ];
    page.table(&headings, &rows, false);
    page.note("TBs per SM of the paper: its occupancy of TB slots. Cinst/Minst: warp instructions that access no memory over those that do, shared and constant memory included; Req/Minst: lines per instruction to global or local memory; here both of the traces that the runs executed. Type: M where more than a fifth of SM cycles are stalls of the load/store unit (section 2.4), C otherwise. L1 accesses are lines, loads and stores; an access that finds its line on its way is no miss; each attempt that fails counts.");
}

/// Utilisation and stalls, in the order of utilisation.
pub(super) fn figure_2(page: &mut Page, study: &StudyResult) {
    let mut kernels: Vec<(&AloneResult, f64, f64)> = study
        .kernels
        .iter()
        .filter_map(|kernel| Some((kernel, kernel.memory.as_ref()?.alu_utilization?, kernel.memory.as_ref()?.lsu_stall_share?)))
        .collect();
    if kernels.is_empty() {
        return;
    }
    kernels.sort_by(|a, b| b.1.total_cmp(&a.1));
    page.heading("Figure 2: utilisation and stalls of the kernels alone");
    let bar = |value| Some(Bar::new(value));
    let cluster = |(kernel, alu, lsu): &(&AloneResult, f64, f64)| Cluster {
        names: vec![plain(&kernel.name).into_owned()],
        bars: vec![bar(*alu), bar(*lsu)],
        marks: Vec::new(),
        apart: false,
    };
    let (series, key) = two(["issue slots used", "LSU stall cycles"]);
    let chart = Bars {
        label: "Issue slots used and LSU stall cycles of each kernel alone".to_owned(),
        y_label: "share of issue slots; share of SM cycles".to_owned(),
        unit: Unit::Percent,
        series,
        clusters: kernels.iter().map(cluster).collect(),
        one: false,
        numbers: false,
    };
    let rising = kernels.windows(2).filter(|pair| pair[1].2 >= pair[0].2).count();
    let caption = format!(
        "Warp instructions issued over issue slots (scheduler-cycles), and SM cycles in which the L1 refused a look-up, of each kernel alone, in the order of the first. The paper sees an inverse relationship; here stalls rise or stay at {rising} of {} steps to the right.",
        kernels.len().saturating_sub(1)
    );
    page.figure(Figure { id: "2".to_owned(), caption, key, panels: vec![Panel::untitled(Chart::Bars(chart))] });
}

/// IPC of bp and sv by TBs per SM, and the pair's sweet point.
pub(super) fn figure_3(page: &mut Page, alone: &StudyResult, pairs: Option<&StudyResult>) {
    let curve = |(number, kernel): (usize, &AloneResult)| {
        let best = kernel.scalability.iter().map(|point| point.1).fold(0.0, f64::max);
        let points = kernel.scalability.iter().map(|&(tbs, ipc)| (f64::from(tbs), if best > 0.0 { ipc / best } else { 0.0 })).collect();
        let (marker, dash) = palette::curve(number);
        Curve { name: plain(&kernel.name).into_owned(), dash, marker, points }
    };
    let with_curve: Vec<&AloneResult> = alone.kernels.iter().filter(|kernel| !kernel.scalability.is_empty()).collect();
    if with_curve.is_empty() {
        return;
    }
    page.heading("Figure 3: scalability, and the sweet point");
    let of_pair = |kernel: &&&AloneResult| ["bp", "sv"].contains(&plain(&kernel.name).as_ref());
    let panel = |title: &str, kernels: Vec<&AloneResult>| {
        let chart = Curves {
            label: format!("IPC by TBs per SM, {title}"),
            x: ("TBs per SM".to_owned(), ""),
            y: ("IPC over the best of the curve".to_owned(), ""),
            band: None,
            curves: kernels.into_iter().enumerate().map(curve).collect(),
        };
        Panel { title: title.to_owned(), words: String::new(), chart: Chart::Curves(chart) }
    };
    let both: Vec<&AloneResult> = with_curve.iter().filter(of_pair).copied().collect();
    let mut panels = Vec::new();
    if !both.is_empty() {
        panels.push(panel("(a) bp and sv", both));
    }
    panels.push(panel("all kernels", with_curve));
    let sweet = pairs.and_then(|pairs| paper::group(pairs, &["bp", "sv"])).map_or_else(String::new, |group| {
        let chosen = of(group, "warped-slicer").and_then(|result| result.config.as_deref());
        let promised = theoretical(alone, group).map_or_else(String::new, |promised| format!(", which promises {promised:.2}"));
        format!(" Here Warped-Slicer gives {} {} TBs{promised}.", joined(group), config(chosen))
    });
    let caption = format!(
        "IPC of kernels alone by TBs per SM. In the paper bp gains with every TB, sv gains and then loses; their sweet point (b) is 9 TBs of bp and 4 of sv, with a theoretical weighted speedup of 1.94.{sweet}"
    );
    page.figure(Figure { id: "3".to_owned(), caption, key: Key::default(), panels });
}

/// What a pair would give if its kernels did beside each other what they do alone with their TBs of Warped-Slicer's choice.
fn theoretical(alone: &StudyResult, group: &GroupResult) -> Option<f64> {
    let config = of(group, "warped-slicer")?.config.as_ref()?;
    let promised = |(name, tbs): (&String, &u32)| {
        let kernel = alone.kernels.iter().find(|kernel| plain(&kernel.name) == plain(name))?;
        Some(kernel.scalability.iter().find(|point| point.0 == *tbs)?.1 / kernel.ipc)
    };
    group.kernels.iter().zip(config).map(promised).sum()
}

/// What Warped-Slicer promises and what it gives, by class.
pub(super) fn figure_4(page: &mut Page, alone: &StudyResult, pairs: &StudyResult) {
    let (series, key) = two(["theoretical", "achieved"]);
    let cluster = |class: &str| {
        let members = pairs.groups.iter().filter(|group| class == mias_lab::evaluate::summary::ALL || group.class == class);
        let known = members.filter_map(|group| Some((theoretical(alone, group)?, of(group, "warped-slicer")?.metrics.stp?)));
        let (promised, given): (Vec<f64>, Vec<f64>) = known.unzip();
        let bar = |values: &[f64]| of_mean(geometric(values), values);
        let names = vec![bars::named(class), format!("n = {}", given.len())];
        Cluster { names, bars: vec![bar(&promised), bar(&given)], marks: Vec::new(), apart: class == mias_lab::evaluate::summary::ALL }
    };
    let clusters: Vec<Cluster> = bars::ordered(pairs).into_iter().map(cluster).collect();
    if clusters.iter().all(|cluster| cluster.bars.iter().all(Option::is_none)) {
        return;
    }
    page.heading("Figure 4: what Warped-Slicer promises and gives");
    let chart = Bars {
        label: "Theoretical and achieved weighted speedup of Warped-Slicer".to_owned(),
        y_label: SPEEDUP.label.to_owned(),
        unit: RATIO,
        series,
        clusters,
        one: true,
        numbers: true,
    };
    let caption = format!(
        "Weighted speedup that the kernels' curves alone promise for the TBs that Warped-Slicer chooses, and that it gives; {}. Pairs for which it chose one configuration for all SMs. In the paper C+C comes close, C+M and M+M stay far below.",
        bars::MEANS
    );
    page.figure(Figure { id: "4".to_owned(), caption, key, panels: vec![Panel::untitled(Chart::Bars(chart))] });
}
