//! Choice of the host core on which a thread starts.
//!
//! An operating system with little knowledge of its cores, such as that of a virtual machine,
//! starts a thread on the core of its creator. It moves the thread several time slices later. Until
//! then both threads alternate for milliseconds, in a run of a few hundred milliseconds. So a new
//! thread moves to a core of its own first; the system may move it afterwards. A reader thread also
//! moves when it finds itself on the core of its writer. (Own; seen on Linux 6.18 with two virtual
//! cores.)

/// Core on which the calling thread runs, if the system reports it.
pub fn current() -> Option<usize> {
    #[cfg(target_os = "linux")]
    return Some(rustix::thread::sched_getcpu());
    #[cfg(not(target_os = "linux"))]
    None
}

/// Moves the calling thread to a core of its own, if there are enough cores and the system allows
/// it.
///
/// `thread` counts the threads started in addition to the one on core `first`.
#[cfg(target_os = "linux")]
pub fn begin_apart(first: Option<usize>, thread: usize) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let (Some(first), Ok(allowed)) = (first, sched_getaffinity(None)) else { return };
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect();
    let Some(core) = apart(&cores, first, thread) else { return };
    let mut only = CpuSet::new();
    only.set(core);
    // This is a hint: after a failure, the thread stays where it is.
    if sched_setaffinity(None, &only).is_ok() {
        let _ = sched_setaffinity(None, &allowed);
    }
}

/// Does nothing, since the cores are unknown on this platform.
#[cfg(not(target_os = "linux"))]
pub fn begin_apart(_first: Option<usize>, _thread: usize) {}

/// Core of thread `thread`, counted from 1, where the creator occupies core `first`; none if there
/// are too few cores.
#[cfg(any(test, target_os = "linux"))]
fn apart(cores: &[usize], first: usize, thread: usize) -> Option<usize> {
    let place = cores.iter().position(|&core| core == first)?;
    if thread < cores.len() { Some(cores[(place + thread) % cores.len()]) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_a_core_of_its_own() {
        let cores = [1, 2, 5, 7];
        for first in cores {
            let mut taken: Vec<usize> = (1..cores.len()).filter_map(|thread| apart(&cores, first, thread)).collect();
            taken.push(first);
            taken.sort_unstable();
            assert_eq!(taken, cores);
        }
        assert_eq!(apart(&cores, 2, 4), None, "more threads than cores");
        assert_eq!(apart(&cores, 3, 1), None, "moved away meanwhile");
        assert_eq!(apart(&[0], 0, 1), None);
    }

    /// The thread keeps its original set of allowed cores.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_may_move_it_again() {
        let allowed = rustix::thread::sched_getaffinity(None).expect("a set");
        for thread in 1..4 {
            begin_apart(current(), thread);
            assert!(rustix::thread::sched_getaffinity(None).expect("a set") == allowed);
        }
    }
}
