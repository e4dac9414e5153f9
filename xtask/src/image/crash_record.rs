//! Check of the image's crash record in QEMU. On the Arm boards, no device responds at the register
//! block's address, so the first access is a fault. Its record must be at the start of RAM.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use mias_firmware::crash_record::MAGIC;

use crate::targets::Target;
use crate::util::command;

/// Start of RAM on the boards (`firmware/images/memory/microbit.x`, `mps2-an386.x`).
const RAM: &str = "0x20000000";

/// Number of memory reads, one every [`PAUSE`]: the image needs microseconds.
const LOOKS: usize = 20;

/// Time between two reads.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs the image and reads the first two words of RAM through QEMU's monitor.
pub(super) fn check(target: &Target, image: &Path) -> Result<()> {
    let mut qemu = command("timeout", ["60", target.board.qemu]);
    qemu.args(target.board.options).args(["-display", "none", "-serial", "none", "-monitor", "stdio"]);
    let mut child = qemu.arg("-kernel").arg(image).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot start QEMU")?;
    let mut monitor = child.stdin.take().context("QEMU has no monitor")?;
    for _ in 0..LOOKS {
        sleep(PAUSE);
        writeln!(monitor, "xp /2wx {RAM}")?;
    }
    writeln!(monitor, "quit")?;
    drop(monitor);
    let said = String::from_utf8_lossy(&child.wait_with_output()?.stdout).into_owned();
    // Exception 3: HardFault.
    let expected = format!("{MAGIC:#010x} 0x00000003");
    ensure!(said.contains(&expected), "the image in QEMU left no crash record ({expected}) at {RAM} after a fault");
    println!("after a fault, {RAM} holds {expected}");
    Ok(())
}
