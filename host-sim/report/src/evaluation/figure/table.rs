//! Numbers of a figure as a table: a row per bar, dot or point, a column per quantity with its
//! unit.

use mias_lab::csv_table;

/// Row: its key (`KEYS`), and its values by column.
type Row = ([String; 3], Vec<(usize, String)>);

/// Table under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    quantities: Vec<String>,
    rows: Vec<Row>,
}

/// Key columns of every row: panel, group, series.
const KEYS: [&str; 3] = ["panel", "group", "series"];

impl Table {
    /// Adds values with their headings to the row of the same panel, group and series. It begins a
    /// new row if that one has such a value already.
    pub(super) fn add(&mut self, key: [&str; 3], values: Vec<(String, String)>) {
        let cells: Vec<(usize, String)> = values.into_iter().map(|(quantity, value)| (self.column(quantity), value)).collect();
        let taken = |row: &[(usize, String)]| cells.iter().any(|(column, _)| row.iter().any(|(known, _)| known == column));
        match self.rows.iter_mut().rev().find(|(known, _)| *known == key) {
            Some((_, row)) if !taken(row) => row.extend(cells),
            _ => self.rows.push((key.map(str::to_owned), cells)),
        }
    }

    fn column(&mut self, quantity: String) -> usize {
        self.quantities.iter().position(|known| *known == quantity).unwrap_or_else(|| {
            self.quantities.push(quantity);
            self.quantities.len() - 1
        })
    }

    /// Formats the table as CSV. Columns without values are left out.
    pub(super) fn csv(&self) -> csv::Result<String> {
        let keys: Vec<usize> = (0..KEYS.len()).filter(|&key| self.rows.iter().any(|(row, _)| !row[key].is_empty())).collect();
        let heading: Vec<String> = keys.iter().map(|&key| KEYS[key].to_owned()).chain(self.quantities.iter().cloned()).collect();
        let row = |(known, cells): &Row| {
            let value = |column: usize| cells.iter().find(|(at, _)| *at == column).map_or_else(String::new, |(_, value)| value.clone());
            keys.iter().map(|&key| known[key].clone()).chain((0..self.quantities.len()).map(value)).collect::<Vec<String>>()
        };
        csv_table::rows(std::iter::once(heading).chain(self.rows.iter().map(row)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_of_one_bar_share_a_row() {
        let mut table = Table::default();
        let value = |quantity: &str, value: &str| (quantity.to_owned(), value.to_owned());
        table.add(["", "mm, fwt", "spatial"], vec![value("STP (ratio)", "1.5"), value("n", "6")]);
        table.add(["", "mm, fwt", "spatial"], vec![value("fairness (ratio)", "0.5")]);
        table.add(["", "mm, fwt", "spatial"], vec![value("n", "7")]);
        table.add(["", "mm, fwt", "oracle"], vec![value("STP (ratio)", "2")]);
        let expected =
            "group,series,STP (ratio),n,fairness (ratio)\n\"mm, fwt\",spatial,1.5,6,0.5\n\"mm, fwt\",spatial,,7,\n\"mm, fwt\",oracle,2,,\n";
        assert_eq!(table.csv().unwrap(), expected);
    }
}
