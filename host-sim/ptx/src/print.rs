//! Output of `printf` in kernels (CUDA C programming guide, section "Formatted Output"). The format
//! is that of C, and the values lie one after the other, each at a multiple of its size. Floats are
//! doubles; `%s` is a pointer.

use crate::exec::access::LaneFault;
use sprintf::{Printf, vsprintf};

/// Maximum bytes of a format or a string, and of a width. Assumption: the print buffer of a device
/// has 1 MiB in total.
const MOST_BYTES: usize = 4096;

/// Function that reads 1, 4 or 8 bytes at a generic address.
type Read<'r> = &'r mut dyn FnMut(u64, u32) -> Result<u64, LaneFault>;

/// Appends the formatted output and returns the number of values. `format` and `values` are
/// addresses.
pub(crate) fn formatted(format: u64, values: u64, read: Read<'_>, out: &mut String) -> Result<u64, LaneFault> {
    let format = text(format, read)?;
    let mut values = Values { next: values, taken: 0 };
    let mut rest = format.as_str();
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let spec = spec(&rest[at..]);
        rest = &rest[at + spec.len()..];
        out.push_str(&values.print(spec, read)?);
    }
    out.push_str(rest);
    Ok(values.taken)
}

/// Returns the conversion at the start of a text: up to its letter, or up to an invalid character.
fn spec(text: &str) -> &str {
    let end = text
        .char_indices()
        .skip(1)
        .find(|(_, c)| !matches!(c, '0'..='9' | '-' | '+' | ' ' | '#' | '.' | '*' | 'h' | 'l' | 'z' | 'j' | 't' | 'L' | 'q'));
    match end {
        Some((at, letter)) => &text[..at + letter.len_utf8()],
        None => text,
    }
}

/// Reads zero-terminated text.
fn text(mut address: u64, read: Read<'_>) -> Result<String, LaneFault> {
    let mut bytes = Vec::new();
    while bytes.len() < MOST_BYTES {
        match read(address, 1)? {
            0 => break,
            byte => bytes.push(byte as u8),
        }
        address = address.wrapping_add(1);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Remaining values.
struct Values {
    next: u64,
    taken: u64,
}

impl Values {
    fn take(&mut self, bytes: u32, read: Read<'_>) -> Result<u64, LaneFault> {
        let at = self.next.next_multiple_of(bytes.into());
        self.next = at.wrapping_add(bytes.into());
        self.taken += 1;
        read(at, bytes)
    }

    /// Formats one conversion; an invalid one is copied.
    fn print(&mut self, spec: &str, read: Read<'_>) -> Result<String, LaneFault> {
        if spec == "%%" {
            return Ok("%".into());
        }
        let number = |digits: &str| digits.parse::<usize>().map_or(!digits.is_empty(), |n| n > MOST_BYTES);
        if spec.split(|c: char| !c.is_ascii_digit()).any(number) {
            return Ok(spec.into());
        }
        let mut arguments: Vec<Box<dyn Printf>> = Vec::new();
        for _ in spec.matches('*') {
            let width = self.take(4, read)? as i32;
            arguments.push(Box::new(width.clamp(-(MOST_BYTES as i32), MOST_BYTES as i32)));
        }
        let wide = ['l', 'z', 'j', 't', 'q'].iter().any(|&length| spec.contains(length));
        let value: Box<dyn Printf> = match spec.chars().last() {
            Some('d' | 'i') if wide => Box::new(self.take(8, read)? as i64),
            Some('d' | 'i') => Box::new(self.take(4, read)? as i32),
            Some('u' | 'o' | 'x' | 'X') if wide => Box::new(self.take(8, read)?),
            Some('u' | 'o' | 'x' | 'X') => Box::new(self.take(4, read)? as u32),
            Some('c') => Box::new(char::from(self.take(4, read)? as u8)),
            Some('e' | 'E' | 'f' | 'F' | 'g' | 'G') => Box::new(f64::from_bits(self.take(8, read)?)),
            Some('p') => return Ok(format!("{:#x}", self.take(8, read)?)),
            Some('s') => {
                let address = self.take(8, read)?;
                Box::new(text(address, read)?)
            }
            _ => return Ok(spec.into()),
        };
        arguments.push(value);
        let arguments: Vec<&dyn Printf> = arguments.iter().map(AsRef::as_ref).collect();
        Ok(vsprintf(spec, &arguments).unwrap_or_else(|_| spec.to_owned()))
    }
}
