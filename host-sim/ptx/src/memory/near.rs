//! Allocation nearest to an address, for messages about a failed access.

/// An allocation in a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near<'a> {
    /// Address of the first byte of the allocation.
    pub(crate) start: u64,
    /// Size in bytes.
    pub(crate) bytes: u64,
    /// Name in messages.
    pub(crate) label: Option<&'a str>,
    /// True for a variable of the module.
    pub(crate) variable: bool,
}

impl Near<'_> {
    /// Returns the distance of an address from the first byte or the end, in bytes; 0 inside.
    pub(crate) fn distance(&self, address: u64) -> u64 {
        if address < self.start { self.start - address } else { (address - self.start).saturating_sub(self.bytes) }
    }
}
