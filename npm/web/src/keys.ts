// Keys that act without a modifier, where no text is typed.

import { useEffect, useRef } from "preact/hooks";

const OFF = "onloop-keys-off";

/** A browser that shows a report inside another page may keep nothing. */
export function areKeysOn(): boolean {
  try {
    return localStorage.getItem(OFF) === null;
  } catch {
    return true;
  }
}

export function setKeys(on: boolean): void {
  if (on) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, "1");
}

/** Calls what stands for a key that is pressed. */
export function useKeys(keys: Record<string, () => void>): void {
  const present = useRef(keys);
  present.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.matches("input, textarea, select");
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !areKeysOn()) return;
      const act = present.current[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
