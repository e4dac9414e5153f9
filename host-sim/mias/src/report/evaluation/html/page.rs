//! The page: one file, nothing fetched, readable on screen and on paper.

use super::palette::Palette;
use super::svg::escape;
use mias_lab::table::DASH;

/// Style of page and drawings. Colours print as they are; nothing depends on colour alone.
const STYLE: &str = "
:root{color-scheme:light}
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;color:#1a1a1a;background:#fff;max-width:1100px;margin:0 auto;padding:24px 28px 80px;-webkit-print-color-adjust:exact;print-color-adjust:exact}
h1{font-size:29px;line-height:1.2;margin:20px 0 4px}
h2{font-size:22px;margin:52px 0 8px;padding-top:12px;border-top:2px solid #222}
h3{font-size:17px;margin:34px 0 6px}
p{max-width:76ch;margin:8px 0}
.lead{color:#444;font-size:17px}
.note{color:#555;font-size:14px}
nav{font-size:14px;margin:18px 0}
nav{display:flex;flex-wrap:wrap;gap:2px 16px}nav a{white-space:nowrap}
a{color:#0b5394}
figure{margin:18px 0 30px;break-inside:avoid}
figcaption{font-size:14px;color:#333;margin:8px 0 4px;max-width:90ch}
figcaption b{color:#111}
svg{display:block;width:100%;height:auto}
.panels{display:grid;grid-template-columns:1fr 1fr;gap:14px 22px}
.panels.rows{grid-template-columns:1fr}
.panels h4{margin:6px 0 0;font-size:14px;font-weight:600}
.panels p{margin:0 0 2px;font-size:13px;color:#555}
ul.legend{list-style:none;margin:6px 0 4px;padding:0;display:flex;flex-wrap:wrap;gap:4px 18px;font-size:14px}
ul.legend li{display:flex;align-items:center;gap:6px}
ul.legend i{display:inline-block;width:14px;height:14px;border-radius:2px}
ul.legend svg{width:14px;height:14px}
ul.legend i.k-null{height:0;border-top:2px dotted #111;width:20px;border-radius:0}
ul.legend i.k-oracle{height:0;border-top:2px solid #111;width:20px;border-radius:0}
ul.legend i.k-thesis{width:9px;height:9px;background:#fff;border:1.5px solid #111;transform:rotate(45deg);border-radius:0}
text{font-family:inherit;fill:#1a1a1a}
.tick{font-size:11.5px;fill:#555}.label{font-size:12.5px;fill:#333}.name{font-size:12.5px;font-weight:600}.value{font-size:11px;fill:#222;paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}
.inside{font-size:11px;fill:#111}.inside.light{fill:#fff}
.axis{stroke:#333;stroke-width:1}.grid{stroke:#ddd;stroke-width:1}.one{stroke:#444;stroke-width:1.2;stroke-dasharray:5 3}
.null{stroke:#111;stroke-width:2;stroke-dasharray:2 2.5}.oracle{stroke:#111;stroke-width:1.6}.mean{stroke:#111;stroke-width:2.2}
.thesis{stroke:#111;stroke-width:1.5}.dot{stroke:#fff;stroke-width:.9}
.scroll{overflow-x:auto}
table.wide{font-size:11.5px}table.wide th,table.wide td{padding:3px 6px}
table{border-collapse:collapse;font-size:12.5px;font-variant-numeric:tabular-nums;margin:8px 0 16px}
th,td{padding:3px 8px;text-align:right;border-bottom:1px solid #e2e2e2;white-space:nowrap}
th{border-bottom:1.5px solid #333;font-weight:600;vertical-align:bottom;white-space:normal;min-width:3.2em}
td.w,th.w{text-align:left}
tr.rule td{border-top:1.5px solid #777}
tr:hover td{background:#f4f7fa}
@media(max-width:700px){.panels{grid-template-columns:1fr}body{padding:12px}}
@media print{@page{size:A4;margin:13mm}body{max-width:none;padding:0;font-size:10pt}nav{display:none}h1{font-size:19pt}h2{font-size:14pt;margin-top:24px;break-after:avoid}h3{font-size:11.5pt;margin-top:16px;break-after:avoid}
table,table.wide{font-size:7pt}th,td,table.wide th,table.wide td{padding:1.4px 3.2px}.scroll{overflow:visible}tr{break-inside:avoid}thead{display:table-header-group}figcaption,ul.legend,.note{font-size:8.5pt}.note{break-after:avoid}.panels h4{font-size:9pt}.panels p{font-size:8pt}a{color:inherit;text-decoration:none}}
";

/// A page under way.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// Colours of the report's policies.
    pub(super) palette: Palette,
    body: String,
    /// Anchor and heading of every section.
    sections: Vec<(String, String)>,
}

impl Page {
    /// An empty page whose policies have these colours.
    pub(super) fn new(palette: Palette) -> Self {
        Page { palette, ..Page::default() }
    }

    /// A section's heading.
    pub(super) fn section(&mut self, heading: &str) {
        let anchor = format!("s{}", self.sections.len() + 1);
        self.body += &format!("<h2 id=\"{anchor}\">{}</h2>\n", escape(heading));
        self.sections.push((anchor, heading.to_owned()));
    }

    pub(super) fn heading(&mut self, heading: &str) {
        self.body += &format!("<h3>{}</h3>\n", escape(heading));
    }

    /// A paragraph; `text` is HTML.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.body += &format!("<p>{text}</p>\n");
    }

    /// A paragraph in small print; `text` is HTML.
    pub(super) fn note(&mut self, text: &str) {
        self.body += &format!("<p class=\"note\">{text}</p>\n");
    }

    /// A figure: its number and what it shows, legend, drawing. `caption` is HTML.
    pub(super) fn figure(&mut self, number: &str, caption: &str, legend: &str, drawing: &str) {
        let id = number.to_lowercase().replace([' ', '.'], "-");
        self.body +=
            &format!("<figure id=\"{id}\">\n{legend}{drawing}<figcaption><b>{}.</b> {caption}</figcaption>\n</figure>\n", escape(number));
    }

    /// A table; columns of words to the left, a rule above rows whose first cell differs from the one before if `ruled`. Columns in
    /// which no row has anything are left out.
    pub(super) fn table(&mut self, headings: &[&str], rows: &[Vec<String>], ruled: bool) {
        if rows.is_empty() {
            return;
        }
        let told = |at: &usize| rows.iter().any(|row| row.get(*at).is_some_and(|cell| cell != DASH));
        let columns: Vec<usize> = (0..headings.len()).filter(told).collect();
        let headings: Vec<&str> = columns.iter().map(|&at| headings[at]).collect();
        let rows: Vec<Vec<&str>> =
            rows.iter().map(|row| columns.iter().map(|&at| row.get(at).map_or("", String::as_str)).collect()).collect();
        let words = |at: usize| rows.iter().all(|row| row[at].is_empty() || row[at].starts_with(char::is_alphabetic));
        let words: Vec<bool> = (0..headings.len()).map(words).collect();
        let class = |at: usize| if words.get(at) == Some(&true) { " class=\"w\"" } else { "" };
        let cells = |kind: &str, cells: &mut dyn Iterator<Item = &str>| {
            cells.enumerate().map(|(at, cell)| format!("<{kind}{}>{}</{kind}>", class(at), escape(cell))).collect::<String>()
        };
        let head = cells("th", &mut headings.iter().copied());
        let mut body = String::new();
        let mut before: Option<&&str> = None;
        for row in &rows {
            let rule = ruled && before.is_some_and(|before| Some(before) != row.first());
            before = row.first();
            let class = if rule { " class=\"rule\"" } else { "" };
            body += &format!("<tr{class}>{}</tr>\n", cells("td", &mut row.iter().copied()));
        }
        let wide = if headings.len() > 12 { " class=\"wide\"" } else { "" };
        self.body += &format!("<div class=\"scroll\"><table{wide}><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n");
    }

    /// The whole document; `lead` is HTML.
    pub(super) fn finish(self, title: &str, lead: &str) -> String {
        let link = |(anchor, heading): &(String, String)| format!("<a href=\"#{anchor}\">{}</a>", escape(heading));
        let links: String = self.sections.iter().map(link).collect();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<p class=\"lead\">{lead}</p>\n<nav>{links}</nav>\n{}</body>\n</html>\n",
            self.body,
            title = escape(title)
        )
    }
}

/// A legend: swatches with names.
#[derive(Debug, Default)]
pub(super) struct Legend(String);

impl Legend {
    pub(super) fn colour(mut self, colour: &str, name: &str) -> Self {
        self.0 += &format!("<li><i style=\"background:{colour}\"></i>{}</li>", escape(name));
        self
    }

    /// A mark of the charts: `null`, `oracle`, `thesis`.
    pub(super) fn mark(mut self, mark: &str, name: &str) -> Self {
        self.0 += &format!("<li><i class=\"k-{mark}\"></i>{}</li>", escape(name));
        self
    }

    /// A small drawing and its name.
    pub(super) fn drawing(mut self, drawing: &str, name: &str) -> Self {
        self.0 += &format!("<li>{drawing}{}</li>", escape(name));
        self
    }

    pub(super) fn finish(self) -> String {
        format!("<ul class=\"legend\">{}</ul>\n", self.0)
    }
}
