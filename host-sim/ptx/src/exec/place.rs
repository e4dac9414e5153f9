//! Special registers, which hold a warp's position in the grid (PTX ISA 7.8 section 10 "Special
//! Registers").

use crate::LANES;
use crate::memory::heap::WORKSPACE_BASE;
use crate::registers::mask_of;
use std::cmp::Ordering;

/// A special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// `%tid.x/y/z`.
    Tid(usize),
    /// `%ntid.x/y/z`.
    Ntid(usize),
    /// `%ctaid.x/y/z`.
    Ctaid(usize),
    /// `%nctaid.x/y/z`.
    Nctaid(usize),
    /// `%laneid`.
    Lane,
    /// `%warpid`: the warp's number in its TB.
    Warp,
    /// `%nwarpid`: warps of the TB.
    Warps,
    /// `%lanemask_*`: lanes whose number has this relation to the lane's own.
    LaneMask(Ordering, bool),
    /// `%clock`, `%clock_hi`, `%clock64`, `%globaltimer`: the time is the number of instructions
    /// that the warp has executed (assumption: no result here depends on time). The value is 32
    /// bits from this bit on.
    Clock(u32),
    /// `%envreg<0..32>`: values of the driver. The first two hold the address at which a
    /// cooperative grid counts its TBs, with the higher bits in `%envreg1` (CUDA's
    /// `cooperative_groups/details/driver_abi.h`). All others are zero.
    Environment(u8),
    /// `%dynamic_smem_size`.
    DynamicShared,
    /// `%total_smem_size`.
    TotalShared,
}

impl Special {
    pub(super) fn parse(name: &str) -> Option<Special> {
        let (base, axis) = match name.split_once('.') {
            Some((base, "x")) => (base, 0),
            Some((base, "y")) => (base, 1),
            Some((base, "z")) => (base, 2),
            Some(_) => return None,
            None => (name, 0),
        };
        match (base, name.contains('.')) {
            ("%tid", true) => Some(Special::Tid(axis)),
            ("%ntid", true) => Some(Special::Ntid(axis)),
            ("%ctaid", true) => Some(Special::Ctaid(axis)),
            ("%nctaid", true) => Some(Special::Nctaid(axis)),
            ("%laneid", false) => Some(Special::Lane),
            ("%warpid", false) => Some(Special::Warp),
            ("%nwarpid", false) => Some(Special::Warps),
            ("%lanemask_eq", false) => Some(Special::LaneMask(Ordering::Equal, false)),
            ("%lanemask_lt", false) => Some(Special::LaneMask(Ordering::Less, false)),
            ("%lanemask_le", false) => Some(Special::LaneMask(Ordering::Less, true)),
            ("%lanemask_gt", false) => Some(Special::LaneMask(Ordering::Greater, false)),
            ("%lanemask_ge", false) => Some(Special::LaneMask(Ordering::Greater, true)),
            ("%clock" | "%clock64" | "%globaltimer" | "%globaltimer_lo", false) => Some(Special::Clock(0)),
            ("%clock_hi" | "%globaltimer_hi", false) => Some(Special::Clock(32)),
            ("%dynamic_smem_size", false) => Some(Special::DynamicShared),
            ("%total_smem_size", false) => Some(Special::TotalShared),
            (name, false) => {
                let number: u8 = name.strip_prefix("%envreg")?.parse().ok()?;
                (number < 32).then_some(Special::Environment(number))
            }
            _ => None,
        }
    }
}

/// Values of the special registers of one warp.
#[derive(Clone, Debug)]
pub struct WarpPlace {
    /// Thread indices of the lanes, per axis.
    pub tid: [[u32; LANES]; 3],
    /// Threads per TB.
    pub block: [u32; 3],
    /// Index of the TB in x, y, z.
    pub tb: [u32; 3],
    /// TBs of the grid in x, y, z.
    pub grid: [u32; 3],
    /// Number of the warp in its TB.
    pub warp: u32,
    /// Shared memory of the TB in bytes: total, and dynamic part.
    pub shared: [u32; 2],
    /// Number of instructions that the warp has executed.
    pub executed: u64,
}

impl WarpPlace {
    pub(super) fn read(&self, special: Special) -> [u32; LANES] {
        match special {
            Special::Tid(axis) => self.tid[axis],
            Special::Ntid(axis) => [self.block[axis]; LANES],
            Special::Ctaid(axis) => [self.tb[axis]; LANES],
            Special::Nctaid(axis) => [self.grid[axis]; LANES],
            Special::Lane => std::array::from_fn(|lane| lane as u32),
            Special::Warp => [self.warp; LANES],
            Special::Warps => [self.block.iter().product::<u32>().div_ceil(LANES as u32); LANES],
            Special::LaneMask(order, equal) => {
                std::array::from_fn(|lane| mask_of(|other| other.cmp(&lane) == order || equal && other == lane))
            }
            Special::Clock(shift) => [(self.executed >> shift) as u32; LANES],
            Special::Environment(1) => [(WORKSPACE_BASE >> 32) as u32; LANES],
            Special::Environment(2) => [WORKSPACE_BASE as u32; LANES],
            Special::Environment(_) => [0; LANES],
            Special::DynamicShared => [self.shared[1]; LANES],
            Special::TotalShared => [self.shared[0]; LANES],
        }
    }
}
