// Facts of the server that stay as they are there.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Common } from "./facts.js";
import { isReport } from "./report_source.js";
import { source } from "./source.js";

const LOST = "No connection to onloop. Trying again.";
const OUT = "Signed out. Reload this page.";
/** Time after which a page asks again that has no stream, or lost it. */
const WITHOUT_STREAM_MS = 15_000;
const AFTER_LOSS_MS = 2_000;

/** What answered instead of the facts. */
export class Refused extends Error {
  constructor(readonly status: number) {
    super(status === 401 ? OUT : status === 404 ? "Not found." : `The server answered ${status}.`);
  }
}

export async function get<T>(path: string): Promise<T> {
  const answer = await source.get(path);
  if (answer.status !== 200) throw new Refused(answer.status);
  return answer.value as T;
}

/** What a person decided was done, or refused, and what onloop said. */
export interface Said {
  isDone: boolean;
  said: string;
}

export async function post(path: string, token: string, fields: Record<string, string>): Promise<Said> {
  try {
    const { status, value } = await source.post(path, new URLSearchParams({ ...fields, form: token }));
    if (status !== 200 && status !== 409) return { isDone: false, said: new Refused(status).message };
    return { isDone: status === 200, said: (value as { said: string }).said };
  } catch {
    return { isDone: false, said: "No connection to onloop; it is not known whether this was done." };
  }
}

export interface Live<T> {
  facts: T | undefined;
  /** `Live`, or why the facts may be old. */
  status: string;
  /** Reads the facts again. */
  look: () => void;
}

/** The facts at `path`, read again whenever the stream of events says that they have changed. */
export function useLive<T extends Common>(path: string, run: string | undefined): Live<T> {
  const [facts, setFacts] = useState<T>();
  const [status, setStatus] = useState("");
  const look = useRef<() => void>(() => undefined);
  useEffect(() => {
    let close: (() => void) | undefined;
    let timer = 0;
    let seen: string | undefined;
    let [isAsking, isAskedAgain, isOld, isOver] = [false, false, false, false];
    const isVisible = () => document.visibilityState === "visible";
    const hush = () => {
      clearTimeout(timer);
      close?.();
      close = undefined;
    };
    const read = async () => {
      if (isAsking) {
        isAskedAgain = true;
        return;
      }
      isAsking = true;
      try {
        do {
          isAskedAgain = false;
          const found = await get<T>(path);
          if (isOver) return;
          seen = found.seen;
          isOld = false;
          setFacts(found);
          setStatus("Live");
        } while (isAskedAgain);
      } catch (error) {
        if (isOver) return;
        isOld = true;
        const isAnswered = error instanceof Refused;
        isOver = isAnswered && error.status !== 503;
        if (isOver) hush();
        setStatus(isAnswered ? error.message : LOST);
      } finally {
        isAsking = false;
      }
    };
    // A browser has few connections to one server, so only a page that is looked at holds one.
    const listen = () => {
      hush();
      if (isOver || !isVisible()) return;
      if (seen === undefined) {
        timer = window.setTimeout(() => void begin(), AFTER_LOSS_MS);
        return;
      }
      const query = new URLSearchParams(run === undefined ? { seen } : { run, seen });
      close = source.listen(`/events?${query}`, {
        opened: () => {
          if (isOld) void read();
          else setStatus("Live");
        },
        changed: () => void read(),
        lost: (isAnswered) => {
          hush();
          if (isAnswered) void read();
          else setStatus(LOST);
          isOld = true;
          timer = window.setTimeout(listen, isAnswered ? WITHOUT_STREAM_MS : AFTER_LOSS_MS);
        },
      });
    };
    const begin = async () => {
      if (isOver) return;
      if (isVisible()) await read();
      listen();
    };
    const turn = () => void begin();
    const shown = (event: PageTransitionEvent) => {
      if (event.persisted) void begin();
    };
    look.current = () => void read();
    setFacts(undefined);
    void begin();
    document.addEventListener("visibilitychange", turn);
    window.addEventListener("pagehide", hush);
    window.addEventListener("pageshow", shown);
    return () => {
      isOver = true;
      hush();
      document.removeEventListener("visibilitychange", turn);
      window.removeEventListener("pagehide", hush);
      window.removeEventListener("pageshow", shown);
    };
  }, [path, run]);
  return { facts, status, look: useCallback(() => look.current(), []) };
}

/** Other facts of a run, read again when `version` changes; the old ones stay until then. */
export function useFacts<T>(path: string | undefined, version: unknown): T | undefined {
  const [found, setFound] = useState<{ path: string; facts: T }>();
  useEffect(() => {
    let isOver = false;
    if (path !== undefined) {
      get<T>(path).then(
        (facts) => isOver || setFound({ path, facts }),
        () => undefined,
      );
    }
    return () => {
      isOver = true;
    };
  }, [path, version]);
  return found !== undefined && found.path === path ? found.facts : undefined;
}

/** The time of the server, renewed twice a minute; in a report it stands still. */
export function useNow(now: string): number {
  const [passed, setPassed] = useState(0);
  useEffect(() => {
    const from = Date.now();
    setPassed(0);
    if (isReport) return undefined;
    const timer = setInterval(() => setPassed(Date.now() - from), 30_000);
    return () => clearInterval(timer);
  }, [now]);
  return Date.parse(now) + passed;
}
