//! Assignment of SMs to kernels: a few numbers, from which the holder of any SM follows.
//!
//! By the even split, SM `i` belongs to kernel `i mod K`, as Spatial assigns them (sources.md D46).
//! Each kernel keeps the first of these SMs. The other SMs all have one of three states:
//!
//! * They are stalled under their kernel.
//! * They are given to kernels that can use more, the lowest SMs to the first of them.
//! * They are unassigned, with or without power.
//!
//! SMs are therefore conserved by construction: each has one holder and one state.

use mias_firmware::configs::MAX_KERNELS;

/// State of SMs that their kernels do not keep and no kernel is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rest {
    /// The SMs stall with their TBs.
    #[default]
    Stalled,
    /// The SMs accept no TB, and are power-gated once empty.
    Gated,
    /// The SMs accept no TB.
    Idle,
}

/// Requested state of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmState {
    /// The SM accepts TBs and issues.
    Active,
    /// The SM keeps its TBs and issues nothing.
    Stalled,
    /// The SM accepts no TB, and is to be power-gated.
    Gated,
}

/// Requested state of an SM, and its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Kernel whose TBs the SM may hold; none if it is unassigned.
    pub kernel: Option<usize>,
    /// Requested state of the SM.
    pub state: SmState,
}

/// Shares of up to [`MAX_KERNELS`] kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    sms: u16,
    kernels: u8,
    rest: Rest,
    /// SMs that each kernel keeps of its even share.
    kept: [u16; MAX_KERNELS],
    /// SMs that each kernel is given of those that others do not keep.
    given: [u16; MAX_KERNELS],
    /// The only kernel that issues; SMs of all others are stalled.
    alone: Option<u8>,
}

impl Shares {
    /// Shares of no SM.
    pub const NONE: Self = Self { sms: 0, kernels: 0, rest: Rest::Stalled, kept: [0; MAX_KERNELS], given: [0; MAX_KERNELS], alone: None };

    /// Returns the even split of up to 256 SMs: floor or ceiling of SMs / kernels, with the
    /// remainder for the first kernels.
    #[must_use]
    pub fn even(sms: u16, kernels: usize) -> Self {
        let mut shares = Self { sms, kernels: kernels.min(MAX_KERNELS) as u8, ..Self::NONE };
        for (kernel, kept) in shares.kept.iter_mut().enumerate().take(kernels) {
            *kept = dealt_before(sms, kernel, kernels);
        }
        shares
    }

    /// Returns shares with the `wanted` SMs of each kernel; none if they exceed the GPU.
    #[must_use]
    pub fn of(sms: u16, wanted: &[u16]) -> Option<Self> {
        // In place, because a value assembled from parts would need a copy on the stack.
        let mut shares = Self::even(sms, wanted.len());
        shares.rest = Rest::Idle;
        let mut sum = 0_u16;
        for ((kept, given), wanted) in shares.kept.iter_mut().zip(&mut shares.given).zip(wanted) {
            sum = sum.checked_add(*wanted)?;
            *given = wanted.saturating_sub(*kept);
            *kept = (*kept).min(*wanted);
        }
        (sum <= sms && wanted.len() <= MAX_KERNELS).then_some(shares)
    }

    /// Returns the SMs of the GPU.
    #[must_use]
    pub fn sms(&self) -> u16 {
        self.sms
    }

    /// Returns the number of kernels that share the SMs.
    #[must_use]
    pub fn kernels(&self) -> usize {
        self.kernels.into()
    }

    /// Returns the state of unassigned SMs.
    #[must_use]
    pub fn rest(&self) -> Rest {
        self.rest
    }

    /// Returns the SMs of a kernel by the even split.
    #[must_use]
    pub fn share(&self, kernel: usize) -> u16 {
        if kernel < self.kernels() { dealt_before(self.sms, kernel, self.kernels()) } else { 0 }
    }

    /// Returns the SMs of its even share that a kernel keeps.
    #[must_use]
    pub fn kept(&self, kernel: usize) -> u16 {
        self.kept.get(kernel).copied().unwrap_or(0)
    }

    /// Returns the SMs on which a kernel issues.
    #[must_use]
    pub fn active(&self, kernel: usize) -> u16 {
        self.kept(kernel).saturating_add(self.given.get(kernel).copied().unwrap_or(0))
    }

    /// Returns the number of SMs that no kernel keeps or is given.
    #[must_use]
    pub fn unused(&self) -> u16 {
        self.sms.saturating_sub((0..self.kernels()).fold(0, |sum, kernel| sum.saturating_add(self.active(kernel))))
    }

    /// Lets a kernel keep `sms` SMs of its even share, at least one.
    pub fn keep(&mut self, kernel: usize, sms: u16) {
        let share = self.share(kernel);
        if let Some(kept) = self.kept.get_mut(kernel) {
            *kept = sms.max(1).min(share);
        }
    }

    /// Sets the state of unassigned SMs.
    pub fn set_rest(&mut self, rest: Rest) {
        self.rest = rest;
    }

    /// Gives the SMs that no kernel keeps to the kernels of a set. They go one by one to the kernel
    /// with the fewest, the first of these in launch order. An empty set gets nothing.
    pub fn give_to(&mut self, receivers: u8) {
        self.given = [0; MAX_KERNELS];
        for _ in 0..self.unused() {
            let among = (0..self.kernels()).filter(|kernel| receivers >> kernel & 1 != 0);
            let Some(fewest) = among.min_by_key(|kernel| self.active(*kernel)) else { return };
            if let Some(given) = self.given.get_mut(fewest) {
                *given = given.saturating_add(1);
            }
        }
    }

    /// Stalls all SMs except those of a kernel; with none, all resume.
    pub fn leave_alone(&mut self, kernel: Option<u8>) {
        self.alone = kernel;
    }

    /// Resumes stalled SMs.
    pub fn resume(&mut self) {
        self.alone = None;
        if self.rest == Rest::Stalled {
            for kernel in 0..self.kernels() {
                if self.unused() != 0 {
                    self.keep(kernel, u16::MAX);
                }
            }
        }
    }

    /// Returns the holder and the state of each SM, from SM 0 on.
    #[must_use]
    pub fn holders(&self) -> Holders<'_> {
        Holders { shares: self, sm: 0, kernel: 0, rank: 0, receiver: 0, left: self.given.first().copied().unwrap_or(0) }
    }

    /// Returns the holder and the state of an SM. An SM beyond the GPU has no holder.
    #[must_use]
    pub fn holder(&self, sm: u16) -> Holder {
        self.holders().nth(sm.into()).unwrap_or(Holder { kernel: None, state: SmState::Active })
    }
}

/// Iterator of [`Shares::holders`].
#[derive(Clone, Debug)]
pub struct Holders<'a> {
    shares: &'a Shares,
    sm: u16,
    /// Kernel of the SM by the even split, and the number of earlier SMs of that kernel.
    kernel: usize,
    rank: u16,
    /// Receiver of the next SM that is not kept, if `left` is not 0; otherwise a later kernel
    /// receives it.
    receiver: usize,
    left: u16,
}

impl Iterator for Holders<'_> {
    type Item = Holder;

    fn next(&mut self) -> Option<Holder> {
        let holder = self.of_next()?;
        match self.shares.alone {
            Some(alone) if holder.kernel.is_some_and(|kernel| kernel != usize::from(alone)) => {
                Some(Holder { state: SmState::Stalled, ..holder })
            }
            _ => Some(holder),
        }
    }
}

impl Holders<'_> {
    /// Returns the next SM with all kernels issuing.
    fn of_next(&mut self) -> Option<Holder> {
        let (shares, kernel, rank) = (self.shares, self.kernel, self.rank);
        if self.sm >= shares.sms || shares.kernels == 0 {
            return None;
        }
        self.sm = self.sm.saturating_add(1);
        self.kernel = kernel.saturating_add(1);
        if self.kernel >= shares.kernels() {
            (self.kernel, self.rank) = (0, rank.saturating_add(1));
        }
        if rank < shares.kept(kernel) {
            return Some(Holder { kernel: Some(kernel), state: SmState::Active });
        }
        while self.left == 0 && self.receiver < shares.kernels() {
            self.receiver = self.receiver.saturating_add(1);
            self.left = shares.given.get(self.receiver).copied().unwrap_or(0);
        }
        if self.left != 0 {
            self.left = self.left.saturating_sub(1);
            return Some(Holder { kernel: Some(self.receiver), state: SmState::Active });
        }
        Some(match shares.rest {
            Rest::Stalled => Holder { kernel: Some(kernel), state: SmState::Stalled },
            Rest::Gated => Holder { kernel: None, state: SmState::Gated },
            Rest::Idle => Holder { kernel: None, state: SmState::Active },
        })
    }
}

/// Returns the number of the first `sms` SMs that belong to a kernel by the even split.
fn dealt_before(sms: u16, kernel: usize, kernels: usize) -> u16 {
    // Both are at most four.
    let (kernel, kernels) = (kernel as u16, kernels.max(1) as u16);
    sms.saturating_add(kernels).saturating_sub(kernel).saturating_sub(1).checked_div(kernels).unwrap_or(0)
}
