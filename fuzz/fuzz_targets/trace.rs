//! Fuzz target for a kernel list and, after a line `=====`, the trace of the kernels that it names:
//! read or rejected.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mias_trace::accelsim::{Warnings, read_kernel_from, read_list_from};
use std::io::Cursor;
use std::path::Path;

const SEPARATOR: &[u8] = b"=====\n";

fuzz_target!(|data: &[u8]| {
    let at = data.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
    let (list, body) = at.map_or((&[][..], data), |at| (&data[..at], &data[at + SEPARATOR.len()..]));
    if let Err(error) = read_list_from(Cursor::new(list.to_vec()), Path::new("kernelslist.g"), &|name| Some(name.into())) {
        assert!(!error.to_string().is_empty());
    }
    match read_kernel_from(Cursor::new(body.to_vec()), Path::new("kernel-1.traceg"), &mut Warnings::new()) {
        Ok((trace, _)) => assert_eq!(u64::from(trace.tbs()), trace.info().tbs()),
        Err(error) => assert!(!error.to_string().contains('\n'), "one line: {error}"),
    }
});
