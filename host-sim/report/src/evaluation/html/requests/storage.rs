//! What preemption stores ([`preemption`](crate::evaluation::preemption)), as a table.

use crate::evaluation::html::page::Page;
use crate::evaluation::preemption::{POSITIONS, Row, SETS, SMS, TB_NUMBER, TBS, rows};
use mias_lab::table::{DASH, grouped};
use mias_registers::KERNEL_SLOTS;
use mias_registers::preempt::{MAX_PLACES, MAX_POSITIONS};

/// The table.
pub(super) fn table(page: &mut Page) {
    page.paragraph(format!(
        "Bits for one SM: of the paper's table 3.1, for {TBS} TBs, {SETS} candidates and {POSITIONS} positions (its first row is for {SMS} SMs, {} bits), and here, for {MAX_PLACES} TBs, {MAX_POSITIONS} positions and {KERNEL_SLOTS} kernels, in hardware, and in the firmware while it selects, which has them once for all SMs.",
        grouped((TB_NUMBER * TBS * SMS) as u64)
    ));
    let cell = |bits: Option<usize>| bits.map_or_else(|| DASH.to_owned(), |bits| grouped(bits as u64));
    let rows = rows();
    let sum = |of: fn(&Row) -> Option<usize>| rows.iter().filter_map(of).sum::<usize>();
    let total = Row {
        what: "in all",
        paper: Some(sum(|row| row.paper)),
        hardware: Some(sum(|row| row.hardware)),
        firmware: Some(sum(|row| row.firmware)),
    };
    let cells = |row: &Row| vec![row.what.to_owned(), cell(row.paper), cell(row.hardware), cell(row.firmware)];
    let rows: Vec<Vec<String>> = rows.iter().chain([&total]).map(cells).collect();
    page.table(&["what", "Shieh 2016", "here, hardware", "here, firmware"], &rows, false);
}
