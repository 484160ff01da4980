/** Timers of any length: those of Node fire at once when they are longer than 24 days. */

const LONGEST_MS = 2 ** 31 - 1;

/** Calls `act` once after `durationMs`; returns how to stop that. */
export function after(durationMs: number, act: () => void): () => void {
  let left = durationMs;
  let timer: NodeJS.Timeout;
  const go = (): void => {
    const part = Math.min(left, LONGEST_MS);
    left -= part;
    timer = setTimeout(left > 0 ? go : act, part);
  };
  go();
  return () => clearTimeout(timer);
}
