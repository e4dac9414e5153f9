//! Report of `kernels --stats`: sections of tables, as text for the terminal and Markdown for
//! documents.

use super::comparison_table;
use super::kernel_list::letter;
use super::section::Section;
use mias_hw_model::config::GpuConfig;
use mias_hw_model::sm::IssueClass;
use mias_lab::characterise::profile::Kind;
use mias_lab::characterise::published::{self, figures};
use mias_lab::characterise::thesis::{self, Agreement};
use mias_lab::characterise::{Character, types::Types};
use mias_lab::experiment::gpu_runner::Options;
use mias_lab::table::{DASH, grouped, number, percent};
use mias_workloads::kernels::KernelType;

/// Formats a line with GPU and duration of the isolated runs.
pub fn heading(gpu: &GpuConfig, options: Options) -> String {
    format!("{}\n\n", comparison_table::place(gpu, options))
}

/// Returns all sections about these kernels; empty ones are left out.
pub fn sections(characters: &[Character]) -> Vec<Section> {
    let all = [
        instructions(characters),
        mix(characters),
        alone(characters),
        utilization(characters),
        slots(characters),
        types(characters),
        words(characters),
        published_figures(characters),
    ];
    all.into_iter().filter(|section| !section.rows.is_empty()).collect()
}

fn instructions(characters: &[Character]) -> Section {
    let headings =
        ["kernel", "warps", "insts/warp", "lanes/inst", "Cinst/Minst", "Req/Minst", "load sectors/1000 insts", "bytes used", "idempotent"];
    Section::new(
        "Instructions",
        "counted in the trace of the whole grid",
        &headings,
        characters.iter().map(|c| {
            vec![
                c.name.clone(),
                grouped(c.profile.warps),
                number(c.profile.insts_per_warp(), 1),
                number(c.profile.lanes_per_inst(), 1),
                number(c.profile.compute_per_memory(), 1),
                number(c.profile.requests_per_memory(), 2),
                number(c.profile.load_sectors_per_kilo(), 1),
                percent(c.profile.sector_use()),
                yes(c.profile.idempotent),
            ]
        }),
    )
}

/// Returns the instruction mix of each kernel, without instruction classes that no kernel has.
fn mix(characters: &[Character]) -> Section {
    let used = |kind: &Kind| characters.iter().any(|c| c.profile.mix[*kind as usize] > 0);
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(used).collect();
    let headings: Vec<&str> = std::iter::once("kernel").chain(kinds.iter().map(|kind| kind.name())).collect();
    Section::new(
        "Instruction mix",
        "shares of warp instructions",
        &headings,
        characters
            .iter()
            .map(|c| std::iter::once(c.name.clone()).chain(kinds.iter().map(|&kind| percent(c.profile.share(kind)))).collect()),
    )
}

fn alone(characters: &[Character]) -> Section {
    let headings = [
        "kernel",
        "TBs/SM",
        "IPC",
        "IPC, half of the TBs",
        "L1 miss rate",
        "L1 fails/access",
        "miss latency",
        "L2 accesses/1000 insts",
        "L2 hit rate",
    ];
    Section::new(
        "Alone on the GPU",
        "with the most TBs per SM",
        &headings,
        characters.iter().map(|c| {
            vec![
                c.name.clone(),
                c.occupancy.max_tbs.to_string(),
                number(Some(c.ipc.1), 1),
                number(c.ipc.0, 1),
                number(c.alone.l1_miss_rate, 3),
                number(c.alone.l1_fails_per_access, 2),
                number(c.alone.miss_latency, 0),
                number(c.alone.l2_accesses_per_1000_insts, 1),
                number(c.alone.l2_hit_rate, 3),
            ]
        }),
    )
}

fn utilization(characters: &[Character]) -> Section {
    let headings = ["kernel", "scheduler", "L1", "SM->L2", "L2->SM", "L2", "DRAM", "LSU stalls"];
    let note = "fractions of peak, for the crossbar of the sustainable 60 %; LSU stalls: fraction of SM cycles";
    Section::new(
        "Utilization",
        note,
        &headings,
        characters.iter().map(|c| {
            let a = &c.alone;
            let issued = a.issue_slots.map(|slots| slots[IssueClass::Issued as usize]);
            let parts =
                [issued, a.l1_utilization, a.request_utilization, a.reply_utilization, a.l2_utilization, a.dram_utilization, a.lsu_stall];
            std::iter::once(c.name.clone()).chain(parts.map(percent)).collect()
        }),
    )
}

fn slots(characters: &[Character]) -> Section {
    let held = characters.iter().filter_map(|c| c.alone.issue_slots).any(|slots| slots[IssueClass::Held as usize] > 0.0);
    let classes: Vec<IssueClass> = IssueClass::ALL.into_iter().filter(|&class| held || class != IssueClass::Held).collect();
    let headings: Vec<&str> = std::iter::once("kernel").chain(classes.iter().map(|class| class.heading())).collect();
    Section::new(
        "Issue slots",
        "fractions of scheduler cycles, as in figure 4.1 of the thesis, with RAW split by cause",
        &headings,
        characters.iter().map(|c| {
            let shares = classes.iter().map(|&class| percent(c.alone.issue_slots.map(|slots| slots[class as usize])));
            std::iter::once(c.name.clone()).chain(shares).collect()
        }),
    )
}

fn types(characters: &[Character]) -> Section {
    let headings = ["kernel", "thesis", "by Nasef", "by Dai", "by Lin", "by Shieh", "by Zhao", "differs from thesis", "papers"];
    Section::new(
        "Type",
        "compute- or memory-intensive by the rule of each paper, on this GPU",
        &headings,
        characters.iter().map(|c| {
            let thesis = thesis::kernel_type(c.kernel);
            let show = |kernel_type: Option<KernelType>| kernel_type.map_or(DASH, letter).to_owned();
            let idempotent = if c.profile.idempotent { "idempotent" } else { "not idempotent" };
            let said = published::said(c.kernel);
            let papers = ["Dai", "Lin", "Shieh", "Zhao"].into_iter().zip(said).filter(|(_, said)| !said.is_empty());
            let papers: Vec<String> = papers.map(|(paper, said)| format!("{paper}: {said}")).collect();
            vec![
                c.name.clone(),
                show(thesis),
                show(c.types.nasef2023),
                show(c.types.dai2018),
                by_component(&c.types),
                idempotent.to_owned(),
                show(c.types.zhao2018),
                thesis.map_or_else(|| DASH.to_owned(), |thesis| disagreeing(&c.types, thesis)),
                papers.join("; "),
            ]
        }),
    )
}

/// Returns the bottleneck of each kernel, for `kernels --stats`; the page of the thesis' kernels
/// does not have it.
pub fn binding(characters: &[Character]) -> Section {
    let headings = ["kernel", "most used", "level", "remedy", "limit of another TB"];
    Section::new(
        "Bottleneck",
        "Lin et al. 2018, section 4.2 and table 3; remedy: own",
        &headings,
        characters.iter().map(|c| {
            let helps: Vec<&str> = c.binding.helps.iter().map(|help| help.name()).collect();
            vec![
                c.name.clone(),
                c.binding.component.name().to_owned(),
                c.binding.level.name().to_owned(),
                helps.join(", "),
                c.occupancy.limits.join(", "),
            ]
        }),
    )
}

fn by_component(types: &Types) -> String {
    let letter = types.lin2018.kernel_type().map_or(DASH, letter);
    format!("{letter} ({})", types.lin2018.name())
}

/// Returns the papers whose rule gives another type than the thesis, by author; those without a
/// type are left out.
pub fn papers_against(types: &Types, thesis: KernelType) -> Vec<&'static str> {
    let by_rule = [("Nasef", types.nasef2023), ("Dai", types.dai2018), ("Lin", types.lin2018.kernel_type()), ("Zhao", types.zhao2018)];
    by_rule.into_iter().filter(|(_, by)| by.is_some_and(|by| by != thesis)).map(|(paper, _)| paper).collect()
}

fn disagreeing(types: &Types, thesis: KernelType) -> String {
    match papers_against(types, thesis).as_slice() {
        [] => "none".to_owned(),
        some => some.join(", "),
    }
}

fn words(characters: &[Character]) -> Section {
    let headings = ["kernel", "the thesis", "rule", "here", "holds", "agreement"];
    Section::new(
        "Claims of the thesis",
        "Nasef 2023, section 4.1.2, each tested by a rule of mias",
        &headings,
        characters.iter().flat_map(|c| {
            let statements = thesis::statements(c);
            let agreement = Agreement::of(&statements).name();
            statements.into_iter().enumerate().map(move |(at, s)| {
                let (name, verdict) = if at == 0 { (c.name.clone(), agreement) } else { (String::new(), "") };
                vec![name, s.says.to_owned(), s.rule, s.measured, yes(s.holds), verdict.to_owned()]
            })
        }),
    )
}

fn published_figures(characters: &[Character]) -> Section {
    let headings = ["kernel", "quantity", "ours", "published", "ratio", "source"];
    Section::new(
        "Published figures",
        "measured here and by others",
        &headings,
        characters.iter().flat_map(|c| {
            figures(c).into_iter().map(|figure| {
                let (low, high) = figure.published;
                let published = if low == high { exact(low) } else { format!("{}-{}", exact(low), exact(high)) };
                let ratio = number(figure.ratio(), 2);
                vec![
                    c.name.clone(),
                    figure.quantity.to_owned(),
                    figure.ours.map_or_else(|| DASH.to_owned(), exact),
                    published,
                    ratio,
                    figure.source.to_owned(),
                ]
            })
        }),
    )
}

/// Formats whole numbers in groups, others with up to three decimals.
fn exact(value: f64) -> String {
    if value == value.round() {
        return grouped(value as u64);
    }
    if value >= 1000.0 { grouped(value.round() as u64) } else { format!("{value:.3}").trim_end_matches('0').to_owned() }
}

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_lab::characterise::binding::Component;

    #[test]
    fn a_paper_that_says_nothing_does_not_disagree() {
        let types = Types {
            nasef2023: None,
            dai2018: Some(KernelType::Compute),
            lin2018: Component::Underutilized,
            zhao2018: Some(KernelType::Memory),
        };
        assert_eq!(papers_against(&types, KernelType::Memory), ["Dai"]);
        assert_eq!(papers_against(&types, KernelType::Compute), ["Zhao"]);
        assert_eq!((by_component(&types), disagreeing(&types, KernelType::Memory)), ("- (under)".to_owned(), "Dai".to_owned()));
    }

    #[test]
    fn numbers_are_as_exact_as_they_are_worth() {
        assert_eq!([55_760.0, 0.9987, 4.9, 0.0, 5632.61, 0.5].map(exact), ["55,760", "0.999", "4.9", "0", "5,633", "0.5"]);
    }
}
