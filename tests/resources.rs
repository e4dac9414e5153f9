//! Number of TBs that fit an SM: firmware and hardware compute it separately, and must agree.

use mias_firmware::resources::{Resources as FirmwareResources, SmLimits, TbShape};
use mias_hw_model::config::{GpuConfig, SmConfig};
use mias_hw_model::register_block::{GpuDescription, RegisterBlock, Straps};
use mias_hw_model::sm::Resources;
use mias_registers::PolicyCode;
use mias_warp_trace::KernelInfo;
use proptest::prelude::*;

fn reference_gpu() -> GpuConfig {
    toml::from_str(mias_gpus::text("rtx2060-accelsim").unwrap()).unwrap()
}

/// Generates GPUs within the bounds of [`GpuConfig::check`].
fn any_gpu() -> impl Strategy<Value = GpuConfig> {
    let granules = (1u32..=512, 1u32..=1_024);
    (1u32..=32, 1u32..=64, 1u32..=262_144, 0u32..=262_144, granules).prop_map(|(warps, tbs, registers, shared, granules)| {
        let mut config = reference_gpu();
        let (register_granule, shared_granule_bytes) = granules;
        config.sm =
            SmConfig { threads: 32 * warps, tbs, registers, register_granule, shared_bytes: shared, shared_granule_bytes, ..config.sm };
        config
    })
}

fn any_shape() -> impl Strategy<Value = TbShape> {
    let usual = (1u32..=1_024, 0u32..=256, 0u32..=100_000);
    let absurd = (1u32.., any::<u32>(), any::<u32>());
    let shape = |(threads, thread_registers, shared_bytes)| TbShape { threads, thread_registers, shared_bytes };
    prop_oneof![4 => usual.prop_map(shape), 1 => absurd.prop_map(shape)]
}

/// Returns the limits as the firmware reads them from the register block.
fn limits(config: &GpuConfig) -> SmLimits {
    let Ok(limits) = SmLimits::read(&mut RegisterBlock::new(GpuDescription::of(config, Straps::new(PolicyCode::LeftOver))));
    limits
}

fn demand_in_hardware(shape: &TbShape, sm: &SmConfig) -> Resources {
    let info = KernelInfo {
        name: "k".into(),
        grid: [1, 1, 1],
        block: [shape.threads, 1, 1],
        registers_per_thread: shape.thread_registers,
        shared_bytes: shape.shared_bytes,
    };
    Resources::of_tb(&info, sm)
}

fn same(firmware: &FirmwareResources, hardware: &Resources) -> bool {
    (firmware.threads, firmware.registers, firmware.shared_bytes, firmware.tbs)
        == (hardware.threads, hardware.registers, hardware.shared_bytes, hardware.tbs)
}

/// Places one TB after the other, in numbers that cannot overflow.
fn by_hand(shape: &TbShape, sm: &SmConfig) -> u32 {
    let up = |value: u32, granule: u32| u64::from(value).div_ceil(granule.into()) * u64::from(granule);
    let threads = up(shape.threads, 32);
    let registers = threads * up(shape.thread_registers, sm.register_granule);
    let shared = up(shape.shared_bytes, sm.shared_granule_bytes);
    let fits = |tbs: u64| {
        tbs <= u64::from(sm.tbs)
            && tbs * threads <= u64::from(sm.threads)
            && u128::from(tbs) * u128::from(registers) <= u128::from(sm.registers)
            && tbs * shared <= u64::from(sm.shared_bytes)
    };
    (0..=sm.tbs).rev().find(|&tbs| fits(tbs.into())).unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_096) })]

    #[test]
    fn firmware_and_hardware_count_the_same(config in any_gpu(), shape in any_shape()) {
        prop_assert!(config.check().is_ok());
        let limits = limits(&config);
        let capacity = Resources::of_sm(&config.sm);
        prop_assert!(same(&limits.capacity, &capacity), "{:?} {capacity:?}", limits.capacity);
        let (firmware, hardware) = (limits.demand(&shape), demand_in_hardware(&shape, &config.sm));
        prop_assert!(same(&firmware, &hardware), "{firmware:?} {hardware:?}");
        prop_assert_eq!(u32::from(limits.max_tbs(&firmware)), capacity.count(&hardware));
        prop_assert_eq!(capacity.count(&hardware), by_hand(&shape, &config.sm));
        prop_assert_eq!(capacity.fits(&hardware), limits.capacity.fits(&firmware));
    }
}
