//! Arrival cycles and latency limits of kernels: `KERNEL@CYCLE`, optionally followed by
//! `,priority=N` and `,limit=TIME`.

use super::CliError;
use mias_hw_model::config::GpuConfig;
use mias_lab::experiment::gpu_runner::End;
use mias_lab::experiment::parameters::Parameters;
use mias_lab::experiment::placement_latency;
use mias_lab::experiment::time::Time;
use mias_lab::experiment::workload::LATEST_ARRIVAL;
use mias_workloads::input::suggest;
use std::collections::BTreeMap;

/// Values of `--arrive`, parameters of the last kernel, and the GPU that defines the clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrive<'a> {
    pub(super) words: &'a [String],
    pub(super) parameters: &'a Parameters,
    pub(super) gpu: &'a GpuConfig,
}

/// Arrival of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arrival {
    /// Arrival in core cycles.
    pub(super) cycle: u64,
    /// Priority; 0 is the lowest.
    pub(super) priority: u8,
    /// Latency limit in core cycles; 0 means none.
    pub(super) latency_limit: u32,
}

/// Finds the one of `names` that equals `name` or is a path that ends with it.
fn known<'a>(name: &str, names: &[&'a str]) -> Result<&'a str, String> {
    if let Some(whole) = names.iter().find(|&&whole| whole == name) {
        return Ok(whole);
    }
    let ends = |whole: &&&str| whole.strip_suffix(name).is_some_and(|folders| folders.ends_with('/'));
    match names.iter().filter(ends).collect::<Vec<_>>()[..] {
        [] => Err(suggest::unknown("kernel", name, names)),
        [one] => Ok(one),
        [one, another, ..] => Err(format!("`{name}` matches `{one}` and `{another}`; use more of the path")),
    }
}

impl Arrive<'_> {
    /// Parses the values of `--arrive`. Each kernel must be one of `names`, or the end of a path in
    /// them.
    pub(super) fn of<'n>(&self, names: &'n [String]) -> Result<BTreeMap<&'n str, Arrival>, CliError> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut arrivals = BTreeMap::new();
        if let (Some(last), Some(arrival)) = (names.last(), self.last()?) {
            arrivals.insert(*last, arrival);
        }
        for word in self.words {
            let (name, arrival) = self.one(word, &names).map_err(|why| CliError::User(format!("--arrive `{word}`: {why}")))?;
            if arrivals.insert(name, arrival).is_some() {
                return Err(CliError::User(format!("duplicate arrival of kernel `{name}`")));
            }
        }
        Ok(arrivals)
    }

    /// Returns the arrival of the last kernel as the parameters set it; `None` if they do not.
    fn last(&self) -> Result<Option<Arrival>, CliError> {
        let Parameters { arrive: cycle, priority, limit, .. } = *self.parameters;
        let fail = |why: String| CliError::User(format!("limit: {why}"));
        let latency_limit = limit.map_or(Ok(0), |limit| limit.limit_cycles(self.gpu)).map_err(fail)?;
        let arrival = Arrival { cycle, priority, latency_limit };
        self.check(arrival).map_err(|why| CliError::User(format!("arrive: {why}")))?;
        Ok((arrival != Arrival::default()).then_some(arrival))
    }

    fn one<'n>(&self, word: &str, names: &[&'n str]) -> Result<(&'n str, Arrival), String> {
        let malformed = || format!("expected KERNEL@CYCLE, for example {}@100000", names[0]);
        let (name, rest) = word.rsplit_once('@').ok_or_else(malformed)?;
        let name = known(name, names)?;
        let mut parts = rest.split(',');
        let cycle: Time = parts.next().unwrap_or_default().parse().map_err(|_| malformed())?;
        let mut arrival = Arrival { cycle: cycle.cycles(self.gpu), ..Arrival::default() };
        let mut seen: Vec<&str> = Vec::new();
        for part in parts {
            let (key, value) =
                part.split_once('=').ok_or_else(|| format!("`{part}`: expected priority=N or limit=TIME, as in priority=1,limit=5us"))?;
            if seen.contains(&key) {
                return Err(format!("duplicate {key}"));
            }
            seen.push(key);
            match key {
                "priority" => {
                    arrival.priority =
                        value.parse().map_err(|_| format!("priority {value}: a launch has priority 0 to 255, 0 the lowest"))?;
                }
                "limit" => {
                    let limit: Time = value.parse().map_err(|why| format!("limit: {why}"))?;
                    arrival.latency_limit = limit.limit_cycles(self.gpu).map_err(|why| format!("limit: {why}"))?;
                }
                _ => return Err(suggest::unknown("property", key, &["priority", "limit"])),
            }
        }
        self.check(arrival)?;
        Ok((name, arrival))
    }

    /// Refuses an arrival beyond the end of the run.
    fn check(&self, Arrival { cycle, latency_limit, .. }: Arrival) -> Result<(), String> {
        if cycle > LATEST_ARRIVAL {
            return Err(format!("the latest cycle is {LATEST_ARRIVAL}"));
        }
        if let End::Cycles(window) = self.parameters.options.end
            && cycle >= window
        {
            return Err(format!("the window ends at cycle {window}; increase --cycles"));
        }
        placement_latency::check_limit(latency_limit, cycle, self.gpu, self.parameters.options).map_err(|why| format!("limit: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_lab::experiment::policy::Transition;

    fn gpu() -> GpuConfig {
        mias_lab::gpus::load("rtx2060").expect("built in")
    }

    fn parameters() -> Parameters {
        Parameters::new(End::Cycles(300_000))
    }

    /// At 1,680 MHz a microsecond is 1,680 cycles.
    #[test]
    fn priorities_and_limits_are_read() {
        let (names, mut gpu) = (["mm".to_owned(), "fwt:9,x=1".to_owned()], gpu());
        gpu.clocks.core_khz = 1_680_000;
        let of = |word: &str| {
            let words = [word.to_owned()];
            let found = Arrive { words: &words, parameters: &parameters(), gpu: &gpu }.of(&names).map_err(|error| error.to_string())?;
            Ok::<_, String>(found.into_iter().map(|(name, arrival)| (name.to_owned(), arrival)).collect::<Vec<_>>())
        };
        let arrival = |cycle, priority, latency_limit| Arrival { cycle, priority, latency_limit };
        assert_eq!(of("mm@100us,priority=255,limit=5us"), Ok(vec![("mm".into(), arrival(168_000, 255, 8_400))]));
        assert_eq!(of("fwt:9,x=1@7,limit=9_000"), Ok(vec![("fwt:9,x=1".into(), arrival(7, 0, 9_000))]));
        for (word, part) in [
            ("mm@1,priority=256", "--arrive `mm@1,priority=256`: priority 256: a launch has priority 0 to 255"),
            ("mm@1,priority=-1", "priority -1: a launch has priority 0 to 255"),
            ("mm@1,limit=0", "limit: 0 is less than one cycle"),
            ("mm@1,limit=5s", "limit: `5s` is not a time"),
            ("mm@1,limit=1ms", "limit: the limit ends at cycle"),
            ("mm@1,prio=1", "unknown property `prio`"),
            ("mm@1,limit", "`limit`: expected priority=N or limit=TIME, as in priority=1,limit=5us"),
            ("mm@1,limit=1,limit=2", "duplicate limit"),
        ] {
            let said = of(word).expect_err(word);
            assert!(said.contains(part), "{said}");
        }
        let words = ["mm@1,limit=5us".to_owned()];
        let mut ideal = parameters();
        ideal.options.transition = Transition::Ideal;
        let said =
            Arrive { words: &words, parameters: &ideal, gpu: &gpu }.of(&names).expect_err("an ideal transition takes no time").to_string();
        assert!(said.contains("on an ideal transition, which takes no time"), "{said}");
    }

    #[test]
    fn arrivals_are_checked() {
        let names = ["mm".to_owned(), "fwt".to_owned()];
        let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let parse = |list: &[&str]| {
            Arrive { words: &words(list), parameters: &parameters(), gpu: &gpu() }
                .of(&names)
                .map(|a| a.values().map(|arrival| arrival.cycle).collect::<Vec<_>>())
        };
        assert_eq!(parse(&["fwt@100_000"]).unwrap(), [100_000]);
        let paths = words(&["a/mm/kernelslist.g", "b/mm/kernelslist.g", "b/fwt.mtrace"]);
        let parse_paths = |word: &str| {
            let arrive = [word.to_owned()];
            Arrive { words: &arrive, parameters: &Parameters::new(End::Done), gpu: &gpu() }
                .of(&paths)
                .map(|a| a.keys().map(|&name| name.to_owned()).collect::<Vec<_>>())
                .map_err(|e| e.to_string())
        };
        assert_eq!(parse_paths("fwt.mtrace@7").unwrap(), ["b/fwt.mtrace"]);
        assert_eq!(parse_paths("b/mm/kernelslist.g@7").unwrap(), ["b/mm/kernelslist.g"]);
        assert!(parse_paths("mm/kernelslist.g@7").unwrap_err().contains("matches `a/mm/kernelslist.g` and `b/mm/kernelslist.g`"));
        assert!(parse_paths("t.mtrace@7").unwrap_err().contains("unknown kernel"));
        for (word, part) in [
            ("fwt", "--arrive `fwt`: expected KERNEL@CYCLE, for example mm@100000"),
            ("fwt@-1", "expected KERNEL@CYCLE"),
            ("fwt@300000", "the window ends at cycle 300000"),
            ("fwt@1000000001", "the latest cycle is 1000000000"),
            ("mm#2@5", "unknown kernel `mm#2`"),
            ("ftw@1", "--arrive `ftw@1`: unknown kernel `ftw`; did you mean `fwt`?"),
        ] {
            let message = parse(&[word]).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
        assert!(parse(&["mm@1", "mm@2"]).unwrap_err().to_string().contains("duplicate arrival"));
    }

    /// As in a plan, the parameters apply to the last kernel.
    #[test]
    fn parameters_say_when_the_last_kernel_arrives() {
        let names = ["mm".to_owned(), "fwt".to_owned()];
        let (mut later, gpu) = (parameters(), gpu());
        (later.arrive, later.priority) = (5_000, 2);
        let arrival = Arrival { cycle: 5_000, priority: 2, latency_limit: 0 };
        let found = Arrive { words: &[], parameters: &later, gpu: &gpu }.of(&names).expect("sound");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("fwt", arrival)]);
        later.arrive = 300_000;
        let said = Arrive { words: &[], parameters: &later, gpu: &gpu }.of(&names).expect_err("too late").to_string();
        assert!(said.contains("arrive: the window ends at cycle 300000"), "{said}");
    }
}
