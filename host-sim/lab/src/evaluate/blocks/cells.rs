//! Cells of charts and tables, from rows: a number for each cluster and series, point, or cell.

use super::expression::{Expression, Value};
use super::published::Published;
use super::rows::Row;
use super::{Block, Mean, Named, Unit};
use crate::evaluate::paired::Ratio;
use crate::evaluate::statistics::{arithmetic, geometric, quartiles};
use crate::table::{DASH, change, grouped, number, percent};
use std::collections::BTreeMap;

/// Number of a chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Value, or the mean of several.
    pub value: f64,
    /// Number of values behind a mean, and their quartiles.
    pub of: Option<(usize, (f64, f64))>,
    /// Half-width of the 95 % interval of a single run.
    pub half_width: Option<f64>,
    /// Ends of the interval of a single row.
    pub interval: Option<(f64, f64)>,
}

/// Bars that stand together.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Lines of its label.
    pub names: Vec<String>,
    /// One bar per series.
    pub bars: Vec<Option<Cell>>,
    /// Published number of each bar.
    pub published: Vec<Option<f64>>,
    /// Whether it is a mean over other clusters.
    pub apart: bool,
}

/// Line, or dots of one series.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Name of the series.
    pub name: String,
    /// In ascending order.
    pub points: Vec<(f64, f64)>,
}

/// Dot of a scatter plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// Label of the dot.
    pub of: String,
    /// Coordinates.
    pub at: (f64, f64),
}

/// Ratio with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Label of the ratio.
    pub name: String,
    /// Index of its series.
    pub series: usize,
    /// Geometric mean with interval; `None` if undefined.
    pub ratio: Option<Ratio>,
}

/// Quantity over two others, as a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Values of the abscissa.
    pub columns: Vec<String>,
    /// Values of the ordinate.
    pub rows: Vec<String>,
    /// Values by row, then column.
    pub values: Vec<Vec<Option<f64>>>,
}

/// Rows grouped by the values of some expressions.
type Grouped<'r, 'e> = Vec<(Vec<Value>, Vec<&'r Row<'e>>)>;

/// Series of a chart: name, filter of rows, value.
struct Series<'b> {
    name: String,
    of: Option<Value>,
    value: &'b Expression,
}

/// Groups rows by the values of some expressions, in order of appearance.
fn by<'r, 'e>(keys: &[Expression], rows: &[&'r Row<'e>]) -> Grouped<'r, 'e> {
    let mut found: Grouped<'r, 'e> = Vec::new();
    for row in rows {
        let Some(key) = keys.iter().map(|key| key.of_one(row)).collect::<Option<Vec<Value>>>() else { continue };
        match found.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(row),
            None => found.push((key, vec![row])),
        }
    }
    found
}

fn words(key: &[Value]) -> String {
    key.iter().map(Value::to_string).collect::<Vec<_>>().join(" ")
}

impl Block {
    /// Returns the panels of a figure, with title and rows.
    pub fn panels<'r, 'e>(&self, rows: &'r [Row<'e>]) -> Vec<(String, Vec<&'r Row<'e>>)> {
        let all: Vec<&Row<'e>> = rows.iter().collect();
        let Some(panels) = &self.panels else { return vec![(String::new(), all)] };
        let title = |(key, rows): (Vec<Value>, Vec<&'r Row<'e>>)| {
            (self.panel_title.as_ref().map_or_else(|| words(&key), |title| title.of(&rows)), rows)
        };
        by(std::slice::from_ref(panels), &all).into_iter().map(title).collect()
    }

    fn series<'b>(&'b self, rows: &[&Row<'_>]) -> Vec<Series<'b>> {
        let values: Vec<(&str, &Expression)> = match &self.value {
            Some(value) => vec![("", value)],
            None => self.values.iter().map(|named| (named.name.as_str(), &named.value)).collect(),
        };
        let of: Vec<Option<Value>> = match &self.series {
            None => vec![None],
            Some(series) => by(std::slice::from_ref(series), rows).into_iter().map(|(mut key, _)| key.pop()).collect(),
        };
        let one = |of: &Option<Value>, (name, value): &(&str, &'b Expression)| {
            let words = of.iter().map(Value::to_string).chain((!name.is_empty()).then(|| (*name).to_owned()));
            Series { name: words.collect::<Vec<_>>().join(" "), of: of.clone(), value }
        };
        of.iter().flat_map(|of| values.iter().map(move |value| one(of, value))).collect()
    }

    /// Returns the names of the series over all panels.
    pub fn series_names(&self, rows: &[&Row<'_>]) -> Vec<String> {
        self.series(rows).into_iter().map(|series| series.name).collect()
    }

    /// Returns the rows of a series.
    fn of_series<'r, 'e>(&self, series: &Series<'_>, rows: &[&'r Row<'e>]) -> Vec<&'r Row<'e>> {
        let of = |row: &&&Row<'_>| self.series.as_ref().is_none_or(|by| by.of_one(row) == series.of);
        rows.iter().filter(of).copied().collect()
    }

    fn mean(&self, values: &[f64]) -> Option<f64> {
        match self.mean {
            Mean::Arithmetic => arithmetic(values),
            Mean::Geometric => geometric(values),
        }
    }

    /// Returns the names of the series and the clusters of bars.
    pub fn bars(&self, published: &Published, rows: &[&Row<'_>]) -> (Vec<String>, Vec<Cluster>) {
        let series = self.series(rows);
        let cell = |members: &[&Row<'_>], series: &Series<'_>| {
            let members = self.of_series(series, members);
            let values: Vec<f64> = members.iter().filter_map(|row| series.value.of(&[row], rows)?.number()).collect();
            let number = |of: &Expression| of.of_one(members.first()?)?.number();
            let half_width = || number(self.half_width.as_ref()?);
            let interval = || Some((number(&self.interval.as_ref()?[0])?, number(&self.interval.as_ref()?[1])?));
            match values[..] {
                [value] if members.len() == 1 => Some(Cell { value, of: None, half_width: half_width(), interval: interval() }),
                _ => {
                    let of = Some((values.len(), quartiles(&values)?));
                    Some(Cell { value: self.mean(&values)?, of, half_width: None, interval: None })
                }
            }
        };
        let cluster = |key: &str, label: String, members: &[&Row<'_>], apart: bool| {
            let bars: Vec<Option<Cell>> = series.iter().map(|series| cell(members, series)).collect();
            let n = bars.iter().flatten().map(|cell| cell.of.map_or(1, |(n, _)| n)).max().unwrap_or_default();
            let several = apart || bars.iter().flatten().any(|cell| cell.of.is_some());
            let said = |series: &Series<'_>| match &self.paper {
                Some(paper) => paper.of(&self.of_series(series, members), rows)?.number(),
                None => published.find(Some(&self.figure), key, &series.name)?.number(),
            };
            Cluster {
                names: [label].into_iter().chain(several.then(|| format!("n = {n}"))).collect(),
                bars,
                published: series.iter().map(said).collect(),
                apart,
            }
        };
        let among = |condition: Option<&Expression>| -> Vec<&Row<'_>> {
            let holds = |row: &&&Row<'_>| condition.is_none_or(|of| of.of(&[**row], rows).is_some_and(|value| value.holds()));
            rows.iter().filter(holds).copied().collect()
        };
        let shown = among(self.shown.as_ref());
        let mut groups = by(&self.by, &shown);
        if let Some(sort) = &self.sort {
            groups.sort_by(|a, b| order(sort.of(&a.1, rows), sort.of(&b.1, rows)));
        }
        let label = |key: &str, members: &[&Row<'_>]| {
            self.label.as_ref().and_then(|label| label.of(members, rows)).map_or_else(|| key.to_owned(), |label| label.to_string())
        };
        let mut clusters: Vec<Cluster> =
            groups.iter().map(|(key, members)| cluster(&words(key), label(&words(key), members), members, false)).collect();
        for over in &self.means {
            let members = among(over.condition.as_ref());
            clusters.push(cluster(&over.name, over.name.clone(), &members, true));
        }
        clusters.retain(|cluster| cluster.bars.iter().any(Option::is_some));
        (series.into_iter().map(|series| series.name).collect(), clusters)
    }

    /// Returns the lines, or dots, of each series.
    pub fn lines(&self, rows: &[&Row<'_>]) -> Vec<Line> {
        let Some(x) = &self.x else { return Vec::new() };
        let line = |series: Series<'_>| {
            let at = |row: &&Row<'_>| Some((x.of(&[row], rows)?.number()?, series.value.of(&[row], rows)?.number()?));
            let mut points: Vec<(f64, f64)> = self.of_series(&series, rows).iter().filter_map(at).collect();
            points.extend(self.start.filter(|_| !points.is_empty()).map(|[x, y]| (x, y)));
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Line { name: series.name, points }
        };
        self.series(rows).into_iter().map(line).filter(|line| !line.points.is_empty()).collect()
    }

    /// Returns the dots of each series.
    pub fn dots(&self, rows: &[&Row<'_>]) -> Vec<(String, Vec<Dot>)> {
        let Some(x) = &self.x else { return Vec::new() };
        let dots = |series: Series<'_>| {
            let dot = |row: &&Row<'_>| {
                let name = words(&self.by.iter().filter_map(|by| by.of_one(row)).collect::<Vec<_>>());
                Some(Dot { of: name, at: (x.of(&[row], rows)?.number()?, series.value.of(&[row], rows)?.number()?) })
            };
            (series.name.clone(), self.of_series(&series, rows).iter().filter_map(dot).collect())
        };
        self.series(rows).into_iter().map(dots).collect()
    }

    /// Returns the names of the series, and for each of `values` the ratios, in descending order of
    /// the first value.
    pub fn ranked(&self, rows: &[&Row<'_>]) -> (Vec<String>, Vec<Vec<Placed>>) {
        let series: Vec<Option<Value>> = self.series(rows).into_iter().step_by(self.values.len().max(1)).map(|series| series.of).collect();
        let ratio = |value: &Named, members: &[&Row<'_>]| {
            let pair = |row: &&Row<'_>| Some((value.value.of(&[row], rows)?.number()?, 1.0));
            Ratio::of(&members.iter().filter_map(pair).collect::<Vec<_>>())
        };
        let mut groups = by(&self.by, rows);
        let first = |members: &[&Row<'_>]| self.values.first().and_then(|value| ratio(value, members)).map_or(0.0, |ratio| ratio.mean);
        groups.sort_by(|a, b| first(&b.1).total_cmp(&first(&a.1)));
        let placed = |value: &Named, key: &[Value], members: &[&Row<'_>]| {
            let of = self.series.as_ref().and_then(|series| series.of_one(members.first()?));
            Placed {
                name: self.label.as_ref().and_then(|label| label.of(members, rows)).map_or_else(|| words(key), |label| label.to_string()),
                series: series.iter().position(|known| *known == of).unwrap_or_default(),
                ratio: ratio(value, members),
            }
        };
        let of = |value| groups.iter().map(|(key, members)| placed(value, key, members)).collect();
        (series.iter().flatten().map(Value::to_string).collect(), self.values.iter().map(of).collect())
    }

    /// Returns the values as a grid.
    pub fn grid(&self, rows: &[&Row<'_>]) -> Option<Grid> {
        let (x, y, value) = (self.x.as_ref()?, self.by.first()?, self.value.as_ref()?);
        let axis = |of: &Expression| {
            let mut values: Vec<Value> = by(std::slice::from_ref(of), rows).into_iter().filter_map(|(mut key, _)| key.pop()).collect();
            values.sort_by(|a, b| order(Some(a.clone()), Some(b.clone())));
            values.iter().map(Value::to_string).collect::<Vec<String>>()
        };
        let (columns, lines) = (axis(x), axis(y));
        let place = |row: &&Row<'_>| Some(((y.of_one(row)?.to_string(), x.of_one(row)?.to_string()), value.of(&[row], rows)?.number()?));
        let mut found: BTreeMap<(String, String), f64> = BTreeMap::new();
        for (place, value) in rows.iter().filter_map(place) {
            found.entry(place).or_insert(value);
        }
        let cell = |line: &str, column: &str| found.get(&(line.to_owned(), column.to_owned())).copied();
        let values = lines.iter().map(|line| columns.iter().map(|column| cell(line, column)).collect()).collect();
        (!columns.is_empty()).then_some(Grid { columns, rows: lines, values })
    }

    /// Returns the headings of a table.
    pub fn headings(&self) -> Vec<&str> {
        if self.across { vec!["", "paper", "here"] } else { self.values.iter().map(|column| column.name.as_str()).collect() }
    }

    /// Returns a transposed table of the first row.
    pub fn across(&self, published: &Published, rows: &[&Row<'_>]) -> Vec<Vec<String>> {
        let Some(first) = rows.first() else { return Vec::new() };
        let said = |name: &str| published.find(Some(&self.figure), "", name).map_or_else(|| DASH.to_owned(), |said| said.to_string());
        let line = |value: &Named| vec![value.name.clone(), said(&value.name), value.cell(value.value.of(&[first], rows))];
        self.values.iter().map(line).collect()
    }

    /// Returns the cells of a table.
    pub fn table(&self, rows: &[&Row<'_>]) -> Vec<Vec<String>> {
        let mut groups: Vec<Vec<&Row<'_>>> = match &self.by[..] {
            [] => rows.iter().map(|row| vec![*row]).collect(),
            keys => by(keys, rows).into_iter().map(|(_, members)| members).collect(),
        };
        if let Some(sort) = &self.sort {
            groups.sort_by(|a, b| order(sort.of(a, rows), sort.of(b, rows)));
        }
        let cells = |members: &[&Row<'_>]| self.values.iter().map(|column| column.cell(column.value.of(members, rows))).collect::<Vec<_>>();
        let mut table: Vec<Vec<String>> = groups.iter().map(|members| cells(members)).collect();
        if table.is_empty() {
            return table;
        }
        for over in &self.means {
            let members: Vec<&Row<'_>> =
                rows.iter().filter(|row| over.condition.as_ref().is_none_or(|condition| condition.holds(row))).copied().collect();
            let value = |column: &Named| column.value.of(&members, rows).filter(|value| value.number().is_some());
            let mut row: Vec<String> = self.values.iter().map(|column| column.cell(value(column))).collect();
            row.iter_mut().take(1).for_each(|first| first.clone_from(&over.name));
            table.push(row);
        }
        table
    }
}

/// Compares values in ascending order; missing values come last.
fn order(a: Option<Value>, b: Option<Value>) -> std::cmp::Ordering {
    match (a, b) {
        (Some(Value::Number(a)), Some(Value::Number(b))) => a.total_cmp(&b),
        (a, b) => (a.is_none(), a.map(|value| value.to_string())).cmp(&(b.is_none(), b.map(|value| value.to_string()))),
    }
}

impl Named {
    /// Formats a value for a table.
    pub fn cell(&self, value: Option<Value>) -> String {
        match value {
            None => DASH.to_owned(),
            Some(Value::Text(text)) => text,
            Some(Value::Number(value)) => match (self.unit, self.digits) {
                (Unit::Percent, _) => percent(Some(value)),
                (Unit::Change, _) => change(value),
                (Unit::Grouped, _) => grouped(value.round() as u64),
                (Unit::Ratio, Some(digits)) => number(Some(value), digits),
                (Unit::Ratio, None) if value.fract() == 0.0 => number(Some(value), 0),
                (Unit::Ratio, None) => number(Some(value), 3),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::blocks::rows::tests::{published, rows};

    fn block(text: &str) -> Block {
        toml::from_str(text).unwrap()
    }

    /// Kernels with IPCs of 2 and 8, and a published 3 for the first.
    #[test]
    fn bars_stand_beside_published_numbers_and_means() {
        let rows = rows();
        let rows: Vec<&Row<'_>> = rows.iter().collect();
        let text = "kind = \"bars\"\nfigure = \"3\"\nby = [\"kernel\"]\nvalues = [{ name = \"ipc\", value = \"ipc\" }]\nmean = \"geometric\"\nmeans = [{ name = \"all\" }]\nsort = \"0 - ipc\"\n";
        let (series, clusters) = block(text).bars(published(), &rows);
        assert_eq!(series, ["ipc"]);
        let shown = |cluster: &Cluster| (cluster.names.join(", "), cluster.bars[0].map(|cell| cell.value), cluster.published[0]);
        let expected =
            [("fwt".to_owned(), Some(8.0), None), ("mm".to_owned(), Some(2.0), Some(3.0)), ("all, n = 2".to_owned(), Some(4.0), None)];
        assert_eq!(clusters.iter().map(shown).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn tables_have_a_line_for_each_and_for_means() {
        let rows = rows();
        let rows: Vec<&Row<'_>> = rows.iter().collect();
        let columns = "values = [{ name = \"kernel\", value = \"kernel\" }, { name = \"IPC\", value = \"mean(ipc)\", digits = 1 }, { name = \"misses\", value = \"memory.l1_miss_rate\", unit = \"percent\" }]";
        let cells = block(&format!("kind = \"table\"\nrows = \"kernels\"\nmeans = [{{ name = \"mean\" }}]\n{columns}")).table(&rows);
        assert_eq!(cells, [["mm", "2.0", "25.0 %"], ["fwt", "8.0", "-"], ["mean", "5.0", "25.0 %"]]);
    }

    #[test]
    fn lines_ascend_and_begin_where_they_shall() {
        let rows = rows();
        let rows: Vec<&Row<'_>> = rows.iter().collect();
        let text = "kind = \"lines\"\nfigure = \"1\"\nx = \"10 - ipc\"\nvalue = \"ipc / all(max(ipc))\"\nstart = [0, 1]\n";
        assert_eq!(block(text).lines(&rows)[0].points, [(0.0, 1.0), (2.0, 1.0), (8.0, 0.25)]);
    }

    #[test]
    fn grids_have_a_cell_for_both() {
        let rows = rows();
        let rows: Vec<&Row<'_>> = rows.iter().collect();
        let grid = block("kind = \"matrix\"\nfigure = \"1\"\nx = \"kernel\"\nby = [\"max_tbs\"]\nvalue = \"ipc\"\n").grid(&rows).unwrap();
        assert_eq!(
            (grid.columns, grid.rows, grid.values),
            (vec!["fwt".into(), "mm".into()], vec!["4".into()], vec![vec![Some(8.0), Some(2.0)]])
        );
    }
}
