//! `cargo xtask rehearse`: the image's main loop on QEMU's boards, over a register block that plays
//! a script (`firmware/images/src/bin/rehearsal`).
//!
//! It checks that the image sleeps until the interrupt line wakes it, with one turn of the loop per
//! interrupt. Its decoded logs must match the firmware's behavior on this host over the same
//! script. On the board with a watchdog, a hanging loop must end in a reset with a crash record.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use mias_firmware::crash_record::{CrashRecord, MAGIC};
use mias_firmware::driver::Observer;
use mias_firmware::limits;
use mias_firmware::policy::Policy;
use mias_firmware::scheduler::{Event, Report as Decision};
use mias_firmware::service::serve;
use mias_firmware_images::rehearsal::{ACT, ACTS, CRASHED, FRESH, HANG, LOG, Rehearsal};
use mias_policies::Firmware;
use mias_policies::policy::AnyPolicy;
use mias_registers::PhaseCode;

use crate::log;
use crate::setup::{self, llvm_tool};
use crate::targets::{IMAGES, Target};
use crate::test::Scope;
use crate::util::{Report, command, output, run as run_command, stdout, target_dir};

/// Binary of the image.
const BINARY: &str = "mias-firmware-rehearsal";
/// Feature that the image needs.
const FEATURE: &str = "defmt";
/// Pause before each command. An image that did not sleep would turn thousands of times.
const PAUSE: Duration = Duration::from_millis(20);
/// Timeout of a run in seconds: it takes less than one.
const TIME_OUT: &str = "120";
/// Exception number of the non-maskable interrupt.
const NON_MASKABLE: u32 = 2;

/// Rehearses on all boards.
pub(crate) fn run() -> Result<()> {
    let mut report = Report::default();
    if report.step("setup", setup::run) {
        steps(&mut report, Scope::All);
    }
    report.finish("cargo xtask rehearse")
}

/// Adds the steps to the report of `image`.
pub(crate) fn steps(report: &mut Report, scope: Scope) {
    for target in scope.targets() {
        let built = report.step(&format!("{} image of the rehearsal, with logs, links: no reachable panic", target.board.core), || {
            run_command(&mut target.build(IMAGES, BINARY, Some(FEATURE)))
        });
        if built {
            report.step(&format!("{} image sleeps, wakes and logs, in QEMU", target.board.core), || rehearse(target));
        }
    }
}

fn rehearse(target: &Target) -> Result<()> {
    let file = target.folder(&target_dir()).join(BINARY);
    let expected = expect();
    let mut image = Image::start(target, &file)?;
    ensure!(image.byte()? == FRESH, "the image in QEMU does not restart from reset");
    for (act, phase) in expected.phases.iter().enumerate() {
        sleep(PAUSE);
        image.send(ACT)?;
        ensure!(image.byte()? == *phase as u8, "after act {} the image is not in phase {}", act + 1, phase.name());
        let (turns, awake) = (image.word()?, act as u32 + 2);
        ensure!(turns == awake, "after {} interrupts the main loop has turned {turns} times, not {awake}: it does not sleep", act + 1);
    }
    println!("{} interrupts, one turn of the main loop each", expected.phases.len());

    image.send(LOG)?;
    let written = image.word()?;
    let ring = image.bytes(limits::LOG_BYTES)?;
    let said = log::decode(&file, &log::bytes(written, &ring))?;
    ensure!(said == expected.lines, "the image logged\n{}\nexpected\n{}", said.join("\n"), expected.lines.join("\n"));
    println!("{}", said.join("\n"));

    if target.has_watchdog() {
        image.send(HANG)?;
        ensure!(image.byte()? == CRASHED, "the watchdog's reset left no crash record");
        let crash_record = image.crash_record()?;
        let end = CrashRecord { magic: MAGIC, cause: NON_MASKABLE, address: crash_record.address, ..expected.crash_record };
        ensure!(crash_record == end, "the crash record is\n{crash_record:x?}\nexpected\n{end:x?}");
        println!(
            "the watchdog fired in {} ({:#x}); {} events before it",
            function(&file, crash_record.address)?,
            crash_record.address,
            end.count
        );
    }
    Ok(())
}

/// Expected behavior of the image, from the same script on this host.
#[derive(Default)]
struct Expected {
    now: u64,
    lines: Vec<String>,
    /// Phases after each act.
    phases: Vec<PhaseCode>,
    crash_record: CrashRecord,
}

fn expect() -> Expected {
    let mut block = Rehearsal::new();
    let mut firmware = Firmware::<AnyPolicy, { limits::CONFIGS }>::idle();
    let mut expected = Expected::default();
    let mut crash_record = CrashRecord::EMPTY;
    if firmware.restart(&mut block, limits::SMS).is_ok() {
        for _ in 0..ACTS {
            block.play();
            serve(&mut firmware, &mut block, &mut (&mut crash_record, &mut expected), 1);
            expected.phases.push(firmware.scheduler().phase().code());
        }
    }
    Expected { crash_record, ..expected }
}

impl mias_policies::extras::WatchesPreemption for Expected {}

impl Observer for Expected {
    fn event(&mut self, _: &Event, now: u64) {
        self.now = now;
    }

    fn phase(&mut self, phase: PhaseCode) {
        self.lines.push(format!("{}: {phase:?}", self.now));
    }

    fn fault(&mut self, faults: u32) {
        self.lines.push(format!("{}: fault {faults:#x}", self.now));
    }

    fn decision<P: Policy, const C: usize>(&mut self, report: &Decision<'_, P, C>) {
        let name = |vector: [u8; 4]| vector.map(|tbs| tbs.to_string()).join("-");
        for tried in report.tried() {
            let rest = tried.score.map_or("has no sample".to_owned(), |score| {
                format!("scores {} / {}", score.numerator.to_u128(), score.denominator.to_u128())
            });
            self.lines.push(format!("{}: {} {rest}", self.now, name(tried.entry.vector.0)));
        }
        if let Some(winner) = report.winner() {
            self.lines.push(format!("{}: {} is chosen", self.now, name(winner.0)));
        }
    }
}

/// Returns the function that contains an address.
fn function(image: &Path, address: u32) -> Result<String> {
    let symbols = stdout(command(llvm_tool("llvm-nm")?, ["--demangle", "--defined-only", "--numeric-sort"]).arg(image))?;
    let mut named = symbols.lines().filter_map(|line| {
        let mut words = line.splitn(3, ' ');
        let start = u32::from_str_radix(words.next()?, 16).ok()?;
        (words.next()?.eq_ignore_ascii_case("t") && start <= address).then(|| words.next().map(str::to_owned))?
    });
    named.next_back().with_context(|| format!("no function of the image is at {address:#x}"))
}

/// Image in QEMU, with its serial port.
struct Image {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Image {
    fn start(target: &Target, file: &Path) -> Result<Self> {
        let mut qemu = command("timeout", [TIME_OUT, target.board.qemu]);
        qemu.args(target.board.options).args(["-display", "none", "-monitor", "none", "-serial", "stdio", "-icount", "shift=8", "-kernel"]);
        let mut child = qemu.arg(file).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot start QEMU")?;
        let input = child.stdin.take().context("QEMU has no input")?;
        let output = child.stdout.take().context("QEMU has no output")?;
        Ok(Self { child, input, output })
    }

    fn send(&mut self, byte: u8) -> Result<()> {
        self.input.write_all(&[byte])?;
        Ok(self.input.flush()?)
    }

    fn bytes(&mut self, count: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; count];
        self.output.read_exact(&mut bytes).with_context(|| format!("no output from the image in QEMU for {TIME_OUT} s, or QEMU exited"))?;
        Ok(bytes)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.bytes(1)?[0])
    }

    fn word(&mut self) -> Result<u32> {
        Ok(self.bytes(4)?.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)))
    }

    fn crash_record(&mut self) -> Result<CrashRecord> {
        let mut crash_record =
            CrashRecord { magic: self.word()?, cause: self.word()?, address: self.word()?, count: self.word()?, ..CrashRecord::EMPTY };
        for event in &mut crash_record.events {
            *event = self.word()?;
        }
        Ok(crash_record)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // It may have ended by itself. `timeout` forwards this signal to QEMU; if killed, it would
        // leave QEMU running.
        let _ = output(&mut command("sh", ["-c", &format!("kill {}", self.child.id())]));
        let _ = self.child.wait();
    }
}
