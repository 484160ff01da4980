// `onloop web`, and a browser without a window for it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { request } from "node:http";

/** Starts the page and waits for its link; `links` gets every later one. */
export async function serve(t, [program, ...first], words, options) {
  const child = spawn(program, [...first, "web", ...words], { stdio: ["ignore", "pipe", "pipe"], ...options });
  child.stderr.resume();
  const links = [];
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => links.push(line));
  await once(lines, "line");
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "close");
  };
  t.after(stop);
  const link = new URL(links[0]);
  return { child, links, host: link.host, port: Number(link.port), key: link.pathname.split("/").at(-1), stop };
}

/** Sends one call as it is, and returns status, headers and body. */
export function send(port, method, path, headers, body = "") {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, method, path, headers, agent: false };
    const call = request(options, async (answer) => {
      const parts = [];
      for await (const part of answer) parts.push(part);
      resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts).toString() });
    });
    call.on("error", reject);
    call.end(body);
  });
}

/** A browser that is signed in. */
export async function signIn(served) {
  const { port, host, key } = served;
  const headers = { host, origin: `http://${host}`, "content-type": "application/x-www-form-urlencoded" };
  const answer = await send(port, "POST", "/in", headers, `key=${key}`);
  if (answer.status !== 303) throw new Error(`not signed in: ${answer.status} ${answer.body}`);
  const cookie = answer.headers["set-cookie"][0].split(";")[0];
  const root = answer.headers.location.replace(/\/$/, "");
  const get = (path) => send(port, "GET", root + path, { host, cookie });
  const post = (path, body, more = {}) => send(port, "POST", root + path, { ...headers, cookie, ...more }, body);
  return { root, cookie, setCookie: answer.headers["set-cookie"][0], get, post };
}

/** What the page sends with a decision about the run of these facts. */
export function decided(body, fields) {
  const { token, run } = JSON.parse(body);
  return new URLSearchParams({ form: token, seen: run.seen, step: String(run.choice?.step ?? 1), ...fields }).toString();
}
