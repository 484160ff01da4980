/** Parses the files of a git patch, with the ids of their blobs. */

export interface ChangedFile {
  /** The path after the change, relative to the top folder. */
  path: string;
  /** The blobs before and after; without one the file did not or does not exist. */
  before?: string;
  after?: string;
}

const NULL_ID = /^0+$/;

/** The files in the order of the patch, without binary files and files whose content is the same. */
export function changedFiles(patch: string): ChangedFile[] {
  return patch.split(/^(?=diff --git )/m).flatMap((part) => {
    if (!part.startsWith("diff --git ")) return [];
    const header = part.split(/^(?:@@|GIT binary patch|Binary files )/m)[0] ?? part;
    const [, before, after, mode] = /^index ([0-9a-f]+)\.\.([0-9a-f]+)(?: (\d+))?$/m.exec(header) ?? [];
    const path = pathOf(header);
    // A submodule has a commit instead of a blob.
    const isModule = mode === "160000" || /mode 160000$/m.test(header);
    if (before === undefined || after === undefined || path === undefined || isModule) return [];
    if (/^(GIT binary patch|Binary files )/m.test(part)) return [];
    return [{ path, ...(!NULL_ID.test(before) && { before }), ...(!NULL_ID.test(after) && { after }) }];
  });
}

function pathOf(header: string): string | undefined {
  const named = /^\+\+\+ (.+?)\t?$/m.exec(header)?.[1];
  const old = /^--- (.+?)\t?$/m.exec(header)?.[1];
  const name = [named, old].find((name) => name !== undefined && name !== "/dev/null");
  if (name !== undefined) return unquoted(name)?.replace(/^[ab]\//, "");
  const renamed = /^rename to (.+)$/m.exec(header)?.[1];
  if (renamed !== undefined) return unquoted(renamed);
  // An empty file has only the `diff --git` line, with the same name twice.
  const both = /^diff --git (.+)$/m.exec(header)?.[1] ?? "";
  const half = both.slice((both.length + 1) / 2);
  return unquoted(half)?.replace(/^b\//, "");
}

/** Decodes a quoted name, in which git writes special characters as octal bytes. */
function unquoted(name: string): string | undefined {
  if (!name.startsWith('"')) return name;
  const letters: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };
  const bytes: number[] = [];
  for (const [all, octal, letter] of name.slice(1, -1).matchAll(/\\(?:([0-7]{3})|(.))|[^\\]+/gs)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (letter !== undefined) bytes.push(letters[letter] ?? letter.charCodeAt(0));
    else bytes.push(...new TextEncoder().encode(all));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
