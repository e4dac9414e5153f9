//! Self-description of the map: one [`Register`] per offset, so that documentation and tests follow
//! the code.

/// Access rule of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The firmware reads the register.
    ReadOnly,
    /// The firmware reads and writes the register.
    ReadWrite,
    /// The firmware writes the register. The write is a command.
    WriteOnly,
    /// Reads show pending bits. Writing a one clears that bit.
    WriteOneToClear,
    /// Writing a one sets that bit. Reads show the set bits.
    WriteOneToSet,
}

impl Access {
    /// Returns whether reads are mapped.
    #[must_use]
    pub const fn readable(self) -> bool {
        !matches!(self, Self::WriteOnly)
    }

    /// Returns whether writes are mapped.
    #[must_use]
    pub const fn writable(self) -> bool {
        !matches!(self, Self::ReadOnly)
    }
}

/// A register, or an array of identical registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Name of the register's constant.
    pub name: &'static str,
    /// Byte offset within its region.
    pub offset: u32,
    /// Elements, 4 bytes apart; 1 for a plain register.
    pub count: u32,
    /// Access rule.
    pub access: Access,
    /// Value after reset; none if it depends on the GPU, its straps or the latch.
    pub reset: Option<u32>,
    /// Meaning, taken from the doc comment.
    pub doc: &'static str,
}

/// Defines the offsets of a region and the table that describes them.
///
/// A register is 0 after reset unless its line ends in another value or in `None`.
macro_rules! registers {
    ($($(#[doc = $doc:literal])+ $name:ident $([$count:expr])? = $offset:literal, $access:ident $(, $reset:expr)?;)+) => {
        $($(#[doc = $doc])+ pub const $name: u32 = $offset;)+
        /// Every register of this region, in ascending order of offset.
        pub const REGISTERS: &[crate::Register] = &[$(crate::Register {
            name: stringify!($name),
            offset: $offset,
            count: registers!(@count $($count)?),
            access: crate::Access::$access,
            reset: registers!(@reset $($reset)?),
            doc: concat!($($doc, "\n"),+),
        }),+];
    };
    (@reset) => { Some(0) };
    (@reset $reset:expr) => { $reset };
    (@count) => { 1 };
    (@count $count:expr) => { $count as u32 };
}
