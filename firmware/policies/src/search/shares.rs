//! Who has which SM, and which SMs nobody has: a few numbers, from which the holder of any SM follows.
//!
//! SM `i` is kernel `i mod K`'s by the even split, as Spatial deals them (sources.md D46). Of these SMs each kernel keeps the first ones. What
//! the others are is the same for all: stalled under their kernel, or given to kernels that have room for more, the lowest SMs to the first of
//! them, or left without one, with or without power. So SMs are conserved by construction: each has one holder and one state.

use mias_firmware::configs::MAX_KERNELS;

/// What becomes of SMs that their kernels do not keep and nobody is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rest {
    /// They are stalled with their TBs.
    #[default]
    Stalled,
    /// They take no TB, and lose their power when they are empty.
    Gated,
    /// They take no TB.
    Idle,
}

/// What an SM is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmState {
    /// It takes TBs and issues.
    Active,
    /// It keeps its TBs and issues nothing.
    Stalled,
    /// It takes no TB, and is to lose its power.
    Gated,
}

/// What an SM is to be, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The kernel whose TBs it may hold; none: of nobody.
    pub kernel: Option<usize>,
    /// What it is to be.
    pub state: SmState,
}

/// The shares of up to [`MAX_KERNELS`] kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    sms: u16,
    kernels: u8,
    rest: Rest,
    /// SMs that each kernel keeps of its even share.
    kept: [u16; MAX_KERNELS],
    /// SMs that each is given of those that others do not keep.
    given: [u16; MAX_KERNELS],
    /// The only kernel that issues: SMs of all others are stalled.
    alone: Option<u8>,
}

impl Shares {
    /// Of no SM.
    pub const NONE: Self = Self { sms: 0, kernels: 0, rest: Rest::Stalled, kept: [0; MAX_KERNELS], given: [0; MAX_KERNELS], alone: None };

    /// The even split of up to 256 SMs: floor or ceil of SMs / kernels, the remainder going to the first.
    #[must_use]
    pub fn even(sms: u16, kernels: usize) -> Self {
        let mut shares = Self { sms, kernels: kernels.min(MAX_KERNELS) as u8, ..Self::NONE };
        for (kernel, kept) in shares.kept.iter_mut().enumerate().take(kernels) {
            *kept = dealt_before(sms, kernel, kernels);
        }
        shares
    }

    /// So many SMs of each kernel; none if they are more than there are.
    #[must_use]
    pub fn of(sms: u16, wanted: &[u16]) -> Option<Self> {
        // In place: of what is put together from parts an image has a copy on its stack.
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

    /// SMs of the machine.
    #[must_use]
    pub fn sms(&self) -> u16 {
        self.sms
    }

    /// Kernels that share them.
    #[must_use]
    pub fn kernels(&self) -> usize {
        self.kernels.into()
    }

    /// What becomes of SMs that nobody has.
    #[must_use]
    pub fn rest(&self) -> Rest {
        self.rest
    }

    /// SMs that a kernel has by the even split.
    #[must_use]
    pub fn share(&self, kernel: usize) -> u16 {
        if kernel < self.kernels() { dealt_before(self.sms, kernel, self.kernels()) } else { 0 }
    }

    /// SMs of its even share that a kernel keeps.
    #[must_use]
    pub fn kept(&self, kernel: usize) -> u16 {
        self.kept.get(kernel).copied().unwrap_or(0)
    }

    /// SMs on which a kernel issues.
    #[must_use]
    pub fn active(&self, kernel: usize) -> u16 {
        self.kept(kernel).saturating_add(self.given.get(kernel).copied().unwrap_or(0))
    }

    /// SMs that nobody keeps and nobody is given.
    #[must_use]
    pub fn unused(&self) -> u16 {
        self.sms.saturating_sub((0..self.kernels()).fold(0, |sum, kernel| sum.saturating_add(self.active(kernel))))
    }

    /// Lets a kernel keep so many SMs of its even share, at least one.
    pub fn keep(&mut self, kernel: usize, sms: u16) {
        let share = self.share(kernel);
        if let Some(kept) = self.kept.get_mut(kernel) {
            *kept = sms.max(1).min(share);
        }
    }

    /// Says what becomes of SMs that nobody has.
    pub fn set_rest(&mut self, rest: Rest) {
        self.rest = rest;
    }

    /// Deals the SMs that nobody keeps to those of the kernels in the set, one by one to the one that has the fewest, the first of these in
    /// launch order. Nothing if there is none.
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

    /// Stalls all SMs but those of a kernel; none: they go on.
    pub fn leave_alone(&mut self, kernel: Option<u8>) {
        self.alone = kernel;
    }

    /// What is stalled goes on.
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

    /// Who has each SM, and what it is to be, from SM 0 on.
    #[must_use]
    pub fn holders(&self) -> Holders<'_> {
        Holders { shares: self, sm: 0, kernel: 0, rank: 0, receiver: 0, left: self.given.first().copied().unwrap_or(0) }
    }

    /// Who has an SM, and what it is to be. Nobody has one that the machine does not have.
    #[must_use]
    pub fn holder(&self, sm: u16) -> Holder {
        self.holders().nth(sm.into()).unwrap_or(Holder { kernel: None, state: SmState::Active })
    }
}

/// [`Shares::holders`].
#[derive(Clone, Debug)]
pub struct Holders<'a> {
    shares: &'a Shares,
    sm: u16,
    /// Whose the SM is by the even split, and the SMs of that kernel before it.
    kernel: usize,
    rank: u16,
    /// Who is given the next SM that is not kept, if `left` is not 0: else somebody after it.
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
    /// The next SM, with all kernels at once.
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

/// Of the first `sms` SMs those that are a kernel's by the even split.
fn dealt_before(sms: u16, kernel: usize, kernels: usize) -> u16 {
    // Both are at most four.
    let (kernel, kernels) = (kernel as u16, kernels.max(1) as u16);
    sms.saturating_add(kernels).saturating_sub(kernel).saturating_sub(1).checked_div(kernels).unwrap_or(0)
}
