//! Reader of the assembler's resource report (`nvcc -cubin -Xptxas -v`): registers per thread and
//! static shared memory per TB.

/// Resources of one TB in addition to threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Registers per thread, before rounding to an allocation granule.
    pub registers: u32,
    /// Static shared memory per TB in bytes.
    pub shared_bytes: u32,
}

/// Error for a report without the required data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct PtxasError {
    /// File name as given.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// Missing data.
    pub message: String,
}

/// Finds the resources of `entry` in a report.
///
/// # Errors
/// [`PtxasError`] if the entry has no "Used ..." line or the line is invalid.
pub fn parse(file: &str, report: &str, entry: &str) -> Result<Resources, PtxasError> {
    let fail = |line: usize, message: String| PtxasError { file: file.into(), line, message };
    let heading = format!("Compiling entry function '{entry}' for");
    let mut lines = report.lines().enumerate().skip_while(|(_, line)| !line.contains(&heading));
    let Some((start, _)) = lines.next() else {
        return Err(fail(1, format!("no entry function '{entry}' in the report")));
    };
    // The section of an entry ends where the next begins.
    let used = lines
        .take_while(|(_, line)| !line.contains("Compiling entry function"))
        .find_map(|(number, line)| Some((number + 1, line.split_once("Used ")?.1)));
    let Some((line, used)) = used else {
        return Err(fail(start + 1, format!("no line \"Used ... registers\" for '{entry}'")));
    };
    let mut found = (None, 0);
    for item in used.split(", ") {
        let Some((number, what)) = item.trim().split_once(' ') else { continue };
        let number = || number.parse::<u32>().map_err(|_| fail(line, format!("not a number: `{number}`")));
        match what {
            "registers" => found.0 = Some(number()?),
            "bytes smem" => found.1 = number()?,
            _ => {}
        }
    }
    match found {
        (Some(registers), shared_bytes) => Ok(Resources { registers, shared_bytes }),
        _ => Err(fail(line, format!("no register count in `{used}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function 'a' for 'sm_75'\n\
        ptxas info    : Used 12 registers, 364 bytes cmem[0]\nptxas info    : Compiling entry function 'b' for 'sm_75'\n\
        ptxas info    : Used 40 registers, 2048 bytes smem, 384 bytes cmem[0]\nptxas info    : Compiling entry function 'c' for 'sm_75'\n";

    #[test]
    fn each_entry_has_its_own_line() {
        assert_eq!(parse("r", REPORT, "a"), Ok(Resources { registers: 12, shared_bytes: 0 }));
        assert_eq!(parse("r", REPORT, "b"), Ok(Resources { registers: 40, shared_bytes: 2048 }));
        assert_eq!(parse("r.txt", REPORT, "c").unwrap_err().to_string(), "r.txt:6: no line \"Used ... registers\" for 'c'");
        assert!(parse("r", REPORT, "d").unwrap_err().to_string().contains("no entry function 'd'"));
    }
}
