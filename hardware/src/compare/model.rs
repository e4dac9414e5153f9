//! Results of the model: `results.csv` of a folder that `mias evaluate` wrote
//! (docs/reference/results.md). Kernels have their names without the input. IPC counts the plan's
//! instructions.

use super::csv::{self, Line};
use std::collections::BTreeMap;
use std::path::Path;

/// IPC of kernels alone and in configurations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// IPC with 1, 2, .. TBs per SM, by kernel.
    pub alone: BTreeMap<String, Vec<f64>>,
    /// IPC of each kernel in pairs (and other sets), by configuration.
    pub sets: BTreeMap<Vec<String>, BTreeMap<Vec<u32>, Vec<f64>>>,
    /// SMs of the simulated machine; 0 if the plan does not change them.
    pub sms: u32,
    /// Window of the IPC in cycles, which includes the launch latency.
    pub window: f64,
}

impl Model {
    /// Reads a results folder or its `results.csv`.
    ///
    /// # Errors
    /// A sentence with the name of the file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let file = if path.is_dir() { path.join("results.csv") } else { path.to_owned() };
        let text = std::fs::read_to_string(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        Self::of(&text).map_err(|error| format!("{}: {error}", file.display()))
    }

    /// Returns a set's configurations and IPCs in the order of these kernels, for any launch order.
    pub fn find(&self, kernels: &[String]) -> Option<BTreeMap<Vec<u32>, Vec<f64>>> {
        self.sets.iter().find_map(|(set, configurations)| {
            let places: Vec<usize> = kernels.iter().map(|kernel| set.iter().position(|one| one == kernel)).collect::<Option<_>>()?;
            let all = set.len() == kernels.len();
            all.then(|| {
                let sorted = |(counts, ipc): (&Vec<u32>, &Vec<f64>)| {
                    (places.iter().map(|&place| counts[place]).collect(), places.iter().map(|&place| ipc[place]).collect())
                };
                configurations.iter().map(sorted).collect()
            })
        })
    }

    /// Reads a text.
    ///
    /// # Errors
    /// A sentence for the unreadable part.
    pub fn of(text: &str) -> Result<Self, String> {
        let mut model = Model::default();
        for line in csv::read(text)? {
            let Line::Row(row) = line else { continue };
            let cell = |name: &str| row.get(name).map(String::as_str).ok_or_else(|| format!("no column `{name}`"));
            let (quantity, name) = (cell("quantity")?, cell("name")?);
            let value = || cell("value")?.parse::<f64>().map_err(|_| format!("{quantity} of {name} is not a number"));
            let sms = cell("gpu")?.split(' ').find_map(|field| field.strip_prefix("sm.count="));
            model.sms = sms.and_then(|count| count.parse().ok()).unwrap_or(model.sms);
            let place = |text: Option<&str>| text.and_then(|text| text.parse::<usize>().ok()).and_then(|place| place.checked_sub(1));
            match cell("subject")? {
                "alone" if quantity == "cycles" => model.window = value()?,
                "alone" => {
                    let count = quantity.strip_prefix("ipc_of_").and_then(|rest| rest.strip_suffix("_tbs"));
                    let Some(place) = place(count) else { continue };
                    put(model.alone.entry(plain(name)).or_default(), place, value()?);
                }
                "configuration" => {
                    let Some(place) = place(quantity.strip_prefix("ipc_")) else { continue };
                    let counts = name.split('-').map(str::parse).collect::<Result<Vec<u32>, _>>();
                    let counts = counts.map_err(|_| format!("`{name}` is not a configuration"))?;
                    let set = cell("kernels")?.split('+').map(plain).collect::<Vec<_>>();
                    put(model.sets.entry(set).or_default().entry(counts).or_default(), place, value()?);
                }
                _ => {}
            }
        }
        Ok(model)
    }
}

/// Returns a kernel's name without its input.
fn plain(word: &str) -> String {
    word.split([':', ',', '@']).next().unwrap_or(word).to_owned()
}

fn put(values: &mut Vec<f64>, place: usize, value: f64) {
    if values.len() <= place {
        values.resize(place + 1, f64::NAN);
    }
    values[place] = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_curves_and_configurations_are_found() {
        let text = "experiment,setting,gpu,kernels,class,subject,name,quantity,value\n\
            a,,h100 sm.count=33,\"mm:640,registers=31\",C,alone,\"mm:640,registers=31\",ipc_of_2_tbs,20.5\n\
            a,,h100 sm.count=33,\"mm:640,registers=31\",C,alone,\"mm:640,registers=31\",ipc_of_1_tbs,11\n\
            a,,h100 sm.count=33,\"mm:640,registers=31\",C,alone,\"mm:640,registers=31\",ipc_at_5000,11\n\
            a,,h100 sm.count=33,\"mm:640,registers=31\",C,alone,\"mm:640,registers=31\",cycles,60000\n\
            p,,h100 sm.count=33,\"mm:640,registers=31+fwt:1024\",MC,configuration,3-5,ipc_2,7\n\
            p,,h100 sm.count=33,\"mm:640,registers=31+fwt:1024\",MC,configuration,3-5,ipc_1,9\n\
            p,,h100 sm.count=33,\"mm:640,registers=31+fwt:1024\",MC,policy,smk,config,3-5\n";
        let model = Model::of(text).unwrap();
        assert_eq!((&model.alone, model.sms, model.window), (&BTreeMap::from([("mm".into(), vec![11.0, 20.5])]), 33, 60_000.0));
        let set = ["mm", "fwt"].map(str::to_owned);
        let turned = model.find(&["fwt", "mm"].map(str::to_owned));
        assert_eq!(turned, Some(BTreeMap::from([(vec![5, 3], vec![7.0, 9.0])])));
        assert_eq!(model.find(&set[..1]), None);
        assert_eq!(model.sets, BTreeMap::from([(set.to_vec(), BTreeMap::from([(vec![3, 5], vec![9.0, 7.0])]))]));
    }
}
