// The pages about clients show their real output.
//
// A fence ```` ```text recorded=NAME ```` in a page is compared with what is recorded here under
// that name; `ONLOOP_WRITE_DOCUMENTS=1` replaces it instead.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testWithAll } from "../../npm/test/support/all.mjs";
import { claude, codex, machine, onloop, opencode, repository, run } from "./clients.mjs";
import { source } from "./plugins.mjs";

const LINES = [{ run: "mkdir notes" }, { run: "git reset --hard" }, { say: "I may not throw the changes away." }];

/** Replaces varying parts by those of an example machine. */
function plain(place, text) {
  const fixed = text
    .replaceAll(place.project, "/home/you/project")
    .replaceAll(place.home, "/home/you")
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "0b3c9e52-6d1f-4a87-9c40-5e8f2a7b6c1d")
    .replace(/(?<=^⏸ )[0-9a-f]{8}(?=  Waiting for you)/gm, "1f2e3d4c")
    .replace(/\d{4}-\d\d-\d\dT[0-9:.]+(Z|\+00:00)/g, "2026-03-20T21:23:15Z")
    // Colors and the rest of a spinner.
    .replace(/\u001b\[[0-9;?]*[A-Za-z]/g, "")
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
  return fixed.replace(/^\n+|\n+$/g, "");
}

function recorded(page, name, text) {
  const path = join(repository, "docs/hosts", page);
  const document = readFileSync(path, "utf8");
  const opening = `\`\`\`text recorded=${name}\n`;
  const start = document.indexOf(opening) + opening.length;
  assert.ok(start >= opening.length, `${page} has no fence for ${name}`);
  const end = document.indexOf("```", start);
  if (process.env["ONLOOP_WRITE_DOCUMENTS"] !== undefined) {
    writeFileSync(path, `${document.slice(0, start)}${text}\n${document.slice(end)}`);
  } else {
    assert.equal(document.slice(start, end), `${text}\n`, `${page}, ${name}`);
  }
}

testWithAll("the page about Claude Code", async () => {
  const place = machine(claude);
  const folder = source();
  const added = await claude.plugin(place, "marketplace", "add", folder);
  const installed = await claude.plugin(place, "install", "hotl@onloop");
  recorded("claude.md", "plugin", plain(place, `${added.stdout}${installed.stdout}`));
  await claude.plugin(place, "uninstall", "hotl@onloop");

  await onloop(place, "install", "claude");
  const ended = await claude.session(place, LINES);
  recorded("claude.md", "denied", plain(place, ended.heard.results[1]));

  writeFileSync(join(place.home, ".agentize.local.yaml"), "permissions:\n  confine: off\n");
  const deferred = await claude.session(place, [{ run: "cp victim/file copied" }]);
  assert.equal(JSON.parse(deferred.stdout).terminal_reason, "tool_deferred");
  recorded("claude.md", "waiting", plain(place, await onloop(place, "approve")));
  const [{ id }] = JSON.parse(await onloop(place, "approve", "--json"));
  const script = [{ run: "cp victim/file copied" }, { say: "The file is copied." }];
  const act = (program, options, around) => run("sh", ["-c", `onloop approve ${id} --resume 2>&1`], around);
  const resumed = await claude.session(place, script, { act });
  recorded("claude.md", "resumed", plain(place, resumed.stdout));
});

test("the page about Codex", async () => {
  const place = machine(codex);
  const added = await run("codex", ["plugin", "marketplace", "add", source()], place);
  assert.equal(added.code, 0, added.stderr);
  const installed = await run("codex", ["plugin", "add", "hotl@onloop"], place);
  recorded("codex.md", "plugin", plain(place, installed.stdout));
  await run("codex", ["plugin", "remove", "hotl@onloop"], place);

  await onloop(place, "install", "codex");
  const ended = await codex.session(place, LINES, { words: [codex.trusted] });
  recorded("codex.md", "denied", plain(place, ended.heard.results[1]));
});

testWithAll("the page about opencode", async () => {
  const place = machine(opencode);
  await onloop(place, "install", "opencode");
  const ended = await opencode.session(place, LINES);
  recorded("opencode.md", "denied", plain(place, `${ended.stderr}${ended.stdout}`));
});
