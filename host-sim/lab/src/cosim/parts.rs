//! What an image may be built without: preemption, and the search for how many SMs each kernel needs. A run that asks for neither takes the usual
//! image, one that searches takes the image with both, since SMs that change hands may be preempted.

use super::recording::{Access, Recording};
use mias_firmware::regs::{PolicyCode, global, preempt_scheme};
use mias_firmware::remote::{PREEMPTS, SEARCHES};
use mias_hw_model::register_file::Straps;

/// Parts of the firmware, each there or not, asked for or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// It preempts.
    pub preempts: bool,
    /// It searches.
    pub searches: bool,
}

impl Parts {
    /// What the straps ask for.
    pub fn asked_by(straps: &Straps) -> Self {
        Parts { preempts: straps.preempt != preempt_scheme::NONE, searches: straps.policy.searches() }
    }

    /// What any run of a recording asks for: the firmware read so in the straps.
    pub fn asked_in(recording: &Recording) -> Self {
        let read = |asked: &dyn Fn(u32, u32) -> bool| {
            let of_access = |access: &Access| matches!(*access, Access::Read { offset, value } if asked(offset, value));
            recording.runs.iter().any(|run| run.steps().next().is_some_and(|start| start.accesses.iter().any(of_access)))
        };
        let searches = |value: u32| PolicyCode::from_code(value).is_some_and(PolicyCode::searches);
        Parts {
            preempts: read(&|offset, value| offset == global::STRAP_PREEMPT && value != preempt_scheme::NONE),
            searches: read(&|offset, value| offset == global::STRAP_POLICY && searches(value)),
        }
    }

    /// What an image says that it has.
    pub(super) fn built(features: u32) -> Self {
        Parts { preempts: features & PREEMPTS != 0, searches: features & SEARCHES != 0 }
    }

    /// What `asked` has and this has not: in words, and what it was to do; none if nothing is missing.
    pub(super) fn lacking(self, asked: Parts) -> Option<(&'static str, &'static str)> {
        if asked.preempts && !self.preempts {
            Some(("preemption", "TBs are to be preempted"))
        } else if asked.searches && !self.searches {
            Some(("the search for SMs", "the policy searches"))
        } else {
            None
        }
    }

    /// Folder in cargo's target directory in which `cargo xtask image` builds the images that can do this; all have the same names.
    pub fn folder(self) -> &'static str {
        match self {
            Parts { searches: true, .. } => "search",
            Parts { preempts: true, .. } => "preempt",
            Parts { .. } => "",
        }
    }

    /// Features of such an image, separated by commas.
    pub fn features(self) -> &'static str {
        match self {
            Parts { searches: true, .. } => "preempt,search",
            Parts { preempts: true, .. } => "preempt",
            Parts { .. } => "",
        }
    }

    /// As it follows "an image".
    pub(super) fn that_can(self) -> &'static str {
        match self {
            Parts { searches: true, .. } => " that searches",
            Parts { preempts: true, .. } => " that preempts",
            Parts { .. } => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever asks for a part gets an image with it, and nothing is missing then.
    #[test]
    fn the_image_of_a_folder_has_what_was_asked_for() {
        for (preempts, searches) in [(false, false), (true, false), (false, true), (true, true)] {
            let asked = Parts { preempts, searches };
            let features = asked.features();
            let built = Parts { preempts: features.contains("preempt"), searches: features.contains("search") };
            assert_eq!(built.lacking(asked), None, "{asked:?}");
            assert_eq!(asked.folder().is_empty(), !preempts && !searches);
        }
        let usual = Parts::built(0);
        assert_eq!(usual.lacking(Parts::default()), None);
        assert_eq!(usual.lacking(Parts { preempts: false, searches: true }).map(|lacking| lacking.0), Some("the search for SMs"));
        assert_eq!(Parts::built(PREEMPTS | SEARCHES), Parts { preempts: true, searches: true });
    }
}
