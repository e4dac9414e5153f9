//! Traces of kernels, kept on disk between runs: executing a kernel takes seconds, loading its trace milliseconds.
//!
//! A trace is found by the fingerprint of everything that it depends on ([`key`]), so that it can never be out of date: other
//! input is another trace. What is stored was checked against the host's results when it was made. Files are those of
//! [`trace_file`](mias_trace::trace_file), with checksums; one that is damaged is made again.
//!
//! A cache is never needed: where it cannot be read or written, kernels are executed, and a note says why.

mod key;
mod place;
mod store;
#[cfg(test)]
mod tests;

pub use key::{TRACE_VERSION, key};
pub use place::{DEFAULT_LIMIT_BYTES, FOLDER_VARIABLE, LIMIT_VARIABLE, Place, PlaceError};
pub use store::{Store, Usage};

use crate::kernels::{KernelError, Prepared};
use mias_hw_model::trace::KernelTrace;
use mias_trace::accelsim::Warnings;
use mias_trace::trace_file::{Launch, TraceFile};
use std::sync::{Arc, Mutex, PoisonError};

/// Kernels' traces, from disk where they are there.
#[derive(Debug, Default)]
pub struct Cache {
    store: Option<Store>,
    notes: Mutex<Vec<String>>,
}

impl Cache {
    /// No cache: every kernel is executed.
    pub fn off() -> Self {
        Cache::default()
    }

    /// A cache in this store.
    pub fn of(store: Store) -> Self {
        Cache { store: Some(store), notes: Mutex::default() }
    }

    /// The cache at the place that the process' environment says.
    ///
    /// # Errors
    /// [`PlaceError`] if a variable makes no sense. A place that cannot be used is a note, and no error.
    pub fn open() -> Result<Self, PlaceError> {
        let place = Place::of_process()?;
        if place.limit_bytes == 0 {
            return Ok(Cache::off());
        }
        Ok(match place.folder {
            Some(folder) => Cache::of(Store::new(folder, place.limit_bytes)),
            None => {
                let cache = Cache::off();
                cache.note(format!("traces are not cached: there is no home folder; set {FOLDER_VARIABLE}"));
                cache
            }
        })
    }

    /// The trace of a kernel: from disk, or as [`Prepared::record`] makes it, and then stored.
    ///
    /// # Errors
    /// As [`Prepared::record`].
    pub fn record(&self, prepared: Prepared, progress: &mut dyn FnMut(u64, u64)) -> Result<Arc<KernelTrace>, KernelError> {
        let Some(store) = &self.store else { return Ok(Arc::new(prepared.record(progress)?)) };
        let (key, info) = (key(&prepared), prepared.info.clone());
        match store.load(&key, |file| matches!(&file.launches[..], [launch] if *launch.trace.info() == info)) {
            Ok(Some(mut file)) => {
                if let Some(launch) = file.launches.pop() {
                    progress(info.tbs(), info.tbs());
                    return Ok(launch.trace);
                }
            }
            Ok(None) => {}
            Err(damage) => self.note(format!("a cached trace of `{}` is made again: {damage}", info.name)),
        }
        let trace = Arc::new(prepared.record(progress)?);
        let launches = vec![Launch { stream: 0, trace: trace.clone() }];
        let file = TraceFile { name: info.name, warnings: Warnings::new(), launches };
        if let Err(error) = store.save(&key, &file) {
            let folder = store.folder().display();
            self.note(format!(
                "traces are not cached: cannot write {folder}: {error} (--no-cache does without, {FOLDER_VARIABLE} moves it)"
            ));
        }
        Ok(trace)
    }

    /// What there is to say since the last call, each thing once.
    pub fn notes(&self) -> Vec<String> {
        std::mem::take(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, note: String) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
}
