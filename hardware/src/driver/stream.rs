//! Streams, in which work is done in order, and events between.

use super::checked;
use cudarc::driver::sys::{self, CUresult};
use std::ptr;

/// `CU_STREAM_NON_BLOCKING`: does not wait for the default stream, nor does that for it.
const NON_BLOCKING: u32 = 1;

/// A stream. It lives as long as the process.
#[derive(Debug)]
pub struct Stream(sys::CUstream);

impl Stream {
    /// A new one.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new() -> Result<Self, String> {
        let mut stream = ptr::null_mut();
        // SAFETY: a place for a handle.
        checked(unsafe { sys::cuStreamCreate(&raw mut stream, NON_BLOCKING) }, "making a stream")?;
        Ok(Stream(stream))
    }

    pub(super) fn raw(&self) -> sys::CUstream {
        self.0
    }

    /// Whether all of its work is done.
    ///
    /// # Errors
    /// What went wrong with it.
    pub fn is_idle(&self) -> Result<bool, String> {
        // SAFETY: a handle.
        match unsafe { sys::cuStreamQuery(self.0) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            result => checked(result, "running").map(|()| true),
        }
    }

    /// Waits for all of its work. Only for copies: kernels are waited for with a deadline.
    ///
    /// # Errors
    /// What went wrong with it.
    pub fn wait(&self) -> Result<(), String> {
        // SAFETY: a handle.
        checked(unsafe { sys::cuStreamSynchronize(self.0) }, "copying")
    }
}

/// A point of time in a stream's work. It lives as long as the process.
#[derive(Debug)]
pub struct Event(sys::CUevent);

impl Event {
    /// A new one.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new() -> Result<Self, String> {
        let mut event = ptr::null_mut();
        // SAFETY: a place for a handle.
        checked(unsafe { sys::cuEventCreate(&raw mut event, 0) }, "making an event")?;
        Ok(Event(event))
    }

    /// Comes after what the stream has to do now.
    ///
    /// # Errors
    /// What the driver says.
    pub fn record(&self, stream: &Stream) -> Result<(), String> {
        // SAFETY: handles.
        checked(unsafe { sys::cuEventRecord(self.0, stream.raw()) }, "an event")
    }

    /// Microseconds from another, earlier one; both have come.
    ///
    /// # Errors
    /// What the driver says.
    pub fn microseconds_since(&self, earlier: &Event) -> Result<f64, String> {
        let mut milliseconds = 0.0;
        // SAFETY: a place for a number, and handles.
        checked(unsafe { sys::cuEventElapsedTime(&raw mut milliseconds, earlier.0, self.0) }, "the time between events")?;
        Ok(f64::from(milliseconds) * 1000.0)
    }
}
