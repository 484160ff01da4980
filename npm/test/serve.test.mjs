// The HTTP server of the Node host.

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { NodeHost } from "../dist/index.js";

const CONNECTIONS = 64;
const REQUEST = "GET / HTTP/1.1\r\nhost: h\r\n\r\n";
const ANSWER = { status: 200, headers: [], body: new Uint8Array(), open: false };

/** A server in this process, and a client. */
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

test("a header may have any bytes", async (t) => {
  const { serve, connected } = await listening(t);
  const head = Buffer.from("GET / HTTP/1.1\r\nhost: h\r\ncookie: own=1; a=");
  await connected(Buffer.concat([head, Buffer.from([0xe4]), Buffer.from("; b=ä\r\n\r\n")]));
  const call = await serve("next", { wait_ms: 60_000, folders: [] });
  assert.deepEqual(call.headers, [["host", "h"], ["cookie", "own=1; a=\ufffd; b=ä"]]);
});

test("the call of a disconnected browser can be answered once", async (t) => {
  const { serve, connected } = await listening(t);
  const socket = await connected(REQUEST);
  const gone = await serve("next", { wait_ms: 60_000, folders: [] });
  socket.destroy();
  await once(socket, "close");
  // The server has noticed the first disconnect when it reads the second call.
  await connected(REQUEST);
  await serve("next", { wait_ms: 60_000, folders: [] });
  await serve("answer", { call: gone.call, answer: ANSWER });
  await assert.rejects(serve("answer", { call: gone.call, answer: ANSWER }), { kind: "not_found" });
});

test("a refused client that stays does not keep its connection", async (t) => {
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
  assert.equal(next.is, "call", "every connection stays taken");
});
