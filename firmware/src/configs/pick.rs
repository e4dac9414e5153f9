//! Evenly spaced samples of a stream without storage. Generation streams, so a sample is a second
//! pass over the same stream.

/// Picks `want` of `total` consecutive items, spread evenly from the first one on, without
/// division.
#[derive(Clone, Copy, Debug)]
pub struct Stride {
    want: u32,
    total: u32,
    /// Accumulator from 0 to `total`. An item is picked when it wraps.
    error: u32,
}

impl Stride {
    /// Creates the stride, which picks all items if `want >= total`. There are fewer than 2^31
    /// items.
    #[must_use]
    pub fn new(want: u32, total: u32) -> Self {
        let (want, total) = (want.min(total), total.max(1));
        // Starting one step short of the wrap picks the first item.
        Self { want, total, error: if want == 0 { 0 } else { total.saturating_sub(want) } }
    }

    /// Returns whether the next item is picked.
    #[inline(always)]
    pub fn pick(&mut self) -> bool {
        self.error = self.error.wrapping_add(self.want);
        let picked = self.error >= self.total;
        if picked {
            self.error = self.error.wrapping_sub(self.total);
        }
        picked
    }
}

/// Returns `want` items of a stream in a second pass, after a first pass has counted `total` items.
pub fn subsample<I: Iterator>(items: I, want: u32, total: u32) -> impl Iterator<Item = I::Item> {
    let mut stride = Stride::new(want, total);
    items.filter(move |_| stride.pick())
}
