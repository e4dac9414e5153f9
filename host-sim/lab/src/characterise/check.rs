//! Check of a kernel's results: every TB of its grid executed, without recording, and compared with
//! the host's results (`<kernel>_check_results` of Nasef 2023, section 4.1.3).

use crate::cancel::Cancel;
use mias_ptx::TbRunner;
use mias_ptx::warp::{Event, Observer};
use mias_workloads::kernels::{KernelError, Prepared};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Number of TBs executed between two reports of progress (assumption: enough for any number of
/// workers).
const BATCH: u32 = 1024;

/// Results of an executed grid.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Number of TBs.
    pub tbs: u64,
    /// Number of PTX instructions executed by warps.
    pub warp_insts: u64,
    /// Wall-clock time of the execution, without creating inputs and without the host reference.
    pub executing: Duration,
    /// Error in the results, if any.
    pub wrong: Option<KernelError>,
}

/// Counter of executed warp instructions.
struct Count(u64);

impl Observer for Count {
    #[inline]
    fn executed(&mut self, _: Event<'_>) {
        self.0 += 1;
    }
}

/// Executes and checks a kernel. `progress` receives the TBs done and their total. `None` if
/// canceled before all TBs were executed.
///
/// # Errors
/// [`KernelError`] if it cannot be executed; wrong results are no error here.
pub fn check(prepared: &Prepared, cancel: &Cancel, progress: &mut dyn FnMut(u64, u64)) -> Result<Option<Checked>, KernelError> {
    let Prepared { program, instance, info } = prepared;
    let (launch, memory) = (&instance.launch, &instance.memory);
    let started = Instant::now();
    // Checks the launch before any TB runs.
    TbRunner::new(program, launch, memory)?;
    // If atomics can observe the order of TBs, these run one after the other.
    let together = if program.depends_on_order() { BATCH as usize } else { 1 };
    let tbs = launch.tbs() as u32;
    let (mut done, mut warp_insts) = (0, 0);
    while done < tbs {
        let end = tbs.min(done.saturating_add(BATCH));
        let counts = (done..end).into_par_iter().with_min_len(together).map_init(
            || TbRunner::new(program, launch, memory),
            |runner, tb| {
                if cancel.requested() {
                    return Ok(None);
                }
                let mut count = Count(0);
                let runner = runner.as_mut().map_err(|error| error.clone())?;
                Ok::<_, KernelError>(runner.run_while(tb, &mut count, || !cancel.requested())?.then_some(count.0))
            },
        );
        let Some(counted) = counts.collect::<Vec<_>>().into_iter().sum::<Result<Option<u64>, _>>()? else { return Ok(None) };
        warp_insts += counted;
        done = end;
        progress(done.into(), tbs.into());
    }
    let executing = started.elapsed();
    let wrong = instance.check_results(&info.name).err().map(KernelError::from);
    Ok(Some(Checked { tbs: tbs.into(), warp_insts, executing, wrong }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_workloads::kernels::Spec;

    fn prepared(word: &str) -> Prepared {
        Spec::parse(word).unwrap().prepare().unwrap()
    }

    #[test]
    fn right_results_are_right_and_all_tbs_are_told() {
        for word in ["mm:64", "fwt:4096", "nbdy:512", "blk:512", "bopt:2", "bfs:1024", "dxtc:16"] {
            let mut told = Vec::new();
            let checked = check(&prepared(word), &Cancel::default(), &mut |done, of| told.push((done, of))).unwrap().unwrap();
            assert!(checked.wrong.is_none(), "{word}: {:?}", checked.wrong);
            assert_eq!(told.last(), Some(&(checked.tbs, checked.tbs)));
        }
    }

    /// The square of 64: 16 TBs of 8 warps, each with 4 tile steps. PTX has more instructions than
    /// machine code, which has 4 x 59 + 37 per warp (kernels/README.md).
    #[test]
    fn instructions_are_counted() {
        let checked = check(&prepared("mm:64"), &Cancel::default(), &mut |_, _| {}).unwrap().unwrap();
        assert_eq!(checked.tbs, 16);
        assert!(checked.warp_insts.is_multiple_of(16 * 8), "all warps execute the same");
        assert!(checked.warp_insts / (16 * 8) >= 4 * 59 + 37);
    }

    #[test]
    fn a_wrong_result_is_found() {
        let mut prepared = prepared("mm:32");
        let expected = prepared.instance.expected.as_mut().unwrap();
        expected.reference = Box::new(|| vec![0.0; 32 * 32]);
        let checked = check(&prepared, &Cancel::default(), &mut |_, _| {}).unwrap().unwrap();
        assert!(matches!(checked.wrong, Some(KernelError::Mismatch(_))));
    }

    #[test]
    fn who_wishes_to_stop_is_heard() {
        let cancel = Cancel::default();
        cancel.request();
        assert!(check(&prepared("mm:32"), &cancel, &mut |_, _| {}).unwrap().is_none());
    }

    /// Cancellation also takes effect within less than a batch of TBs that take seconds each.
    #[test]
    fn who_wishes_to_stop_within_a_tb_is_heard() {
        let (prepared, cancel) = (prepared("nbdy:8192"), Cancel::default());
        let asks = std::thread::spawn({
            let cancel = cancel.clone();
            move || {
                std::thread::sleep(Duration::from_millis(50));
                cancel.request()
            }
        });
        assert!(check(&prepared, &cancel, &mut |_, _| {}).unwrap().is_none());
        assert!(asks.join().unwrap(), "nobody had asked before");
    }
}
