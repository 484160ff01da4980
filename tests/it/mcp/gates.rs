//! Decisions that belong to people.

use super::*;

fn asks() -> Value {
    json!({ "elicitation": {} })
}

#[test]
fn a_person_approves_through_the_client_and_the_run_goes_on() {
    with_time(async {
        let workspace = project("high", GATE, HELLO);
        let answers = ["show-details", "yes", "Write"];
        let reactions = answers.map(Reaction::Answer);
        let mut session = Session::begin(&workspace, asks(), &reactions).await;
        let done = session.call("run", here()).await;
        Session::expect(&done, "done");
        let first = session.question();
        assert!(first.ends_with("Gate reached at Step 1. Continue? (yes/no/show-details)"));
        let second = session.question();
        assert!(second.contains("Write it"), "{second}");
        // Where the risk is high, a yes has to be meant.
        let third = session.question();
        assert!(third.contains("type its name: Write\n"), "{third}");
        assert_eq!(workspace.record()["steps"][0]["gate_mode"], "human");
    });
}

#[test]
fn whoever_declines_or_closes_the_form_decides_nothing() {
    for reaction in [Reaction::Decline, Reaction::Close] {
        with_time(async {
            let workspace = project("high", GATE, HELLO);
            let session = Session::begin(&workspace, asks(), &[reaction]).await;
            let paused = session.call("run", here()).await;
            let answer = Session::expect(&paused, "paused");
            assert_eq!(paused.is_error, Some(false));
            assert!(answer["notes"].as_str().unwrap().contains("onloop approve "));
            let record = workspace.record();
            assert_eq!(record["steps"][0]["gate_result"], Value::Null, "{record:#}");
        });
    }
}

#[test]
fn no_answer_approves_but_a_clear_one() {
    with_time(async {
        let workspace = project("low", GATE, HELLO);
        let reactions = ["no", "end"].map(Reaction::Answer);
        let session = Session::begin(&workspace, asks(), &reactions).await;
        let rejected = session.call("run", here()).await;
        assert_eq!(rejected.is_error, Some(true));
        Session::expect(&rejected, "failed");
        assert_eq!(workspace.record()["steps"][0]["gate_result"], "rejected");
        assert_eq!(workspace.record()["status"], "abandoned");
    });
}

#[test]
fn a_person_who_rejects_what_an_agent_proposes_ends_the_run_or_sends_the_step_back() {
    for (answer, outcome) in [("end", "abandoned"), ("use fewer words", "running")] {
        with_time(async {
            let workspace = project("low", GATE, HELLO);
            let session = Session::begin(&workspace, json!({}), &[]).await;
            Session::expect(&session.call("run", here()).await, "paused");
            session.end().await;
            let reactions = ["no", answer].map(Reaction::Answer);
            let session = Session::begin(&workspace, asks(), &reactions).await;
            let proposal = json!({ "step": 1, "decision": "approved" });
            let decided = Session::expect(&session.call("gate", proposal).await, "done");
            assert_eq!(decided["result"]["status"], outcome, "{decided:#}");
        });
    }
}

#[test]
fn an_agent_alone_approves_no_gate_of_a_person() {
    for risk in ["low", "high"] {
        with_time(async {
            let workspace = project(risk, GATE, HELLO);
            let session = Session::begin(&workspace, json!({}), &[]).await;
            Session::expect(&session.call("run", here()).await, "paused");
            for decision in ["approved", "rejected"] {
                let call = json!({ "step": 1, "decision": decision });
                let refused = session.call("gate", call).await;
                assert_eq!(refused.is_error, Some(true));
                let answer = Session::expect(&refused, "refused");
                let notes = answer["notes"].as_str().unwrap();
                let id = workspace.record()["run_id"].as_str().unwrap().to_owned();
                let asked = format!(
                    "An agent proposes that step 1 is {decision}.\n\
                     error: the gate of step 1 needs a human decision\n  \
                     cause: nobody is here to ask\n  fix: a person approves:\n    \
                     onloop approve {id}\n  fix: or rejects:\n    \
                     onloop reject {id} --reason TEXT\n"
                );
                assert_eq!(notes, asked);
            }
            let record = workspace.record();
            assert_eq!(record["steps"][0]["gate_result"], Value::Null, "{record:#}");
        });
    }
}

#[test]
fn what_an_agent_proposes_is_decided_by_the_person() {
    with_time(async {
        let workspace = project("high", GATE, HELLO);
        let session = Session::begin(&workspace, json!({}), &[]).await;
        let paused = Session::expect(&session.call("run", here()).await, "paused");
        let id = paused["result"]["run_id"].clone();
        session.end().await;

        let reactions = [
            Reaction::Decline,
            Reaction::Answer("yes"),
            Reaction::Answer("yes"),
            Reaction::Answer("yes"),
            Reaction::Answer("Write"),
        ];
        let mut session = Session::begin(&workspace, asks(), &reactions).await;
        let proposal = json!({ "step": 1, "decision": "approved", "run_id": id });
        Session::expect(&session.call("gate", proposal.clone()).await, "refused");
        let decided = Session::expect(&session.call("gate", proposal.clone()).await, "done");
        let step = &decided["result"]["step"];
        assert_eq!([&step["gate_result"], &step["gate_mode"]], ["approved", "human"]);
        let asked = session.question();
        assert!(asked.contains("An agent proposes that step 1 is approved."), "{asked}");
        let done = json!({ "run_id": id, "agent": "script" });
        Session::expect(&session.call("run", done).await, "done");
        // Nobody is asked about what cannot be decided any more.
        let late = session.call("gate", proposal).await;
        assert_eq!(late.is_error, Some(true));
    });
}

#[test]
fn the_rules_may_approve_what_the_workflow_leaves_to_them() {
    with_time(async {
        let workspace = project("low", "gate: auto\n", HELLO);
        workspace.onloop(&["init", "hotl-workflow-hello.md"]).expect_exit(0);
        workspace.write("hello.txt", "hi\n");
        let session = Session::begin(&workspace, json!({}), &[]).await;
        for action in ["start", "verify"] {
            let step = json!({ "step": 1, "action": action });
            Session::expect(&session.call("step", step).await, "done");
        }
        let gate = json!({ "step": 1, "decision": "approved" });
        let decided = Session::expect(&session.call("gate", gate).await, "done");
        let step = &decided["result"]["step"];
        assert_eq!([&step["gate_result"], &step["gate_mode"]], ["approved", "auto"]);
    });
}
