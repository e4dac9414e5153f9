//! Bus over a byte stream, for an image that runs far from its register block, such as in QEMU next
//! to the GPU model.
//!
//! The image sends requests, and the other side answers. Words are little-endian.
//!
//! | request | bytes | answer |
//! |---|---|---|
//! | [`Request::Hello`] | `H`, map version, SMs, kernels, configurations that the image is built for, its features | none |
//! | [`Request::Read`] | `R`, offset | the register's word |
//! | [`Request::Write`] | `W`, offset, value | none |
//! | [`Request::Sleep`] | `S` | [`WAKE`], once the interrupt line is high; [`RESET`] to start from the beginning |

use crate::bus::Bus;

/// Byte that ends a sleep when the interrupt line is high.
pub const WAKE: u8 = b'I';

/// Byte that ends a sleep when the register block has been reset.
///
/// The image restarts, without another greeting.
pub const RESET: u8 = b'0';

/// Reason for the end of a sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// The interrupt line is high.
    Interrupt,
    /// The register block has been reset.
    Reset,
}

/// Largest number of words of a request.
pub const MAX_WORDS: usize = 5;

/// Feature bit of [`Request::Hello`]: the image supports preemption.
pub const PREEMPTS: u32 = 1 << 0;

/// Feature bit: the image supports searches for SM shares.
pub const SEARCHES: u32 = 1 << 1;

/// Feature bit: the image supports control of extra TBs.
pub const CONTROLS: u32 = 1 << 2;

/// Feature bit: the image supports levels in addition to the policy.
pub const LEVELS: u32 = 1 << 3;

/// Request from the image to the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The image has started.
    Hello {
        /// Register map version of the image.
        version: u32,
        /// Most SMs that the image schedules.
        sms: u32,
        /// Most kernels that the image schedules at a time.
        kernels: u32,
        /// Capacity of the image's configuration table.
        configs: u32,
        /// Features of the build: [`PREEMPTS`], [`SEARCHES`], [`CONTROLS`], [`LEVELS`].
        features: u32,
    },
    /// Read the register at this offset.
    Read(u32),
    /// Write a register.
    Write {
        /// Byte offset of the register.
        offset: u32,
        /// Value to write.
        value: u32,
    },
    /// The image has no work until the interrupt line is high.
    Sleep,
}

impl Request {
    /// Encodes the request as its first byte, its words and their number.
    #[must_use]
    pub const fn encode(self) -> (u8, [u32; MAX_WORDS], usize) {
        match self {
            Self::Hello { version, sms, kernels, configs, features } => (b'H', [version, sms, kernels, configs, features], 5),
            Self::Read(offset) => (b'R', [offset, 0, 0, 0, 0], 1),
            Self::Write { offset, value } => (b'W', [offset, value, 0, 0, 0], 2),
            Self::Sleep => (b'S', [0; MAX_WORDS], 0),
        }
    }

    /// Returns the number of words that follow this first byte; none if no request starts with it.
    #[must_use]
    pub const fn words(first: u8) -> Option<usize> {
        match first {
            b'H' => Some(5),
            b'R' => Some(1),
            b'W' => Some(2),
            b'S' => Some(0),
            _ => None,
        }
    }

    /// Decodes a request from its first byte and its words; none if no request starts with that
    /// byte.
    ///
    /// Unused words are ignored.
    #[must_use]
    pub const fn decode(first: u8, words: [u32; MAX_WORDS]) -> Option<Self> {
        let [a, b, c, d, e] = words;
        match first {
            b'H' => Some(Self::Hello { version: a, sms: b, kernels: c, configs: d, features: e }),
            b'R' => Some(Self::Read(a)),
            b'W' => Some(Self::Write { offset: a, value: b }),
            b'S' => Some(Self::Sleep),
            _ => None,
        }
    }
}

/// Byte stream, such as a serial port. It loses no byte, and blocks as long as necessary.
pub trait Line {
    /// Sends a byte.
    fn send(&mut self, byte: u8);
    /// Waits for a byte.
    fn receive(&mut self) -> u8;
}

/// A register block at the other end of a line.
#[derive(Debug)]
pub struct RemoteBus<L> {
    line: L,
}

impl<L: Line> RemoteBus<L> {
    /// Connects to the register block at the other end of `line` and announces this image.
    ///
    /// `hello` is a [`Request::Hello`].
    pub fn connect(line: L, hello: Request) -> Self {
        let mut bus = Self { line };
        bus.send(hello);
        bus
    }

    /// Sleeps until the other side wakes or resets the image. Other bytes are ignored.
    pub fn sleep(&mut self) -> Wake {
        self.send(Request::Sleep);
        loop {
            match self.line.receive() {
                WAKE => return Wake::Interrupt,
                RESET => return Wake::Reset,
                _ => {}
            }
        }
    }

    fn send(&mut self, request: Request) {
        let (first, words, count) = request.encode();
        self.line.send(first);
        for byte in words.into_iter().take(count).flat_map(u32::to_le_bytes) {
            self.line.send(byte);
        }
    }
}

impl<L: Line> Bus for RemoteBus<L> {
    fn read32(&mut self, offset: u32) -> u32 {
        self.send(Request::Read(offset));
        u32::from_le_bytes(core::array::from_fn(|_| self.line.receive()))
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.send(Request::Write { offset, value });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::vec::Vec;

    fn request() -> impl Strategy<Value = Request> {
        prop_oneof![
            any::<[u32; 5]>().prop_map(|[version, sms, kernels, configs, features]| Request::Hello {
                version,
                sms,
                kernels,
                configs,
                features
            }),
            any::<u32>().prop_map(Request::Read),
            any::<(u32, u32)>().prop_map(|(offset, value)| Request::Write { offset, value }),
            Just(Request::Sleep),
        ]
    }

    /// Mock of both ends: the bytes sent, and the bytes to receive.
    #[derive(Default)]
    struct Ends {
        sent: Vec<u8>,
        waiting: VecDeque<u8>,
    }

    impl Line for &mut Ends {
        fn send(&mut self, byte: u8) {
            self.sent.push(byte);
        }

        fn receive(&mut self) -> u8 {
            self.waiting.pop_front().unwrap()
        }
    }

    proptest! {
        #[test]
        fn requests_are_read_as_written(request in request()) {
            let (first, words, count) = request.encode();
            prop_assert_eq!(Request::words(first), Some(count));
            prop_assert_eq!(Request::decode(first, words), Some(request));
        }

        #[test]
        fn other_bytes_start_no_request(first in any::<u8>()) {
            prop_assert_eq!(Request::words(first).is_some(), Request::decode(first, [0; MAX_WORDS]).is_some());
            prop_assert_eq!(Request::words(first).is_some(), b"HRWS".contains(&first));
        }
    }

    #[test]
    fn a_conversation_byte_by_byte() {
        let mut ends = Ends { waiting: VecDeque::from([0x78, 0x56, 0x34, 0x12, 0, WAKE, RESET]), ..Ends::default() };
        let hello = Request::Hello { version: 1, sms: 2, kernels: 3, configs: 4, features: PREEMPTS };
        let mut bus = RemoteBus::connect(&mut ends, hello);
        assert_eq!(bus.read32(0x10), 0x1234_5678);
        bus.write32(0x1_0080, 3);
        assert_eq!([bus.sleep(), bus.sleep()], [Wake::Interrupt, Wake::Reset]);
        let greeting = 1 + 5 * 4;
        assert_eq!(ends.sent[greeting..], [b'R', 0x10, 0, 0, 0, b'W', 0x80, 0, 1, 0, 3, 0, 0, 0, b'S', b'S']);
        assert!(ends.waiting.is_empty());
    }
}
