//! `mias-gpu check`: the slot form of every kernel, without a GPU. The texts can be written to
//! files for an assembler (`ptxas -arch=sm_90 -v`).

use crate::kernel::Kernel;
use std::fmt::Write;
use std::path::Path;

/// Returns one line per kernel with its launch and slot form, or the reason why it has none.
///
/// With `emit`, it writes `NAME_slot.ptx` there.
///
/// # Errors
/// A sentence for a folder that cannot be written to. A kernel without a slot form is not an error.
pub fn report(words: &[String], emit: Option<&Path>) -> Result<String, String> {
    let mut text = String::new();
    for word in words {
        // One after the other, because all of them at once may not fit in memory.
        let line = match Kernel::of(word).and_then(|kernel| Ok((kernel.slot(None)?, kernel))) {
            Err(why) => format!("{word}: left out: {why}"),
            Ok((slot, kernel)) => {
                if let Some(folder) = emit {
                    let path = folder.join(format!("{}.ptx", slot.name));
                    std::fs::write(&path, &slot.ptx).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
                }
                let passes = kernel.passes().map_or("any number of passes".to_owned(), |passes| format!("{passes} passes, each separate"));
                let (launch, bytes) = (&kernel.prepared.instance.launch, kernel.arena.end - kernel.arena.start);
                format!("{word}: {:?} TBs of {} threads, {bytes} bytes, {passes}", launch.grid, kernel.threads())
            }
        };
        writeln!(text, "{line}").map_err(|error| error.to_string())?;
    }
    Ok(text)
}
