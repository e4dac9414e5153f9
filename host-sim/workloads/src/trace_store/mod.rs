//! Trace cache on disk: executing a kernel takes seconds, loading its trace milliseconds. It also
//! caches traces recorded elsewhere, in the form in which they were read ([`Listed`]).
//!
//! A trace is found by the fingerprint of all its inputs ([`key`]), so it is never out of date:
//! other input is another trace. Results were checked against the host's before a trace was stored.
//! Files are those of [`trace_file`](mias_trace::trace_file), with checksums; a damaged one is
//! regenerated.
//!
//! The cache is optional: if it cannot be read or written, kernels are executed, and a note states
//! the cause.

mod bounded;
mod keeper;
mod key;
pub(crate) mod listed;
mod place;
mod store;
#[cfg(test)]
mod tests;

pub use bounded::Bounded;
pub use keeper::Keeper;
pub use key::{TRACE_VERSION, key};
pub use listed::{Listed, READER_VERSION, content_key};
pub use place::{DEFAULT_LIMIT_BYTES, FOLDER_VARIABLE, LIMIT_VARIABLE, Place, PlaceError};
pub use store::{Store, Unusable, Usage};

use crate::ahead::{Ahead, Printer};
use crate::budget::{self, Budget};
use crate::kernels::{KernelError, Prepared, Progress};
use crate::liveness::Liveness;
use bytesize::ByteSize;
use mias_warp_trace::{KernelInfo, KernelTrace, TraceSource};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Warp instructions executed before a simulation starts. Assumption: a second at the rate of most
/// kernels, so small grids are executed whole, checked and cached.
const START_WARP_INSTS: u64 = 8_000_000;

/// Required part of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Needs {
    /// The whole grid.
    Grid,
    /// The TBs that a simulation of some window reaches.
    Window {
        /// Memory limit in bytes for the trace and its generation.
        budget_bytes: u64,
        /// Receiver of the text that threads print. With a receiver, the kernel is executed even if
        /// its trace is cached.
        printer: Option<Printer>,
    },
}

/// A kernel to be simulated.
#[derive(Clone, Debug)]
pub struct Traced {
    /// Whole trace, or the trace of the TBs so far.
    pub trace: Arc<KernelTrace>,
    /// Source of the other TBs, if there are any.
    pub source: Option<Arc<dyn TraceSource>>,
    /// Fingerprint of all inputs of the kernel ([`key`]).
    pub key: String,
    /// Range of device sectors, from the kernel's first to one past its last.
    pub span: Range<u64>,
    /// True if the trace is from the cache and nothing was executed.
    pub is_cached: bool,
    /// Live registers at the points where warps may be switched.
    pub live: Liveness,
}

/// Cache of kernel traces on disk.
#[derive(Debug, Default)]
pub struct Cache {
    store: Option<Store>,
    notes: Mutex<Vec<String>>,
}

impl Cache {
    /// Creates a disabled cache: every kernel is executed.
    pub fn off() -> Self {
        Cache::default()
    }

    /// Creates a cache in a store.
    pub fn of(store: Store) -> Self {
        Cache { store: Some(store), notes: Mutex::default() }
    }

    /// Opens the cache at the location in the process environment.
    ///
    /// # Errors
    /// [`PlaceError`] for an invalid variable. An unusable location gives a note instead of an
    /// error.
    pub fn open() -> Result<Self, PlaceError> {
        let place = Place::of_process()?;
        if place.limit_bytes == 0 {
            return Ok(Cache::off());
        }
        Ok(match place.folder {
            Some(folder) => Cache::of(Store::new(folder, place.limit_bytes)),
            None => {
                let cache = Cache::off();
                cache.note(format!("traces are not cached: the home folder is unknown; set {FOLDER_VARIABLE}"));
                cache
            }
        })
    }

    /// Loads the trace of a kernel, or executes the kernel as far as `needs` requires.
    ///
    /// The trace of a whole grid is stored.
    ///
    /// # Errors
    /// As [`Prepared::record_once`], and [`KernelError::Memory`].
    pub fn traced(&self, prepared: Prepared, needs: Needs, progress: &mut Progress<'_>) -> Result<Traced, KernelError> {
        let (key, info, span) = (key(&prepared), prepared.info.clone(), prepared.sector_span());
        let keeper = self.store.clone().map(|store| Keeper::new(store, key.clone()));
        let live = prepared.liveness();
        let whole = |trace| Traced { trace, source: None, key: key.clone(), span: span.clone(), is_cached: false, live: live.clone() };
        let prints = matches!(needs, Needs::Window { printer: Some(_), .. });
        let most_bytes = if let Needs::Window { budget_bytes, .. } = needs { budget_bytes } else { u64::MAX };
        if !prints && let Some(trace) = self.load(&key, &info, most_bytes) {
            // The trace is complete, so the request to stop is ignored.
            let _ = progress(info.tbs(), info.tbs());
            return Ok(Traced { is_cached: true, ..whole(trace) });
        }
        let trace = match needs {
            Needs::Grid => Arc::new(prepared.record_once(progress)?),
            Needs::Window { budget_bytes, printer } => {
                let budget = Budget::new(budget_bytes, rayon::current_num_threads());
                if budget.exceeded() {
                    let (given, least) = (ByteSize(budget_bytes), ByteSize(budget::LEAST_BYTES));
                    self.note(format!(
                        "`{}` is executed in up to {least} of memory, more than the {given} that it has of --memory",
                        info.name
                    ));
                }
                let ahead = Ahead::new(prepared, budget, keeper.clone(), printer)?;
                ahead.start(START_WARP_INSTS, progress)?;
                if ahead.prints() > 0 && !prints {
                    self.note(format!("threads of `{}` print; `mias run --print` shows what", info.name));
                }
                let Some(trace) = ahead.in_one_part() else {
                    let trace = ahead.without_tbs();
                    return Ok(Traced { source: Some(Arc::new(ahead)), ..whole(trace) });
                };
                trace
            }
        };
        if let Some(keeper) = keeper
            && let Err(error) = keeper.keep(&info.name, &trace)
        {
            self.note_unwritten(keeper.store(), &error);
        }
        Ok(whole(trace))
    }

    fn load(&self, key: &str, info: &KernelInfo, most_bytes: u64) -> Option<Arc<KernelTrace>> {
        let store = self.store.as_ref()?;
        match store.load(key, most_bytes, |file| matches!(&file.launches[..], [launch] if *launch.trace.info() == *info)) {
            Ok(file) => file?.launches.pop().map(|launch| launch.trace),
            Err(Unusable::Large) => {
                let most = ByteSize(most_bytes);
                self.note(format!(
                    "`{}` is executed again: its cached trace takes more than the {most} that it has of --memory",
                    info.name
                ));
                None
            }
            Err(Unusable::Wrong(damage)) => {
                self.note(format!("rebuilding the cached trace of `{}`: {damage}", info.name));
                None
            }
        }
    }

    /// Takes the notes since the last call, each only once.
    pub fn notes(&self) -> Vec<String> {
        std::mem::take(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note_unwritten(&self, store: &Store, error: &std::io::Error) {
        let folder = store.folder().display();
        self.note(format!("traces are not cached: cannot write {folder}: {error} (--no-cache does without, {FOLDER_VARIABLE} moves it)"));
    }

    fn note(&self, note: String) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
}
