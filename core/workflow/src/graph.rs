//! The graph of the steps of a plan: which steps need which others.

use super::Step;

/// Which steps need which others, directly or through others.
pub struct StepGraph {
    /// Words of a row.
    words: usize,
    /// A row of bits for each step: the steps that it needs.
    rows: Vec<u64>,
}

impl StepGraph {
    /// The graph of steps that are numbered 1, 2, 3, …. It takes one bit for each pair of them.
    pub fn of<'a>(steps: impl ExactSizeIterator<Item = &'a Step>) -> StepGraph {
        let words = steps.len().div_ceil(64);
        let mut rows = vec![0u64; steps.len() * words];
        for (at, step) in steps.enumerate() {
            let (above, row) = rows.split_at_mut(at * words);
            for number in step.depends_on().into_iter().rev() {
                let needed = number as usize - 1;
                let is_new = row[needed / 64] & 1 << (needed % 64) == 0;
                if is_new {
                    let theirs = &above[needed * words..(needed + 1) * words];
                    row.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine |= theirs);
                    row[needed / 64] |= 1 << (needed % 64);
                }
            }
        }
        StepGraph { words, rows }
    }

    /// Whether the step with the number `step` needs `other`, so that the two never run at the same
    /// time.
    pub fn needs(&self, step: u32, other: u32) -> bool {
        let (row, bit) = (step as usize - 1, other as usize - 1);
        self.rows[row * self.words + bit / 64] & 1 << (bit % 64) != 0
    }
}

/// Whether each step needs the one before, so that no two can run at the same time.
pub fn is_sequence<'a>(steps: impl IntoIterator<Item = &'a Step>) -> bool {
    steps.into_iter().all(|step| match step.number {
        0 | 1 => true,
        number => step.depends_on().contains(&(number - 1)),
    })
}

/// The numbers of the steps in groups: each step is in the first group that follows all steps that it
/// needs. The steps of a group need none of each other.
pub fn step_groups<'a>(steps: impl IntoIterator<Item = &'a Step>) -> Vec<Vec<u32>> {
    let (mut groups, mut group_of): (Vec<Vec<u32>>, Vec<usize>) = (Vec::new(), Vec::new());
    for step in steps {
        let needed = step.depends_on().into_iter().map(|number| group_of[number as usize - 1] + 1);
        let group = needed.max().unwrap_or(0);
        group_of.push(group);
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(step.number);
    }
    groups
}

/// `step 1`, or `steps 1, 2 and 3`.
pub fn step_list(numbers: &[u32]) -> String {
    let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
    match words.as_slice() {
        [] => "no step".to_owned(),
        [only] => format!("step {only}"),
        [first @ .., last] => format!("steps {} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn steps(depends_on: &[&str]) -> Vec<Step> {
        let mut file = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n".to_owned();
        for (number, lines) in (1..).zip(depends_on) {
            file += &format!("### {number}. A\naction: do\nloop: false\n{lines}\n");
        }
        parse("", file.as_bytes()).plan.expect("a plan").into_parts().steps
    }

    #[test]
    fn steps_are_needed_directly_and_through_others() {
        let diamond = ["", "", "depends_on: [1]", "depends_on: [2, 3]", "depends_on: []", ""];
        let steps = steps(&diamond);
        let graph = StepGraph::of(steps.iter());
        let needed = |step: u32| (1..7).filter(|other| graph.needs(step, *other)).collect();
        let rows: Vec<Vec<u32>> = (1..7).map(needed).collect();
        assert_eq!(rows, [vec![], vec![1], vec![1], vec![1, 2, 3], vec![], vec![5]]);
        assert_eq!(step_groups(&steps), [vec![1, 5], vec![2, 3, 6], vec![4]]);
        assert!(!is_sequence(&steps) && is_sequence(&steps[..2]));
    }

    #[test]
    fn a_graph_has_as_many_steps_as_a_file() {
        let mut lines = vec![""; 130];
        lines[129] = "depends_on: [64, 1]";
        let graph = StepGraph::of(steps(&lines).iter());
        assert!((1..=64).all(|other| graph.needs(130, other)));
        assert!((65..=130).all(|other| !graph.needs(130, other)));
        assert!(graph.needs(129, 128) && graph.needs(129, 1));
    }

    #[test]
    fn steps_are_listed_by_number() {
        assert_eq!(step_list(&[2]), "step 2");
        assert_eq!(step_list(&[2, 3]), "steps 2 and 3");
        assert_eq!(step_list(&[1, 2, 3]), "steps 1, 2 and 3");
    }
}
