//! Occupancy: number of TBs of a kernel that fit an SM, and the resources that limit it (sources.md
//! D13 and D79).

use mias_hw_model::config::GpuConfig;
use mias_hw_model::sm::Resources;
use mias_warp_trace::KernelInfo;

/// Occupancy of an SM by one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Maximum number of TBs; 0 if not even one fits.
    pub max_tbs: u32,
    /// Resources that one more TB lacks: `threads`, `registers`, `shared memory`, `TB slots`.
    pub limits: Vec<&'static str>,
}

impl Occupancy {
    /// Computes the occupancy of a kernel on an SM of `gpu`.
    pub fn of(info: &KernelInfo, gpu: &GpuConfig) -> Self {
        let (sm, tb) = (Resources::of_sm(&gpu.sm), Resources::of_tb(info, &gpu.sm));
        let max_tbs = sm.count(&tb);
        let lacks = |had: u32, asked: u32| u64::from(asked) * (u64::from(max_tbs) + 1) > u64::from(had);
        let resources = [
            ("threads", lacks(sm.threads, tb.threads)),
            ("registers", lacks(sm.registers, tb.registers)),
            ("shared memory", lacks(sm.shared_bytes, tb.shared_bytes)),
            ("TB slots", lacks(sm.tbs, tb.tbs)),
        ];
        Occupancy { max_tbs, limits: resources.into_iter().filter(|resource| resource.1).map(|resource| resource.0).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpus;

    /// An SM of 1,024 threads, 65,536 registers, 65,536 bytes and 32 TB slots.
    #[test]
    fn what_is_short_is_named() {
        let gpu = gpus::load("rtx2060").unwrap();
        let of = |threads: u32, registers: u32, shared: u32| {
            let info = KernelInfo {
                name: "k".into(),
                grid: [1; 3],
                block: [threads, 1, 1],
                registers_per_thread: registers,
                shared_bytes: shared,
            };
            let Occupancy { max_tbs, limits } = Occupancy::of(&info, &gpu);
            (max_tbs, limits.join(" "))
        };
        assert_eq!(of(256, 38, 2048), (4, "threads".into()));
        assert_eq!(of(64, 96, 1408), (10, "registers".into()), "65,536 / 6,144");
        assert_eq!(of(256, 64, 16_384), (4, "threads registers shared memory".into()));
        assert_eq!(of(32, 1, 20_000), (3, "shared memory".into()));
        assert_eq!(of(32, 16, 0), (32, "threads TB slots".into()));
        assert_eq!(of(1, 16, 0), (32, "threads TB slots".into()), "a warp is taken whole");
        assert_eq!(of(1024, 200, 0), (0, "registers".into()));
    }
}
