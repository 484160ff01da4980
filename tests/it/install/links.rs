//! Links that a repository has where settings of agents belong.

use std::os::unix::fs::symlink;

use super::{HOSTS, onloop};
use crate::workspace::Workspace;

/// A project, and a folder outside of it with something that is not ours.
fn project() -> Workspace {
    let project = Workspace::git();
    project.write("../outside/settings.json", "{\"mine\": true}\n");
    project.write("../outside/hooks.json", "{\"mine\": true}\n");
    project
}

fn outside(project: &Workspace) -> Vec<String> {
    let entries = std::fs::read_dir(project.path("../outside")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn nothing_is_written_out_of_the_checkout_through_a_folder_or_a_file() {
    for host in HOSTS {
        let project = project();
        let before = outside(&project);
        // Every folder that any host has in a project.
        for folder in [".claude", ".codex", ".cursor", ".vscode", ".opencode", ".cline", ".github"]
        {
            symlink("../outside", project.path(folder)).unwrap();
        }
        for file in [".mcp.json", "opencode.json", ".clinerules"] {
            symlink("../outside/settings.json", project.path(file)).unwrap();
        }
        for verb in ["install", "uninstall", "install --dry-run"] {
            let run = onloop(&project, &format!("{verb} {host} --scope project"));
            if run.exit == Some(4) {
                assert!(
                    crate::flat(&run.stderr).contains("is a link that leads out of the checkout"),
                    "{run:?}"
                );
                assert!(crate::flat(&run.stderr).contains("nothing was changed"), "{run:?}");
            }
            assert_eq!(outside(&project), before, "{verb} {host}");
            assert_eq!(project.read("../outside/settings.json"), "{\"mine\": true}\n", "{host}");
            assert_eq!(project.read("../outside/hooks.json"), "{\"mine\": true}\n", "{host}");
        }
    }
}

#[test]
fn a_refusal_names_the_link_and_where_it_leads() {
    let project = project();
    std::fs::create_dir(project.path(".claude")).unwrap();
    symlink("../../outside/settings.json", project.path(".claude/settings.json")).unwrap();
    let run = onloop(&project, "install claude --scope project").expect_exit(4);
    let link = project.path(".claude/settings.json");
    let expected = format!(
        "`{}` is a link that leads out of the checkout, to `{}`; onloop neither reads nor \
         writes through it: remove it",
        link.display(),
        project.path("..").canonicalize().unwrap().join("outside/settings.json").display()
    );
    assert!(crate::flat(&run.stderr).contains(&expected), "{run:?}");
}

#[test]
fn links_inside_of_the_checkout_and_in_the_home_stay_links() {
    let project = project();
    std::fs::create_dir(project.path("shared")).unwrap();
    symlink("shared", project.path(".claude")).unwrap();
    onloop(&project, "install claude --scope project").expect_exit(0);
    assert!(project.path("shared/settings.json").exists());
    assert!(project.path(".claude").is_symlink());
    // Dotfiles.
    project.write("../dotfiles/settings.json", "{}\n");
    std::fs::create_dir_all(project.path("../home/.claude")).unwrap();
    symlink("../../dotfiles/settings.json", project.path("../home/.claude/settings.json")).unwrap();
    onloop(&project, "install claude --scope user").expect_exit(0);
    assert!(project.path("../home/.claude/settings.json").is_symlink());
    assert!(project.read("../dotfiles/settings.json").contains("onloop"));
}

#[test]
fn a_workspace_of_the_loop_that_leads_elsewhere_is_refused() {
    let linked = [".ai", ".ai/runtime", ".ai/PROGRESS.md", ".ai/features/one.md"];
    for link in linked {
        let project = project();
        let before = outside(&project);
        if let Some((folder, _)) = link.rsplit_once('/') {
            std::fs::create_dir_all(project.path(folder)).unwrap();
        }
        symlink(project.path("../outside"), project.path(link)).unwrap();
        for words in ["auto init", "auto begin all", "auto route", "auto"] {
            let run = project.onloop(&words.split(' ').collect::<Vec<_>>());
            assert_eq!(run.exit, Some(4), "{link} {words}: {run:?}");
            assert!(
                crate::flat(&run.stderr).contains("is a link that leads out of the checkout"),
                "{run:?}"
            );
            assert_eq!(run.stdout, "", "{link} {words}");
        }
        assert_eq!(outside(&project), before);
    }
}
