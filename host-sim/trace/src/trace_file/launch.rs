//! Sections `list` and `launch`: names, warnings, streams, geometry and resources.

use super::bytes::{Reader, put_text, put_varint};
use super::error::Fault;
use crate::accelsim::Warnings;
use mias_warp_trace::KernelInfo;

pub(super) fn encode_list(name: &str, warnings: &Warnings) -> Vec<u8> {
    let mut out = Vec::new();
    put_text(&mut out, name);
    put_varint(&mut out, warnings.unknown_opcodes().len() as u64);
    for (opcode, &executed) in warnings.unknown_opcodes() {
        put_text(&mut out, opcode);
        put_varint(&mut out, executed);
    }
    out
}

pub(super) fn decode_list(section: &[u8]) -> Result<(String, Warnings), Fault> {
    let mut reader = Reader::new(section);
    let name = reader.text()?.to_owned();
    let mut warnings = Warnings::new();
    for _ in 0..reader.varint()? {
        let opcode = reader.text()?;
        warnings.unknown_opcode(opcode, reader.varint()?);
    }
    reader.finish()?;
    Ok((name, warnings))
}

pub(super) fn encode(stream: u32, info: &KernelInfo) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, stream.into());
    put_text(&mut out, &info.name);
    for &number in info.grid.iter().chain(&info.block).chain([&info.registers_per_thread, &info.shared_bytes]) {
        put_varint(&mut out, number.into());
    }
    out
}

/// Decodes stream and launch, and checks that the geometry is valid.
pub(super) fn decode(section: &[u8]) -> Result<(u32, KernelInfo), Fault> {
    let mut reader = Reader::new(section);
    let stream = reader.u32("the stream")?;
    let name = reader.text()?.to_owned();
    let mut triple = |what| Ok::<_, Fault>([reader.u32(what)?, reader.u32(what)?, reader.u32(what)?]);
    let (grid, block) = (triple("an extent of the grid")?, triple("an extent of the block")?);
    let registers_per_thread = reader.u32("the registers per thread")?;
    if registers_per_thread == 0 {
        return Err(Fault::Value { what: "the registers per thread", value: 0 });
    }
    let shared_bytes = reader.u32("the shared memory")?;
    reader.finish()?;
    let info = KernelInfo { name, grid, block, registers_per_thread, shared_bytes };
    if !info.geometry_fits() {
        return Err(mias_warp_trace::PartsError::Geometry { grid, block }.into());
    }
    Ok((stream, info))
}
