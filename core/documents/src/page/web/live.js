// Keeps an open page as things are on the machine. Without it every page works as it is.
"use strict";
(() => {
  const main = document.querySelector("main[data-page]");
  const live = document.getElementById("live");
  if (main === null) return;
  // What a form led to has the address of the form, under which there is nothing to see.
  if (location.pathname + location.search !== main.dataset.page) history.replaceState(null, "", main.dataset.page);
  if (live === null || main.dataset.events === undefined) return;
  const PANES = "pre, table, .timeline";
  const LOST = "No connection to onloop. Trying again.";
  let source = null;
  let timer = 0;
  let asked = false;
  let asking = false;
  let isOut = false;
  // The page is not as it should be: somebody was busy in it, or nobody answered.
  let isOld = false;
  let calmFrom = 0;
  // When the page was made, by the clock of the server and by ours, which may differ.
  let made = Date.parse(main.dataset.now);
  let came = Date.now();

  const say = (words) => {
    if (live.textContent !== words) live.textContent = words;
  };
  const isVisible = () => document.visibilityState === "visible";

  // What somebody is writing or has marked stays as it is.
  const isBusy = () => {
    const marked = getSelection();
    if (marked !== null && !marked.isCollapsed && main.contains(marked.anchorNode)) return true;
    return [...main.querySelectorAll("input:not([type=hidden]), textarea")].some(
      (field) => field === document.activeElement || field.value !== field.defaultValue,
    );
  };

  // The words of the server.
  const ago = (minutes) => {
    if (minutes < 1) return "just now";
    if (minutes < 60) return `${minutes} min ago`;
    if (minutes < 2880) return `${Math.floor(minutes / 60)} h ago`;
    return `${Math.floor(minutes / 1440)} days ago`;
  };
  const renew = (page) => {
    const now = made + Date.now() - came;
    for (const time of page.querySelectorAll("time[datetime]")) {
      // Others show a time of day.
      if (!/^just now$| ago$/.test(time.textContent)) continue;
      const words = ago(Math.floor((now - Date.parse(time.dateTime)) / 60000));
      if (time.textContent !== words) time.textContent = words;
    }
  };

  // What an element is called in every version of a page. A button is the same as long as its form is.
  const key = (element) => {
    const { form, name, value } = element;
    const within = element.parentElement?.closest("details[id], [aria-labelledby]");
    const sent = form ? [form.action, String(new URLSearchParams(new FormData(form))), name, value] : [];
    const names = ["id", "href", "aria-label"].map((name) => element.getAttribute(name));
    return JSON.stringify([element.tagName, names, sent, within?.id, within?.getAttribute("aria-labelledby")]);
  };

  // What is where a finger may be about to press.
  const buttons = () =>
    [...main.querySelectorAll("button")]
      .map((button) => {
        const { top, left } = button.getBoundingClientRect();
        return `${key(button)} ${Math.round(top)} ${Math.round(left)}`;
      })
      .join();

  const swap = (next) => {
    const focus = main.contains(document.activeElement) ? key(document.activeElement) : null;
    const scrolled = new Map([...main.querySelectorAll(PANES)].map((pane) => [key(pane), [pane.scrollTop, pane.scrollLeft]]));
    const before = buttons();
    main.replaceChildren(...next.childNodes);
    for (const pane of main.querySelectorAll(PANES)) {
      [pane.scrollTop, pane.scrollLeft] = scrolled.get(key(pane)) ?? [0, 0];
    }
    const same = [...main.querySelectorAll("a, button, summary, [tabindex]")].find((element) => key(element) === focus);
    same?.focus({ preventScroll: true });
    // Whoever presses at this moment means what was there before.
    if (buttons() !== before) calmFrom = performance.now() + 700;
  };

  const show = (text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html");
    const next = fresh.getElementById("main");
    if (next === null) throw new Error("no page");
    for (const details of main.querySelectorAll("details[id]")) {
      const same = next.querySelector(`#${CSS.escape(details.id)}`);
      if (same !== null) same.open = details.open;
    }
    const data = { ...next.dataset };
    Object.assign(next.dataset, main.dataset);
    renew(main);
    renew(next);
    const isSame = main.isEqualNode(next);
    isOld = !isSame && isBusy();
    if (isOld) {
      say("Something has changed. Reload to see it.");
      return;
    }
    if (!isSame) swap(next);
    Object.assign(main.dataset, data);
    [made, came] = [Date.parse(data.now), Date.now()];
    document.title = fresh.title;
    say("Live");
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
        const answer = await fetch(main.dataset.page, { credentials: "same-origin" });
        if (answer.status === 401) {
          isOut = true;
          hush();
          say("Signed out. Reload this page.");
          return;
        }
        if (!answer.ok) throw new Error(String(answer.status));
        show(await answer.text());
      } while (asked);
    } catch {
      isOld = true;
      say(LOST);
    } finally {
      asking = false;
    }
  };

  const hush = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };

  // A browser has few connections to one server, so only pages that are looked at hold one.
  const listen = () => {
    hush();
    if (isOut || !isVisible()) return;
    const own = new EventSource(main.dataset.events);
    source = own;
    own.onopen = () => {
      if (isOld) void look();
      else say("Live");
    };
    own.addEventListener("changed", () => void look());
    own.onerror = () => {
      // A server that answers, but not with a stream, has no room for one more or does not know us.
      const isAnswered = own.readyState === EventSource.CLOSED;
      // The browser would come again with what the page showed at first.
      hush();
      if (isAnswered) void look();
      else say(LOST);
      timer = setTimeout(listen, isAnswered ? 15000 : 2000);
    };
  };

  const attend = async () => {
    if (isOut) return;
    if (isVisible()) await look();
    listen();
  };
  const catchUp = () => {
    if (isOld && !isOut && isVisible() && !isBusy()) void look();
  };

  listen();
  setInterval(() => {
    renew(main);
    catchUp();
  }, 30000);
  document.addEventListener("visibilitychange", () => void attend());
  document.addEventListener("selectionchange", catchUp);
  addEventListener("pagehide", hush);
  addEventListener("pageshow", (event) => {
    if (event.persisted) void attend();
  });
  addEventListener("submit", (event) => {
    if (main.contains(event.target) && performance.now() < calmFrom) {
      event.preventDefault();
      return;
    }
    // The form may need its connection; should it lead nowhere, the page goes on.
    hush();
    timer = setTimeout(listen, 15000);
  });
})();
