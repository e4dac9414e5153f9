//! Optional parts of an image: preemption, the search for SMs, control of extra TBs, and levels in
//! addition to the policy. A run without any uses the default image. One that searches uses an
//! image that also preempts, since reassigned SMs may be preempted. One that controls extra TBs or
//! sets levels uses the image with all parts, since it may run under any policy.

use super::recording::{Access, Recording};
use mias_hw_model::register_block::Straps;
use mias_policies::levels::Levels;
use mias_registers::remote::{CONTROLS, LEVELS, PREEMPTS, SEARCHES};
use mias_registers::{PolicyCode, global, option, preempt_scheme};

/// Set of parts of the firmware, present or requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Whether the firmware includes preemption.
    pub preempts: bool,
    /// Whether the firmware includes the search for SMs.
    pub searches: bool,
    /// Whether the firmware includes control of extra TBs.
    pub controls: bool,
    /// Whether the firmware includes levels in addition to the policy.
    pub levels: bool,
}

impl Parts {
    /// Returns the parts that the straps request.
    pub fn asked_by(straps: &Straps) -> Self {
        Parts {
            preempts: straps.preempt != preempt_scheme::NONE,
            searches: straps.policy.searches(),
            controls: straps.options & option::CONTROL_OVERSUBSCRIPTION != 0,
            levels: Levels::of(straps.options) != Levels::NONE,
        }
    }

    /// Returns the parts that any run of a recording requests, by its reads of the straps.
    pub fn asked_in(recording: &Recording) -> Self {
        let read = |asked: &dyn Fn(u32, u32) -> bool| {
            let of_access = |access: &Access| matches!(*access, Access::Read { offset, value } if asked(offset, value));
            recording.runs.iter().any(|run| run.steps().next().is_some_and(|start| start.accesses.iter().any(of_access)))
        };
        let searches = |value: u32| PolicyCode::from_code(value).is_some_and(PolicyCode::searches);
        Parts {
            preempts: read(&|offset, value| offset == global::STRAP_PREEMPT && value != preempt_scheme::NONE),
            searches: read(&|offset, value| offset == global::STRAP_POLICY && searches(value)),
            controls: read(&|offset, value| offset == global::STRAP_OPTIONS && value & option::CONTROL_OVERSUBSCRIPTION != 0),
            levels: read(&|offset, value| offset == global::STRAP_OPTIONS && Levels::of(value) != Levels::NONE),
        }
    }

    /// Returns the parts that an image reports.
    pub(super) fn built(features: u32) -> Self {
        Parts {
            preempts: features & PREEMPTS != 0,
            searches: features & SEARCHES != 0,
            controls: features & CONTROLS != 0,
            levels: features & LEVELS != 0,
        }
    }

    /// Returns the first requested part that is missing: its name and purpose; `None` if nothing is
    /// missing.
    pub(super) fn lacking(self, asked: Parts) -> Option<(&'static str, &'static str)> {
        if asked.preempts && !self.preempts {
            Some(("preemption", "the run preempts TBs"))
        } else if asked.searches && !self.searches {
            Some(("the search for SMs", "the policy searches"))
        } else if asked.controls && !self.controls {
            Some(("control of extra TBs", "the firmware controls them"))
        } else if asked.levels && !self.levels {
            Some(("levels in addition to the policy", "the run has such levels"))
        } else {
            None
        }
    }

    /// Returns the folder in cargo's target directory for images with these parts; all have the
    /// same file names.
    pub fn folder(self) -> &'static str {
        match self {
            Parts { controls: true, .. } | Parts { levels: true, .. } => "oversubscription",
            Parts { searches: true, .. } => "search",
            Parts { preempts: true, .. } => "preempt",
            Parts { .. } => "",
        }
    }

    /// Returns the features of an image with these parts, separated by commas.
    pub fn features(self) -> &'static str {
        match self {
            Parts { controls: true, .. } | Parts { levels: true, .. } => "preempt,search,oversubscription,levels",
            Parts { searches: true, .. } => "preempt,search",
            Parts { preempts: true, .. } => "preempt",
            Parts { .. } => "",
        }
    }

    /// Returns the words after "an image" in messages.
    pub(super) fn that_can(self) -> &'static str {
        match self {
            Parts { controls: true, .. } => " that controls extra TBs",
            Parts { levels: true, .. } => " that sets levels in addition to the policy",
            Parts { searches: true, .. } => " that searches",
            Parts { preempts: true, .. } => " that preempts",
            Parts { .. } => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The image for any requested parts has these parts.
    #[test]
    fn the_image_of_a_folder_has_what_was_asked_for() {
        for bits in 0..16 {
            let asked = Parts { preempts: bits & 1 != 0, searches: bits & 2 != 0, controls: bits & 4 != 0, levels: bits & 8 != 0 };
            let features: Vec<&str> = asked.features().split(',').collect();
            let has = |feature| features.contains(&feature);
            let built =
                Parts { preempts: has("preempt"), searches: has("search"), controls: has("oversubscription"), levels: has("levels") };
            assert_eq!(built.lacking(asked), None, "{asked:?}");
            assert_eq!(asked.folder().is_empty(), asked == Parts::default());
        }
        let usual = Parts::built(0);
        assert_eq!(usual.lacking(Parts::default()), None);
        let lacking = |asked| usual.lacking(asked).map(|lacking| lacking.0);
        assert_eq!(lacking(Parts { searches: true, ..Parts::default() }), Some("the search for SMs"));
        assert_eq!(lacking(Parts { controls: true, ..Parts::default() }), Some("control of extra TBs"));
        assert_eq!(Parts::built(PREEMPTS | SEARCHES), Parts { preempts: true, searches: true, ..Parts::default() });
        assert_eq!(Parts::built(CONTROLS), Parts { controls: true, ..Parts::default() });
        assert_eq!(Parts::built(LEVELS), Parts { levels: true, ..Parts::default() });
        assert_eq!(lacking(Parts { levels: true, ..Parts::default() }), Some("levels in addition to the policy"));
    }
}
