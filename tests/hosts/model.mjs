// A stand-in for the servers of a language model, on loopback: it lets an agent run the lines
// that a test has given it, one after the other, and then lets it stop.

import { createServer } from "node:http";

/** Starts the server; `results` collects what the agent's tool said about each line. */
export async function messages(lines) {
  const results = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const asked = body === "" ? {} : JSON.parse(body);
    // Clients also ask for titles, counts of tokens and the like.
    if (!request.url.startsWith("/v1/messages") || !asked.stream || !asked.tools?.length) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(whole([{ type: "text", text: "ok" }], "end_turn")));
      return;
    }
    const done = asked.messages.flatMap(({ content }) =>
      Array.isArray(content) ? content.filter(({ type }) => type === "tool_result") : [],
    );
    results.splice(0, results.length, ...done.map(({ content }) => JSON.stringify(content)));
    response.setHeader("content-type", "text/event-stream");
    const line = lines[done.length];
    response.end(line === undefined ? text("finished") : call(done.length, line));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  return { url: `http://127.0.0.1:${port}`, results, close: () => server.close() };
}

function whole(content, stop_reason) {
  const usage = { input_tokens: 1, output_tokens: 1 };
  return { id: "msg", type: "message", role: "assistant", model: "fake", content, stop_reason, usage };
}

function events(list) {
  return list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

function block(content_block, delta, stop_reason) {
  return events([
    { type: "message_start", message: whole([], null) },
    { type: "content_block_start", index: 0, content_block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ]);
}

function text(said) {
  return block({ type: "text", text: "" }, { type: "text_delta", text: said }, "end_turn");
}

function call(number, command) {
  const input = JSON.stringify({ command, description: "a step" });
  const tool = { type: "tool_use", id: `toolu_${number}`, name: "Bash", input: {} };
  return block(tool, { type: "input_json_delta", partial_json: input }, "tool_use");
}

/** The same for clients that speak OpenAI's Responses. */
export async function responses(lines) {
  const results = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (!request.url.endsWith("/responses")) {
      response.statusCode = 404;
      response.end("{}");
      return;
    }
    const { input, tools } = JSON.parse(body);
    const done = input.filter(({ type }) => type === "function_call_output");
    results.splice(0, results.length, ...done.map(({ output }) => JSON.stringify(output)));
    const line = lines[done.length];
    const said = {
      type: "message",
      role: "assistant",
      id: "msg",
      content: [{ type: "output_text", text: "finished" }],
    };
    const item = line === undefined ? said : shell(tools, done.length, line);
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    response.setHeader("content-type", "text/event-stream");
    response.end(
      events([
        { type: "response.created", response: { id: "resp" } },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: { id: "resp", usage } },
      ]),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  return { url: `http://127.0.0.1:${port}`, results, close: () => server.close() };
}

/** A call of whichever shell the client offers. */
function shell(tools, number, line) {
  const arguments_ = {
    exec_command: { cmd: line },
    shell_command: { command: line },
    shell: { command: ["sh", "-c", line] },
  };
  const name = Object.keys(arguments_).find((name) => tools.some((tool) => tool.name === name));
  if (name === undefined) throw new Error(`no shell among ${tools.map((tool) => tool.name)}`);
  return { type: "function_call", call_id: `call_${number}`, name, arguments: JSON.stringify(arguments_[name]) };
}

/** The same for clients that speak chat completions. */
export async function completions(lines) {
  const results = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const asked = body === "" ? {} : JSON.parse(body);
    const done = (asked.messages ?? []).filter(({ role }) => role === "tool");
    const works = asked.tools?.length > 0;
    if (works) results.splice(0, results.length, ...done.map(({ content }) => JSON.stringify(content)));
    const line = works ? lines[done.length] : undefined;
    const args = JSON.stringify({ command: line, description: "a step" });
    const call = { index: 0, id: `call_${done.length}`, type: "function", function: { name: "bash", arguments: args } };
    const delta = line === undefined ? { content: "finished" } : { tool_calls: [call] };
    const chunk = (delta, finish_reason) => {
      const choices = [{ index: 0, delta, finish_reason }];
      const said = { id: "chat", object: "chat.completion.chunk", created: 0, model: "fake", choices };
      return `data: ${JSON.stringify(said)}\n\n`;
    };
    response.setHeader("content-type", "text/event-stream");
    const end = line === undefined ? "stop" : "tool_calls";
    response.end(`${chunk({ role: "assistant", ...delta }, null)}${chunk({}, end)}data: [DONE]\n\n`);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  return { url: `http://127.0.0.1:${port}`, results, close: () => server.close() };
}
