// A change: its files as a tree, and the lines of each file behind a fold.

import { useMemo, useState } from "preact/hooks";
import { Colorist, type Piece } from "./colors.js";
import type { Diff } from "./facts.js";
import { choose } from "./place.js";
import { counted } from "./words.js";

interface Line {
  kind: "add" | "del" | "same" | "place";
  before?: number;
  after?: number;
  text: string;
}

export interface ChangedFile {
  path: string;
  /** What git says besides: a new file, another name, a binary. */
  notes: string[];
  added: number;
  removed: number;
  lines: Line[];
}

/** The files of a patch as git writes it. */
export function filesOf(patch: string): ChangedFile[] {
  const files: ChangedFile[] = [];
  let file: ChangedFile | undefined;
  let [isInHunk, before, after] = [false, 0, 0];
  for (const text of patch.split("\n")) {
    if (text.startsWith("diff --git ")) {
      file = { path: pathOf(text), notes: [], added: 0, removed: 0, lines: [] };
      files.push(file);
      isInHunk = false;
    } else if (file === undefined) {
      continue;
    } else if (text.startsWith("@@")) {
      const [, from, to] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text) ?? [];
      [isInHunk, before, after] = [true, Number(from ?? 1), Number(to ?? 1)];
      file.lines.push({ kind: "place", text });
    } else if (!isInHunk) {
      if (text.startsWith("+++ ") && text !== "+++ /dev/null") file.path = unquoted(text.slice(4)).replace(/^b\//, "");
      else if (text !== "" && !/^(---|\+\+\+|index) /.test(text)) file.notes.push(text);
    } else if (text.startsWith("+")) {
      file.added += 1;
      file.lines.push({ kind: "add", after: after++, text: text.slice(1) });
    } else if (text.startsWith("-")) {
      file.removed += 1;
      file.lines.push({ kind: "del", before: before++, text: text.slice(1) });
    } else if (text.startsWith(" ")) {
      file.lines.push({ kind: "same", before: before++, after: after++, text: text.slice(1) });
    } else if (text.startsWith("\\")) {
      file.lines.push({ kind: "place", text });
    }
  }
  return files;
}

/** The path in `diff --git a/x b/x`, which both ends of most files share. */
function pathOf(head: string): string {
  const rest = head.slice("diff --git ".length);
  const half = (rest.length - 1) / 2;
  const [a, b] = [rest.slice(0, half), rest.slice(half + 1)];
  if (a.slice(2) === b.slice(2)) return b.slice(2);
  return unquoted(/(?: |^)("?b\/.*)$/.exec(rest)?.[1] ?? rest).replace(/^b\//, "");
}

/** Git quotes a name with unusual characters. */
function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1).replace(/"\t?$/, "") : name.replace(/\t$/, "");
}

/** The pieces of each line. What was and what is there are two texts, each with its own open comments. */
export function colored({ path, lines }: ChangedFile): Piece[][] {
  const colorist = new Colorist(path);
  let [before, after]: (number | undefined)[] = [];
  return lines.map(({ kind, text }) => {
    if (kind === "place") {
      before = after = undefined;
      return [{ text }];
    }
    const { pieces, open } = colorist.color(text, kind === "del" ? before : after);
    if (kind !== "add") before = open;
    if (kind !== "del") after = open;
    return pieces;
  });
}

/** More lines than these stay folded until they are asked for. */
const OPEN_LINES = 400;
/** Lines of a file that are drawn at once. */
const LINES_AT_ONCE = 2000;

/** Changes of which one is shown: the name for the server, words for a choice, and a clause that names it. */
export type Scopes = [of: string, words: string, what: string][];

/** Chooses the change that is shown; the address has it unless it is the first. */
export function Scope({ scopes, scope }: { scopes: Scopes; scope: string }) {
  return (
    <label class="scope">
      <span>Changes of</span>
      <select value={scope} onChange={(event) => choose({ of: event.currentTarget.value === scopes[0]?.[0] ? "" : event.currentTarget.value })}>
        {scopes.map(([scope, words]) => <option key={scope} value={scope}>{words}</option>)}
      </select>
    </label>
  );
}

/** The size of a change, and its files. */
export function DiffView({ diff, what }: DiffProps) {
  return <><Stat diff={diff} what={what} /><Files diff={diff} /></>;
}

interface DiffProps {
  diff: Diff | undefined;
  /** A clause that names the change. */
  what: string;
}

/** The size of a change, or why it is not known. */
export function Stat({ diff, what }: DiffProps) {
  const files = useMemo(() => filesOf(diff?.patch ?? ""), [diff?.patch]);
  if (diff === undefined) return <p class="faint">Reading the change…</p>;
  if (diff.trouble !== undefined) return <p class="bad">The change {what} cannot be shown: {diff.trouble}</p>;
  if (files.length === 0) return diff.whole === undefined ? <p>No file changed {what}.</p> : <p class="wait">The change {what} is too large to show here: <code>{diff.whole}</code></p>;
  const sum = (of: (file: ChangedFile) => number) => files.reduce((sum, file) => sum + of(file), 0);
  return (
    <>
      <p class="stat"><strong>{counted(files.length, "file")} changed</strong> <span class="good">+{sum((file) => file.added)}</span> <span class="bad">−{sum((file) => file.removed)}</span> {what}</p>
      {diff.whole !== undefined && <p class="wait">This is only the beginning. All of it: <code>{diff.whole}</code></p>}
    </>
  );
}

/** The changed files. */
export function Files({ diff }: { diff: Diff | undefined }) {
  const files = useMemo(() => filesOf(diff?.patch ?? ""), [diff?.patch]);
  if (files.length === 0) return null;
  const all = files.reduce((sum, file) => sum + file.lines.length, 0);
  let room = OPEN_LINES;
  const isOpen = (file: ChangedFile) => {
    room -= file.lines.length;
    return all <= OPEN_LINES || room >= 0;
  };
  return (
    <div class="diff">
      {files.length > 1 && <Tree files={files} />}
      {files.map((file, index) => <FileView key={file.path} file={file} index={index} isOpen={isOpen(file)} />)}
    </div>
  );
}

/** The files by their folders. */
function Tree({ files }: { files: ChangedFile[] }) {
  const folders = new Map<string, [ChangedFile, number][]>();
  files.forEach((file, index) => {
    const folder = file.path.includes("/") ? file.path.slice(0, file.path.lastIndexOf("/")) : "";
    folders.set(folder, [...(folders.get(folder) ?? []), [file, index]]);
  });
  const jump = (index: number) => (event: MouseEvent) => {
    event.preventDefault();
    const target = document.getElementById(`file-${index}`);
    if (target instanceof HTMLDetailsElement) target.open = true;
    target?.scrollIntoView();
  };
  return (
    <nav class="tree" aria-label="Changed files">
      {[...folders].map(([folder, inside]) => (
        <div key={folder}>
          {(folder !== "" || folders.size > 1) && <p class="faint">{folder === "" ? "." : folder}/</p>}
          <ul>
            {inside.map(([file, index]) => (
              <li key={file.path}>
                <a href={`#file-${index}`} onClick={jump(index)}>{file.path.slice(folder === "" ? 0 : folder.length + 1)}</a>{" "}
                <span class="good">+{file.added}</span> <span class="bad">−{file.removed}</span>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

function FileView({ file, index, isOpen }: { file: ChangedFile; index: number; isOpen: boolean }) {
  const [isShown, show] = useState(isOpen);
  const [most, setMost] = useState(LINES_AT_ONCE);
  const left = file.lines.length - most;
  const pieces = useMemo(() => (isShown ? colored(file) : []), [isShown, file]);
  return (
    <details id={`file-${index}`} class="file" open={isOpen} onToggle={(event) => event.currentTarget.open && show(true)}>
      <summary><code>{file.path}</code> <span class="good">+{file.added}</span> <span class="bad">−{file.removed}</span></summary>
      {isShown && (
        <div class="lines" tabIndex={0} role="group" aria-label={`Changed lines of ${file.path}`}>
          {file.notes.map((note) => <div key={note} class="line place"><span class="no" /><span class="no" /><code>{note}</code></div>)}
          {file.lines.slice(0, most).map((line, at) => (
            <div key={at} class={`line ${line.kind}`}>
              <span class="no">{line.before}</span><span class="no">{line.after}</span>
              <code>
                {line.kind === "add" ? "+" : line.kind === "del" ? "-" : line.kind === "same" ? " " : ""}
                {pieces[at]?.map(({ text, color }, index) => (color === undefined ? text : <span key={index} class={color}>{text}</span>))}
              </code>
            </div>
          ))}
        </div>
      )}
      {isShown && left > 0 && <button type="button" onClick={() => setMost(most + LINES_AT_ONCE)}>Show more of {counted(left, "line")}</button>}
    </details>
  );
}
