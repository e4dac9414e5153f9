//! Traces as kernels: the launches of an Accel-Sim kernel list or of a converted trace file, or one
//! of them.
//!
//! Grammar: `PATH[#LAUNCH]`. The path is that of a list (`*.g`) or of a trace file (`*.mtrace`, or
//! any file with its signature). A launch is its number from 1 or the name of its kernel, as
//! recorded or as in C++.
//!
//! Several launches form one kernel that is launched several times, in list order, whatever their
//! recorded streams. Each launch arrives when its predecessor has completed; in a window, the first
//! follows the last. The firmware sees every launch.

use super::request::RequestError;
use super::workload::{Known, TraceReadError, Workload, copies, read_trace};
use mias_ptx::names;
use mias_trace::accelsim::{self, List, Warnings};
use mias_trace::trace_file;
use mias_warp_trace::KernelInfo;
use mias_workloads::kernels::{self, Spec};
use mias_workloads::trace_store::Cache;
use std::path::{Path, PathBuf};

/// File name extensions of traces.
const ENDS: [&str; 2] = [".g", ".mtrace"];

/// File name extensions of the files in a kernel list.
const PARTS: [&str; 2] = [".traceg", ".traceg.xz"];

/// Name of a list by Accel-Sim's tracer.
pub const LIST: &str = "kernelslist.g";

/// Maximum number of launches in a message (assumption: `mias kernels` lists more).
const MOST_SHOWN: usize = 20;

/// Trace by its word on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceName {
    typed: String,
    path: PathBuf,
    launch: Option<String>,
}

/// File of launches, as far as it has been read.
enum Opened {
    /// Kernel list, without its files.
    List(List),
    /// Complete trace file.
    File(Vec<Known>),
}

impl TraceName {
    /// Parses a word; `None` if it names no trace. The file need not exist.
    ///
    /// # Errors
    /// [`RequestError`] for a file that belongs to a list, and for a `#` without a launch.
    pub fn parse(word: &str) -> Result<Option<Self>, RequestError> {
        let Some((path, launch)) = Self::split(word) else {
            let part = word.split('#').next().unwrap_or(word);
            let list = Path::new(part).join(LIST);
            if list.is_file() {
                return Err(RequestError(format!("`{word}` is a folder; name the kernel list in it, {}", list.display())));
            }
            return match PARTS.iter().any(|end| part.ends_with(end)) {
                true => Err(RequestError(format!(
                    "`{word}` is one file of a trace; name the kernel list that it belongs to, as in {}",
                    list_of(part)
                ))),
                false => Ok(None),
            };
        };
        if launch.is_some_and(str::is_empty) {
            return Err(RequestError(format!("`{word}` names no launch: # is followed by its number from 1, or its kernel's name")));
        }
        Ok(Some(TraceName { typed: word.to_owned(), path: path.into(), launch: launch.map(str::to_owned) }))
    }

    /// Splits a word that names a trace into path and launch.
    pub fn split(word: &str) -> Option<(&str, Option<&str>)> {
        let kernel = word.split(':').next().unwrap_or(word);
        if Spec::file(word).is_some() || kernels::names().any(|known| known == kernel) {
            return None;
        }
        if is_trace(word) {
            return Some((word, None));
        }
        let (path, launch) = word.rsplit_once('#')?;
        is_trace(path).then_some((path, Some(launch)))
    }

    /// Returns the same trace, read from `path`.
    #[must_use]
    pub fn at(self, path: PathBuf) -> Self {
        TraceName { path, ..self }
    }

    /// Returns the word as the user typed it.
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// Returns the named launches, each as a trace of its own with its header: one, or all of a
    /// list.
    ///
    /// # Errors
    /// [`RequestError`] about the file or the requested launch.
    pub fn launches(&self) -> Result<Vec<(TraceName, KernelInfo)>, RequestError> {
        let opened = self.open(&mut Warnings::new())?;
        let all = 1..=opened.count();
        let alone = opened.count() == 1;
        let numbers = match &self.launch {
            None => all.collect(),
            Some(launch) => vec![self.number(launch, &opened)?],
        };
        let one = |number: usize| {
            let named = self.launch.is_some() || alone;
            let typed = if named { self.typed.clone() } else { format!("{}#{number}", self.typed) };
            let launch = Some(number.to_string());
            Ok((TraceName { typed, launch, path: self.path.clone() }, opened.info(number)?))
        };
        numbers.into_iter().map(one).collect()
    }

    /// Reads the trace, or takes it from `cache`. Unsupported records are counted in `warnings`.
    ///
    /// # Errors
    /// As [`TraceName::launches`].
    pub fn read(&self, cache: &Cache, warnings: &mut Warnings) -> Result<Workload, RequestError> {
        let opened = self.open(warnings)?;
        let numbers = match &self.launch {
            Some(launch) => vec![self.number(launch, &opened)?],
            None => (1..=opened.count()).collect(),
        };
        let copies = match &opened {
            Opened::List(list) => numbers.last().map(|&last| copies(list, last)),
            Opened::File(_) => None,
        };
        let launches = numbers.into_iter().map(|number| opened.launch(number, cache, warnings)).collect::<Result<Vec<_>, _>>()?;
        let workload =
            Workload::in_turn(&self.typed, launches).ok_or_else(|| RequestError(format!("{} has no launch", self.path.display())))?;
        Ok(Workload { is_trace: true, copies, ..workload })
    }

    fn open(&self, warnings: &mut Warnings) -> Result<Opened, RequestError> {
        // The next attempt to open the file reports its error.
        if trace_file::is_trace_file(&self.path).unwrap_or(false) {
            let recorded = read_trace(&self.path, &Cache::off(), warnings)?;
            let known = |Workload { trace, hash, span, .. }| Known { trace, hash, span };
            return Ok(Opened::File(recorded.workloads.into_iter().map(known).collect()));
        }
        Ok(Opened::List(accelsim::read_list(&self.path).map_err(TraceReadError::from)?))
    }

    /// Returns the number of a launch given by number or name.
    fn number(&self, launch: &str, opened: &Opened) -> Result<usize, RequestError> {
        let (path, count) = (self.path.display(), opened.count());
        if launch.bytes().all(|byte| byte.is_ascii_digit()) {
            return match launch.parse() {
                Ok(number) if (1..=count).contains(&number) => Ok(number),
                _ => Err(RequestError(format!("{path} has no launch #{launch}: {}", known(count)))),
            };
        }
        let names: Vec<String> = (1..=count).map(|number| Ok(opened.info(number)?.name)).collect::<Result<_, RequestError>>()?;
        let mut kernels: Vec<&str> = names.iter().map(String::as_str).collect();
        kernels.sort_unstable();
        kernels.dedup();
        let matching = names::matching(launch, kernels.iter().copied());
        let numbers: Vec<usize> = (1..=count).filter(|number| matching.contains(&names[number - 1].as_str())).collect();
        let shown = |numbers: &[usize]| -> String {
            let one = |&number: &usize| format!("#{number} {}", names::shown(&names[number - 1]));
            let more = if numbers.len() > MOST_SHOWN { format!(" and {} more", numbers.len() - MOST_SHOWN) } else { String::new() };
            numbers.iter().take(MOST_SHOWN).map(one).collect::<Vec<_>>().join(", ") + &more
        };
        match numbers.as_slice() {
            [number] => Ok(*number),
            [] => {
                let all: Vec<usize> = (1..=count).collect();
                Err(RequestError(format!("{path} has no launch of a kernel `{launch}`; it has {}", shown(&all))))
            }
            several => {
                Err(RequestError(format!("`{launch}` is ambiguous in {path}; use the number of one of these launches: {}", shown(several))))
            }
        }
    }
}

impl Opened {
    fn count(&self) -> usize {
        match self {
            Opened::List(list) => list.kernels().count(),
            Opened::File(launches) => launches.len(),
        }
    }

    /// Reads the header of a launch.
    fn info(&self, number: usize) -> Result<KernelInfo, RequestError> {
        match self {
            Opened::List(list) => Ok(accelsim::read_info(path_of(list, number)).map_err(TraceReadError::from)?),
            Opened::File(launches) => Ok(launches[number - 1].trace.info().clone()),
        }
    }

    fn launch(&self, number: usize, cache: &Cache, warnings: &mut Warnings) -> Result<Known, RequestError> {
        match self {
            Opened::List(list) => {
                let launch = cache.listed(path_of(list, number), rayon::current_num_threads()).map_err(TraceReadError::from)?;
                warnings.add(&launch.warnings);
                Ok(launch.into())
            }
            Opened::File(launches) => Ok(launches[number - 1].clone()),
        }
    }
}

fn path_of(list: &List, number: usize) -> &Path {
    list.kernels().nth(number - 1).unwrap_or(Path::new(""))
}

/// Returns the label of the `number`-th launch of a name: `fwt`, then `fwt#2`. For a whole trace it
/// is `a.g##2`, since `a.g#2` is its second launch.
pub fn label(name: &str, number: usize) -> String {
    match (number, TraceName::split(name)) {
        (1, _) => name.to_owned(),
        (_, Some((_, None))) => format!("{name}##{number}"),
        _ => format!("{name}#{number}"),
    }
}

/// Returns the name in a [`label`] of a launch.
pub fn name_of(label: &str) -> &str {
    match label.rsplit_once('#') {
        None => label,
        Some((name, _)) => match name.strip_suffix('#') {
            Some(whole_trace) => whole_trace,
            None if is_trace(name) => label,
            None => name,
        },
    }
}

/// Describes the valid launches of a trace with `count` of them.
fn known(count: usize) -> String {
    if count == 1 { "it has one, #1".into() } else { format!("it has #1 to #{count}") }
}

/// Returns whether a path is that of a trace: by its extension, or by the file's signature.
fn is_trace(path: &str) -> bool {
    ENDS.iter().any(|end| path.strip_suffix(end).is_some_and(|stem| !stem.is_empty() && !stem.ends_with('/')))
        || (!path.ends_with(".toml") && trace_file::is_trace_file(Path::new(path)).unwrap_or(false))
}

/// Returns the path of the list next to one of its files.
fn list_of(part: &str) -> String {
    Path::new(part).with_file_name(LIST).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(word: &str) -> Option<(&str, Option<&str>)> {
        TraceName::split(word)
    }

    #[test]
    fn traces_are_told_from_kernels() {
        assert_eq!(split("a/kernelslist.g"), Some(("a/kernelslist.g", None)));
        assert_eq!(split("a/kernelslist.g#3"), Some(("a/kernelslist.g", Some("3"))));
        assert_eq!(split("b#2/x.mtrace#add<int>"), Some(("b#2/x.mtrace", Some("add<int>"))));
        assert_eq!(split("b.mtrace#outer::add(int)"), Some(("b.mtrace", Some("outer::add(int)"))));
        for kernel in ["mm", "mm:64", "bfs:graph=road.g", "saxpy.toml:graph=a.g", "saxpy.toml", ".g", "a/.g", "fwt#2", "nothing"] {
            assert_eq!(split(kernel), None, "{kernel}");
        }
    }

    #[test]
    fn what_runs_twice_is_numbered_and_stays_apart_from_launches() {
        let twice = ["fwt", "mm:64", "a.g", "a.g#2"].map(|name| (label(name, 1), label(name, 2)));
        let expected = [("fwt", "fwt#2"), ("mm:64", "mm:64#2"), ("a.g", "a.g##2"), ("a.g#2", "a.g#2#2")];
        assert_eq!(twice, expected.map(|(first, second)| (first.to_owned(), second.to_owned())));
        for (name, (first, second)) in ["fwt", "mm:64", "a.g", "a.g#2"].into_iter().zip(&twice) {
            assert_eq!((name_of(first), name_of(second)), (name, name));
        }
        assert_eq!(name_of("a.mtrace#add"), "a.mtrace#add");
    }

    #[test]
    fn what_names_no_launch_is_refused() {
        let refused = |word: &str| TraceName::parse(word).unwrap_err().to_string();
        assert_eq!(refused("a.g#"), "`a.g#` names no launch: # is followed by its number from 1, or its kernel's name");
        let part = "`t/kernel-1.traceg.xz` is one file of a trace; name the kernel list that it belongs to, as in t/kernelslist.g";
        assert_eq!(refused("t/kernel-1.traceg.xz"), part);
    }
}
