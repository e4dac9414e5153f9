//! Command line of `mias-gpu`.

use clap::{Args, Parser, Subcommand};
use mias_gpu::agreement::Agreement;
use mias_gpu::device::Loaded;
use mias_gpu::driver::{Event, Gpu};
use mias_gpu::fit::Which;
use mias_gpu::kernel::Kernel;
use mias_gpu::measure::{Series, Wanted};
use mias_gpu::order::Order;
use mias_gpu::run::Runner;
use mias_gpu::table::Table;
use mias_gpu::{check, compare, fit, sets, share, splits, verify};
use mias_workloads::kernels::Spec;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Kernels of the library on a real GPU, alone and next to each other. Kernels are named as `mias
/// run` does (`mm`, `bopt:480,steps=512`); `seven` are those of the thesis, `zhao` those of Zhao et
/// al. 2018, `all` the library.
#[derive(Parser)]
#[command(name = "mias-gpu")]
struct Line {
    /// Takes `NAME_slot.cubin` from this folder, where it is, instead of letting the driver
    /// assemble the PTX
    #[arg(long, global = true, value_name = "FOLDER")]
    cubins: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Makes the slot form of kernels; needs no GPU
    Check {
        /// Kernels
        #[arg(default_value = "all")]
        kernels: Vec<String>,
        /// Writes each module to `NAME_slot.ptx` in this folder
        #[arg(long, value_name = "FOLDER")]
        emit: Option<PathBuf>,
    },
    /// Prints the measurements, and their comparison with the model, as tables; needs no GPU
    Compare {
        /// A campaign: a file of measured/, or a folder with alone.csv, pairs.csv and triples.csv
        measured: PathBuf,
        /// Folder that `mias evaluate hardware/model.toml` wrote
        results: Option<PathBuf>,
    },
    /// Compares the GPU's results with the host's, and the slot form's with the original's
    Verify {
        /// Kernels
        #[arg(required = true)]
        kernels: Vec<String>,
    },
    /// Measures kernels alone, with every number of TBs per SM
    Alone {
        /// Kernels
        #[arg(required = true)]
        kernels: Vec<String>,
        #[command(flatten)]
        measuring: Measuring,
    },
    /// Measures sets of kernels (`mm+fwt`) in every configuration of TBs per SM
    Mixes {
        /// Sets, or kernels with --all-pairs, --all-triples or --all-quadruples
        #[arg(required = true)]
        sets: Vec<String>,
        /// All pairs of the kernels
        #[arg(long)]
        all_pairs: bool,
        /// All triples of the kernels
        #[arg(long)]
        all_triples: bool,
        /// All quadruples of the kernels
        #[arg(long)]
        all_quadruples: bool,
        /// Only configurations to which no TB can be added
        #[arg(long, conflicts_with = "nearly_maximal")]
        maximal: bool,
        /// Only configurations in which at most one kernel can have another TB, and one TB of each
        #[arg(long)]
        nearly_maximal: bool,
        /// Launch order of the kernels of a set
        #[arg(long, value_enum, default_value_t)]
        order: Order,
        #[command(flatten)]
        measuring: Measuring,
    },
    /// Measures kernels on SMs of their own: alone on 1 to 12 twelfths of them, and pairs in every
    /// split
    Splits {
        /// Kernels, for all pairs of them, and pairs (`mm+fwt`)
        #[arg(required = true)]
        words: Vec<String>,
        #[command(flatten)]
        measuring: Measuring,
    },
}

#[derive(Args)]
struct Measuring {
    /// Number of repetitions of every measurement
    #[arg(long, default_value_t = 1)]
    repeat: u32,
    /// Shortest window in microseconds at the highest clock
    #[arg(long, default_value_t = 20_000)]
    window_us: u64,
    /// Writes the table there; otherwise to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Starts no run after this many seconds; the end of the table lists the missing ones
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Prints the runs without measuring them; needs no GPU
    #[arg(long)]
    dry_run: bool,
}

/// Kind of failure: a usage error, or an error of the GPU.
enum Failure {
    Usage(String),
    Gpu(String),
}

fn main() -> ExitCode {
    let line = Line::parse();
    let cubins = line.cubins.as_deref();
    let result = match line.command {
        Command::Check { kernels, emit } => check::report(&sets::expanded(&kernels), emit.as_deref()).map_err(Failure::Usage).map(|text| {
            print!("{text}");
            true
        }),
        Command::Compare { measured, results } => compare::report(&measured, results.as_deref()).map_err(Failure::Usage).map(|text| {
            print!("{text}");
            true
        }),
        Command::Verify { kernels } => verify(&sets::expanded(&kernels), cubins),
        Command::Alone { kernels, measuring } => alone(&sets::expanded(&kernels), cubins, &measuring).map(|()| true),
        Command::Mixes { sets, all_pairs, all_triples, all_quadruples, maximal, nearly_maximal, order, measuring } => {
            let which = match (maximal, nearly_maximal) {
                (true, _) => Which::Maximal,
                (false, true) => Which::Nearly,
                (false, false) => Which::All,
            };
            let wanted = wanted_sets(&sets, [(all_pairs, 2), (all_triples, 3), (all_quadruples, 4)]);
            wanted.and_then(|sets| mixes(&sets, which, order, cubins, &measuring)).map(|()| true)
        }
        Command::Splits { words, measuring } => sets::pairs(&words)
            .map_err(Failure::Usage)
            .and_then(|(kernels, pairs)| split(&kernels, &pairs, cubins, &measuring))
            .map(|()| true),
    };
    let (message, code) = match result {
        Ok(true) => return ExitCode::SUCCESS,
        Ok(false) => return ExitCode::FAILURE,
        Err(Failure::Usage(message)) => (message, 2),
        Err(Failure::Gpu(message)) => (message, 1),
    };
    eprintln!("mias-gpu: {message}");
    ExitCode::from(code)
}

/// Checks that all of these words name kernels.
fn known(words: &[String]) -> Result<(), Failure> {
    words.iter().try_for_each(|word| Spec::parse(word).map(|_| ())).map_err(|error| Failure::Usage(error.to_string()))
}

/// Prepares kernels and loads them on the GPU. Of several, those without a slot form or space on
/// the GPU are left out, with a line that gives the reason. A word that names no kernel is an
/// error.
fn load(words: &[String], cubins: Option<&Path>) -> Result<Vec<Loaded>, Failure> {
    let mut loaded = Vec::new();
    known(words)?;
    for kernel in Kernel::each(words) {
        let found = kernel.map_err(Failure::Usage).and_then(|kernel| Loaded::new(kernel, cubins).map_err(Failure::Gpu));
        match found {
            Ok(kernel) => loaded.push(kernel),
            Err(Failure::Usage(why) | Failure::Gpu(why)) if words.len() > 1 => eprintln!("left out: {why}"),
            Err(failure) => return Err(failure),
        }
    }
    Ok(loaded)
}

fn verify(words: &[String], cubins: Option<&Path>) -> Result<bool, Failure> {
    let gpu = Gpu::open().map_err(Failure::Gpu)?;
    println!("{}", head(&gpu));
    let runner = Runner::new(&gpu).map_err(Failure::Gpu)?;
    let kernels = load(words, cubins)?;
    let events = [Event::new().map_err(Failure::Gpu)?, Event::new().map_err(Failure::Gpu)?];
    let mut all = true;
    for kernel in &kernels {
        let verdict =
            verify::compare(&runner, kernel, &events).map_err(|error| Failure::Gpu(format!("`{}`: {error}", kernel.kernel.word)))?;
        println!("{}{}", if verdict.agrees { "" } else { "WRONG " }, verdict.line);
        all &= verdict.agrees;
    }
    let kernels: Vec<&Kernel> = kernels.iter().map(|kernel| &kernel.kernel).collect();
    for verdict in verify::references(&kernels) {
        println!("{}{}", if verdict.agrees { "" } else { "WRONG " }, verdict.line);
        all &= verdict.agrees;
    }
    Ok(all)
}

/// Opens the table and lets the clocks settle; returns the series, and the highest number of an SM.
fn begin<'g>(
    runner: &'g Runner<'g>,
    kernels: &[Loaded],
    order: Order,
    deadline: Option<Instant>,
    measuring: &Measuring,
) -> Result<(Series<'g>, u32), Failure> {
    let mut table = Table::new(measuring.out.as_deref()).map_err(Failure::Usage)?;
    let words: Vec<String> = std::env::args().collect();
    table.remark(&format!("{}\n{}", head(runner.gpu), words.join(" "))).map_err(Failure::Usage)?;
    for kernel in kernels {
        let [slot_local, local] = kernel.local;
        let line = format!(
            "{}: {} threads, registers {} (original {}), local bytes {slot_local} (original {local}), shared {} bytes, {} TBs in the grid",
            kernel.kernel.word,
            kernel.need.threads,
            kernel.need.registers,
            kernel.registers,
            kernel.need.shared,
            kernel.kernel.tbs()
        );
        table.remark(&line).map_err(Failure::Usage)?;
    }
    table.remark(&format!("order of launches: {}", order.sentence())).map_err(Failure::Usage)?;
    table.head().map_err(Failure::Usage)?;
    let series = Series {
        runner,
        table,
        window_us: measuring.window_us.max(1),
        order,
        deadline,
        agreement: Agreement::default(),
        missing: BTreeMap::new(),
        helped: BTreeMap::new(),
    };
    let highest = kernels.first().map_or(Ok(0), |first| series.settle(first)).map_err(Failure::Gpu)?;
    Ok((series, highest))
}

impl Measuring {
    /// Returns the time after which no run starts, from now.
    fn deadline(&self) -> Option<Instant> {
        self.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds))
    }
}

fn alone(words: &[String], cubins: Option<&Path>, measuring: &Measuring) -> Result<(), Failure> {
    let deadline = measuring.deadline();
    if measuring.dry_run {
        known(words)?;
        return listed(words.iter().map(|word| format!("{word}: every number of TBs per SM")));
    }
    let gpu = Gpu::open().map_err(Failure::Gpu)?;
    let runner = Runner::new(&gpu).map_err(Failure::Gpu)?;
    let kernels = load(words, cubins)?;
    let (mut series, _) = begin(&runner, &kernels, Order::default(), deadline, measuring)?;
    let mut measure = || -> Result<(), String> {
        for kernel in &kernels {
            series.native(kernel)?;
        }
        for repeat in 0..measuring.repeat {
            for kernel in &kernels {
                let tb_cycles = match series.full_tb_cycles(kernel) {
                    Ok(cycles) => cycles,
                    Err(why) => {
                        series.table.remark(&format!("left out: {why}"))?;
                        continue;
                    }
                };
                for counts in fit::configurations(&[kernel.need], Which::All) {
                    series.measure(&Wanted { kernels: vec![kernel], counts, share: None, tb_cycles, repeat })?;
                }
            }
        }
        series.end()
    };
    measure().map_err(Failure::Gpu)
}

/// Measures curves and splits of kernels on SMs of their own. Kernels are launched in the written
/// order of pairs.
fn split(words: &[String], pairs: &[[String; 2]], cubins: Option<&Path>, measuring: &Measuring) -> Result<(), Failure> {
    let deadline = measuring.deadline();
    if measuring.dry_run {
        known(words)?;
        let curves = words.iter().map(|word| format!("{word}: {} shares of SMs", share::PARTS));
        return listed(curves.chain(pairs.iter().map(|pair| format!("{}: {} splits", pair.join("+"), share::splits().len()))));
    }
    let gpu = Gpu::open().map_err(Failure::Gpu)?;
    let runner = Runner::new(&gpu).map_err(Failure::Gpu)?;
    let kernels = load(words, cubins)?;
    let (mut series, highest) = begin(&runner, &kernels, Order::Written, deadline, measuring)?;
    splits::measure(&mut series, &kernels, pairs, highest, measuring.repeat).and_then(|()| series.end()).map_err(Failure::Gpu)
}

/// Returns the sets that a command line requests.
fn wanted_sets(words: &[String], sizes: [(bool, usize); 3]) -> Result<Vec<Vec<String>>, Failure> {
    if sizes.iter().any(|(wanted, _)| *wanted) {
        let words = sets::expanded(words);
        let sizes = sizes.into_iter().filter(|(wanted, _)| *wanted);
        Ok(sizes.flat_map(|(_, size)| sets::subsets(&words, size)).collect())
    } else {
        words.iter().map(|text| sets::parse(text)).collect::<Result<_, _>>().map_err(Failure::Usage)
    }
}

/// Prints the runs without measuring them.
fn listed(lines: impl Iterator<Item = String>) -> Result<(), Failure> {
    lines.for_each(|line| println!("{line}"));
    Ok(())
}

fn mixes(wanted: &[Vec<String>], which: Which, order: Order, cubins: Option<&Path>, measuring: &Measuring) -> Result<(), Failure> {
    let deadline = measuring.deadline();
    if measuring.dry_run {
        known(&wanted.concat())?;
        return listed(wanted.iter().map(|set| format!("{}: {}; {}", set.join("+"), which.words(), order.sentence())));
    }
    let gpu = Gpu::open().map_err(Failure::Gpu)?;
    let runner = Runner::new(&gpu).map_err(Failure::Gpu)?;
    let kernels = load(&sets::expanded(&wanted.concat()), cubins)?;
    let (mut series, _) = begin(&runner, &kernels, order, deadline, measuring)?;
    let mut measure = || -> Result<(), String> {
        let tb_cycles = kernels.iter().map(|kernel| series.full_tb_cycles(kernel)).collect::<Result<Vec<u64>, _>>()?;
        let find = |word: &String| kernels.iter().position(|kernel| kernel.kernel.word == *word);
        for repeat in 0..measuring.repeat {
            for set in wanted {
                let Some(places) = set.iter().map(find).collect::<Option<Vec<usize>>>() else {
                    series.table.remark(&format!("left out: {}", set.join("+")))?;
                    continue;
                };
                let together: Vec<&Loaded> = places.iter().map(|&place| &kernels[place]).collect();
                let needs: Vec<fit::Need> = together.iter().map(|kernel| kernel.need).collect();
                let longest = places.iter().map(|&place| tb_cycles[place]).max().unwrap_or(0);
                for counts in fit::configurations(&needs, which) {
                    series.measure(&Wanted { kernels: together.clone(), counts, share: None, tb_cycles: longest, repeat })?;
                }
            }
        }
        series.end()
    };
    measure().map_err(Failure::Gpu)
}

/// Describes the machine.
fn head(gpu: &Gpu) -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let version = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
    let [major, minor] = gpu.capability;
    format!(
        "{}, compute capability {major}.{minor}, {} SMs at up to {} kHz, memory at up to {} kHz, L2 {} bytes; driver API {}; {}; {seconds} s after \
         1970",
        gpu.name,
        gpu.sms,
        gpu.clock_khz,
        gpu.memory_khz,
        gpu.l2_bytes,
        gpu.driver,
        version.lines().next().unwrap_or("driver version unknown"),
    )
}
