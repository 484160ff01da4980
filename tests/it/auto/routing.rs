//! The truth table of every profile, row by row.

use onloop_core::auto::Profile;
use onloop_core::auto::progress::Tasks;
use onloop_core::auto::route::{RoutingFacts, route};
use onloop_core::auto::token::Token;

const TABLE: &str = include_str!("../../vectors/auto-routing.tsv");

#[test]
fn every_row_of_the_routing_table_holds() {
    let mut rows = 0;
    for line in TABLE.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [profile, flags @ ..] = cells.as_slice() else { panic!("empty row") };
        let [
            context,
            progress,
            active,
            ready,
            any_row,
            summary,
            artifacts,
            _,
            marker,
            target,
            reason,
        ] = flags
        else {
            panic!("{line}: expected twelve columns")
        };
        let is_set = |cell: &str| cell == "1";
        let profile = profile.parse::<Profile>().expect("a profile");
        // Rows that cannot come from a file (active without a row) are read as active.
        let tasks = match (is_set(active), is_set(any_row)) {
            (true, _) => Tasks::Active,
            (false, true) => Tasks::Settled,
            (false, false) => Tasks::None,
        };
        let found = route(
            profile,
            RoutingFacts {
                context: is_set(context),
                tasks: is_set(progress).then_some(tasks),
                ready_feature: is_set(ready),
                artifacts: is_set(artifacts),
                summary: is_set(summary),
            },
        );
        let child = found.target().map(|child| child.as_str());
        match *target {
            "STOP(rw-planner)" => {
                assert_eq!(
                    (child, *marker, *reason),
                    (None, "AUTO_ROUTE_UNDECIDED", "UNDECIDED"),
                    "{line}"
                );
            }
            target => {
                assert_eq!(child.unwrap_or("done"), target, "{line}");
                assert_eq!(found.as_str(), *reason, "{line}");
                let said = Token::announcing(found, profile)
                    .map_or("-".to_owned(), |token| token.to_string());
                assert_eq!(said, *marker, "{line}");
            }
        }
        rows += 1;
    }
    assert_eq!(rows, 448, "the table is complete");
}
