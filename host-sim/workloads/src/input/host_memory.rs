//! Check that the buffers of a launch fit into host memory, before they are allocated.

use bytesize::ByteSize;

/// Maximum bytes of all buffers of a launch. Assumption: the largest sizes of the built-in kernels
/// take 16 GiB, and no modeled GPU has more than 80.
const MOST: u64 = 80 << 30;

/// Checks that buffers of `bytes` in total can be allocated.
///
/// # Errors
/// A sentence with both sizes.
pub fn check(bytes: u64) -> Result<(), String> {
    within(bytes, free())
}

fn within(bytes: u64, free: Option<u64>) -> Result<(), String> {
    let asked = ByteSize::b(bytes);
    match free {
        _ if bytes > MOST => Err(format!("the buffers have {asked} in total; a launch has at most {}", ByteSize::b(MOST))),
        Some(free) if bytes > free => {
            Err(format!("the buffers have {asked} in total, and this machine has {} of free memory; use a smaller size", ByteSize::b(free)))
        }
        _ => Ok(()),
    }
}

/// Returns the free memory in bytes: of the machine, or of the process's control group if its limit
/// is lower. `None` if Linux's files do not state it.
fn free() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let gpu = read("/proc/meminfo").as_deref().and_then(available);
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    let group = number("/sys/fs/cgroup/memory.max").zip(number("/sys/fs/cgroup/memory.current"));
    let group = group.map(|(most, used)| most.saturating_sub(used));
    [gpu, group].into_iter().flatten().min()
}

/// Returns `MemAvailable` of `/proc/meminfo` (proc(5)), in bytes.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_refused() {
        assert_eq!(within(1 << 30, Some(1 << 30)), Ok(()));
        assert_eq!(within(1 << 40, None).unwrap_err(), "the buffers have 1.0 TiB in total; a launch has at most 80.0 GiB");
        let message = "the buffers have 4.0 GiB in total, and this machine has 1.0 GiB of free memory; use a smaller size";
        assert_eq!(within(4 << 30, Some(1 << 30)).unwrap_err(), message);
        assert_eq!((within(MOST, None), check(0)), (Ok(()), Ok(())));
    }

    #[test]
    fn free_memory_is_read() {
        assert_eq!(available("MemTotal:       8000 kB\nMemAvailable:   4000 kB\n"), Some(4_096_000));
        assert_eq!((available("MemTotal: 8 kB\n"), available("MemAvailable: many kB\n")), (None, None));
    }
}
