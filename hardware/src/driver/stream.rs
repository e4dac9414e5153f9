//! Streams, which execute work in order, and events in them.

use super::checked;
use cudarc::driver::sys::{self, CUresult};
use std::ptr;

/// `CU_STREAM_NON_BLOCKING`: no synchronization with the default stream in either direction.
const NON_BLOCKING: u32 = 1;

/// A stream with the lifetime of the process.
#[derive(Debug)]
pub struct Stream(sys::CUstream);

impl Stream {
    /// Creates a stream.
    ///
    /// # Errors
    /// The driver's error.
    pub fn new() -> Result<Self, String> {
        let mut stream = ptr::null_mut();
        // SAFETY: a valid place for a handle.
        checked(unsafe { sys::cuStreamCreate(&raw mut stream, NON_BLOCKING) }, "making a stream")?;
        Ok(Stream(stream))
    }

    pub(super) fn raw(&self) -> sys::CUstream {
        self.0
    }

    /// Returns whether all of its work is done.
    ///
    /// # Errors
    /// The error of its work.
    pub fn is_idle(&self) -> Result<bool, String> {
        // SAFETY: a handle.
        match unsafe { sys::cuStreamQuery(self.0) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            result => checked(result, "running").map(|()| true),
        }
    }

    /// Waits for all of its work. Only for copies: waiting for kernels has a deadline.
    ///
    /// # Errors
    /// The error of its work.
    pub fn wait(&self) -> Result<(), String> {
        // SAFETY: a handle.
        checked(unsafe { sys::cuStreamSynchronize(self.0) }, "copying")
    }
}

/// A point in a stream's work, with the lifetime of the process.
#[derive(Debug)]
pub struct Event(sys::CUevent);

impl Event {
    /// Creates an event.
    ///
    /// # Errors
    /// The driver's error.
    pub fn new() -> Result<Self, String> {
        let mut event = ptr::null_mut();
        // SAFETY: a valid place for a handle.
        checked(unsafe { sys::cuEventCreate(&raw mut event, 0) }, "making an event")?;
        Ok(Event(event))
    }

    /// Records the event after the stream's current work.
    ///
    /// # Errors
    /// The driver's error.
    pub fn record(&self, stream: &Stream) -> Result<(), String> {
        // SAFETY: handles.
        checked(unsafe { sys::cuEventRecord(self.0, stream.raw()) }, "an event")
    }

    /// Returns the microseconds since an earlier event. Both have occurred.
    ///
    /// # Errors
    /// The driver's error.
    pub fn microseconds_since(&self, earlier: &Event) -> Result<f64, String> {
        let mut milliseconds = 0.0;
        // SAFETY: a valid place for a number, and handles.
        checked(unsafe { sys::cuEventElapsedTime(&raw mut milliseconds, earlier.0, self.0) }, "the time between events")?;
        Ok(f64::from(milliseconds) * 1000.0)
    }
}
