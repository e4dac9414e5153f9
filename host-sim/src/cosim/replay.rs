//! A bus that answers from a record of another's accesses, and sees whether they are the same.

use mias_firmware::bus::Bus;

/// One register access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Offset, and the value read.
    Read(u32, u32),
    /// Offset, and the value written.
    Write(u32, u32),
}

/// A record being played.
pub(super) struct Replay<'a> {
    record: std::slice::Iter<'a, Access>,
    same: bool,
}

impl<'a> Replay<'a> {
    pub(super) fn new(record: &'a [Access]) -> Self {
        Replay { record: record.iter(), same: true }
    }

    /// Whether exactly the recorded accesses were made.
    pub(super) fn matched(mut self) -> bool {
        self.same && self.record.next().is_none()
    }
}

impl Bus for Replay<'_> {
    fn read32(&mut self, offset: u32) -> u32 {
        match self.record.next() {
            Some(&Access::Read(recorded, value)) if recorded == offset => value,
            _ => {
                self.same = false;
                0
            }
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.same &= self.record.next() == Some(&Access::Write(offset, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_accesses_match() {
        let record = [Access::Read(4, 7), Access::Write(8, 9)];
        let mut same = Replay::new(&record);
        assert_eq!(same.read32(4), 7);
        same.write32(8, 9);
        assert!(same.matched());
        let mut fewer = Replay::new(&record);
        fewer.read32(4);
        assert!(!fewer.matched());
        let mut other = Replay::new(&record);
        other.read32(4);
        other.write32(8, 10);
        assert!(!other.matched());
        let mut more = Replay::new(&record[..1]);
        more.read32(4);
        assert_eq!(more.read32(4), 0);
        assert!(!more.matched());
    }
}
