// The language functions of the package: their results, with offsets in UTF-16 units.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../dist/index.js";

const core = load();
const { language } = core;
const PATH = "hotl-workflow-a.md";
const FRONT = "---\nintent: a 😀\nsuccess_criteria: b\nrisk_level: low\n---\n\n";
const FILE = `${FRONT}- [ ] **Step 1: 😀 One**
action: before step 2
loop: sometimes
verify: test -s one.txt

- [ ] **Step 2: Two**
Action: after step 1
loop: false
verify:
  type: artifact
  path: out/a.txt
  assert:
    kind: exists
`;

/** The text after edits. */
function applied(text, edits) {
  let from = 0;
  const parts = [];
  for (const { start, end, text: put } of edits) {
    parts.push(text.slice(from, start), put);
    from = end;
  }
  return parts.join("") + text.slice(from);
}

const at = (piece, text = FILE) => text.indexOf(piece);
const slice = ({ start, end }, text = FILE) => text.slice(start, end);

test("findings have related places, and every fix resolves one", () => {
  const [found, ...others] = language.findings(PATH, FILE);
  assert.deepEqual(others, []);
  assert.deepEqual([found.code, slice(found), found.unnecessary, found.related], ["invalid-loop", "sometimes", false, []]);
  const [fix] = language.quickFixes(PATH, FILE, found.start, found.end);
  assert.deepEqual([fix.title, fix.finding, fix.is_safe], ["write `false`", 0, false]);
  assert.deepEqual(core.lint(PATH, applied(FILE, fix.edits)), []);
  assert.deepEqual(language.quickFixes(PATH, FILE, 0, 3), []);
  const twice = FILE.replace("loop: sometimes", "loop: false\nloop: false");
  const [double] = language.findings(PATH, twice);
  assert.deepEqual(double.related.map((place) => [slice(place, twice), place.line, place.message]), [["loop", 9, "the first one is here"]]);
  const idle = FILE.replace("loop: sometimes", "loop: false\nmax_iterations: 2");
  assert.deepEqual(language.findings(PATH, idle).map(({ code, unnecessary }) => [code, unnecessary]), [["unused-max-iterations", true]]);
});

test("proposals fit the place, and lead to further ones", () => {
  const field = language.proposals(PATH, `${FILE}ga`, FILE.length + 2).find(({ label }) => label === "gate");
  assert.deepEqual([field.kind, field.snippet, field.plain, field.goes_on], ["field", "gate: $0", "gate: ", true]);
  const value = language.proposals(PATH, FILE, at("low") + 1);
  assert.deepEqual(value.map(({ label, goes_on }) => [label, goes_on]), [["low", false], ["medium", false], ["high", false]]);
  assert.equal(slice(value[0].span), "low");
  const [whole] = language.proposals(PATH, "", 0);
  assert.deepEqual([whole.label, whole.kind], ["workflow", "template"]);
  const [step] = language.proposals(PATH, `${FILE}\n- [`, FILE.length + 4).slice(-1);
  assert.equal(step.plain.split("\n")[0], "- [ ] **Step 3: Name**");
});

test("fields and steps are explained", () => {
  const field = language.hover(PATH, FILE, at("risk_level"));
  assert.match(field.markdown, /^\*\*`risk_level`\*\* \(frontmatter\)/);
  assert.equal(slice(field.span), "risk_level");
  assert.match(language.hover(PATH, FILE, at("step 2") + 5).markdown, /^\*\*Step 2 of 2: Two\*\*/);
  assert.equal(language.hover(PATH, FILE, at("before")), undefined);
});

test("steps are found where they are mentioned, renamed and moved", () => {
  const step = language.step(PATH, FILE, at("step 2") + 5);
  assert.deepEqual([slice(step.here), slice(step.title), step.mentions.map(({ line }) => line)], ["2", "Two", [8]]);
  assert.equal(language.step(PATH, FILE, 0), undefined);
  const renamed = language.rename(PATH, FILE, at("One"), "First 😀");
  assert.match(applied(FILE, renamed), /^- \[ \] \*\*Step 1: First 😀\*\*$/m);
  const moved = applied(FILE, language.rename(PATH, FILE, at("2: Two"), "1"));
  assert.match(moved, /^- \[ \] \*\*Step 1: Two\*\*\nAction: after step 2\n/m);
  assert.match(moved, /^- \[ \] \*\*Step 2: 😀 One\*\*\naction: before step 1\n/m);
  assert.throws(() => language.rename(PATH, FILE, 0, "x"), { message: "only steps can be renamed: their names and numbers" });
  const titles = language.rewrites(PATH, FILE, at("- [ ] **Step 2")).map(({ title }) => title);
  assert.deepEqual(titles, ["Insert a step before step 2", "Insert a step after step 2", "Move step 2 up"]);
});

test("formatting keeps the meaning, and a second time changes nothing", () => {
  const after = applied(FILE, language.layout(PATH, FILE));
  assert.equal(after, FILE.replace("Action:", "action:"));
  assert.deepEqual(language.layout(PATH, after), []);
});

test("outline, folds, links and tokens", () => {
  const shown = ({ name, kind, detail, children }) => [name, kind, detail, children.map(({ name }) => name).join(" ")];
  assert.deepEqual(language.symbols(PATH, FILE).map(shown), [
    ["Frontmatter", "frontmatter", "", "intent success_criteria risk_level"],
    ["Step 1: 😀 One", "step", "", "action loop verify"],
    ["Step 2: Two", "step", "", "action loop verify"],
  ]);
  const folds = language.folds(PATH, FILE).map(({ kind, span }) => `${kind} ${span.line}-${span.end_line}`);
  assert.deepEqual(folds, ["frontmatter 1-4", "step 7-10", "step 12-19", "lines 15-19", "lines 18-19"]);
  assert.deepEqual(language.links(PATH, FILE).map(({ path, span }) => [path, slice(span)]), [["out/a.txt", "out/a.txt"]]);
  const kinds = language.tokenKinds();
  const tokens = language.tokens(PATH, FILE);
  assert.ok(tokens instanceof Uint32Array);
  assert.deepEqual([...tokens.slice(0, 10)], [1, 0, 6, kinds.indexOf("property"), 0, 1, 0, 16, kinds.indexOf("property"), 0]);
  assert.deepEqual(language.tokens(PATH, FILE, at("intent"), at("intent") + 3).length, 5);
});

test("every text has a result, and offsets behind its end mean its end", () => {
  for (const text of ["", "---", "\uFEFF---\r\n", "\ud800", `${FILE}\r`, FILE.slice(0, 90), "😀".repeat(2000)]) {
    for (const offset of [0, 1, text.length, text.length + 7, Number.MAX_SAFE_INTEGER]) {
      const edits = [
        ...language.quickFixes(PATH, text, offset, offset + 1),
        ...language.rewrites(PATH, text, offset),
        { edits: language.layout(PATH, text) },
      ];
      for (const { edits: each } of edits) for (const { start, end } of each) assert.ok(start <= end && end <= text.length);
      language.hover(PATH, text, offset);
      language.proposals(PATH, text, offset);
      language.step(PATH, text, offset);
      language.tokens(PATH, text, offset, 0);
    }
  }
});
