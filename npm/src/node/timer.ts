/** Timers of any length. Those of Node fire at once if they are longer than 24 days. */

const LONGEST_MS = 2 ** 31 - 1;

/** Calls `callback` once after `durationMs`, unless the returned function is called. */
export function after(durationMs: number, callback: () => void): () => void {
  let left = durationMs;
  let timer: NodeJS.Timeout;
  const go = (): void => {
    const part = Math.min(left, LONGEST_MS);
    left -= part;
    timer = setTimeout(left > 0 ? go : callback, part);
  };
  go();
  return () => clearTimeout(timer);
}
