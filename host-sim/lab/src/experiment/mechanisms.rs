//! Mechanisms: restrictions on kernels that share SMs, in addition to the policy that places TBs
//! (Dai et al. 2018, section 4; sources.md D128). A composed policy has the name of its base and
//! its mechanisms, as in `warped-slicer+qbmi+dmil`.
//!
//! A mechanism is a set of fields of the GPU's file. Isolated runs use the unchanged GPU, so that
//! normalized IPCs have one base. A new mechanism is one new line in [`MECHANISMS`].

use super::gpu_runner::Outcome;
use super::policy::Policy;
use crate::gpus::fields::{Field, changed};
use mias_hw_model::config::GpuConfig;
use std::sync::Mutex;

/// Restriction on kernels that share SMs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanism {
    /// Name that users type after a plus.
    pub name: &'static str,
    /// Fields of the GPU's file, as TOML.
    fields: &'static str,
    /// Whether kernels have quotas of warp instructions, from their isolated runs.
    quotas: bool,
    /// Tint added to the color of its base: red, green, blue.
    tint: [u8; 3],
    /// One-line description without a full stop.
    pub help: &'static str,
}

const fn mechanism(name: &'static str, fields: &'static str, tint: [u8; 3], help: &'static str) -> Mechanism {
    Mechanism { name, fields, quotas: false, tint, help }
}

impl Mechanism {
    /// Returns whether this field, `KEY=VALUE`, is the only one that the mechanism sets.
    pub fn sets(&self, field: &str) -> bool {
        self.fields.replace([' ', '\''], "") == field
    }
}

/// All mechanisms, in the order of names and reports. Tints are hues around the circle.
pub static MECHANISMS: [Mechanism; 7] = [
    mechanism("l1-ucp", "l1.partition.by = 'ucp'", [0xFF, 0xFF, 0xFF], "Ways of the L1 by utility (UCP)"),
    mechanism(
        "equal-misses",
        "l1.miss_resources.by = 'equal'",
        [0xFF, 0xCC, 0x33],
        "Equal shares of the L1's MSHRs, miss queue and in-flight lines",
    ),
    mechanism("rbmi", "sm.memory_issue.order = 'round-robin'", [0x33, 0x66, 0xFF], "Kernels in turn at the memory pipeline (RBMI)"),
    mechanism("qbmi", "sm.memory_issue.order = 'quota'", [0xFF, 0x55, 0x22], "Quotas of memory instructions (QBMI)"),
    mechanism("dmil", "sm.memory_issue.in_flight = 'dynamic'", [0x22, 0xDD, 0x66], "Limits of memory instructions in flight (DMIL)"),
    mechanism(
        "global-dmil",
        "sm.memory_issue.in_flight = 'dynamic-global'",
        [0x11, 0x22, 0x77],
        "Limits of memory instructions in flight, set by one SM for all (global DMIL)",
    ),
    Mechanism {
        quotas: true,
        ..mechanism("warp-quota", "", [0xEE, 0x33, 0xCC], "Quotas of warp instructions from isolated runs (the W of SMK-(P+W))")
    },
];

/// Policy with mechanisms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Composed {
    /// Name that users type.
    pub name: &'static str,
    /// Policy that places TBs.
    pub base: Policy,
    /// Mechanisms as a bit set: a bit for each of [`MECHANISMS`].
    set: u32,
    /// Color in charts, in HTML notation; `None` if its base has none.
    pub color: Option<&'static str>,
    /// One-line description without a full stop.
    pub help: &'static str,
}

/// Composed policies named so far, each once, so that a policy can be `Copy`.
static NAMED: Mutex<Vec<&'static Composed>> = Mutex::new(Vec::new());

/// Core cycles in which a kernel alone issues its quota (assumption: Wang et al. 2016 do not state
/// it; sources.md D128).
const QUOTA_EPOCH_CYCLES: u128 = 10_000;

impl Composed {
    /// Combines `base` with the mechanisms of these names.
    ///
    /// # Errors
    /// An unknown or repeated name, or mechanisms that exclude each other.
    pub fn of(base: Policy, names: &[&str]) -> Result<&'static Composed, String> {
        if !base.decides() {
            return Err(format!("`{}` does not throttle kernels: leave `{}` out", base.name(), names.join("+")));
        }
        let mut set = 0;
        for name in names {
            let known: Vec<&str> = MECHANISMS.iter().map(|mechanism| mechanism.name).collect();
            let at = known.iter().position(|known| known == name);
            let bit = 1 << at.ok_or_else(|| mias_workloads::input::suggest::unknown("mechanism", name, &known))?;
            if set & bit != 0 {
                return Err(format!("`{name}` is given twice: leave one out"));
            }
            set |= bit;
        }
        let all = || MECHANISMS.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, mechanism)| mechanism);
        for one in all() {
            let sets = |other: &Mechanism| other.fields().into_iter().map(|field| field.path).collect::<Vec<_>>();
            let clash = all().find(|other| other.name > one.name && sets(other).iter().any(|path| sets(one).contains(path)));
            if let Some(other) = clash {
                return Err(format!("`{}` conflicts with `{}`: leave one out", one.name, other.name));
            }
        }
        let mut named = NAMED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(known) = named.iter().find(|known| known.base == base && known.set == set) {
            return Ok(known);
        }
        let name = all().fold(base.name().to_owned(), |name, mechanism| name + "+" + mechanism.name);
        let parts: Vec<&str> = std::iter::once(base.help()).chain(all().map(|mechanism| mechanism.help)).collect();
        let color = base.color().map(|color| &*mixed(color, all().map(|mechanism| mechanism.tint)).leak());
        let composed: &'static Composed =
            Box::leak(Box::new(Composed { name: name.leak(), base, set, color, help: parts.join("; ").leak() }));
        named.push(composed);
        Ok(composed)
    }

    /// Returns the mechanisms of the policy, in table order.
    fn mechanisms(&self) -> impl Iterator<Item = &'static Mechanism> {
        let set = self.set;
        MECHANISMS.iter().enumerate().filter(move |(at, _)| set >> at & 1 == 1).map(|(_, mechanism)| mechanism)
    }

    /// Returns the policy's sort key among policies of the same base: fewer mechanisms first.
    pub(super) fn rank(&self) -> (u32, u32) {
        (self.set.count_ones(), self.set)
    }

    /// Returns whether kernels have quotas of warp instructions, from their isolated runs.
    #[must_use]
    pub fn has_quotas(&self) -> bool {
        self.mechanisms().any(|mechanism| mechanism.quotas)
    }

    /// Returns the fields that the mechanisms set, without quotas.
    pub fn fields(&self) -> Vec<Field> {
        self.mechanisms().flat_map(Mechanism::fields).collect()
    }

    /// Returns the dotted names of the fields that the mechanisms set.
    pub fn sets(&self) -> Vec<String> {
        let quotas = self.has_quotas().then(|| quotas(Vec::new()));
        self.fields().iter().chain(&quotas).map(Field::name).collect()
    }

    /// Returns the fields that the mechanisms set for kernels with these isolated runs.
    pub fn fields_of(&self, alone: &[&Outcome]) -> Vec<Field> {
        let quotas = self.has_quotas().then(|| quotas(alone.iter().map(|outcome| quota(outcome)).collect()));
        self.fields().into_iter().chain(quotas).collect()
    }

    /// Returns the GPU with the fields of the mechanisms, without quotas.
    ///
    /// # Errors
    /// A message that names the GPU, if the GPU's own fields and these exclude each other.
    pub fn on(&self, gpu: &GpuConfig) -> Result<GpuConfig, String> {
        let gpu = changed(gpu, &self.fields())?;
        gpu.check().map_err(|error| format!("GPU `{}`: {error}", gpu.name))?;
        Ok(gpu)
    }
}

impl Mechanism {
    /// Returns the fields of the GPU's file that the mechanism sets, without quotas.
    #[must_use]
    pub fn fields(&self) -> Vec<Field> {
        // A test parses all of them, so the default is unreachable.
        Field::of_text(self.fields).unwrap_or_default()
    }
}

/// Returns the mean of a color and tints.
fn mixed(color: &str, tints: impl Iterator<Item = [u8; 3]>) -> String {
    let digits = |at: usize| color.get(at..at + 2).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or_default();
    let (mut sum, mut count) = ([1, 3, 5].map(digits), 1);
    for tint in tints {
        sum.iter_mut().zip(tint).for_each(|(sum, part)| *sum += u32::from(part));
        count += 1;
    }
    let [red, green, blue] = sum.map(|sum| sum / count);
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// Creates the field that holds quotas of warp instructions, by kernel.
pub fn quotas(quotas: Vec<u32>) -> Field {
    let path = ["sm", "memory_issue", "warp_quota"].map(str::to_owned).to_vec();
    Field { path, value: toml::Value::Array(quotas.into_iter().map(|quota| i64::from(quota).into()).collect()) }
}

/// Returns the warp instructions that a kernel alone issues on an SM in an epoch, to the nearest
/// whole number, at least 1. Equal parts of the quotas are equal slowdowns.
fn quota(alone: &Outcome) -> u32 {
    let insts = alone.launches.first().map_or(0, |launch| u128::from(launch.warp_insts));
    let sm_cycles = u128::from(alone.sms.cycles).max(1);
    let rounded = (insts * QUOTA_EPOCH_CYCLES + sm_cycles / 2) / sm_cycles;
    u32::try_from(rounded).unwrap_or(u32::MAX).clamp(1, u32::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::super::gpu_runner::SmTotals;
    use super::*;
    use crate::experiment::policies::Policies;
    use mias_hw_model::config::{InFlightLimit, MemoryOrder, MissDivision, Partition};
    use mias_hw_model::gpu::LaunchStats;
    use std::collections::BTreeSet;

    /// Returns every base with no mechanism, one, or two compatible ones.
    fn compositions() -> Vec<&'static Composed> {
        let names: Vec<&str> = MECHANISMS.iter().map(|mechanism| mechanism.name).collect();
        let bases = Policy::ALL.into_iter().filter(|policy| policy.decides());
        let pairs = |base| {
            let names = &names;
            names
                .iter()
                .enumerate()
                .flat_map(move |(at, one)| names[at..].iter().filter_map(move |other| Composed::of(base, &[*one, *other]).ok()))
        };
        bases.flat_map(pairs).collect()
    }

    /// Each mechanism sets the fields of its name, and nothing else.
    #[test]
    fn names_say_what_is_set() {
        let gpu = crate::gpus::load("dai18-lines").unwrap();
        for composed in compositions().into_iter().filter(|composed| composed.base == Policy::Smk) {
            let on = composed.on(&gpu).unwrap_or_else(|error| panic!("{}: {error}", composed.name));
            let issue = on.sm.memory_issue.clone().unwrap_or_default();
            let has = |word: &str| composed.name.split('+').any(|part| part == word);
            let order = match (has("qbmi"), has("rbmi")) {
                (true, _) => MemoryOrder::Quota,
                (_, true) => MemoryOrder::RoundRobin,
                _ => MemoryOrder::Scheduler,
            };
            assert_eq!(issue.order, order, "{}", composed.name);
            let in_flight = match (has("dmil"), has("global-dmil")) {
                (true, _) => InFlightLimit::Dynamic,
                (_, true) => InFlightLimit::DynamicGlobal,
                _ => InFlightLimit::None,
            };
            assert_eq!(issue.in_flight, in_flight, "{}", composed.name);
            assert_eq!(composed.has_quotas(), has("warp-quota"), "{}", composed.name);
            assert_eq!(on.l1.partition.as_ref().is_some_and(|ways| ways.by == Partition::Ucp), has("l1-ucp"), "{}", composed.name);
            let equal = on.l1.miss_resources.as_ref().is_some_and(|shares| shares.by == MissDivision::Equal);
            assert_eq!(equal, has("equal-misses"), "{}", composed.name);
            let mut without = on;
            (without.sm.memory_issue, without.l1.partition, without.l1.miss_resources) = (None, None, None);
            assert_eq!(without, gpu, "{}", composed.name);
        }
    }

    /// A name parses to its composition in any order of mechanisms; colors of one base tell its
    /// compositions apart.
    #[test]
    fn compositions_are_named() {
        let known = Policies::default();
        for composed in compositions() {
            assert_eq!(known.find(composed.name), Some(Policy::Composed(composed)), "{}", composed.name);
        }
        for base in [Policy::WarpedSlicer, Policy::Smk, Policy::MiasIpc, Policy::MiasIpmIpc] {
            let of_base: Vec<_> = compositions().into_iter().filter(|composed| composed.base == base).collect();
            let colors: BTreeSet<_> = of_base.iter().filter_map(|composed| composed.color).collect();
            let names: BTreeSet<_> = of_base.iter().map(|composed| composed.name).collect();
            assert_eq!(colors.len(), names.len(), "{}", base.name());
        }
        assert_eq!(known.find("smk+dmil+qbmi").map(Policy::name), Some("smk+qbmi+dmil"));
        for (name, part) in [
            ("smk+qbmi+rbmi", "`qbmi` conflicts with `rbmi`: leave one out"),
            ("smk+dmil+global-dmil", "conflicts with"),
            ("smk+dmill", "unknown mechanism `dmill`; did you mean `dmil`?"),
            ("null+dmil", "`null` does not throttle kernels"),
            ("cd-search+power+performance", "`cd-search` has one variant at a time"),
            ("smk+", "unknown mechanism ``"),
        ] {
            let said = known.parse(name).unwrap_err();
            assert!(said.contains(part), "{name}: {said}");
        }
    }

    /// 16 SMs for 300,000 cycles: 4,800,000 SM cycles. 0.5 instructions per SM and cycle are 5,000
    /// in 10,000 cycles.
    #[test]
    fn quotas_are_what_a_kernel_issues_alone() {
        let alone = |warp_insts, cycles| Outcome {
            launches: vec![LaunchStats { warp_insts, ..LaunchStats::default() }],
            sms: SmTotals { cycles, ..SmTotals::default() },
            ..Outcome::default()
        };
        assert_eq!(quota(&alone(2_400_000, 4_800_000)), 5_000);
        assert_eq!(quota(&alone(1, 15_000)), 1, "0.67 rounds up");
        assert_eq!(quota(&alone(0, 4_800_000)), 1, "a kernel that did nothing may begin");
        assert_eq!(quota(&alone(u64::MAX, 1)), u32::MAX - 1, "what the GPU's file may say at most");
        let (half, whole) = (alone(2_400_000, 4_800_000), alone(4_800_000, 4_800_000));
        let smk = Composed::of(Policy::Smk, &["warp-quota"]).unwrap();
        let gpu = crate::gpus::load("dai18-lines").unwrap();
        let on = changed(&gpu, &smk.fields_of(&[&half, &whole])).unwrap();
        assert_eq!(on.sm.memory_issue.unwrap().warp_quota, [5_000, 10_000]);
    }
}
