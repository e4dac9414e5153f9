//! Which core of the host a thread begins on.
//!
//! A system that knows little of its cores, as virtual machines often do, starts a thread on the core of the one that asked for it and moves it
//! some time slices later: milliseconds in which the two take turns, for a run that lasts some hundred. So a new thread moves to a core of its own
//! first, and leaves it to the system where it goes from there. One that reads what another makes ready does so whenever it finds itself on the
//! core of that one. (Own; seen on Linux 6.18 with two virtual cores.)

/// The core that this thread is on, if the system says.
pub fn current() -> Option<usize> {
    #[cfg(target_os = "linux")]
    return Some(rustix::thread::sched_getcpu());
    #[cfg(not(target_os = "linux"))]
    None
}

/// Moves this thread, which is number `thread` of those beside the one on core `first`, to a core of its own, if there are enough and the system
/// allows it.
#[cfg(target_os = "linux")]
pub fn begin_apart(first: Option<usize>, thread: usize) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let (Some(first), Ok(allowed)) = (first, sched_getaffinity(None)) else { return };
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&core| allowed.is_set(core)).collect();
    let Some(core) = apart(&cores, first, thread) else { return };
    let mut only = CpuSet::new();
    only.set(core);
    // A hint: where it fails, the thread begins where it is.
    if sched_setaffinity(None, &only).is_ok() {
        let _ = sched_setaffinity(None, &allowed);
    }
}

/// Nothing is known of the cores.
#[cfg(not(target_os = "linux"))]
pub fn begin_apart(_first: Option<usize>, _thread: usize) {}

/// The core for thread `thread`, counted from 1, where core `first` is taken by the one that started it; none if there are not enough.
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

    /// Whatever it can do, the thread may go where it could before.
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
