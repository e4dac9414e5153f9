//! Messages about TOML files, with the location and the line of an error.

use std::ops::Range;

/// Formats the message for a parser error, with its location.
pub fn parse_error(file: &str, text: &str, error: &toml::de::Error) -> String {
    point_at(file, text, error.span(), error.message().lines().next().unwrap_or_default())
}

/// Formats `file:line:column: message`, the line, and carets under the span; only `file: message`
/// without a span.
pub fn point_at(file: &str, text: &str, span: Option<Range<usize>>, message: &str) -> String {
    let Some(span) = span.filter(|span| text.is_char_boundary(span.start)) else { return format!("{file}: {message}") };
    let begin = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let line = text[..span.start].matches('\n').count() + 1;
    let shown = text[begin..].lines().next().unwrap_or_default();
    let column = text[begin..span.start].chars().count();
    let room = shown.chars().count().saturating_sub(column).max(1);
    let width = text.get(span.clone()).map_or(1, |t| t.lines().next().unwrap_or_default().chars().count()).clamp(1, room);
    let number = line.to_string();
    let gap = " ".repeat(number.len());
    format!("{file}:{line}:{}: {message}\n{gap} |\n{number} | {shown}\n{gap} | {}{}", column + 1, " ".repeat(column), "^".repeat(width))
}
