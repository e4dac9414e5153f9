//! Why a setting of a plan cannot be, and whose value is to blame, so that the message names its line.

/// Why a combination of values cannot be.
#[derive(Debug)]
pub(super) struct Unfit {
    /// The parameter whose value is to blame; none: it is the machine's fields.
    pub(super) parameter: Option<&'static str>,
    pub(super) message: String,
}

impl Unfit {
    pub(super) fn of(parameter: &'static str, message: String) -> Self {
        Unfit { parameter: Some(parameter), message }
    }
}

impl From<String> for Unfit {
    fn from(message: String) -> Self {
        Unfit { parameter: None, message }
    }
}
