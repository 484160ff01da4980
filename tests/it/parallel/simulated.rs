//! Steps that work side by side on a simulated machine.

use onloop_core::effect::Exit;
use onloop_tests::Ended;
use onloop_tests::parallel::{ParallelLife, ParallelPlan};

fn life(plan: &ParallelPlan) -> ParallelLife {
    let mut life = ParallelLife::new(plan.clone(), 7);
    life.calm();
    life
}

#[test]
fn an_undisturbed_run_is_whole() {
    for plan in [ParallelPlan::diamond(3, 3, false), ParallelPlan::diamond(2, 2, true)] {
        let mut life = life(&plan);
        let ended = life.drive().unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(ended, Ended::Exit(Exit::Done), "{}", life.said());
        life.complete().unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(life.host.launched.len(), plan.all.len() - 2, "{}", life.said());
    }
}
