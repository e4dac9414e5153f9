//! Bus that replays a record of another's accesses and compares them.

use crate::cosim::recording::{Access, register_name};
use mias_registers::bus::Bus;

/// First access that differs from the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parting {
    /// Number of the access, from 1.
    pub access: usize,
    /// Recorded access; `None` after the end of the record.
    pub recorded: Option<Access>,
    /// Access made instead; `None` if there were no more. Its read value is then 0.
    pub made: Option<Access>,
}

impl Parting {
    /// Formats the two accesses, each after the name of its maker.
    pub fn told(&self, maker: &str, recorded: &str) -> String {
        format!("{maker} {}, {recorded} {}", words(self.made), words(self.recorded))
    }
}

/// Formats an access. The value of a read is omitted, since it comes from the record.
fn words(access: Option<Access>) -> String {
    match access {
        None => "ends without a further access".to_owned(),
        Some(Access::Read { offset, .. }) => format!("reads {}", register_name(offset)),
        Some(Access::Write { offset, value: value @ 0..10 }) => format!("writes {value} to {}", register_name(offset)),
        Some(Access::Write { offset, value }) => format!("writes {value} ({value:#x}) to {}", register_name(offset)),
    }
}

/// Record being replayed.
#[derive(Debug)]
pub struct Replay<'a> {
    record: &'a [Access],
    next: usize,
    parting: Option<Parting>,
}

impl<'a> Replay<'a> {
    /// Starts at the beginning of a record.
    pub fn new(record: &'a [Access]) -> Self {
        Replay { record, next: 0, parting: None }
    }

    /// Returns whether an access differed from the record.
    pub fn parted(&self) -> bool {
        self.parting.is_some()
    }

    /// Returns the recorded accesses that were made.
    pub fn matched(&self) -> &'a [Access] {
        &self.record[..self.next]
    }

    /// Ends the replay and returns the difference; `None` if exactly the recorded accesses were
    /// made.
    pub fn end(self) -> Option<Parting> {
        let recorded = self.record.get(self.next).copied();
        self.parting.or_else(|| recorded.map(|_| Parting { access: self.next + 1, recorded, made: None }))
    }

    fn part(&mut self, made: Access) {
        if self.parting.is_none() {
            self.parting = Some(Parting { access: self.next + 1, recorded: self.record.get(self.next).copied(), made: Some(made) });
        }
    }
}

impl Bus for Replay<'_> {
    fn read32(&mut self, offset: u32) -> u32 {
        match self.record.get(self.next) {
            Some(&Access::Read { offset: recorded, value }) if recorded == offset && !self.parted() => {
                self.next += 1;
                value
            }
            _ => {
                self.part(Access::Read { offset, value: 0 });
                0
            }
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        let made = Access::Write { offset, value };
        if self.record.get(self.next) == Some(&made) && !self.parted() {
            self.next += 1;
        } else {
            self.part(made);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: [Access; 2] = [Access::Read { offset: 4, value: 7 }, Access::Write { offset: 8, value: 9 }];

    fn parting(access: usize, recorded: Option<Access>, made: Option<Access>) -> Option<Parting> {
        Some(Parting { access, recorded, made })
    }

    #[test]
    fn the_same_accesses_match() {
        let mut same = Replay::new(&RECORD);
        assert_eq!(same.read32(4), 7);
        same.write32(8, 9);
        assert_eq!(same.matched(), RECORD);
        assert_eq!(same.end(), None);
    }

    #[test]
    fn the_first_other_access_is_named() {
        let mut other = Replay::new(&RECORD);
        other.read32(4);
        other.write32(8, 10);
        other.write32(8, 9);
        assert_eq!(other.matched(), &RECORD[..1]);
        assert_eq!(other.end(), parting(2, Some(RECORD[1]), Some(Access::Write { offset: 8, value: 10 })));
        let mut wrong = Replay::new(&RECORD);
        assert_eq!((wrong.read32(8), wrong.read32(4)), (0, 0));
        assert_eq!(wrong.end(), parting(1, Some(RECORD[0]), Some(Access::Read { offset: 8, value: 0 })));
    }

    #[test]
    fn too_few_and_too_many_are_told_apart() {
        let mut fewer = Replay::new(&RECORD);
        fewer.read32(4);
        assert_eq!(fewer.end(), parting(2, Some(RECORD[1]), None));
        let mut more = Replay::new(&RECORD[..1]);
        more.read32(4);
        assert_eq!(more.read32(4), 0);
        assert_eq!(more.end(), parting(2, None, Some(Access::Read { offset: 4, value: 0 })));
    }
}
