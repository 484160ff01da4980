// Times, durations and amounts in the words of the command line.

import type { Card } from "./facts.js";

/** `just now`, `3 min ago`, `2 days ago`. */
export function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 2880) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / 1440)} days ago`;
}

/** `850 ms`, `1.2 s`, `12 min 4 s`, `3 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function money(usd: number): string {
  return `$${usd.toFixed(2)}`;
}

export function tokens(count: number): string {
  return count < 1000 ? String(count) : `${Math.round(count / 1000)}k`;
}

export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** The time of day here, to the second. */
export function clock(at: string): string {
  return new Date(at).toLocaleTimeString("en-GB");
}

/** The day and the time here; nothing without one. */
export function moment(at: string | undefined): string {
  return at === undefined ? "" : new Date(at).toLocaleString("en-GB");
}

/** Milliseconds between two moments; with one missing, nothing. */
export function between(from: string | undefined, to: string | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : Math.max(0, Date.parse(to) - Date.parse(from));
}

/** How long a run was worked on: one that runs was not idle since its record changed. */
export function workedMs({ state, active_ms: active, changed_at: changed }: Card, now: number): number {
  return state === "running" && changed !== undefined ? active + Math.max(0, now - Date.parse(changed)) : active;
}
