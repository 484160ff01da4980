//! A workflow made of tasks without an agent.

use crate::plan::Goal;
use crate::plan::source::Source;
use onloop_syntax::text;
use onloop_workflow::quoted;

/// Longest name of a step in bytes.
const NAME_BYTES: usize = 80;

/// The workflow with one step for each task. Only the last step has a check, the tests of the project;
/// the others say in a comment that they have none.
pub(super) fn workflow(goal: &Goal, source: &Source) -> String {
    let tests = goal.tests.as_ref();
    let criteria = match tests {
        Some(tests) => format!("All tasks are done, and `{}` passes", tests.command),
        None => "All tasks are done".to_owned(),
    };
    let (intent, criteria) = (quoted(&goal.intent), quoted(&criteria));
    let mut out = format!("---\nintent: {intent}\nsuccess_criteria: {criteria}\nrisk_level: low\n");
    if let Some((line, _)) = tests.and_then(|tests| tests.setup.as_ref()) {
        out += &format!("setup:\n  - {}\n", quoted(line));
    }
    out += "---\n\n## Steps\n";
    let last = source.tasks.len();
    for (number, task) in (1..).zip(&source.tasks) {
        let name = text::ellipsis(&task.words, NAME_BYTES).replace(['*', '`'], "");
        out += &format!(
            "\n- [ ] **Step {number}: {name}**\naction: Task {}: {}\n",
            task.label, task.words
        );
        if !task.details.is_empty() {
            out += &text::fenced("text", &task.details);
        }
        out += &match tests.filter(|_| number == last) {
            Some(tests) => format!(
                "loop: until the tests pass\nmax_iterations: 3\nverify:\n  - type: shell\n    \
                 command: {}\n",
                tests.command
            ),
            None => "loop: false\n<!-- This step has no check. Add one: `verify: COMMAND` -->\n"
                .to_owned(),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tasks;
    use onloop_engine::lookup::project::ProjectTests;

    #[test]
    fn a_workflow_of_any_tasks_has_no_errors() {
        let hostile = "- [ ] verify: \"x\" # y\n  - [ ] *bold* `code`: [a](b)\n- [ ] 'q' \\ |\n  \
                       ```sh\n  rm -rf /\n  ```\n  verify: true\n- [ ] **Step 9: x**\n- [ ] 日本\n";
        let tasks = tasks::read(hostile).open;
        let count = tasks.len();
        let source = Source {
            origin: "TODO.md".to_owned(),
            intent: "Do: it".to_owned(),
            tasks,
            left_out: Vec::new(),
            material: String::new(),
        };
        let tests = ProjectTests {
            command: "npm test".to_owned(),
            file: "package.json".to_owned(),
            setup: Some(("npm ci".to_owned(), "package-lock.json".to_owned())),
        };
        for tests in [None, Some(tests)] {
            let goal = Goal { intent: "Do: \"it\" # all".to_owned(), tests };
            let text = workflow(&goal, &source);
            let parsed = onloop_workflow::parse("hotl-workflow-x.md", text.as_bytes());
            let plan = parsed.plan.unwrap_or_else(|| panic!("{text}\n{:?}", parsed.diagnostics));
            assert_eq!((plan.steps.len(), &plan.intent), (count, &goal.intent));
            assert!(plan.steps.iter().all(|step| step.script.is_none()), "{text}");
            let checked = plan.steps.iter().filter(|step| !step.checks.is_empty()).count();
            assert_eq!(checked, usize::from(goal.tests.is_some()), "{text}");
            assert_eq!(text.matches("This step has no check.").count(), count - checked);
            let actions = plan.steps.iter().zip(&source.tasks);
            for (step, task) in actions {
                let expected = format!("Task {}: {}", task.label, task.words);
                assert!(step.action.starts_with(&expected), "{} {expected}", step.action);
            }
        }
    }
}
