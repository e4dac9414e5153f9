//! Serial port of a processor in QEMU, as bytes.

use super::{CosimError, IMAGE, Image};
use std::io::{ErrorKind, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Timeout for the image's next byte. Assumption: a decision takes it milliseconds, even on a busy
/// GPU.
const PATIENCE: Duration = Duration::from_secs(60);

/// Capacity of the queue of chunks; a chunk is the result of one read.
const CHUNKS: usize = 64;

/// Maximum bytes of a read.
const CHUNK_BYTES: usize = 4096;

/// QEMU process with an image. It ends when dropped.
#[derive(Debug)]
pub(super) struct SerialLine {
    qemu: Child,
    input: ChildStdin,
    output: Receiver<Vec<u8>>,
    chunk: std::vec::IntoIter<u8>,
}

impl SerialLine {
    /// Starts QEMU.
    pub(super) fn open(image: &Image) -> Result<Self, CosimError> {
        if !image.file.is_file() {
            return Err(CosimError(format!("{} is not an image: build one with `cargo xtask image`", image.file.display())));
        }
        image.check()?;
        let board = image.core.board();
        let program = board.qemu;
        let mut command = Command::new(program);
        command.args(board.options).args(["-display", "none", "-monitor", "none", "-serial", "stdio", "-kernel"]).arg(&image.file);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut qemu = command.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => CosimError(format!("{program} is not installed; on Debian: apt-get install {}", board.package)),
            _ => CosimError(format!("cannot run {program}: {error}")),
        })?;
        let (Some(input), Some(mut from)) = (qemu.stdin.take(), qemu.stdout.take()) else {
            return Err(CosimError(format!("{program} has no standard input or output")));
        };
        let (sender, output) = sync_channel(CHUNKS);
        std::thread::spawn(move || {
            let mut buffer = [0; CHUNK_BYTES];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Ok(SerialLine { qemu, input, output, chunk: Vec::new().into_iter() })
    }

    /// Waits for a byte from the image.
    pub(super) fn receive(&mut self) -> Result<u8, CosimError> {
        loop {
            if let Some(byte) = self.chunk.next() {
                return Ok(byte);
            }
            match self.output.recv_timeout(PATIENCE) {
                Ok(chunk) => self.chunk = chunk.into_iter(),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(CosimError(format!(
                        "no data from the image in QEMU for {} seconds: use `{IMAGE}` for this board, built with `cargo xtask image`",
                        PATIENCE.as_secs()
                    )));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(CosimError("QEMU has exited: use an image for that processor".into()));
                }
            }
        }
    }

    /// Sends bytes to the image.
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), CosimError> {
        self.input.write_all(bytes).map_err(|error| CosimError(format!("cannot write to QEMU: {error}")))
    }
}

impl Drop for SerialLine {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}
