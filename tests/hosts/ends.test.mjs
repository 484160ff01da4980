// The agent and its tools end with onloop, however that ends. All three
// clients start their tools in separate sessions, outside the process group.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { testIf } from "../../npm/test/support/all.mjs";
import { codex, run } from "./clients.mjs";
import { always, CLIENTS, FILE, repository, used } from "./conducted.mjs";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Processes with this argument. */
function running(word) {
  const commands = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)).map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ");
    } catch {
      return "";
    }
  });
  return commands.filter((command) => command.includes(word));
}

/** Until `holds`, for so many seconds; on a machine with four times the load, four times as many. */
async function until(holds, s, what) {
  for (const end = Date.now() + 4 * s * 1000; !holds(); await pause(50)) {
    assert.ok(Date.now() < end, what());
  }
}

/** The lines of the only run's ledger. */
function ledger(place) {
  const runs = join(place.env.XDG_STATE_HOME ?? join(place.home, ".local/state"), "onloop/runs");
  const [id] = readdirSync(runs);
  return readFileSync(join(runs, id, "ledger.jsonl"), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
}

let number = 0;

/** Signals an onloop whose agent performs a long call; returns the result. */
async function ended(client, place, signal) {
  const word = `wait-${process.pid}-${++number}`;
  // Claude Code refuses to sleep for long.
  const script = used([{ run: `echo > ${word} && tail -f ${word}` }, { run: "echo made > made.txt" }, { say: "Done." }]);
  let stderr = "";
  const act = async (place) => {
    const words = ["run", FILE, "--agent", client.name];
    const child = spawn("onloop", words, { cwd: place.project, env: place.env, stdio: ["ignore", "ignore", "pipe"] });
    child.stderr.on("data", (text) => (stderr += text));
    const exit = new Promise((resolve) => child.on("close", (code, by) => resolve(code ?? by)));
    const works = () => running(word).some((command) => command.startsWith("tail "));
    await until(works, 60, () => `it never waited: ${stderr}`);
    child.kill(signal);
    return { exit: await exit, stderr };
  };
  return { word, ...(await client.served(place, script, act)) };
}

async function endsWith(signal, client, repository) {
  const place = await repository(client);
  const { word, exit, stderr } = await ended(client, place, signal);
  assert.equal(exit, 130, stderr);
  assert.deepEqual(running(word), [], stderr);
  assert.deepEqual(running(place.project), [], stderr);
  assert.match(stderr, /Interrupted; the record is saved\./);
  const events = ledger(place);
  const names = events.map(({ event }) => event);
  assert.ok(names.includes("work_started"), names.join());
  assert.equal(events.find(({ event }) => event === "agent_ended").ending, "interrupted", names.join());
  assert.equal(names.at(-1), "run_paused", names.join());
}

always(CLIENTS, (name) => `Ctrl-C ends ${name} and its tools`, (client, repository) => endsWith("SIGINT", client, repository));
for (const signal of ["SIGTERM", "SIGHUP"]) {
  testIf(signal === "SIGTERM")(`${signal} to onloop ends codex and its tools`, () => endsWith(signal, codex, repository));
}

for (const client of CLIENTS) {
  testIf(client === codex)(`what ${client.name} had started before onloop was killed is ended by the next one`, async () => {
    const place = await repository(client);
    // A sandbox leaves no processes.
    place.env = { ...place.env, ONLOOP_CONFINE: "off" };
    const { word, exit } = await ended(client, place, "SIGKILL");
    assert.equal(exit, "SIGKILL");
    assert.equal(ledger(place).at(-1).event, "work_started");
    const script = used([{ run: "echo made > made.txt" }, { say: "Done." }]);
    const resumed = await client.served(place, script, (place) => {
      return run("onloop", ["resume", "--agent", client.name], place);
    });
    const told = JSON.stringify(resumed, undefined, 1);
    assert.equal(resumed.code, 0, told);
    assert.match(resumed.stderr, /Ended \d+ process(es)? that the agent of step 1 had left/, told);
    assert.deepEqual(running(word), [], told);
    assert.deepEqual(running(place.home), [], told);
  });
}
