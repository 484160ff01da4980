// The server of the Node host by itself: what a program is handed and what it may answer.

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { NodeHost } from "../dist/index.js";

const CONNECTIONS = 64;
const REQUEST = "GET / HTTP/1.1\r\nhost: h\r\n\r\n";
const ANSWER = { status: 200, headers: [], body: new Uint8Array(), open: false };

/** A server of this process, and what connects to it. */
async function listening(t) {
  const host = new NodeHost({ attended: false });
  const serve = (what, members) => host.perform({ do: "serve", serve: what, ...members });
  const { port } = await serve("listen", { port: 0 });
  t.after(() => host.end());
  const connected = async (sent) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    t.after(() => socket.destroy());
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.write(sent);
    return socket;
  };
  return { serve, connected };
}

test("a header of any bytes is a header", async (t) => {
  const { serve, connected } = await listening(t);
  const head = Buffer.from("GET / HTTP/1.1\r\nhost: h\r\ncookie: own=1; a=");
  await connected(Buffer.concat([head, Buffer.from([0xe4]), Buffer.from("; b=ä\r\n\r\n")]));
  const call = await serve("next", { wait_ms: 60_000, folders: [] });
  assert.deepEqual(call.headers, [["host", "h"], ["cookie", "own=1; a=\ufffd; b=ä"]]);
});

test("who has gone is answered all the same, and once", async (t) => {
  const { serve, connected } = await listening(t);
  const socket = await connected(REQUEST);
  const gone = await serve("next", { wait_ms: 60_000, folders: [] });
  socket.destroy();
  await once(socket, "close");
  // The server has seen that the first has gone when it reads the second.
  await connected(REQUEST);
  await serve("next", { wait_ms: 60_000, folders: [] });
  await serve("answer", { call: gone.call, answer: ANSWER });
  await assert.rejects(serve("answer", { call: gone.call, answer: ANSWER }), { kind: "not_found" });
});

test("who is refused and stays gives the connection to others", async (t) => {
  const { serve, connected } = await listening(t);
  const refused = Array.from({ length: CONNECTIONS }, () => connected("nonsense\r\n\r\n"));
  for (const socket of await Promise.all(refused)) {
    const [said] = await once(socket, "data");
    assert.match(said.toString(), /^HTTP\/1\.1 400 /);
  }
  let next;
  for (let tries = 0; tries < 600 && next?.is !== "call"; tries += 1) {
    await connected(REQUEST);
    next = await serve("next", { wait_ms: 100, folders: [] });
  }
  assert.equal(next.is, "call", "every connection is taken for good");
});
