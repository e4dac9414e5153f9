//! Interned names from a file: policies, stall classes, quantities. They are `&'static str` in the
//! program, so each is kept for its lifetime. A results file has some tens of them.

use mias_workloads::kernels::OTHER_NAMES;
use serde::{Deserialize, Deserializer};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Interned name. serde would borrow from the input for a type written as a reference.
pub type Name = &'static str;

/// Names read so far.
static KNOWN: Mutex<BTreeSet<Name>> = Mutex::new(BTreeSet::new());

/// Interns a name.
fn kept(name: String) -> Name {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(before) = known.get(name.as_str()) {
        return before;
    }
    let name: Name = name.leak();
    known.insert(name);
    name
}

/// Returns a kernel's family: its own name, without input and path.
pub(super) fn family(kernel: &str) -> &str {
    let bare = kernel.split(':').next().unwrap_or_default();
    OTHER_NAMES.iter().find(|(other, _)| *other == bare).map_or(bare, |(_, own)| own)
}

/// Deserializes a name.
pub(super) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
    String::deserialize(from).map(kept)
}

/// Deserializes values by name.
pub(super) fn by_name<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<BTreeMap<Name, T>, D::Error> {
    let values = BTreeMap::<String, T>::deserialize(from)?;
    Ok(values.into_iter().map(|(name, value)| (kept(name), value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_kernel_are_one_family() {
        assert_eq!(["bino:512", "bopt", "dxtc:64", "mm"].map(family), ["bopt", "bopt", "dxtc", "mm"]);
    }

    #[test]
    fn a_name_is_kept_once() {
        let (first, second) = (kept("mine-of-the-test".into()), kept("mine-of-the-test".into()));
        assert!(std::ptr::eq(first, second));
    }
}
