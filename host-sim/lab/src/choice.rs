//! Choices of options: enums whose values have a name that users type and a line of help. Command
//! line, plans and JSON all use these names.

/// Value that users choose by name.
pub trait Choice: Copy + Eq + std::fmt::Debug + Send + Sync + 'static {
    /// All values, in the order of lists.
    const ALL: &'static [Self];

    /// Returns the name that users type: small letters, digits and hyphens.
    fn name(self) -> &'static str;

    /// Returns the one-line description without a full stop.
    fn help(self) -> &'static str;

    /// Returns an alias that users may type.
    fn alias(self) -> Option<&'static str> {
        None
    }

    /// Returns the value of a name or alias.
    fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|choice| choice.name() == name || choice.alias() == Some(name))
    }

    /// Returns all names, in the order of lists.
    fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|choice| choice.name()).collect()
    }
}

/// Declares an enum that is a [`Choice`]: each value with one doc line, which is its help, and its
/// name. JSON uses the name.
#[macro_export]
macro_rules! choices {
    ($(#[$attribute:meta])* $visibility:vis enum $Name:ident {
        $(#[doc = $help:literal] $(#[$default:ident])? $Value:ident = $name:literal,)+
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        $visibility enum $Name {
            $(#[doc = $help] $(#[$default])? $Value,)+
        }

        impl $crate::choice::Choice for $Name {
            const ALL: &'static [Self] = &[$($Name::$Value,)+];

            fn name(self) -> &'static str {
                match self {
                    $($Name::$Value => $name,)+
                }
            }

            fn help(self) -> &'static str {
                let help = match self {
                    $($Name::$Value => $help,)+
                };
                let help = help.trim_ascii();
                help.strip_suffix('.').unwrap_or(help)
            }
        }

        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str($crate::choice::Choice::name(*self))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Choice;

    choices! {
        /// Colors for a test.
        enum Color {
            /// Like the sky by day.
            SkyBlue = "sky-blue",
            /// Like blood
            Red = "red",
        }
    }

    #[test]
    fn names_and_help_are_as_declared() {
        assert_eq!(Color::names(), ["sky-blue", "red"]);
        assert_eq!(Color::ALL.iter().map(|color| color.help()).collect::<Vec<_>>(), ["Like the sky by day", "Like blood"]);
        assert_eq!((Color::find("red"), Color::find("Red")), (Some(Color::Red), None));
        assert_eq!(serde_json::to_string(&Color::ALL).unwrap(), r#"["sky-blue","red"]"#);
    }
}
