// The streams of the real clients have the recorded events. The recordings
// are in tests/streams: a stream of each client for each case, with its events.
// `ONLOOP_WRITE_DOCUMENTS=1` records them again.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testIf } from "../../npm/test/support/all.mjs";
import { claude, codex, machine, named, onloop, opencode, repository } from "./clients.mjs";

const FOLDER = join(repository, "tests/streams");
/** The program that reads a stream as onloop does. */
const STREAM_EVENTS = named("ONLOOP_TEST_STREAM_EVENTS");

/** How each client writes its stream, and the line that our hooks deny. */
const CLIENTS = [
  {
    client: claude,
    words: ["--output-format", "stream-json", "--verbose", "--include-partial-messages"],
    denied: "rm -rf victim",
  },
  { client: codex, words: [codex.trusted], denied: "git stash drop; mkdir victim/denied" },
  { client: opencode, words: ["--format", "json"], denied: "rm -rf victim" },
];

const USED = { input: 1000, cached: 300, output: 50 };
const CASES = {
  works: () => [
    { run: "echo partly; exit 3", usage: USED },
    { run: "mkdir made", usage: USED },
    { say: "It is made.", usage: USED },
  ],
  denied: ({ denied }) => [
    { run: denied, usage: USED },
    { say: "It was refused.", usage: USED },
  ],
};

/** Without varying parts: paths, ids, times, durations. */
function neutral(text, place) {
  const known = new Map();
  const folders = [[place.project, "/w/project"], [place.home, "/w/home"], [join(place.home, ".."), "/w"]];
  const ids = /(ses|prt|msg|call|req|toolu)_[A-Za-z0-9]{6,}/g;
  const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
  let out = folders.reduce((out, [from, to]) => out.replaceAll(from, to), text);
  out = out.replace(uuids, "00000000-0000-4000-8000-000000000001");
  out = out.replace(ids, (id) => `${id.split("_")[0]}_${numberOf(known, id)}`);
  out = out.replace(/http:\/\/127\.0\.0\.1:\d+/g, "http://127.0.0.1:1");
  out = out.replace(/"(timestamp|start|end|created)":1\d{12}/g, '"$1":1790000000000');
  out = out.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "2026-01-01T00:00:00.000Z");
  out = out.replace(/"snapshot":"[0-9a-f]{40}"/g, '"snapshot":"0"');
  return out.replace(/"(\w*_ms)":\d+/g, '"$1":1');
}

function numberOf(known, id) {
  if (!known.has(id)) known.set(id, known.size + 1);
  return known.get(id);
}

/** Facts about the client that we do not read. */
function trimmed(line) {
  if (line === "") return line;
  const document = JSON.parse(line);
  if (document.subtype !== "init") return line;
  for (const member of ["tools", "slash_commands", "terminal_slash_commands", "skills", "agents", "plugins"]) {
    if (member in document) document[member] = [];
  }
  return JSON.stringify(document);
}

function events(name, stream) {
  return execFileSync(STREAM_EVENTS, [name], { input: stream }).toString();
}

for (const of of CLIENTS) {
  for (const [name, script] of Object.entries(CASES)) {
    testIf(of.client === codex)(`the stream of ${of.client.name} where it ${name === "works" ? "works" : "is denied a call"} is understood`, async () => {
      const place = machine(of.client);
      await onloop(place, "install", of.client.name);
      const ended = await of.client.session(place, script(of), { words: of.words });
      assert.equal(ended.code, 0, JSON.stringify(ended));
      const stream = neutral(ended.stdout, place).split("\n").map(trimmed).join("\n");
      const found = events(of.client.name, stream);
      const file = join(FOLDER, `${of.client.name}-${name}`);
      if (process.env.ONLOOP_WRITE_DOCUMENTS) {
        mkdirSync(FOLDER, { recursive: true });
        writeFileSync(`${file}.jsonl`, stream);
        writeFileSync(`${file}.events.jsonl`, found);
      }
      assert.equal(found, readFileSync(`${file}.events.jsonl`, "utf8"));
    });
  }
}
