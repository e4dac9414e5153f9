//! Parquet file of the rows of `results.csv` (<https://parquet.apache.org>), for data frames. It
//! has the same columns, but numeric values are numbers in `value`, and all others are in `text`.

use super::csv::{COLUMNS, rows};
use mias_lab::evaluate::results::Evaluation;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::sync::Arc;

/// Number of columns of words; the table's last column is the value.
const WORDS: usize = COLUMNS.len() - 1;

/// Formats the file.
///
/// # Errors
/// None in practice: memory takes every row.
pub fn render(evaluation: &Evaluation) -> Result<Vec<u8>, ParquetError> {
    let rows = rows(evaluation);
    let mut file = Vec::new();
    // Words repeat, so dictionaries suffice. Compression would need C code and save less.
    let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).build();
    let mut writer = SerializedFileWriter::new(&mut file, Arc::new(schema()?), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for at in 0..WORDS {
        let words: Vec<ByteArray> = rows.iter().map(|row| row[at].as_str().into()).collect();
        let mut column = group.next_column()?.ok_or_else(too_few)?;
        column.typed::<ByteArrayType>().write_batch(&words, None, None)?;
        column.close()?;
    }
    let numbers: Vec<Option<f64>> = rows.iter().map(|row| row[WORDS].parse().ok()).collect();
    // A value is present at definition level 1, and missing at 0.
    let present: Vec<i16> = numbers.iter().map(|number| number.is_some().into()).collect();
    let mut column = group.next_column()?.ok_or_else(too_few)?;
    column.typed::<DoubleType>().write_batch(&numbers.iter().copied().flatten().collect::<Vec<f64>>(), Some(&present), None)?;
    column.close()?;
    let absent: Vec<i16> = present.iter().map(|level| 1 - level).collect();
    let texts: Vec<ByteArray> =
        rows.iter().zip(&numbers).filter(|(_, number)| number.is_none()).map(|(row, _)| row[WORDS].as_str().into()).collect();
    let mut column = group.next_column()?.ok_or_else(too_few)?;
    column.typed::<ByteArrayType>().write_batch(&texts, Some(&absent), None)?;
    column.close()?;
    group.close()?;
    writer.close()?;
    Ok(file)
}

fn too_few() -> ParquetError {
    ParquetError::General("fewer columns than the schema has".into())
}

/// Returns the schema: the columns of words, `value` and `text`.
fn schema() -> Result<Type, ParquetError> {
    let text = |name: &str, repetition: Repetition| {
        let column = Type::primitive_type_builder(name, Physical::BYTE_ARRAY).with_logical_type(Some(LogicalType::String));
        column.with_repetition(repetition).build().map(Arc::new)
    };
    let mut fields = COLUMNS[..WORDS].iter().map(|name| text(name, Repetition::REQUIRED)).collect::<Result<Vec<_>, _>>()?;
    let value = Type::primitive_type_builder(COLUMNS[WORDS], Physical::DOUBLE).with_repetition(Repetition::OPTIONAL);
    fields.push(Arc::new(value.build()?));
    fields.push(text("text", Repetition::OPTIONAL)?);
    Type::group_type_builder("results").with_fields(fields).build()
}

#[cfg(test)]
#[path = "../../tests/random.rs"]
mod random;

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use std::io::Write;

    #[test]
    fn every_row_is_read_as_it_was_written() {
        for plan in ["quick", "shieh", "stack"] {
            let evaluation = random::of_quick(plan, 1);
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&render(&evaluation).unwrap()).unwrap();
            let file = SerializedFileReader::new(file).unwrap();
            let read: Vec<_> = file.get_row_iter(None).unwrap().map(Result::unwrap).collect();
            let text = super::super::csv::render(&evaluation).unwrap();
            let expected: Vec<_> = ::csv::Reader::from_reader(text.as_bytes()).into_records().map(Result::unwrap).collect();
            assert_eq!(read.len(), expected.len());
            for (row, expected) in read.iter().zip(&expected) {
                for (at, (name, field)) in row.get_column_iter().enumerate() {
                    let is_number = expected[WORDS].parse::<f64>().is_ok();
                    match (at, field) {
                        (..WORDS, Field::Str(word)) => assert_eq!((name.as_str(), word.as_str()), (COLUMNS[at], &expected[at])),
                        (WORDS, Field::Double(number)) => assert_eq!(number.to_string(), expected[WORDS]),
                        (WORDS, Field::Null) => assert!(!is_number, "{expected:?}"),
                        (_, Field::Str(text)) => assert_eq!((name.as_str(), text.as_str()), ("text", &expected[WORDS])),
                        (_, Field::Null) => assert!(is_number && name == "text", "{expected:?}"),
                        other => panic!("{other:?}"),
                    }
                }
            }
        }
    }
}
