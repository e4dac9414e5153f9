//! Order of DRAM requests: the order, its cap, and the kernels' shares of the bandwidth.
//!
//! Registers: [`mias_registers::global::DRAM_ORDER`]; sources.md D187. The model takes the written
//! settings ([`RegisterBlock::take_dram_order`]) before it runs the cycle.

use super::RegisterBlock;
use super::access::element;
use crate::config::{DramOrder, DramSchedulerConfig, MOST_DRAM_CAP, WHOLE_SHARE};
use crate::memory::DramSettings;
use mias_registers::{KERNEL_SLOTS, dram_order, fault, feature, global};

/// State of the DRAM order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DramBlock {
    settings: DramSettings,
    /// Settings that the model has.
    told: DramSettings,
}

/// Orders with their codes.
const ORDERS: [(DramOrder, u32); 5] = [
    (DramOrder::FrFcfs, dram_order::FR_FCFS),
    (DramOrder::Fcfs, dram_order::FCFS),
    (DramOrder::KernelCap, dram_order::KERNEL_CAP),
    (DramOrder::Batch, dram_order::BATCH),
    (DramOrder::Shares, dram_order::SHARES),
];

impl DramBlock {
    /// Register value; none for an offset outside these registers.
    pub(super) fn read(&self, offset: u32) -> Option<u32> {
        match offset {
            global::DRAM_ORDER => ORDERS.iter().find(|(by, _)| *by == self.settings.by).map(|(_, code)| *code),
            global::DRAM_CAP => Some(self.settings.cap.into()),
            _ => self.settings.shares.get(element(offset, global::DRAM_SHARE, KERNEL_SLOTS)?).copied().map(u32::from),
        }
    }
}

impl RegisterBlock {
    /// Enables ordering of DRAM requests, with the GPU file's settings after reset.
    #[must_use]
    pub fn with_dram_order(mut self, config: Option<&DramSchedulerConfig>) -> Self {
        self.gpu.features |= feature::DRAM_ORDER;
        self.dram.settings = DramSettings::of(config);
        self.dram.told = self.dram.settings;
        self
    }

    /// Takes the order of DRAM requests if it differs from the model's.
    pub fn take_dram_order(&mut self) -> Option<DramSettings> {
        let DramBlock { settings, told } = &mut self.dram;
        let before = std::mem::replace(told, *settings);
        (before != *settings).then_some(*settings)
    }

    /// Writes a register; none for an offset outside these registers.
    pub(super) fn write_dram(&mut self, offset: u32, value: u32) -> Option<()> {
        self.dram.read(offset)?;
        if self.gpu.features & feature::DRAM_ORDER == 0 {
            self.raise_fault(fault::UNSUPPORTED);
            return Some(());
        }
        match offset {
            global::DRAM_ORDER => {
                let code = self.in_range(value, dram_order::FR_FCFS, dram_order::SHARES);
                let (by, _) = ORDERS.iter().find(|(_, of)| *of == code)?;
                self.dram.settings.by = *by;
            }
            global::DRAM_CAP => self.dram.settings.cap = self.in_range(value, 0, MOST_DRAM_CAP) as u8,
            _ => {
                let share = self.in_range(value, 0, WHOLE_SHARE) as u16;
                *self.dram.settings.shares.get_mut(element(offset, global::DRAM_SHARE, KERNEL_SLOTS)?)? = share;
            }
        }
        Some(())
    }
}
