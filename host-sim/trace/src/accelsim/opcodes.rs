//! Tables from GPU opcodes (the text before the first `.`) to execution classes, per
//! instruction set.
//!
//! The classes are those of Accel-Sim (October 2024) on GPUs with a branch, texture, tensor and
//! uniform unit per sub-core. The opcodes are those of NVIDIA's instruction set reference (CUDA
//! binary utilities).
//!
//! Accel-Sim times conversions, constant loads, surface accesses and DEPBAR as integer; this is
//! kept, since the reference numbers include it. It times KILL on the tensor unit; this table has
//! branch. Known gap: packed half precision issues at half the interval in Accel-Sim; here it is
//! single precision.
//!
//! Accel-Sim has no table for compute capability 9.0. The opcodes are those of NVIDIA's reference;
//! the classes are own (assumption), after the nearest older opcode. A matrix product of a warp
//! group is timed as one tensor instruction. A bulk copy is timed as uniform, and its data movement
//! is not modeled: a trace lists no addresses for it.

use mias_warp_trace::isa::{Class, Space};

/// Instruction set of a trace, by compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// Compute capability 6.x.
    Pascal,
    /// Compute capability 7.0.
    Volta,
    /// Compute capabilities 7.2 and 7.5.
    Turing,
    /// Compute capability 8.x.
    Ampere,
    /// Compute capability 9.0.
    Hopper,
}

impl Isa {
    /// Returns the instruction set for the `binary version` of a trace header.
    pub fn from_binary_version(version: u32) -> Option<Self> {
        match version {
            60..=62 => Some(Isa::Pascal),
            70 => Some(Isa::Volta),
            72 | 75 => Some(Isa::Turing),
            80 | 86 | 87 | 89 => Some(Isa::Ampere),
            90 => Some(Isa::Hopper),
            _ => None,
        }
    }

    fn tables(self) -> &'static [Table] {
        match self {
            Isa::Pascal => &[PASCAL, COMMON],
            Isa::Volta => &[VOLTA, COMMON],
            Isa::Turing => &[TURING, COMMON],
            Isa::Ampere => &[AMPERE, TURING, COMMON],
            Isa::Hopper => &[HOPPER, AMPERE, TURING, COMMON],
        }
    }

    /// Returns the operation of an opcode; `None` if the table does not contain it.
    pub fn operation(self, opcode: &str) -> Option<Operation> {
        let rows = self.tables().iter().flat_map(|table| table.iter());
        rows.filter(|(_, names)| names.split_ascii_whitespace().any(|name| name == opcode)).map(|&(operation, _)| operation).next()
    }
}

/// Execution of an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Instruction that always has this class.
    Of(Class),
    /// A load whose address determines the memory space.
    GenericLoad,
    /// A store whose address determines the memory space.
    GenericStore,
    /// Ends the warp if it is the warp's last instruction, and otherwise only some lanes.
    Exit,
}

/// Operations with their opcodes.
type Table = &'static [(Operation, &'static str)];

use Operation::Of;

const COMMON: Table = &[
    (Of(Class::Sp), "FADD FADD32I FCHK FFMA FFMA32I FMNMX FMUL FMUL32I FSEL FSET FSETP FSWZADD"),
    (Of(Class::Sp), "HADD2 HADD2_32I HFMA2 HFMA2_32I HMUL2 HMUL2_32I HSET2 HSETP2"),
    (Of(Class::Dp), "DADD DFMA DMUL DSETP"),
    (Of(Class::Sfu), "MUFU"),
    (Of(Class::Int), "BMSK BREV FLO IABS IADD IADD3 IADD32I IDP IDP4A IMAD IMNMX IMUL IMUL32I ISCADD ISCADD32I ISETP"),
    (Of(Class::Int), "LEA LOP LOP3 LOP32I POPC SHF SHL SHR VABSDIFF VABSDIFF4"),
    (Of(Class::Int), "F2F F2I I2F I2I I2IP FRND"),
    (Of(Class::Int), "MOV MOV32I PRMT SEL SGXT SHFL PLOP3 PSETP P2R R2P MATCH QSPC VOTE VOTE_VTG"),
    (Of(Class::Int), "B2R CS2R CSMTEST DEPBAR GETLMEMBASE LEPC NOP PMTRIG R2B S2R SETCTAID SETLMEMBASE"),
    (Of(Class::Int), "LDC CCTL CCTLL CCTLT ERRBAR SUATOM SULD SURED SUST SUQUERY"),
    (Operation::GenericLoad, "LD"),
    (Operation::GenericStore, "ST"),
    (Of(Class::Load(Space::Global)), "LDG"),
    (Of(Class::Load(Space::Local)), "LDL"),
    (Of(Class::Load(Space::Shared)), "LDS"),
    (Of(Class::Store(Space::Global)), "STG"),
    (Of(Class::Store(Space::Local)), "STL"),
    (Of(Class::Store(Space::Shared)), "STS"),
    (Of(Class::Atomic(Space::Global)), "ATOM ATOMG RED"),
    (Of(Class::Atomic(Space::Shared)), "ATOMS"),
    (Of(Class::MemoryBarrier), "MEMBAR"),
    (Of(Class::Barrier), "BAR"),
    (Of(Class::Texture), "TEX TLD TLD4 TMML TXD TXQ"),
    (Of(Class::Branch), "BMOV BPT BRA BREAK BRX BSSY BSYNC CALL JMP JMX KILL NANOSLEEP RET RPCMOV RTT WARPSYNC YIELD"),
    (Operation::Exit, "EXIT"),
];

const VOLTA: Table = &[(Of(Class::Tensor), "HMMA"), (Of(Class::Int), "IMMA")];

const TURING: Table = &[
    (Of(Class::Tensor), "HMMA IMMA BMMA"),
    (Of(Class::Int), "MOVM"),
    (Of(Class::Load(Space::Shared)), "LDSM"),
    (Of(Class::Branch), "BRXU JMXU"),
    (Of(Class::Uniform), "R2UR S2UR VOTEU UBMSK UBREV UCLEA UFLO UIADD3 UIMAD UISETP ULDC ULEA ULOP ULOP3 ULOP32I UMOV"),
    (Of(Class::Uniform), "UP2UR UPLOP3 UPOPC UPRMT UPSETP UR2UP USEL USGXT USHF USHL USHR"),
];

const AMPERE: Table = &[
    (Of(Class::Sp), "HMNMX2"),
    (Of(Class::Tensor), "DMMA"),
    (Of(Class::Int), "F2FP I2FP F2IP LDGDEPBAR ARRIVES"),
    (Of(Class::Load(Space::Global)), "LDGSTS"),
    (Of(Class::Uniform), "REDUX UF2FP"),
];

const HOPPER: Table = &[
    (Of(Class::Int), "VHMNMX VIADD VIADDMNMX VIMNMX VIMNMX3 SYNCS ELECT"),
    (Of(Class::Tensor), "BGMMA HGMMA IGMMA QGMMA"),
    (Of(Class::Load(Space::Global)), "LDGMC"),
    (Of(Class::Store(Space::Shared)), "STSM"),
    (Of(Class::Atomic(Space::Global)), "REDG"),
    (Of(Class::Atomic(Space::Shared)), "REDAS"),
    (Of(Class::MemoryBarrier), "FENCE"),
    (Of(Class::Branch), "ACQBULK CGAERRBAR ENDCOLLECTIVE PREEXIT WARPGROUP WARPGROUPSET"),
    (Of(Class::Uniform), "UCGABAR_ARV UCGABAR_WAIT ULEPC USETMAXREG"),
    (Of(Class::Uniform), "UBLKCP UBLKPF UBLKRED UTMACCTL UTMACMDFLUSH UTMALDG UTMAPF UTMAREDG UTMASTG"),
];

const PASCAL: Table = &[
    (Of(Class::Sp), "RRO FCMP"),
    (Of(Class::Dp), "DMNMX DSET"),
    (Of(Class::Int), "IMMA ISET VADD BFE BFI ICMP IMADSP XMAD VMNMX CSET CSETP PSET"),
    (Of(Class::Int), "TEX TLD TLD4 TMML TXD TXQ TEXS TLD4S TLDS"),
    (Of(Class::Branch), "SSY SYNC CAL JCAL PRET BRK PBK CONT PCNT PEXIT"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opcode_is_in_a_table_at_most_once() {
        for table in [COMMON, VOLTA, TURING, AMPERE, HOPPER, PASCAL] {
            let mut names: Vec<&str> = table.iter().flat_map(|(_, names)| names.split_ascii_whitespace()).collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all);
        }
    }

    /// Common opcodes of each instruction set, by NVIDIA's reference, with their units.
    #[test]
    fn every_set_from_6_0_to_9_0_has_its_units() {
        for (version, tensor, uniform) in
            [(70, "HMMA", None), (75, "IMMA", Some("ULDC")), (80, "DMMA", Some("UMOV")), (90, "QGMMA", Some("UTMALDG"))]
        {
            let isa = Isa::from_binary_version(version).expect("known");
            assert_eq!(isa.operation(tensor), Some(Of(Class::Tensor)), "{version}");
            assert_eq!(uniform.and_then(|opcode| isa.operation(opcode)), uniform.map(|_| Of(Class::Uniform)), "{version}");
            for (opcode, class) in
                [("FFMA", Class::Sp), ("IMAD", Class::Int), ("DFMA", Class::Dp), ("MUFU", Class::Sfu), ("BAR", Class::Barrier)]
            {
                assert_eq!(isa.operation(opcode), Some(Of(class)), "{version} {opcode}");
            }
        }
        assert_eq!([59, 63, 88, 100].map(Isa::from_binary_version), [None; 4]);
    }

    #[test]
    fn instruction_sets_differ_where_they_should() {
        assert_eq!(Isa::Volta.operation("IMMA"), Some(Of(Class::Int)));
        assert_eq!(Isa::Turing.operation("IMMA"), Some(Of(Class::Tensor)));
        assert_eq!(Isa::Ampere.operation("UMOV"), Some(Of(Class::Uniform)));
        assert_eq!(Isa::Volta.operation("UMOV"), None);
        assert_eq!(Isa::Pascal.operation("TEX"), Some(Of(Class::Int)));
        assert_eq!(Isa::Turing.operation("TEX"), Some(Of(Class::Texture)));
        assert_eq!(Isa::Turing.operation("FFM"), None, "no match by prefix");
        assert_eq!(Isa::Hopper.operation("HGMMA"), Some(Of(Class::Tensor)));
        assert_eq!(Isa::Hopper.operation("LDGSTS"), Some(Of(Class::Load(Space::Global))), "what an Ampere has");
        assert_eq!(Isa::Ampere.operation("HGMMA"), None);
    }
}
