// Looks again when something has changed. Without it every page works as it is.
"use strict";
(() => {
  const main = document.querySelector("main[data-events]");
  const live = document.getElementById("live");
  if (main === null || live === null) return;
  let asked = false;
  let asking = false;
  let source = null;

  const say = (words) => {
    if (live.textContent !== words) live.textContent = words;
  };

  // What somebody is writing, or has unfolded, stays as it is.
  const isWriting = () =>
    [...document.querySelectorAll("main input:not([type=hidden]), main textarea")].some(
      (field) => field === document.activeElement || field.value !== field.defaultValue,
    );

  const show = (text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html");
    const next = fresh.getElementById("main");
    const now = document.getElementById("main");
    if (next === null || now === null) return;
    for (const details of now.querySelectorAll("details[id]")) {
      const same = next.querySelector(`#${CSS.escape(details.id)}`);
      if (same !== null) same.open = details.open;
    }
    const focus = document.activeElement?.id ?? "";
    document.title = fresh.title;
    now.replaceChildren(...next.childNodes);
    if (focus !== "") document.getElementById(focus)?.focus({ preventScroll: true });
  };

  const look = async () => {
    if (asking) {
      asked = true;
      return;
    }
    asking = true;
    try {
      do {
        asked = false;
        const answer = await fetch(location.href, { credentials: "same-origin" });
        if (answer.status === 401) {
          source?.close();
          say("Signed out. Reload this page.");
          return;
        }
        if (!answer.ok) throw new Error(String(answer.status));
        const text = await answer.text();
        if (isWriting()) say("Something has changed. Reload to see it.");
        else {
          show(text);
          say("Live");
        }
      } while (asked);
    } catch {
      say("No connection to onloop. Trying again.");
    } finally {
      asking = false;
    }
  };

  const listen = () => {
    source = new EventSource(main.dataset.events);
    let wasLost = false;
    source.onopen = () => {
      if (wasLost) void look();
      else say("Live");
      wasLost = false;
    };
    source.addEventListener("changed", () => void look());
    source.onerror = () => {
      wasLost = true;
      say("No connection to onloop. Trying again.");
      // A server that answers, but not with a stream, is not asked again by the browser.
      if (source.readyState === EventSource.CLOSED) {
        setTimeout(() => {
          void look();
          listen();
        }, 5000);
      }
    };
  };
  listen();
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => {
    if (event.persisted) listen();
  });
})();
