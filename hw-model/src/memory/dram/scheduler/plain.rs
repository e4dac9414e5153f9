//! Plain queue: requests in order of arrival, and each order by its definition. Start reading here.
//! `takes_what_the_plain_queue_does` compares it with [`super::RequestQueue`].

use super::DramRequest;
use super::settings::DramSettings;
use crate::config::DramOrder;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Plain queue.
pub(super) struct PlainQueue {
    settings: DramSettings,
    /// Requests in order of arrival, each with its mark.
    waiting: Vec<(DramRequest, bool)>,
    /// Number of consecutive row hits that bypassed an older request of another kernel, by bank.
    passed: BTreeMap<u32, u32>,
    /// Kernels by their work at the start of the batch, least first.
    ranking: Vec<u8>,
    /// Virtual time by kernel.
    virtual_time: BTreeMap<u8, u64>,
    queue_time: u64,
}

impl PlainQueue {
    pub(super) fn new(settings: DramSettings) -> Self {
        PlainQueue {
            settings,
            waiting: Vec::new(),
            passed: BTreeMap::new(),
            ranking: (0..8).collect(),
            virtual_time: (0..8).map(|kernel| (kernel, 0)).collect(),
            queue_time: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Sets an order; another one starts without history, the same one continues.
    pub(super) fn set(&mut self, settings: DramSettings) {
        if settings.by == self.settings.by {
            self.settings = settings;
        } else {
            let waiting = self.waiting.iter().map(|(request, _)| (*request, false)).collect();
            *self = PlainQueue { waiting, ..PlainQueue::new(settings) };
        }
    }

    pub(super) fn push(&mut self, request: DramRequest) {
        if !self.waiting.iter().any(|(other, _)| other.kernel == request.kernel) {
            let time = self.virtual_time.entry(request.kernel).or_default();
            *time = (*time).max(self.queue_time);
        }
        self.waiting.push((request, false));
    }

    /// Removes the request that a bank serves next.
    pub(super) fn take(&mut self, bank: u32, row: u32) -> Option<DramRequest> {
        let of_bank: Vec<usize> = (0..self.waiting.len()).filter(|&at| self.waiting[at].0.bank == bank).collect();
        let oldest = *of_bank.first()?;
        let hits: Vec<usize> = of_bank.iter().copied().filter(|&at| self.waiting[at].0.row == row).collect();
        let chosen = match self.settings.by {
            DramOrder::FrFcfs => hits.first().copied().unwrap_or(oldest),
            DramOrder::Fcfs => oldest,
            DramOrder::KernelCap => self.by_cap(bank, &of_bank, hits.first().copied().unwrap_or(oldest)),
            DramOrder::Batch => self.of_batch(&of_bank, row),
            DramOrder::Shares => self.by_share(&of_bank, &hits),
        };
        Some(self.waiting.remove(chosen).0)
    }

    fn kernel(&self, at: usize) -> u8 {
        self.waiting[at].0.kernel
    }

    /// Selects a row hit; or instead the oldest longer-waiting request of another kernel, if it has
    /// been bypassed as often as allowed.
    fn by_cap(&mut self, bank: u32, of_bank: &[usize], hit: usize) -> usize {
        let older = of_bank.iter().copied().find(|&at| at < hit && self.kernel(at) != self.kernel(hit));
        let passed = self.passed.entry(bank).or_default();
        match older {
            Some(_) if *passed < cap(&self.settings, 4) => {
                *passed += 1;
                hit
            }
            Some(older) => {
                *passed = 0;
                older
            }
            None => {
                if hit == of_bank[0] {
                    *passed = 0;
                }
                hit
            }
        }
    }

    /// Selects by mark, row hit, rank and age.
    fn of_batch(&mut self, of_bank: &[usize], row: u32) -> usize {
        if !self.waiting.iter().any(|(_, marked)| *marked) {
            let mut load: BTreeMap<(u8, u32), u32> = BTreeMap::new();
            for (request, marked) in &mut self.waiting {
                let so_far = load.entry((request.kernel, request.bank)).or_default();
                *marked = *so_far < cap(&self.settings, 5);
                *so_far += u32::from(*marked);
            }
            let of = |kernel: u8| load.iter().filter(move |((of, _), _)| *of == kernel).map(|(_, load)| *load);
            self.ranking.sort_by_key(|&kernel| (of(kernel).max().unwrap_or(0), of(kernel).sum::<u32>(), kernel));
        }
        let rank = |kernel: u8| self.ranking.iter().position(|&other| other == kernel);
        let order = |&at: &usize| {
            let (request, marked) = self.waiting[at];
            (Reverse(marked), Reverse(request.row == row), rank(request.kernel), at)
        };
        of_bank.iter().copied().min_by_key(order).expect("one waits")
    }

    /// Selects the kernel furthest behind; its row hits, or those of a kernel that is not too far
    /// ahead, go first.
    fn by_share(&mut self, of_bank: &[usize], hits: &[usize]) -> usize {
        let time = |at: &usize| (self.virtual_time[&self.kernel(*at)], *at);
        let all: Vec<usize> = (0..self.waiting.len()).collect();
        let least = all.iter().map(time).min().expect("one waits").0;
        let behind = of_bank.iter().copied().min_by_key(time).expect("one waits");
        let cost = |at: usize| (1 << 20) / u64::from(self.settings.shares[usize::from(self.kernel(at))].max(1));
        let far = |at: usize| time(&behind).0 + u64::from(cap(&self.settings, 16)) * cost(at);
        let chosen = hits.iter().copied().filter(|at| time(at).0 <= far(*at)).min_by_key(time).unwrap_or(behind);
        let more = u64::from(self.waiting[chosen].0.atoms) * cost(chosen);
        self.queue_time = self.queue_time.max(least);
        *self.virtual_time.get_mut(&self.kernel(chosen)).expect("one of eight") += more;
        chosen
    }
}

/// Cap in effect: the one set, else `usual`.
fn cap(settings: &DramSettings, usual: u32) -> u32 {
    if settings.cap > 0 { settings.cap.into() } else { usual }
}
