//! What becomes of the work after a run.

use super::*;

#[test]
fn what_became_of_the_work_survives_storage_and_journal() {
    let url = "https://example.org/pull/1".to_owned();
    let target = Some("main".to_owned());
    let commit = "c".to_owned();
    let publish = |pull_request| FinishAct::Publish {
        commit: commit.clone(),
        remote: "origin".to_owned(),
        pull_request,
    };
    for act in [
        FinishAct::Merge { commit: commit.clone(), target: "main".to_owned(), pull_request: None },
        FinishAct::Merge {
            commit: commit.clone(),
            target: "main".to_owned(),
            pull_request: Some(url.clone()),
        },
        publish(PullRequest::NotAsked { target: None }),
        publish(PullRequest::NotAsked { target: target.clone() }),
        publish(PullRequest::Create { target: "main".to_owned() }),
        publish(PullRequest::Existing { url: url.clone(), target: target.clone() }),
        FinishAct::Discard { commit: None },
        FinishAct::Discard { commit: Some(commit.clone()) },
    ] {
        let mut run = begin(vec![step(1)]);
        apply(&mut run, &[Event::StepStarted { step: 1 }, passed(1), Event::RunFinalized]);
        let outcome = FinishOutcome {
            target_branch: target.clone(),
            pr_url: Some(url.clone()),
            ..FinishOutcome::new(act.disposition())
        };
        let notes = Some("n".to_owned());
        let events = [
            Event::FinishIntended { act, notes, replace: false },
            Event::FinishAbandoned { reason: "r".to_owned() },
            Event::FinishRecorded { outcome, replace: true },
        ];
        let (_, mut head) = documents::ledger::begin(run.last_update, &run, &Origin::Begun, None);
        for event in &events {
            let mut line = Vec::new();
            head = documents::ledger::append(&mut line, &head, run.last_update, event, None);
            let line = String::from_utf8(line).expect("JSON is UTF-8");
            assert_eq!(documents::event::read(&line).as_ref(), Ok(event));
        }
        for event in [&events[0], &events[2]] {
            apply(&mut run, std::slice::from_ref(event));
            assert_eq!(documents::run::read(&documents::run::write(&run)).as_ref(), Ok(&run));
        }
    }
}

#[test]
fn an_outcome_that_hotl_rt_wrote_is_read_and_kept() {
    let mut run = begin(vec![step(1)]);
    apply(&mut run, &[Event::StepStarted { step: 1 }, passed(1), Event::RunFinalized]);
    let mut document: serde_json::Value =
        serde_json::from_slice(&documents::run::write(&run)).expect("a document");
    let members = document.as_object_mut().expect("an object");
    members.retain(|name, _| name != "schema" && name != "plan_digest");
    document["finish"] = serde_json::json!({
        "disposition": "merged", "recorded_at": "2026-03-20T21:23:15+00:00",
        "target_branch": "main", "remote": "null", "pr_url": null, "branch_action": "deleted",
        "worktree_action": "removed", "artifacts_preserved_at": "/r", "notes": "", "later": 1,
    });
    let bytes = serde_json::to_vec(&document).expect("a document");
    let run = documents::run::read(&bytes).expect("a record");
    let finish = run.finish.as_ref().expect("an outcome");
    assert_eq!(finish.outcome.disposition, Disposition::Merged);
    assert_eq!((&finish.outcome.remote, &finish.outcome.notes), (&None, &None));
    let again: serde_json::Value =
        serde_json::from_slice(&documents::run::write(&run)).expect("a document");
    assert_eq!(again["finish"]["later"], 1);
    let nothing = serde_json::json!({ "disposition": null, "recorded_at": null });
    for (finish, expected) in [(serde_json::Value::Null, true), (nothing, true)] {
        document["finish"] = finish;
        let bytes = serde_json::to_vec(&document).expect("a document");
        assert_eq!(documents::run::read(&bytes).expect("a record").finish.is_none(), expected);
    }
    document["finish"] = again["finish"].clone();
    document["finish"]["disposition"] = "eaten".into();
    let error =
        documents::run::read(&serde_json::to_vec(&document).expect("a document")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "damaged record: `finish`: unknown variant `eaten`, expected one of `kept`, `merged`, \
         `published`, `discarded`"
    );
}
