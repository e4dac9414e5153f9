//! A small GPU, and scheduler parameters for it.

use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::quantity::Coefficient;
use mias_firmware::resources::{Resources, SmLimits};

/// SMs of the GPU, few enough for one word of events.
pub(crate) const SMS: u16 = 6;

/// A GPU whose SMs hold four TBs of 256 threads.
pub(crate) const GPU: GpuProperties = GpuProperties {
    sm_count: SMS,
    slot_count: 8,
    limits: SmLimits {
        capacity: Resources { threads: 1024, registers: 65_536, shared_bytes: 65_536, tbs: 32 },
        warp_threads: 32,
        register_granule: 4,
        shared_granule_bytes: 1,
    },
    linear_coefficient: Coefficient::ZERO,
    ..GpuProperties::NONE
};

/// Settings with windows of 1,000 cycles and batches of 100.
pub(crate) const SETTINGS: Settings = Settings { profile_window: 1000, coalesce_window: 100, ..Settings::NONE };
