//! The graph of the steps as a drawing: where each step stands, and a line from each step to those that
//! need it.

use std::collections::BTreeMap;

use onloop_run::{Run, StepRecord, symbol_and_word};
use onloop_workflow::graph::{StepGraph, is_sequence, step_groups, step_list};
use serde::Serialize;

use super::line;

/// A graph of more steps is a thicket.
const MOST_STEPS: usize = 60;
/// Between the middles of steps that stand beside and below each other, in units of the drawing.
const COLUMN: usize = 44;
const ROW: usize = 28;
/// The radius of a step, and the room around the drawing.
const RADIUS: usize = 11;
const EDGE: usize = 14;

/// The drawing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphView {
    /// Its width.
    pub width: usize,
    /// Its height.
    pub height: usize,
    /// The same in words.
    pub label: String,
    /// The lines, as paths of SVG.
    pub lines: Vec<String>,
    /// The steps.
    pub steps: Vec<GraphStep>,
}

/// A step in a drawing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphStep {
    /// Its number, from 1.
    pub number: u32,
    /// How it stands, as a symbol.
    pub symbol: &'static str,
    /// Its middle, from the left.
    pub x: usize,
    /// Its middle, from the top.
    pub y: usize,
    /// Its name, how it stands and what it needs.
    pub title: String,
}

/// The graph of a run; `None`: its steps are one after the other, or too many.
pub fn graph(run: &Run) -> Option<GraphView> {
    let records = &run.steps;
    let all = || records.iter().map(|record| &record.step);
    if run.settings.max_parallel < 2 || records.len() > MOST_STEPS || is_sequence(all()) {
        return None;
    }
    let graph = StepGraph::of(all());
    // What is needed through another step has no line of its own.
    let needs: BTreeMap<u32, Vec<u32>> = records
        .iter()
        .map(|record| {
            let needed = record.depends_on();
            let is_through = |one: &u32| needed.iter().any(|other| graph.needs(*other, *one));
            (record.step.number, needed.iter().copied().filter(|one| !is_through(one)).collect())
        })
        .collect();
    let columns = step_groups(all());
    let places = places(&columns, &needs);
    let x = |step: u32| EDGE + places[&step].0 * COLUMN;
    let y = |step: u32| EDGE + places[&step].1 * ROW;
    let line_between = |from: u32, to: u32| {
        let (begin, end, bend) = (x(from) + RADIUS, x(to) - RADIUS, x(to) - COLUMN + RADIUS);
        let (above, below, middle) = (y(from), y(to), (bend + end) / 2);
        format!("M{begin} {above}H{bend}C{middle} {above} {middle} {below} {end} {below}")
    };
    let lines = needs.iter().flat_map(|(to, needed)| needed.iter().map(|from| (*from, *to)));
    let rows = places.values().map(|(_, row)| row + 1).max().unwrap_or(1);
    Some(GraphView {
        width: 2 * EDGE + (columns.len() - 1) * COLUMN,
        height: 2 * EDGE + (rows - 1) * ROW,
        label: label(records),
        lines: lines.map(|(from, to)| line_between(from, to)).collect(),
        steps: records.iter().map(|record| step(run, record, &x, &y)).collect(),
    })
}

fn step(
    run: &Run,
    record: &StepRecord,
    x: &impl Fn(u32) -> usize,
    y: &impl Fn(u32) -> usize,
) -> GraphStep {
    let number = record.step.number;
    let (symbol, word) = symbol_and_word(run, record);
    let name = line(&record.step.name);
    let title = format!("{number}. {name}: {word}, needs {}", step_list(&record.depends_on()));
    GraphStep { number, symbol, x: x(number), y: y(number), title }
}

/// `Steps: step 1 needs no step; …`.
fn label(records: &[StepRecord]) -> String {
    let words = |record: &StepRecord| {
        format!("step {} needs {}", record.step.number, step_list(&record.depends_on()))
    };
    format!("Steps: {}", records.iter().map(words).collect::<Vec<_>>().join("; "))
}

/// The column and the row of each step. A step stands in the row of one that it needs, where that is free.
/// A line runs in the row of the step where it begins, and bends before the step where it ends, so that it
/// crosses no other step.
fn places(columns: &[Vec<u32>], needs: &BTreeMap<u32, Vec<u32>>) -> BTreeMap<u32, (usize, usize)> {
    let column_of: BTreeMap<u32, usize> = (0..)
        .zip(columns)
        .flat_map(|(column, steps)| steps.iter().map(move |step| (*step, column)))
        .collect();
    let last_end = |step: u32| {
        let ends = needs.iter().filter(|(_, needed)| needed.contains(&step));
        ends.map(|(end, _)| column_of[end]).max().unwrap_or(0)
    };
    let mut places = BTreeMap::new();
    for (column, steps) in (0..).zip(columns) {
        let passes =
            |(step, (_, row)): (&u32, &(usize, usize))| (last_end(*step) > column).then_some(*row);
        let mut taken: Vec<usize> = places.iter().filter_map(passes).collect();
        for step in steps {
            let of_needed = needs[step].iter().map(|needed| places[needed].1);
            let row = of_needed.chain(0..).find(|row| !taken.contains(row)).unwrap_or(0);
            taken.push(row);
            places.insert(*step, (column, row));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(columns: &[&[u32]], needs: &[(u32, &[u32])]) -> Vec<(usize, usize)> {
        let columns: Vec<Vec<u32>> = columns.iter().map(|steps| steps.to_vec()).collect();
        let needs = needs.iter().map(|(step, needed)| (*step, needed.to_vec())).collect();
        places(&columns, &needs).into_values().collect()
    }

    #[test]
    fn steps_stand_behind_what_they_need() {
        let diamond: [(u32, &[u32]); 4] = [(1, &[]), (2, &[1]), (3, &[1]), (4, &[2, 3])];
        let expected = [(0, 0), (1, 0), (1, 1), (2, 0)];
        assert_eq!(rows(&[&[1], &[2, 3], &[4]], &diamond), expected);
    }

    #[test]
    fn no_line_crosses_a_step() {
        // The line from 1 to 4 runs in the first row, where no step stands between.
        let skips: [(u32, &[u32]); 4] = [(1, &[]), (2, &[]), (3, &[2]), (4, &[1, 3])];
        assert_eq!(rows(&[&[1, 2], &[3], &[4]], &skips), [(0, 0), (0, 1), (1, 1), (2, 0)]);
        // The line from 4 to 5 runs in a row of its own.
        let beside: [(u32, &[u32]); 5] = [(1, &[]), (2, &[1]), (3, &[2]), (4, &[]), (5, &[3, 4])];
        let expected = [(0, 0), (1, 0), (2, 0), (0, 1), (3, 0)];
        assert_eq!(rows(&[&[1, 4], &[2], &[3], &[5]], &beside), expected);
    }
}
