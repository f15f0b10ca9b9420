//! The report page: one file that holds everything, to be read on any screen, sent along or kept. It
//! has no scripts and asks no other machine for anything.

use super::chart::palette::{Colour, GRID, INK, MUTED, OVER_TEXT, PAPER};
use super::chart::{self, Figure, Series};
use super::format;
use super::intervals::{Style, with_never};
use super::reading;
use super::words;
use crate::metrics::{CaseInfo, Comparison, Metric, Spreads, Standing, Value, Worse};

const STYLE: &str = "\
body{background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;\
max-width:46rem;margin:0 auto;padding:1rem;overflow-wrap:break-word}\
h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0}\
h2{font-size:1.2rem;line-height:1.3;margin:2.2rem 0 .3rem}\
h3{font-size:1rem;margin:1.2rem 0 .3rem}\
p,ul{margin:.3rem 0}ul{padding-left:1.2rem}\
.muted,figcaption{color:var(--muted)}\
.scroll{overflow-x:auto}\
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.85rem;margin:.5rem 0}\
th,td{text-align:right;padding:.2rem .6rem;border-bottom:1px solid var(--line);white-space:nowrap}\
th{font-weight:500}\
th:first-child{text-align:left;padding-left:0;position:sticky;left:0;background:var(--paper)}\
.worst{color:var(--bad);font-weight:600}\
.swatch{width:.7em;height:.7em;margin-right:.35em}\
thead th{white-space:normal;vertical-align:bottom;min-width:5.5rem}\
figure{margin:.8rem -1rem}figcaption{padding:0 1rem}figure svg{display:block;width:100%;min-width:34rem;height:auto}\
dt{font-weight:500}dd{margin:0 0 .4rem;color:var(--muted)}\
";

/// The colours of the page, which are those of the charts, on white and on a dark page.
fn variables() -> String {
    const NAMED: [(&str, Colour); 5] =
        [("paper", PAPER), ("ink", INK), ("muted", MUTED), ("line", GRID), ("bad", OVER_TEXT)];
    let of = |value: fn(Colour) -> u32| {
        let all = NAMED.map(|(name, colour)| format!("--{name}:#{:06X}", value(colour)));
        all.join(";")
    };
    format!(
        ":root{{color-scheme:light dark;{}}}@media (prefers-color-scheme:dark){{:root{{{}}}}}",
        of(|colour| colour.light),
        of(|colour| colour.dark),
    )
}

/// The page over a comparison, with its charts.
pub fn page(comparison: &Comparison, figures: &[Figure]) -> String {
    let mut page = Page::default();
    page.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
    page.element("title", &format!("{} - ratesim", comparison.scenario));
    page.raw("<style>").raw(&variables()).raw(STYLE).raw("</style>\n</head>\n<body>\n");
    page.element("h1", &comparison.scenario);
    if !comparison.about.is_empty() {
        page.element("p", &comparison.about);
    }
    page.element("h2", "Summary");
    let replicas = comparison.replicas();
    let means = (replicas > 1).then(|| Spreads::of(comparison));
    if replicas > 1 {
        let mut text = format!(
            "Means of {replicas} replicas with their 95 % intervals. Each replica is in summary.csv."
        );
        if comparison.cases.len() > 1 {
            text += " How the cases differ, replica by replica, is in comparison.csv.";
        }
        page.raw("<p class=\"muted\">").text(&text).raw("</p>\n");
    }
    if let Some(remark) = reading::remark(comparison) {
        page.raw("<p class=\"muted\">").text(&remark).raw("</p>\n");
    }
    for (index, case) in comparison.cases.iter().enumerate() {
        facts(&mut page, case);
        table(&mut page, comparison, means.as_ref(), index);
    }
    let mut before = "";
    for figure in figures {
        if figure.chart.name != before {
            page.element("h2", figure.chart.title);
        }
        // What is shown of each case is said once, above the first.
        let case = figure.case.map(|case| comparison.cases[case].name.as_str());
        let case = case.filter(|name| !name.is_empty());
        if case.is_some() && figure.chart.name != before {
            page.raw("<p class=\"muted\">").text(figure.chart.meaning).raw("</p>\n");
        }
        before = figure.chart.name;
        let caption = case.unwrap_or(figure.chart.meaning);
        page.raw("<figure>\n<div class=\"scroll\">\n").raw(&figure.svg).raw("</div>\n");
        page.element("figcaption", caption).raw("</figure>\n");
    }
    page.element("h2", "What the numbers mean");
    page.raw("<dl>\n");
    for (_, metric) in comparison.metrics() {
        page.element("dt", metric.name).element("dd", metric.meaning);
    }
    page.raw("</dl>\n");
    page.raw("</body>\n</html>\n");
    page.0
}

/// What a reader must know of a case, below its name if it has one.
fn facts(page: &mut Page, case: &CaseInfo) {
    if !case.name.is_empty() {
        page.element("h3", &case.name);
    }
    page.raw("<ul>\n");
    for (name, words) in &case.limits {
        let words = match case.limits.len() {
            1 => format!("Limit: {words}"),
            _ => format!("Limit {name}: {words}"),
        };
        page.element("li", &words);
    }
    if let Some(words) = &case.sending {
        page.element("li", &format!("Clients: {words}"));
    }
    if let Some(fleet) = &case.fleet {
        page.element("li", &format!("Nodes: {}", fleet.nodes));
        let others = [
            ("Clocks", &fleet.clocks),
            ("Store", &fleet.store),
            ("Outage", &fleet.outage),
            ("Failure", &fleet.failure),
        ];
        for (label, words) in others {
            if let Some(words) = words {
                page.element("li", &format!("{label}: {words}"));
            }
        }
    }
    let (lasts, start) = (format::length(case.window.span()), case.window.start);
    page.element("li", &format!("Runs for {lasts} from {start}"));
    for note in &case.notes {
        page.element("li", note);
    }
    page.raw("</ul>\n");
}

/// The metrics of a case, a line each, the algorithms side by side.
fn table(page: &mut Page, comparison: &Comparison, means: Option<&Spreads>, case: usize) {
    let (all, left_out) = chart::of_case(comparison, case);
    let name = comparison.cases[case].name.as_str();
    page.raw("<div class=\"scroll\"><table>\n<thead><tr>");
    page.raw("<th scope=\"col\">").text(name).raw("</th>");
    for one in &all {
        page.raw("<th scope=\"col\">");
        let colour = one.colour.light;
        page.raw("<svg class=\"swatch\" viewBox=\"0 0 1 1\" aria-hidden=\"true\">");
        page.raw(&format!("<rect width=\"1\" height=\"1\" fill=\"#{colour:06X}\"/></svg>"));
        page.text(&one.row.algorithm).raw("</th>");
    }
    page.raw("</tr></thead>\n<tbody>\n");
    for (_, metric) in comparison.metrics() {
        let values = match means {
            None => values(metric, &all),
            Some(means) => mean_values(metric, comparison, means, &all),
        };
        line(page, metric.name, metric.worse, &values);
    }
    page.raw("</tbody>\n</table></div>\n");
    if let Some(remark) = chart::left_out(left_out) {
        page.raw("<p class=\"muted\">").text(&remark).raw("</p>\n");
    }
}

/// What a cell says, and how large that is.
type Shown = Option<(Standing, String)>;

/// Those of one run each.
fn values(metric: &Metric, all: &[Series<'_>]) -> Vec<Shown> {
    let value = |one: &Series<'_>| (metric.value)(&one.row.tally);
    all.iter().map(|one| value(one).map(|value| (value.into(), shown(value)))).collect()
}

/// Those of several replicas each.
fn mean_values(
    metric: &Metric,
    comparison: &Comparison,
    means: &Spreads,
    all: &[Series<'_>],
) -> Vec<Shown> {
    let of = |one: &Series<'_>| {
        let row = comparison.rows.iter().position(|row| std::ptr::eq(row, one.row))?;
        let spread = means.get(row, metric.name)?;
        let number = |number| shown(Value::Number(number));
        let text = with_never(spread, true, |across| Style::AMPLE.number(across, number))?;
        Some((spread.standing()?, text))
    };
    all.iter().map(of).collect()
}

fn line(page: &mut Page, name: &str, worse: Worse, all: &[Shown]) {
    let worst = worse.worst(all.iter().flatten().map(|(standing, _)| *standing));
    page.raw("<tr><th scope=\"row\">").text(name).raw("</th>");
    for one in all {
        let marked = worst.is_some() && one.as_ref().map(|(standing, _)| *standing) == worst;
        page.raw(if marked { "<td class=\"worst\">" } else { "<td>" });
        page.text(one.as_ref().map_or("", |(_, text)| text)).raw("</td>");
    }
    page.raw("</tr>\n");
}

fn shown(value: Value) -> String {
    let number = match value {
        Value::Count(count) => return format::count(count),
        Value::Never => return value.to_string(),
        value => value.as_f64(),
    };
    match number.abs() {
        0.0 => "0".to_owned(),
        size if size >= 100.0 => chart::decimal(number, 1),
        size if size >= 1.0 => chart::decimal(number, 3),
        size if size >= 0.001 => chart::decimal(number, 5),
        _ => format!("{number:.2e}"),
    }
}

/// A page being written. What comes from the user passes through [`Page::text`].
#[derive(Default)]
struct Page(String);

impl Page {
    /// Markup of our own.
    fn raw(&mut self, markup: &str) -> &mut Page {
        self.0.push_str(markup);
        self
    }

    /// Text, escaped and without control characters, which HTML cannot hold.
    fn text(&mut self, text: &str) -> &mut Page {
        chart::escape(&words::printable_lines(text), &mut self.0);
        self
    }

    /// A whole element with text.
    fn element(&mut self, name: &str, text: &str) -> &mut Page {
        self.raw("<").raw(name).raw(">").text(text);
        self.raw("</").raw(name).raw(">\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::{figures, sample};

    #[test]
    fn a_page_holds_everything_and_asks_nobody_else() {
        let mut comparison = sample::boundary();
        comparison.about = "<script>alert('x')</script> & more".to_owned();
        comparison.rows[0].algorithm = "\"><img src=x onerror=y>".to_owned();
        comparison.cases[0].notes.push("<b>3 lines</b> were left out.".to_owned());
        let page = page(&comparison, &figures(&comparison));
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("<b>"));
        assert!(page.contains("&lt;b&gt;3 lines&lt;/b&gt; were left out."));
        assert!(page.contains("Limit: 100 per 60s for each client"));
        for outside in ["src=\"", "href=", "url(", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
        let namespace = "http://www.w3.org/2000/svg";
        assert_eq!(page.matches("http").count(), page.matches(namespace).count());
        assert_eq!(page.matches("<figure>").count(), 4);
        assert_eq!(page.matches("</div>\n<figcaption>").count(), 4, "each has its caption");
        assert!(page.len() < 100_000, "{}", page.len());
    }

    #[test]
    fn of_replicas_a_page_has_the_means() {
        let comparison = sample::replicated();
        let page = page(&comparison, &figures(&comparison));
        assert!(page.contains("Means of 4 replicas with their 95 % intervals."));
        // 200 less 0, 3, 6 and 9: mean 195.5, half 3.1824463 * sqrt(45 / 3 / 4) = 6.1628.
        assert!(page.contains("<td>195.5 ±6.2</td>"));
        assert!(page.contains("<h2>Means of the replicas</h2>"));
    }

    #[test]
    fn of_replicas_a_page_says_in_how_many_it_never_came() {
        let comparison = crate::report::samples::replicated_retries();
        let page = page(&comparison, &[]);
        for cell in ["<td>0</td>", "<td>never</td>", "<td>2, 1 never</td>"] {
            assert!(page.contains(cell), "{cell}");
        }
        assert!(page.contains("<th scope=\"row\">recovery_s</th>"));
    }

    #[test]
    fn of_a_fleet_a_page_tells_nodes_store_and_outages() {
        let mut outage = crate::report::fleet_samples::outage();
        outage.cases[0].fleet.as_mut().unwrap().clocks = Some("up to 10s apart".to_owned());
        let page = page(&outage, &[]);
        let told = "<li>Nodes: 4 nodes in turn, all state in the store</li>\n\
                    <li>Clocks: up to 10s apart</li>\n\
                    <li>Store: 1ms away, by script</li>\n\
                    <li>Outage: down for 60s from 60s on, silent</li>\n\
                    <li>Failure: no answer within 50ms, or an error: attempts pass</li>\n";
        assert_eq!(page.matches(told).count(), 1);
        // Three of four cases have one, and one clocks that are apart.
        assert_eq!(page.matches("<li>Outage: ").count(), 3);
        assert_eq!(page.matches("<li>Clocks: ").count(), 1);
        assert!(page.contains("<th scope=\"row\">effective_limit_ratio</th>"));
    }

    #[test]
    fn a_page_has_no_control_characters() {
        let mut comparison = sample::boundary();
        comparison.scenario = "a\0b".to_owned();
        comparison.about = "two\nlines\u{1b}[31m".to_owned();
        comparison.rows[0].algorithm = "gcra\0\u{7f}".to_owned();
        comparison.cases[0].name = "\0".to_owned();
        let page = page(&comparison, &figures(&comparison));
        assert!(page.contains("<h1>a\u{fffd}b</h1>") && page.contains("two\nlines\u{fffd}[31m"));
        assert!(page.contains("gcra\u{fffd}\u{fffd}</th>"));
        assert!(page.chars().all(|c| c == '\n' || !c.is_control()));
    }

    #[test]
    fn a_metric_is_a_line_with_its_worst_value_marked() {
        let metric: Metric = Metric {
            name: "over_limit",
            unit: "attempts",
            meaning: "Over.",
            worse: Worse::More,
            value: |tally| (tally.over_limit != 1).then_some(Value::Count(tally.over_limit)),
        };
        let comparison = sample::boundary();
        let mut page = Page::default();
        let values = values(&metric, &chart::of_case(&comparison, 0).0[..3]);
        line(&mut page, metric.name, metric.worse, &values);
        // fixed-window 100, the log 0, the counter 1, which this metric leaves out.
        assert_eq!(
            page.0,
            "<tr><th scope=\"row\">over_limit</th><td class=\"worst\">100</td><td>0</td><td></td></tr>\n"
        );
    }

    #[test]
    fn numbers_keep_the_digits_that_tell() {
        for (value, text) in [
            (Value::Count(1_234_567), "1,234,567"),
            (Value::Number(0.0), "0"),
            (Value::Number(1.98), "1.98"),
            (Value::Number(1234.56), "1234.6"),
            (Value::Number(0.012), "0.012"),
            (Value::Number(2e-9), "2.00e-9"),
        ] {
            assert_eq!(shown(value), text);
        }
    }
}
