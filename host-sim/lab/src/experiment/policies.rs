//! Policies known by name: built-in ones, custom ones of the program, and any of them with
//! mechanisms.

use super::custom_policy::Custom;
use super::mechanisms::Composed;
use super::policy::{Policy, PolicySet};
use mias_workloads::input::suggest;

/// Names in reports that are not policies: references, and the class of all groups.
const TAKEN: [&str; 4] = ["all", "s-null", "oracle-s", "oracle-stp"];

/// All policies, in the order of reports: the built-in ones first.
#[derive(Clone, Debug, Default)]
pub struct Policies {
    own: Vec<Custom>,
}

impl Policies {
    /// Combines the built-in policies with custom ones.
    ///
    /// # Errors
    /// An invalid name, or one that is taken.
    pub fn with(own: &[Custom]) -> Result<Self, String> {
        let mut policies = Policies::default();
        for &one in own {
            let name = one.name();
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            if !name.starts_with(|first: char| first.is_ascii_lowercase()) || !name.bytes().all(plain) {
                return Err(format!("policy name `{name}` must have lowercase letters, digits and hyphens only, a letter first"));
            }
            if policies.find(name).is_some() || TAKEN.contains(&name) {
                return Err(format!("policy `{name}` already exists; use another NAME"));
            }
            policies.own.push(one);
        }
        Ok(policies)
    }

    /// Returns all policies without mechanisms, except configurations.
    pub fn all(&self) -> impl Iterator<Item = Policy> {
        Policy::ALL.into_iter().chain(self.own.iter().copied().map(Policy::Custom))
    }

    /// Returns the custom policies of the program.
    pub fn own(&self) -> &[Custom] {
        &self.own
    }

    /// Parses a policy name: `BASE[+VARIANT][+MECHANISM...]`, or `static:` and a configuration.
    ///
    /// # Errors
    /// The reason, and the nearest known name.
    pub fn parse(&self, name: &str) -> Result<Policy, String> {
        let mut words = name.split('+');
        let base = words.next().unwrap_or_default();
        if let Some(config) = base.strip_prefix("static:") {
            return match words.next() {
                None => config.parse().map(Policy::Static),
                Some(_) => Err(format!("`{base}` does not throttle kernels: leave the mechanisms out")),
            };
        }
        let known = |name: &str| self.all().find(|policy| policy.name() == name);
        let bases = || self.all().map(Policy::name).filter(|name| !name.contains('+'));
        let mut policy = known(base).ok_or_else(|| suggest::unknown("policy", name, &bases().chain(["static:N-M"]).collect::<Vec<_>>()))?;
        let mut mechanisms = Vec::new();
        for word in words {
            match known(&format!("{base}+{word}")) {
                Some(_) if policy.name() != base => return Err(format!("`{base}` has one variant at a time: leave `{word}` out")),
                Some(variant) => policy = variant,
                None => mechanisms.push(word),
            }
        }
        if mechanisms.is_empty() { Ok(policy) } else { Composed::of(policy, &mechanisms).map(Policy::Composed) }
    }

    /// Returns the policy of a name, if it is known.
    pub fn find(&self, name: &str) -> Option<Policy> {
        self.parse(name).ok()
    }

    /// Returns all names.
    pub fn names(&self) -> Vec<&'static str> {
        self.all().map(Policy::name).collect()
    }

    /// Sorts and deduplicates policies into the order of reports.
    pub fn sorted(&self, some: &[Policy]) -> Vec<Policy> {
        let own = |policy: &Policy| self.all().skip(Policy::ALL.len()).position(|own| own == policy.base());
        let mut sorted = some.to_vec();
        sorted.sort_by(|one, other| own(one).cmp(&own(other)).then(one.cmp(other)));
        sorted.dedup();
        sorted
    }

    /// Returns a set together with the custom policies of the program.
    pub fn set(&self, set: PolicySet) -> Vec<Policy> {
        set.policies().iter().copied().chain(self.own.iter().copied().map(Policy::Custom)).collect()
    }

    /// Sets the program's fingerprint in its custom policies.
    #[must_use]
    pub fn of_program(&self, program: u64) -> Self {
        Policies { own: self.own.iter().map(|own| own.of_program(program)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::summary::{ALL, ORACLE_S, ORACLE_STP, S_NULL};
    use crate::experiment::custom_policy::CustomPolicy;
    use mias_firmware::configs::ConfigTable;
    use mias_firmware::gpu::{GpuProperties, Settings};
    use mias_firmware::policy::{Context, Plan, Spatial};

    /// Spatial under several names.
    #[derive(Clone, Debug)]
    struct Named<const NAME: usize>;

    const NAMES: [&str; 7] = ["mine", "spatial", "oracle-s", "Mine", "1-3", "", "my policy"];

    impl<const NAME: usize> mias_firmware::policy::Policy for Named<NAME> {
        fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
            Spatial.generate_configs(context, table)
        }
    }

    impl<const NAME: usize> CustomPolicy for Named<NAME> {
        const NAME: &'static str = NAMES[NAME];
        const HELP: &'static str = "for a test";

        fn new(_: &GpuProperties, _: &Settings) -> Self {
            Named
        }
    }

    #[test]
    fn own_policies_come_after_the_built_in_ones_in_the_order_given() {
        let policies = Policies::with(&[Custom::of::<Named<0>>()]).unwrap();
        let names = policies.names();
        assert_eq!(names.len(), Policy::ALL.len() + 1);
        assert_eq!(names.last(), Some(&"mine"));
        let mine = policies.find("mine").unwrap();
        assert_eq!(policies.sorted(&[mine, Policy::Spatial]), [Policy::Spatial, mine]);
        assert_eq!(policies.set(PolicySet::Thesis).last(), Some(&mine));
        assert_eq!(Policies::default().set(PolicySet::All), Policy::ALL);
    }

    #[test]
    fn names_that_cannot_be_or_are_taken_are_refused() {
        assert_eq!(TAKEN, [ALL, S_NULL, ORACLE_S, ORACLE_STP]);
        let refused = |own: &[Custom]| Policies::with(own).unwrap_err();
        assert!(refused(&[Custom::of::<Named<0>>(), Custom::of::<Named<0>>()]).contains("already"));
        for taken in [Custom::of::<Named<1>>(), Custom::of::<Named<2>>()] {
            assert!(refused(&[taken]).contains("already"), "{taken:?}");
        }
        for wrong in [Custom::of::<Named<3>>(), Custom::of::<Named<4>>(), Custom::of::<Named<5>>(), Custom::of::<Named<6>>()] {
            assert!(refused(&[wrong]).contains("a letter first"), "{wrong:?}");
        }
    }
}
