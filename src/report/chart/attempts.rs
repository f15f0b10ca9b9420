//! Attempts over time where clients retry: first attempts and retries apart, what succeeds below, and when
//! the run was disturbed. A storm of retries, and whether it dies down, is seen at a glance.

use super::axis::Numbers;
use super::canvas::Canvas;
use super::chosen::{self, Chosen};
use super::loops;
use super::palette::{Colour, INK, MUTED, OVER_TEXT, REFUSED};
use super::panels::{Across, Panels, Plot, Track};
use super::scale::{Decades, Scale};
use super::series::Series;
use super::shade::{beside, shade};
use super::view::{Steps, View};
use super::{Chart, Draw, text};
use crate::judge::{Bin, Load, Recovery};
use crate::metrics::Comparison;
use crate::report::format;
use crate::time::{SECOND, Span};

/// Its entry in the registry.
pub const CHART: Chart = Chart {
    name: "attempts",
    title: "Attempts and successes over time",
    meaning: "Where clients retry: first attempts, retries and successes per second over time, by \
              case, with the disturbance that set them off.",
    draw: Draw::Whole(draw),
};

/// What a run counted per second.
struct Curves {
    /// Their highest rates, as those of retries.
    first_spikes: Steps,
    /// Their means, as those of successes.
    first: Steps,
    retries: Steps,
    successes: Steps,
}

fn draw(comparison: &Comparison) -> Option<String> {
    let drawn = loops::of(comparison)?;
    let timelines = drawn.all().map(|(_, one)| &one.row.tally.timeline);
    let busy = |bin: &Bin| bin.offered > 0 || bin.succeeded > 0 || bin.accepted > 0;
    if !timelines.clone().any(|timeline| timeline.bins.iter().any(busy)) {
        return None;
    }
    let view = View::of_all(timelines, 0.3, busy)?;
    // Two surfaces a panel and two curves an algorithm.
    let outlines = 2 * (drawn.cases.len() + drawn.all().count());
    let groups = (8000 / outlines).min(140);
    let curves: Vec<Vec<Curves>> = drawn
        .cases
        .iter()
        .map(|(_, all)| all.iter().map(|one| Curves::of(one, &view, groups)).collect())
        .collect();
    let most = |of: fn(&Curves) -> &Steps| highest(curves.iter().flatten().map(of));
    let first = most(|curves| &curves.first_spikes);
    let retries = most(|curves| &curves.retries);
    let usual = curves.iter().flatten().map(|curves| usual(&curves.first)).fold(0.0, f64::max);
    // On an even scale a storm would press everything else flat.
    let (scale, unit) = match retries > 20.0 * usual && usual > 0.0 {
        true => (Scale::Decades(Decades::holding(usual, first.max(retries))), "per s, log"),
        false => (Scale::Even(Numbers::up_to(first.max(retries), 4.0, false)), "per s"),
    };
    let successes = most(|curves| &curves.successes).max(most(|curves| &curves.first));
    let heights = match drawn.cases.len() {
        1 => (150.0, 70.0),
        2..=4 => (84.0, 40.0),
        _ => (70.0, 34.0),
    };
    let tracks = [
        Track { titles: ("retries", unit), scale, height: heights.0 },
        Track {
            titles: ("successes", "per s"),
            scale: Scale::Even(Numbers::up_to(successes, 2.0, false)),
            height: heights.1,
        },
    ];
    let nanos = |nanos: u64| Span::from_nanos(nanos.min(Span::MAX.nanos()));
    let averaged = nanos(view.group_length(groups));
    let even_below = match scale {
        Scale::Decades(Decades { low, .. }) => {
            format!("; logarithmic above {}", text::decimal(low, 9))
        }
        _ => String::new(),
    };
    let differ = match first_attempts_differ(&curves) {
        true => "; first attempts: most of any algorithm",
        false => "",
    };
    let counted = match view.spike(groups) {
        spike if spike < view.group_length(groups) => {
            let within =
                if spike == SECOND { "second".to_owned() } else { nanos(spike).to_string() };
            format!(
                "most retries in any {within} above, mean successes of {averaged} below, per second"
            )
        }
        _ => format!("retries above, successes below, per second, averaged over {averaged}"),
    };
    let subtitle = format!("{counted}{even_below}{differ}");
    let legend = drawn.legend(&[(REFUSED, "first attempts")]);
    let legend: Vec<(&[Colour], &str)> =
        legend.iter().map(|(colours, words)| (&colours[..], &**words)).collect();
    let heads = drawn.heads(remark);
    let figure = Panels {
        title: &title(&drawn),
        subtitles: &[&subtitle, drawn.coinciding(), &drawn.remark],
        heads: &heads,
        legend: &legend,
        across: Across::Run(&view),
        tracks: &tracks,
    };
    Some(figure.draw(|canvas, plots, index| {
        let (_, all) = &drawn.cases[index];
        if let Some(load) = loads(all).next() {
            mark_trigger(canvas, plots, load, &view);
        }
        let [retries, successes] = plots else { return };
        let first_spikes = chosen::upper(curves[index].iter().map(|curves| &curves.first_spikes));
        let first = chosen::upper(curves[index].iter().map(|curves| &curves.first));
        canvas.surface(&retries.surface(&first_spikes, 0.0), REFUSED, 1.0);
        canvas.surface(&successes.surface(&first, 0.0), REFUSED, 1.0);
        for (nth, (one, curves)) in all.iter().zip(&curves[index]).enumerate() {
            let thick = chosen::thickness(nth, all.len());
            for ridge in ridges(retries, &curves.retries) {
                canvas.line(&ridge, one.colour, thick);
            }
            canvas.line(&successes.steps(&curves.successes), one.colour, thick);
        }
    }))
}

impl Curves {
    fn of(one: &Series<'_>, view: &View, groups: usize) -> Curves {
        let timeline = &one.row.tally.timeline;
        let rates = |of: fn(&Bin) -> u64| view.rates(timeline, groups, of);
        // An open loop counts no seconds, and has no retries.
        let spikes =
            |of: fn(&Bin) -> u64, most_in_second: fn(&Bin) -> u64| match one.row.tally.closed {
                Some(_) => view.spikes(timeline, groups, of, most_in_second),
                None => rates(of),
            };
        Curves {
            first_spikes: spikes(loops::first_attempts, |bin| bin.first_in_second),
            first: rates(loops::first_attempts),
            retries: spikes(|bin| bin.retries, |bin| bin.retries_in_second),
            successes: rates(loops::successes(one)),
        }
    }
}

fn highest<'a>(all: impl Iterator<Item = &'a Steps>) -> f64 {
    all.flatten().map(|(_, rate)| *rate).fold(0.0, f64::max)
}

/// The mean of what is not 0, which a burst or a pause does not change much.
fn usual(steps: &Steps) -> f64 {
    let some = steps.iter().map(|(_, rate)| *rate).filter(|rate| *rate > 0.0);
    some.clone().sum::<f64>() / (some.count() as f64).max(1.0)
}

/// Whether first attempts of a case come at other times under one algorithm than under another, as where
/// clients have only so many requests under way.
fn first_attempts_differ(curves: &[Vec<Curves>]) -> bool {
    curves.iter().any(|all| all.iter().any(|one| one.first != all[0].first))
}

/// The outline of steps where they are above 0, piece by piece, each from the floor to the floor but for
/// the edges of the plot.
pub(super) fn ridges(plot: &Plot, steps: &Steps) -> Vec<Vec<(f64, f64)>> {
    steps
        .split(|(_, rate)| *rate <= 0.0)
        .filter(|piece| !piece.is_empty())
        .map(|piece| {
            let outline = plot.steps(piece);
            let (from, to) = (outline[0].0, outline[outline.len() - 1].0);
            let rise = (from > plot.left).then_some((from, plot.bottom));
            let fall = (to < plot.right).then_some((to, plot.bottom));
            rise.into_iter().chain(outline).chain(fall).collect()
        })
        .collect()
}

/// Shades when the run was disturbed, over all plots of a panel, and says so above them.
fn mark_trigger(canvas: &mut Canvas<'_>, plots: &[Plot], load: &Load, view: &View) {
    let (Some(trigger), Some(above)) = (load.trigger(), plots.first()) else { return };
    let run = (load.window().start, trigger);
    shade(canvas, plots, view, run, "trigger", beside(above, "retries"));
}

fn loads<'a>(all: &'a [Series<'_>]) -> impl Iterator<Item = &'a Load> {
    all.iter().filter_map(|one| one.row.tally.closed.as_ref()).map(|closed| &closed.load)
}

/// The most retries in any second of a run.
fn peak(one: &Series<'_>) -> u64 {
    one.bins().iter().map(|bin| bin.retries_in_second).max().unwrap_or(0)
}

/// How bad a run became: whether it never recovered, its most retries in a second, how long it took.
type Badness = (bool, u64, Span);

fn badness(one: &Series<'_>, load: &Load) -> Badness {
    let (never, took) = match load.recovery() {
        Some(Recovery::Never) => (true, Span::MAX),
        Some(Recovery::After(took)) => (false, took),
        None => (false, Span::ZERO),
    };
    (never, peak(one), took)
}

fn title(drawn: &Chosen<'_>) -> String {
    let subject = drawn.subject();
    let all = drawn.all().filter_map(|(case, one)| {
        let load = &one.row.tally.closed.as_ref()?.load;
        Some((case, one, load, badness(one, load)))
    });
    let worst = all.reduce(|worst, next| if next.3 > worst.3 { next } else { worst });
    let Some((case, one, load, (_, peak, _))) = worst else {
        return format!("{subject}: clients do not react");
    };
    if drawn.all().all(|(_, one)| one.bins().iter().all(|bin| bin.retries == 0)) {
        return format!("{subject}: nobody retries");
    }
    let peak = text::plural(peak, "retry", "retries");
    let end = match load.recovery() {
        Some(Recovery::Never) => ", never back to normal".to_owned(),
        Some(Recovery::After(Span::ZERO)) => {
            ", back to normal with the end of the trigger".to_owned()
        }
        Some(Recovery::After(_)) if is_late(one) => {
            ", high again within the last window of its limit".to_owned()
        }
        Some(Recovery::After(took)) => {
            format!(", back to normal {} after the trigger", format::span(took))
        }
        None => String::new(),
    };
    format!("{subject}: up to {peak} in a second with {}{end}", drawn.who(case, one))
}

/// The most retries in a second, and how long a case took to recover: the worst of its algorithms.
fn remark(all: &[Series<'_>]) -> (String, Colour) {
    if loads(all).next().is_none() {
        return ("open loop: clients do not react".to_owned(), MUTED);
    }
    if all.iter().all(|one| one.bins().iter().all(|bin| bin.retries == 0)) {
        return ("no retries".to_owned(), MUTED);
    }
    let most = all.iter().map(peak).max().unwrap_or(0);
    let most = text::plural(most, "retry/s", "retries/s");
    if all.iter().any(is_late) {
        return (format!("{most}, high again within the last window"), OVER_TEXT);
    }
    let (words, never) = recovery(&loads(all).filter_map(Load::recovery).collect::<Vec<_>>());
    (format!("{most}{words}"), if never { OVER_TEXT } else { INK })
}

/// Whether the end of the run may have cut off what comes back with each window of a limit: its last high second lies
/// within the longest of them.
fn is_late(one: &Series<'_>) -> bool {
    let Some(closed) = &one.row.tally.closed else { return false };
    let Some((Recovery::After(took), trigger)) = closed.load.recovery().zip(closed.load.trigger())
    else {
        return false;
    };
    let longest = one.row.tally.limits.iter().map(|limit| limit.promise.per).max();
    let quiet_from = trigger.end + took;
    took > Span::ZERO && longest.is_some_and(|per| quiet_from + per > closed.load.window().end)
}

/// How the runs of a case recover, in words that follow others, and whether one never does.
fn recovery(all: &[Recovery]) -> (String, bool) {
    let took = all.iter().filter_map(|recovery| match recovery {
        Recovery::After(took) => Some(*took),
        Recovery::Never => None,
    });
    let never = all.len() - took.clone().count();
    let words = match (never, took.clone().min().zip(took.max())) {
        (0, None) => String::new(),
        (0, Some((_, Span::ZERO))) => ", recovers at once".to_owned(),
        (0, Some((least, most))) if least < most => {
            format!(", recovers in up to {}", format::span(most))
        }
        (0, Some((_, most))) => format!(", recovers in {}", format::span(most)),
        (_, None) => ", never recovers".to_owned(),
        (1, _) => format!(", 1 of {} never recovers", all.len()),
        (several, _) => format!(", {several} of {} never recover", all.len()),
    };
    (words, never > 0)
}

#[cfg(test)]
mod tests {
    use super::super::loop_sample;
    use super::*;

    #[test]
    fn a_storm_stands_high_above_the_first_attempts_and_does_not_die_down() {
        let mut storm = loop_sample::storm();
        storm.rows.retain(|row| row.case < 2);
        storm.cases.truncate(2);
        insta::assert_snapshot!(draw(&storm).unwrap());
    }

    #[test]
    fn a_burst_or_a_pause_does_not_change_what_is_usual() {
        // Five seconds of 50, one of 500 and four of none: 750 in six.
        let mut steps: Steps = (0..10).map(|bin| (bin..bin + 1, 50.0)).collect();
        steps[0].1 = 500.0;
        steps[6..].iter_mut().for_each(|step| step.1 = 0.0);
        assert_eq!((usual(&steps), usual(&steps[6..].to_vec())), (125.0, 0.0));
    }

    #[test]
    fn what_never_recovers_is_counted_among_the_algorithms() {
        let after = |secs| Recovery::After(Span::from_secs(secs));
        let never = Recovery::Never;
        for (all, words) in [
            (&[][..], ""),
            (&[after(0), after(0)], ", recovers at once"),
            (&[after(20), after(20)], ", recovers in 20 s"),
            (&[after(0), after(20)], ", recovers in up to 20 s"),
            (&[after(0), never, after(3)], ", 1 of 3 never recovers"),
            (&[never, never, after(3)], ", 2 of 3 never recover"),
            (&[never, never], ", never recovers"),
        ] {
            assert_eq!(recovery(all), (words.to_owned(), all.contains(&never)));
        }
    }

    #[test]
    fn the_title_tells_the_worst_and_how_it_ends() {
        let mut storm = loop_sample::storm();
        let told = |storm: &Comparison| title(&loops::of(storm).unwrap());
        // In the last second 78 requests are tried again 50 times each; one that is sent at its start makes
        // 50 attempts, and one that is sent in its middle 25; two of all these are first ones. Under the other,
        // 28 * 50 + 50 + 25, less two.
        assert_eq!(
            told(&storm),
            "storm: up to 3,973 retries in a second with gcra (naive), never back to normal"
        );
        storm.rows.retain(|row| row.kind == 0);
        assert_eq!(
            told(&storm),
            "storm: up to 1,473 retries in a second with naive, back to normal 5 s after the trigger"
        );
        storm.rows.retain(|row| row.case == 0);
        assert_eq!(told(&storm), "storm, none: nobody retries");
    }

    #[test]
    fn a_trigger_outside_of_what_is_drawn_is_not_shaded() {
        let mut storm = loop_sample::storm();
        let shaded = |storm: &Comparison| draw(storm).unwrap().matches("opacity=\"0.09\"").count();
        assert_eq!(shaded(&storm), 4);
        for row in &mut storm.rows {
            for (index, bin) in row.tally.timeline.bins.iter_mut().enumerate() {
                if !(20..60).contains(&index) {
                    *bin = Bin::default();
                }
            }
        }
        assert_eq!(shaded(&storm), 0);
    }
}
