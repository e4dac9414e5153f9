//! Plausibility of bandwidths, cache sizes and clocks: implausible values in a user's file cause a
//! question with the arithmetic. The file is used nevertheless.

use mias_hw_model::config::GpuConfig;

/// Data of a chip: SMs, boost clock in MHz, DRAM bandwidth in GB/s (sources.md D119).
struct Chip {
    name: &'static str,
    sms: u32,
    core_mhz: u32,
    gb_per_s: f64,
}

const fn chip(name: &'static str, sms: u32, core_mhz: u32, gb_per_s: f64) -> Chip {
    Chip { name, sms, core_mhz, gb_per_s }
}

/// Chips from 2010 to 2024, in ascending order of bandwidth per SM and cycle.
const CHIPS: [Chip; 10] = [
    chip("RTX 4090", 128, 2_520, 1_008.0),
    chip("T4", 40, 1_590, 320.0),
    chip("RTX 3070", 46, 1_725, 448.0),
    chip("RTX 2060", 30, 1_680, 336.0),
    chip("V100", 80, 1_530, 900.0),
    chip("A100", 108, 1_410, 1_555.0),
    chip("H100", 132, 1_980, 3_352.0),
    chip("GTX 480", 15, 700, 177.4),
    chip("K40", 15, 745, 288.0),
    chip("B200", 148, 1_965, 8_000.0),
];

/// Factor beyond the known chips up to which a GPU is plausible (assumption).
const MARGIN: f64 = 1.1;

/// Plausible ranges of core clock in MHz, L2 in KiB and L1 in KiB. Assumption: the chips that
/// [`CHIPS`] names have 700 to 2,520 MHz, 0.75 to 126 MiB, and 16 to 256 KiB.
const CORE_MHZ: [u64; 2] = [500, 3_000];
const L2_KIB: [u64; 2] = [128, 128 * 1_024];
const L1_KIB: [u64; 2] = [8, 256];

impl Chip {
    fn bytes_per_sm_cycle(&self) -> f64 {
        1e3 * self.gb_per_s / (f64::from(self.core_mhz) * f64::from(self.sms))
    }
}

/// Returns the peak bandwidth of the data buses in GB/s.
pub fn dram_gb_per_s(gpu: &GpuConfig) -> f64 {
    let dram = &gpu.dram;
    let bytes = [dram.channels, dram.bus_bytes, dram.beats_per_cycle].map(f64::from).iter().product::<f64>();
    bytes * f64::from(gpu.clocks.dram_khz) * 1e-6
}

/// Returns the size of all L2 slices in KiB.
pub fn l2_kib(gpu: &GpuConfig) -> u64 {
    let l2 = &gpu.l2;
    [gpu.dram.channels, l2.slices_per_channel, l2.sets, l2.ways, l2.line_bytes].map(u64::from).iter().product::<u64>() / 1_024
}

/// Returns questions to the author of this GPU's file, a sentence each; none for built-in
/// GPUs.
pub fn questions(gpu: &GpuConfig) -> Vec<String> {
    let mut questions = Vec::new();
    let (dram, clocks, l2) = (&gpu.dram, &gpu.clocks, &gpu.l2);
    let bandwidth = dram_gb_per_s(gpu);
    let per_sm_cycle = 1e6 * bandwidth / (f64::from(clocks.core_khz) * f64::from(gpu.sm.count));
    let [least, .., most] = &CHIPS;
    let in_range = least.bytes_per_sm_cycle() / MARGIN..=most.bytes_per_sm_cycle() * MARGIN;
    if !in_range.contains(&per_sm_cycle) {
        questions.push(format!(
            "DRAM has {bandwidth:.1} GB/s ({} channels x {} bytes x {} beats x {} kHz), which is {per_sm_cycle:.1} bytes per SM and core cycle; \
             chips have from {:.1} ({}) to {:.1} ({}): check [dram] and clocks.dram_khz, the command clock",
            dram.channels,
            dram.bus_bytes,
            dram.beats_per_cycle,
            clocks.dram_khz,
            least.bytes_per_sm_cycle(),
            least.name,
            most.bytes_per_sm_cycle(),
            most.name
        ));
    }
    let l1_kib = u64::from(gpu.l1.sets) * u64::from(gpu.l1.ways) * u64::from(gpu.l1.line_bytes) / 1_024;
    let slices = format!(
        "{} channels x {} slices x {} sets x {} ways x {} bytes",
        dram.channels, l2.slices_per_channel, l2.sets, l2.ways, l2.line_bytes
    );
    let l1 = format!("{} sets x {} ways x {} bytes", gpu.l1.sets, gpu.l1.ways, gpu.l1.line_bytes);
    for (what, value, unit, arithmetic, [low, high]) in [
        ("the core clock", u64::from(clocks.core_khz) / 1_000, "MHz", format!("clocks.core_khz = {}", clocks.core_khz), CORE_MHZ),
        ("the L2", l2_kib(gpu), "KiB", slices, L2_KIB),
        ("the L1", l1_kib, "KiB", l1, L1_KIB),
    ] {
        if !(low..=high).contains(&value) {
            questions.push(format!("{what} has {value} {unit} ({arithmetic}); chips have from {low} to {high}: check the value"));
        }
    }
    questions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpus;

    #[test]
    fn chips_are_in_order_and_the_ends_are_by_hand() {
        assert!(CHIPS.is_sorted_by(|a, b| a.bytes_per_sm_cycle() <= b.bytes_per_sm_cycle()));
        // 1,008e9 / (2.52e9 x 128) and 8,000e9 / (1.965e9 x 148).
        assert!((CHIPS[0].bytes_per_sm_cycle() - 3.125).abs() < 1e-9);
        assert!((CHIPS[9].bytes_per_sm_cycle() - 27.508).abs() < 1e-3);
    }

    #[test]
    fn nothing_is_asked_about_what_is_built_in() {
        for name in gpus::names() {
            assert_eq!(questions(&gpus::load(name).unwrap()), [""; 0], "{name}");
        }
    }

    /// 336 GB/s, 3 MB and 64 KB, by the thesis' table 4.1; 1,555 and 3,352 GB/s, 40 and 50 MB by
    /// the whitepapers.
    #[test]
    fn sums_are_those_of_the_data_sheets() {
        for (name, gb_per_s, kib) in [("rtx2060", 336.0, 3_072), ("a100", 1_555.0, 40 * 1_024), ("h100", 3_352.0, 50 * 1_024)] {
            let gpu = gpus::load(name).unwrap();
            assert!((dram_gb_per_s(&gpu) / gb_per_s - 1.0).abs() < 5e-4, "{name}");
            assert_eq!(l2_kib(&gpu), kib, "{name}");
        }
    }

    #[test]
    fn a_fourfold_slip_is_noticed() {
        let asked = |change: fn(&mut GpuConfig)| {
            let mut gpu = gpus::load("rtx2060").unwrap();
            change(&mut gpu);
            questions(&gpu).join("\n")
        };
        for change in
            [(|gpu| gpu.dram.beats_per_cycle = 16) as fn(&mut GpuConfig), |gpu| gpu.clocks.dram_khz *= 4, |gpu| gpu.dram.bus_bytes = 8]
        {
            let message = asked(change);
            assert!(message.starts_with("DRAM has 1344.0 GB/s (12 channels x ") && message.contains("32.8 bytes per SM"), "{message}");
        }
        assert!(asked(|gpu| gpu.dram.beats_per_cycle = 1).contains("2.1 bytes per SM and core cycle"));
        assert!(asked(|gpu| gpu.clocks.core_khz = 136_500).contains("the core clock has 136 MHz"));
        assert!(
            asked(|gpu| gpu.l2.sets = 4_096).contains("the L2 has 196608 KiB (12 channels x 2 slices x 4096 sets x 16 ways x 128 bytes)")
        );
        assert!(asked(|gpu| gpu.l1.ways = 4).contains("the L1 has 0 KiB"));
    }
}
