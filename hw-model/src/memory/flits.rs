//! Number of flits of a packet.
//!
//! A packet has a header, and the sectors that it carries. Unless the GPU file gives the header's
//! length, every packet is one flit, of any content.

use super::RequestKind;
use crate::config::InterconnectConfig;

/// Table size: more than the sectors of a packet, which are at most those of a line: 4.
const SECTORS: usize = 8;

/// Flits by the number of sectors of a packet; none where every packet is one flit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flits(Option<[u8; SECTORS]>);

impl Flits {
    pub(super) fn new(config: &InterconnectConfig) -> Self {
        Flits((config.header_bytes > 0).then(|| std::array::from_fn(|sectors| config.flits(sectors as u32) as u8)))
    }

    /// Flits of a request with `more_sectors` after the first.
    #[inline]
    pub(super) fn request(&self, kind: RequestKind, more_sectors: u8) -> u8 {
        self.0.as_ref().map_or(1, |flits| carrying(flits, kind != RequestKind::Read, more_sectors))
    }

    /// Flits of the reply to a request with `more_sectors` after the first.
    #[inline]
    pub(super) fn reply(&self, kind: RequestKind, more_sectors: u8) -> u8 {
        self.0.as_ref().map_or(1, |flits| carrying(flits, kind != RequestKind::Write, more_sectors))
    }
}

fn carrying(flits: &[u8; SECTORS], data: bool, more_sectors: u8) -> u8 {
    let sectors = if data { usize::from(more_sectors) + 1 } else { 0 };
    flits[sectors & (SECTORS - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made;

    /// Headers of 8 bytes, flits of 32: a line and its header are 136 bytes.
    #[test]
    fn packets_are_rounded_up_to_flits() {
        let mut config = hand_made::config().interconnect;
        let of = |config: &InterconnectConfig, kind, more| (Flits::new(config).request(kind, more), Flits::new(config).reply(kind, more));
        (config.flit_bytes, config.header_bytes) = (32, 8);
        assert_eq!(of(&config, RequestKind::Read, 3), (1, 5));
        assert_eq!(of(&config, RequestKind::Write, 3), (5, 1));
        assert_eq!(of(&config, RequestKind::Write, 0), (2, 1));
        assert_eq!(of(&config, RequestKind::Atomic, 0), (2, 2), "it takes an operand there and brings a value back");
        config.flit_bytes = 40;
        assert_eq!(of(&config, RequestKind::Read, 0), (1, 1));
        assert_eq!(of(&config, RequestKind::Read, 3), (1, 4));
        config.header_bytes = 0;
        assert_eq!(of(&config, RequestKind::Read, 3), (1, 1));
    }
}
