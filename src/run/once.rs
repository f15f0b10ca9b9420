//! Inputs that can be read once: the standard input and pipes.

use std::path::{Path, PathBuf};

use crate::error::{Place, Problem, Problems};
use crate::params::{Node, Value};

/// Those that were read so far.
#[derive(Debug, Default)]
pub struct Once {
    read: Vec<PathBuf>,
}

impl Once {
    /// The inputs of some sources of traffic are about to be read. Whether each can be; if not, that is a problem.
    pub fn begin(&mut self, traffic: &[Node], folder: &Path, problems: &Problems) -> bool {
        let mut all_can = true;
        for (name, place) in traffic.iter().flat_map(paths) {
            let path = if name == "-" { PathBuf::from("-") } else { folder.join(name) };
            let stays = name != "-"
                && path.metadata().map_or(true, |metadata| metadata.is_file() || metadata.is_dir());
            if stays {
                continue;
            }
            if self.read.contains(&path) {
                let message = format!("`{name}` can be read once, and would have to be read again");
                let help = "write it to a file first; cases that agree in how they read it share what was read";
                problems.add(Problem::at(place, message).help(help));
                all_can = false;
            }
            self.read.push(path);
        }
        all_can
    }
}

/// The files that a source names.
fn paths(source: &Node) -> Vec<(&str, &Place)> {
    let Value::Table(table) = &source.value else { return Vec::new() };
    let Some(entry) = table.get("path") else { return Vec::new() };
    let nodes = match &entry.node.value {
        Value::Array(nodes) => nodes.iter().collect(),
        _ => vec![&entry.node],
    };
    let texts = nodes.into_iter().filter_map(|node| match &node.value {
        Value::String(name) => Some((name.as_str(), &node.place)),
        _ => None,
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use crate::run::prepare;
    use crate::scenario::{Changes, Scenario};
    use std::path::Path;

    #[test]
    fn the_standard_input_is_not_read_a_second_time() {
        // Were it read, this would wait for it, or find nothing in it.
        let text = "name = \"t\"\nlimit = \"1/1s\"\n\
                    [[traffic]]\nkind = \"log\"\npath = [\"no such file\", \"-\"]\n\
                    [[traffic]]\nkind = \"log\"\npath = \"-\"\n";
        let changes = Changes::default();
        let scenario = Scenario::parse(Path::new("t.toml"), text.to_owned(), &changes).unwrap();
        let shown = prepare(scenario, &[]).err().unwrap().render(false);
        let told = ["`-` can be read once, and would have to be read again", "t.toml:8:8"];
        assert!(told.iter().all(|part| shown.contains(part)), "{shown}");
        assert_eq!(shown.matches("error").count(), 1, "{shown}");
    }
}
