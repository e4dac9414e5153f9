//! SMs of each kernel under Spatial, as a user gives them: `6-18`. A search for them is compared
//! with such fixed shares (Zhao et al. 2018, section 7.3; sources.md D152).

use mias_firmware::limits::KERNELS;
use std::fmt;
use std::str::FromStr;

/// SMs of each kernel, in kernel order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shares {
    sms: [u16; KERNELS],
    kernels: u8,
}

impl Shares {
    /// Returns the numbers, one per kernel.
    #[must_use]
    pub fn sms(&self) -> &[u16] {
        &self.sms[..usize::from(self.kernels)]
    }

    /// Checks that the shares suit `kernels` kernels on a GPU with `sms` SMs.
    ///
    /// # Errors
    /// The problem and a valid form.
    pub fn check(&self, kernels: usize, sms: u32) -> Result<(), String> {
        if self.sms().len() != kernels {
            return Err(format!("`{self}` has {} numbers for {kernels} kernels; use one number per kernel", self.sms().len()));
        }
        let sum: u32 = self.sms().iter().map(|&sms| u32::from(sms)).sum();
        if sum > sms {
            return Err(format!("`{self}` adds up to {sum} SMs, and the GPU has {sms}; use no more than that in total"));
        }
        Ok(())
    }
}

impl FromStr for Shares {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` must be numbers of SMs for 1 to {KERNELS} kernels, each at least 1, as in `6-18`");
        let numbers: Option<Vec<u16>> = text.split('-').map(|number| number.parse().ok().filter(|&sms| sms > 0)).collect();
        let numbers = numbers.filter(|numbers| numbers.len() <= KERNELS).ok_or_else(wrong)?;
        let mut sms = [0; KERNELS];
        sms[..numbers.len()].copy_from_slice(&numbers);
        Ok(Shares { sms, kernels: numbers.len() as u8 })
    }
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.sms().iter().map(u16::to_string).collect();
        f.write_str(&numbers.join("-"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_numbers_of_sms() {
        let shares: Shares = "6-18".parse().unwrap();
        assert_eq!((shares.sms(), shares.to_string()), (&[6, 18][..], "6-18".to_owned()));
        assert_eq!(shares.check(2, 24), Ok(()));
        assert_eq!(shares.check(2, 30), Ok(()), "some SMs may be nobody's");
        for wrong in ["", "-", "6-0", "6-x", "6--18", "1-1-1-1-1", "70000-1"] {
            assert!(wrong.parse::<Shares>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn shares_that_do_not_add_up_say_so() {
        let shares: Shares = "6-19".parse().unwrap();
        assert_eq!(shares.check(2, 24).unwrap_err(), "`6-19` adds up to 25 SMs, and the GPU has 24; use no more than that in total");
        assert_eq!(shares.check(3, 24).unwrap_err(), "`6-19` has 2 numbers for 3 kernels; use one number per kernel");
    }
}
