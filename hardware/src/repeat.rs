//! Kernels that change their input, so that a second pass through the grid would do other work. A
//! breadth-first search removes nodes from its frontier, and a tree search stores its position.
//! Each pass works on its own copy of those buffers, and the window ends without further copies.
//! All others may run over their grid again: their input stays, or changes without an effect on
//! their work (`fwt` transforms its own result, `gemm` adds to it, histograms grow).

/// Kernels, and the first and last of the buffers that each pass has for itself.
const ONCE: [(&str, [&str; 2]); 6] = [
    ("bfs", ["state", "state"]),
    ("bfs1", ["frontier", "frontier"]),
    ("bfs2", ["reached", "reached"]),
    ("bs", ["frontier", "frontier"]),
    ("bt", ["current", "next"]),
    ("btr", ["current", "last_next"]),
];

/// Largest number of copies. Assumption: at the default sizes they last longer than the usual
/// window.
const MOST_PASSES: u64 = 256;

/// Largest number of bytes of copies. Assumption: a GPU has more memory.
const MOST_BYTES: u64 = 4 << 30;

/// Returns the first and last buffer that a pass of a kernel has for itself; none if it may run
/// over the same memory again.
pub fn own_buffers(kernel: &str) -> Option<[&'static str; 2]> {
    ONCE.iter().find(|(name, _)| *name == kernel).map(|(_, buffers)| *buffers)
}

/// Returns the number of passes with copies of `bytes` bytes each.
pub fn passes(bytes: u64) -> u32 {
    (MOST_BYTES / bytes.max(1)).clamp(1, MOST_PASSES) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_at_least_one_pass_and_never_too_many_bytes() {
        for bytes in [0, 1, 4096, 6 << 20, 1 << 30, 5 << 30] {
            let passes = u64::from(passes(bytes));
            assert!((1..=MOST_PASSES).contains(&passes) && (passes == 1 || passes * bytes <= MOST_BYTES), "{bytes}");
        }
    }

    #[test]
    fn the_kernels_are_in_the_library_and_have_the_buffers() {
        for (name, [first, last]) in ONCE {
            let kernel = mias_kernels::find(name).unwrap();
            let place = |buffer: &str| kernel.description.find(&format!("\n{buffer} = {{")).unwrap();
            assert!(place(first) <= place(last), "{name}");
        }
    }
}
