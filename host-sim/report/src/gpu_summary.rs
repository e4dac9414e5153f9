//! Summary of a GPU: peaks and sizes computed from its file, and the TBs of some kernels that
//! fit an SM. Nothing is simulated.

use super::SCHEMA_VERSION;
use mias_hw_model::config::GpuConfig;
use mias_lab::gpus::{borrowed, plausible};
use mias_lab::table::{self, grouped};
use mias_warp_trace::WARP_LANES;
use serde::Serialize;

/// Key figures of a GPU.
#[derive(Clone, Debug, Serialize)]
pub struct GpuSummary {
    /// Version of the JSON documents.
    pub schema_version: u32,
    /// Name of the GPU.
    pub name: String,
    /// One-line description.
    pub description: String,
    /// Number of SMs.
    pub sms: u32,
    /// Core clock in MHz.
    pub core_mhz: f64,
    /// Peak bandwidth of the DRAM's data buses in GB/s.
    pub dram_gb_per_s: f64,
    /// Size of all L2 slices in KiB.
    pub l2_kib: u64,
    /// Peak warp instructions per core cycle of all schedulers.
    pub peak_warp_ipc: u64,
    /// Peak thread instructions per core cycle of all schedulers.
    pub peak_thread_ipc: u64,
    /// Peak warp instructions per second of all schedulers, in 10^9.
    pub peak_warp_ginst_per_s: f64,
    /// Peak of single precision in GFLOP/s: a multiply-add of 32 lanes counts as 64, and enters a
    /// sub-core's unit every `interval` cycles.
    pub fp32_gflop_per_s: f64,
    /// Requested kernels with their occupancy.
    pub kernels: Vec<Placed>,
    /// Notes on the numbers, a sentence each.
    pub notes: Vec<String>,
}

/// Occupancy of an SM by a kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Placed {
    /// Name of the kernel.
    pub kernel: String,
    /// Maximum number of TBs per SM.
    pub max_tbs: u32,
    /// Resources that one more TB would lack.
    pub limited_by: Vec<&'static str>,
}

impl GpuSummary {
    /// Summarizes this GPU, which the user called `word`, compared with the built-in ones.
    pub fn of(gpu: &GpuConfig, word: &str, kernels: Vec<Placed>, built_in: &[GpuConfig]) -> Self {
        let schedulers = u64::from(gpu.sm.count) * u64::from(gpu.sm.sub_cores);
        let core_ghz = f64::from(gpu.clocks.core_khz) * 1e-6;
        let multiply_adds = f64::from(WARP_LANES) / f64::from(gpu.sm.units.sp.interval);
        GpuSummary {
            schema_version: SCHEMA_VERSION,
            name: gpu.name.clone(),
            description: gpu.description.clone(),
            sms: gpu.sm.count,
            core_mhz: f64::from(gpu.clocks.core_khz) / 1e3,
            dram_gb_per_s: plausible::dram_gb_per_s(gpu),
            l2_kib: plausible::l2_kib(gpu),
            peak_warp_ipc: schedulers,
            peak_thread_ipc: schedulers * u64::from(WARP_LANES),
            peak_warp_ginst_per_s: schedulers as f64 * core_ghz,
            fp32_gflop_per_s: 2.0 * multiply_adds * schedulers as f64 * core_ghz,
            kernels,
            notes: borrowed::notes(gpu, word, built_in),
        }
    }

    /// Formats the summary as text.
    pub fn text(&self) -> String {
        let mut numbers = table::new(&["peak", "value", "unit"]);
        for (what, value, unit) in [
            ("SMs", grouped(self.sms.into()), ""),
            ("core clock", format!("{:.1}", self.core_mhz), "MHz"),
            ("DRAM", format!("{:.1}", self.dram_gb_per_s), "GB/s"),
            ("L2", grouped(self.l2_kib), "KiB"),
            ("IPC, warp instructions", grouped(self.peak_warp_ipc), "per core cycle"),
            ("IPC, thread instructions", grouped(self.peak_thread_ipc), "per core cycle"),
            ("warp instructions", format!("{:.1}", self.peak_warp_ginst_per_s), "10^9 per second"),
            ("FP32", format!("{:.1}", self.fp32_gflop_per_s), "GFLOP/s"),
        ] {
            numbers.add_row([what, &value, unit]);
        }
        let mut text = format!("{}: {}\n\n{}", self.name, self.description, table::text(&numbers));
        if !self.kernels.is_empty() {
            let mut kernels = table::new(&["kernel", "max TBs/SM", "limited by"]);
            for placed in &self.kernels {
                kernels.add_row([placed.kernel.clone(), placed.max_tbs.to_string(), placed.limited_by.join(", ")]);
            }
            text += &format!("\n{}", table::text(&kernels));
        }
        if !self.notes.is_empty() {
            text += "\n";
        }
        self.notes.iter().for_each(|note| text += &format!("note: {note}\n"));
        text
    }

    /// Formats the summary as JSON.
    ///
    /// # Errors
    /// None in practice: every value has a JSON form.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_lab::gpus;

    /// By the data sheets: 5.24 TFLOP/s of 1,920 lanes at 1,365 MHz; 19.5 and 66.9 by the
    /// whitepapers (sources.md D117 and D118).
    #[test]
    fn peaks_are_those_of_the_data_sheets() {
        for (name, warp_ipc, tflop_per_s) in [("rtx2060", 120, 5.24), ("a100", 432, 19.5), ("h100", 528, 66.9)] {
            let summary = GpuSummary::of(&gpus::load(name).unwrap(), name, Vec::new(), &gpus::built_in());
            assert_eq!((summary.peak_warp_ipc, summary.peak_thread_ipc), (warp_ipc, 32 * warp_ipc), "{name}");
            assert!((summary.fp32_gflop_per_s / 1e3 / tflop_per_s - 1.0).abs() < 2e-3, "{name}: {}", summary.fp32_gflop_per_s);
            assert_eq!(summary.text().contains("note: "), name != "rtx2060", "{name}");
        }
    }
}
