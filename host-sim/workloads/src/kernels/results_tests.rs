//! Results of the kernels that come with the simulator: right on whole TBs and on ones that are not
//! full, with each setting and several seeds; and a wrong one is named.

use super::*;
use mias_hw_model::config::{GpuConfig, SmConfig};
use mias_hw_model::sm::Resources;
use mias_warp_trace::KernelInfo;
use rayon::prelude::*;

/// Small inputs: a step of nbdy takes the square of its bodies, and an option of bopt 2,048 steps.
/// In lines: the thesis' kernels and those of Dai et al. 2018, Shieh 2016, Zhao et al. 2018 and Lin
/// et al. 2018.
const WORDS: &str = "
    mm:16,seed=0 mm:48,seed=1 mm:128,seed=2 fwt:1024,seed=0 fwt:4096,seed=1 fwt:32768,seed=2 nbdy:256,seed=0
    nbdy:512,seed=1 nbdy:768,seed=2 blk:256,seed=0 blk:1024,seed=1 blk:8192,seed=2 bopt:1,seed=0 bopt:2,seed=1
    bopt:3,seed=2 bfs:1,seed=0 bfs:4096,seed=1 bfs:10001,seed=2 dxtc:1,seed=0 dxtc:16,seed=1 dxtc:43,seed=2
    hs:1,seed=0 hs:12,seed=1 hs:50,seed=2 dc:1,seed=0 dc:16,seed=1 dc:43,seed=2 pf:1,seed=0 pf:224,seed=1
    pf:500,seed=2 bp:16,seed=0 bp:32,seed=1 bp:48,seed=2 bs:1,seed=0 bs:4096,seed=1 bs:10001,seed=2 st:3,seed=0
    st:33,seed=1 st:513,seed=2 mm:32,inner=16 mm:48,inner=32,seed=2 nbdy:512,systems=2 nbdy:1536,systems=3,seed=3
    bopt:9,steps=512 bfs:2048,graph=rmat,source=7 bfs:777,degree=9,edges=both cp:1,columns=1,rows=1
    cp:2,columns=3,rows=1,seed=2 cp:1,columns=1,rows=2,reach=2 hs:40,steps=1 hs:23,steps=7,seed=3
    pf:300,starts=3,rows=2 bp:32,hidden=48,patterns=5 bs:4096,share=2,degree=9 bs:2048,graph=rmat,share=1
    st:37,rows=3,planes=5 st:600,rows=7,planes=3,seed=4
    3m:1,inner=1 3m:64 3m:300,inner=7,seed=3 sv:192 sv:1920,seed=4 cd:1728 cd:8640,seed=2 s2:2 s2:6,seed=5 ks:1
    ks:500,seed=2 ks:256,features=7 ax:1 ax:500,columns=100,seed=2 ax:256,columns=1
    sc:4,dimensions=1,centers=1 sc:700,dimensions=5,centers=3,seed=2 dwt:64,rows=8,steps=1
    dwt:128,rows=56,steps=3,seed=2 dwtc:256 dwtc:1024,seed=3 km:1,features=1,clusters=1 km:300,seed=2
    km:256,features=64,clusters=32 stc:3,rows=3,planes=3 stc:37,rows=6,planes=5 stc:130,rows=9,planes=4,seed=2
    sr1:16 sr1:48,seed=2 sr2:16 sr2:48,seed=2 bt:5,fill=2 bt:3,seed=2 btr:5,fill=2 btr:3,seed=2 nw1:16,pairs=1
    nw1:64,pairs=2,seed=2 nw2:32,pairs=1 nw2:64,pairs=2,seed=2 bfs1:1 bfs1:10001,share=1
    bfs1:2048,graph=rmat,seed=2 bfs2:1 bfs2:10001,share=1 bfs2:2048,graph=rmat,seed=2 bpl:16
    bpl:48,hidden=32,seed=2 bpa:16 bpa:48,hidden=32,seed=2 hw:2,reach=1 hw:1,seed=3 preempt:1
    preempt:500,steps=16,seed=2 preempt:224,steps=1
    tpacf:1,points=1 tpacf:2,points=300 tpacf:1,points=256,seed=2 leu:45,rows=45 leu:47,rows=80,seed=2
    coulomb:8,atoms=3 coulomb:16,atoms=40,seed=2 merge:1024 merge:3072,seed=2 lavamd:1,particles=1
    lavamd:2,particles=7 lavamd:3,particles=5,seed=2 lavamd:1 gaussian:1 gaussian:7 gaussian:9,step=3,seed=2
    lbm:2,rows=2 lbm:27,rows=5,seed=2 gesummv:1,columns=1 gesummv:300,columns=5,seed=2 pvc:1 pvc:300,seed=2
    conv:3 conv:37 conv:64,seed=2 fdtd1:1 fdtd1:37,step=499 fdtd1:64,step=3,seed=2 fdtd2:1 fdtd2:37
    fdtd2:64,seed=2 gemm:1,inner=32 gemm:19,inner=96,seed=2 mm2:1,inner=16 mm2:9,inner=48,seed=2 mms:32
    mms:64,inner=32 mms:96,seed=2 hg:1,blocks=1 hg:10000,blocks=7 hg:30001,blocks=2,seed=2 sad1:16,rows=16
    sad1:48,rows=32,seed=2 cd:1728,threads=192 cd:5184,threads=192,seed=2 dwt:128,rows=8,steps=1,columns=128
    dwt:256,rows=56,steps=3,columns=128,seed=2
";

/// Kernels with inputs whose results differ from the initial contents of their buffers.
const SMALL: &str = "
    mm:64 fwt:1024 nbdy:512 blk:512 bopt:2 bfs:512 dxtc:16 cp:1 hs:16 dc:16 pf:32 bp:16 bs:512 st:3
    3m:64 sv:960 cd:1728 s2:2 ks:300 ax:300
    pf:224 hs:24 sc:512 dwtc:256 dwt:64 ks:256 km:256 stc:64 sr1:32 sr2:32 btr:2 bt:2 nw1:32 nw2:32 bfs1:2048
    bfs2:2048 bpl:32 bpa:32 hw:1 preempt:448
    dxtc:16 tpacf:1,points=8 bino:1,steps=2048 leu:45 coulomb:8,atoms=1 merge:1024 pathfinder:224,starts=1
    lavamd:1 gaussian:8 lbm:2,rows=2 dwt2d:256 gesummv:256,columns=4 pvc:256 sc:512,dimensions=1
    bfs1:2048 bpl:16 bpa:16 bt:2,fill=2 cd:1728,threads=192 conv:8 cp:1,columns=1,rows=1 dwtc:256
    dwt:128,rows=8,columns=128 fdtd1:8 fdtd2:8 gemm:8,inner=32 hg:100,blocks=1 hs:24 ks:256 lbm:2,rows=2
    mm2:8,inner=16 mms:32 sad1:16,rows=16 s2:2 sv:192 stc:64
";

/// Prepares a word's kernel.
pub(super) fn prepared(word: &str) -> Prepared {
    Spec::parse(word).unwrap().prepare().unwrap_or_else(|error| panic!("{word}: {error}"))
}

/// Executes and checks a word's kernel, and returns its trace.
pub(super) fn traced(word: &str) -> KernelTrace {
    prepared(word).record().unwrap_or_else(|error| panic!("{word}: {error}"))
}

/// Returns the TBs of a word's launch, along each axis. Nothing is prepared: some inputs are
/// hundreds of megabytes.
pub(super) fn grid(word: &str) -> [u32; 3] {
    let spec = Spec::parse(word).unwrap();
    let form = &spec.kernel.launch;
    let mut scope = spec.kernel.inputs(&spec.input).unwrap().scope;
    for (name, formula) in &form.lets {
        scope.set(name, formula.value(&scope).unwrap());
    }
    form.grid.each_ref().map(|axis| axis.extent(&scope, 1, "the grid").unwrap())
}

/// Returns an SM of a GPU.
pub(super) fn sm_of(gpu: &str) -> SmConfig {
    toml::from_str::<GpuConfig>(mias_gpus::text(gpu).unwrap()).unwrap().sm
}

/// Returns the number of TBs of a kernel that fit on an SM.
pub(super) fn tbs_on(sm: &SmConfig, info: &KernelInfo) -> u32 {
    Resources::of_sm(sm).count(&Resources::of_tb(info, sm))
}

#[test]
fn results_are_right() {
    WORDS.split_whitespace().par_bridge().for_each(|word| drop(traced(word)));
}

/// A wrong result is reported with its name: the kernel was not run, so the results still are the
/// initial contents of the buffers.
#[test]
fn a_wrong_result_is_named() {
    for word in SMALL.split_whitespace() {
        assert_eq!(prepared(word).instance.check_results(word).unwrap_err().kernel, word);
    }
}
