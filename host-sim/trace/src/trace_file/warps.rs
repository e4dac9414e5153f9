//! Section `warps`: shape of each warp, predicted from the same warp of the TB before.

use super::bytes::{Reader, RunReader, RunWriter, unzigzag, zigzag};
use super::error::Fault;
use mias_warp_trace::KernelTrace;

/// Coder of indices by first occurrence. Shapes and patterns are numbered as they first occur. An
/// unpredicted index is coded by its distance from the first unseen one: 0 is a new one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Newest {
    next: u32,
}

impl Newest {
    /// Returns the code of `index`, below 2^33.
    pub(super) fn code(&mut self, index: u32) -> u64 {
        let code = zigzag(i64::from(self.next) - i64::from(index));
        self.see(index);
        code
    }

    /// Returns the index of `code`.
    pub(super) fn index(&mut self, code: u64, what: &'static str) -> Result<u32, Fault> {
        let index = i64::from(self.next).checked_sub(unzigzag(code)).and_then(|index| u32::try_from(index).ok());
        let index = index.ok_or(Fault::Value { what, value: code })?;
        self.see(index);
        Ok(index)
    }

    fn see(&mut self, index: u32) {
        self.next = self.next.max(index.saturating_add(1));
    }
}

/// Returns the predicted shape of warp `at`: that of the same warp in the TB before, or in the
/// first TB that of the warp before.
fn predicted(at: usize, warps_per_tb: usize, shape: impl Fn(usize) -> u32) -> u32 {
    at.checked_sub(warps_per_tb).or(at.checked_sub(1)).map_or(0, shape)
}

pub(super) fn encode(trace: &KernelTrace) -> Vec<u8> {
    let (mut out, mut runs, mut newest) = (Vec::new(), RunWriter::default(), Newest::default());
    let warps = trace.warps();
    for (at, warp) in warps.iter().enumerate() {
        if warp.shape == predicted(at, trace.info().warps() as usize, |at| warps[at].shape) {
            newest.see(warp.shape);
            runs.hit(&mut out);
        } else {
            runs.miss(&mut out, newest.code(warp.shape));
        }
    }
    runs.flush(&mut out);
    out
}

/// Decodes the shapes of `count` warps.
pub(super) fn decode(section: &[u8], count: u64, warps_per_tb: usize) -> Result<Vec<u32>, Fault> {
    let (mut reader, mut runs, mut newest) = (Reader::new(section), RunReader::default(), Newest::default());
    let mut shapes = Vec::new();
    for _ in 0..count {
        let shape = match runs.next(&mut reader)? {
            None => {
                let shape = predicted(shapes.len(), warps_per_tb, |at| shapes[at]);
                newest.see(shape);
                shape
            }
            Some(code) => newest.index(code, "a shape")?,
        };
        shapes.push(shape);
    }
    runs.finish()?;
    reader.finish()?;
    Ok(shapes)
}
