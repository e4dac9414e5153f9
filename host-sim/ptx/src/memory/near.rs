//! The allocation nearest to an address, for messages about an access that failed.

/// An allocation as messages have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near<'a> {
    /// First address.
    pub(crate) start: u64,
    /// Bytes.
    pub(crate) bytes: u64,
    /// What it is called.
    pub(crate) label: Option<&'a str>,
    /// Whether it is a variable of the module.
    pub(crate) variable: bool,
}

impl Near<'_> {
    /// Bytes from an address to the first or behind the last byte; 0 inside.
    pub(crate) fn distance(&self, address: u64) -> u64 {
        if address < self.start { self.start - address } else { (address - self.start).saturating_sub(self.bytes) }
    }
}
