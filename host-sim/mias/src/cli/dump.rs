//! `mias run --dump`: memory contents after kernels, as files.

use super::CliError;
use mias_lab::experiment::request::Request;
use mias_lab::output::Output;
use mias_warp_trace::KernelTrace;
use mias_workloads::input::suggest;
use mias_workloads::kernels::{Prepared, Progress};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Requested dumps.
#[derive(Debug, Default)]
pub(super) struct Dumps {
    words: Vec<String>,
    /// Files that other output is written to.
    taken: Vec<PathBuf>,
    found: Vec<Dump>,
}

/// Dump of a buffer of a kernel to a file.
#[derive(Debug)]
struct Dump {
    /// Value as typed.
    word: String,
    /// Word of the kernel.
    kernel: String,
    buffer: String,
    output: Output,
    contents: OnceLock<Vec<u8>>,
}

impl Dumps {
    /// Creates dumps from `BUFFER=FILE` or `KERNEL/BUFFER=FILE`. Other output is written to the
    /// files in `taken`.
    pub(super) fn new(words: &[String], taken: Vec<PathBuf>) -> Self {
        Dumps { words: words.to_vec(), taken, found: Vec::new() }
    }

    /// Finds the kernels by the labels of launches, and checks that the files can be written.
    pub(super) fn find(&mut self, requests: &[(String, Request)], labels: &[String]) -> Result<(), CliError> {
        for word in &self.words {
            let fail = |message: &str| CliError::User(format!("--dump `{word}`: {message}"));
            let (number, rest) = split(word, labels).map_err(|message| fail(&message))?;
            let (kernel, request) = requests.get(number).ok_or_else(|| fail("no such kernel"))?;
            if request.spec().is_none() {
                return Err(fail("a trace does not record memory contents"));
            }
            let named = rest.split_once('=').filter(|(buffer, file)| !buffer.is_empty() && !file.is_empty());
            let (buffer, file) = named.ok_or_else(|| fail("expected BUFFER=FILE, as in y=y.bin"))?;
            let path = PathBuf::from(file);
            if self.taken.contains(&path) {
                return Err(CliError::User(format!("{file}: two outputs share this file")));
            }
            let output = Output::open(Some(&path))?;
            self.taken.push(path);
            let (word, kernel, buffer) = (word.clone(), kernel.clone(), buffer.to_owned());
            self.found.push(Dump { word, kernel, buffer, output, contents: OnceLock::new() });
        }
        Ok(())
    }

    /// Returns whether a dump of this kernel is requested.
    pub(super) fn wants(&self, kernel: &str) -> bool {
        self.found.iter().any(|dump| dump.kernel == kernel)
    }

    /// Executes a kernel, even if its trace is cached, and keeps the requested contents.
    pub(super) fn record(&self, kernel: &str, prepared: &Prepared, progress: &mut Progress<'_>) -> Result<Arc<KernelTrace>, CliError> {
        let of_kernel = || self.found.iter().filter(|dump| dump.kernel == kernel);
        let fail = |dump: &Dump, message: String| CliError::User(format!("--dump `{}`: {message}", dump.word));
        // Check the names before anything runs.
        let region = |dump: &Dump| prepared.region(&dump.buffer).map_err(|message| fail(dump, message));
        let regions = of_kernel().map(region).collect::<Result<Vec<_>, _>>()?;
        let trace = Arc::new(prepared.record_once(progress)?);
        for (dump, region) in of_kernel().zip(&regions) {
            let contents = prepared.contents(region).map_err(|message| fail(dump, message))?;
            // Each word is executed once.
            let _ = dump.contents.set(contents);
        }
        Ok(trace)
    }

    /// Writes all files.
    pub(super) fn write(&self) -> Result<(), CliError> {
        for dump in &self.found {
            if let Some(contents) = dump.contents.get() {
                dump.output.write(contents)?;
            }
        }
        Ok(())
    }
}

/// Splits a word into the number of its launch and the rest after the kernel's name.
fn split<'w>(word: &'w str, labels: &[String]) -> Result<(usize, &'w str), String> {
    let of_label = |(number, label): (usize, &String)| Some((number, word.strip_prefix(label.as_str())?.strip_prefix('/')?));
    if let Some(found) = labels.iter().enumerate().find_map(of_label) {
        return Ok(found);
    }
    match (labels, word.split_once('=').and_then(|(names, _)| names.rsplit_once('/'))) {
        (_, Some((kernel, _))) => Err(suggest::unknown("kernel", kernel, &labels.iter().map(String::as_str).collect::<Vec<_>>())),
        ([_], None) => Ok((0, word)),
        ([first, ..], None) => Err(format!("several kernels run; name the kernel, as in {first}/{word}")),
        ([], None) => Err("no kernel runs".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_kernel_and_buffer() {
        let labels = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let two = labels(&["mm:64,seed=3", "fwt", "fwt#2"]);
        assert_eq!(split("mm:64,seed=3/c=a/b.bin", &two), Ok((0, "c=a/b.bin")));
        assert_eq!(split("fwt#2/data=out.bin", &two), Ok((2, "data=out.bin")));
        assert_eq!(split("y=a/b=c.bin", &labels(&["saxpy"])), Ok((0, "y=a/b=c.bin")));
        assert_eq!(split("y=y.bin", &two), Err("several kernels run; name the kernel, as in mm:64,seed=3/y=y.bin".into()));
        assert_eq!(split("ftw/y=y.bin", &two), Err("unknown kernel `ftw`; did you mean `fwt`? known: mm:64,seed=3, fwt, fwt#2".into()));
    }
}
