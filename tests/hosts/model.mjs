// A fake model server on loopback. It takes the turns of a test, one after the
// other, and then says that it has finished.
//
// A turn is `{ run: line }` for the agent's shell, `{ tool, input }` for another of its tools (with
// `namespace` where a client sorts them), or `{ say: text }`; each may have the tokens that it uses as
// `usage: { input, cached, output }`. `{ fail: { status, headers, error } }` refuses the request, and
// `{ hang: true }` never answers. A function instead of a turn makes one of the conversation so far. A
// generator instead of the list yields turns, and gets the conversation after each:
//
//   turns    how many the model has taken
//   told     what people, hooks and the client said to it, in order
//   results  what its tools said, in order
//   rules    what the client gives its model to know, as one text

import { createServer } from "node:http";

/** Starts a server that speaks a dialect of those below. */
export async function serve(dialect, script) {
  const heard = { turns: 0, told: [], results: [], tools: [], rules: "" };
  const broken = [];
  const server = createServer(async (request, response) => {
    try {
      let body = "";
      for await (const chunk of request) body += chunk;
      const asked = body === "" ? {} : JSON.parse(body);
      response.setHeader("content-type", "text/event-stream");
      if (!dialect.isTurn(request.url, asked)) return dialect.aside(response, asked);
      Object.assign(heard, dialect.read(asked));
      const next = Array.isArray(script) ? script[heard.turns] : script.next(heard).value;
      const turn = (typeof next === "function" ? next(heard) : next) ?? { say: "finished" };
      if (turn.hang) return;
      if (turn.fail) return refuse(response, turn.fail);
      response.end(dialect.write(turn, heard));
    } catch (error) {
      // The client would only retry, so the test has to fail.
      broken.push(error);
      response.statusCode = 400;
      response.end("{}");
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  const close = () => {
    server.close();
    server.closeAllConnections();
    if (broken.length > 0) throw broken[0];
  };
  return { url: `http://127.0.0.1:${port}`, heard, close };
}

function refuse(response, { status, headers = {}, error }) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ type: "error", error }));
}

/** Events of a stream, one JSON document each. */
function events(list) {
  return list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

/** Content that is a text, or a list of blocks with texts in them. */
function textOf(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map((block) => block.text ?? "").join("");
}

/** What a turn uses that does not say `usage`. Cached tokens are a part of the input. */
const USAGE = { input: 1, cached: 0, output: 1 };

/** Anthropic's Messages. */
export const messages = {
  // Clients also ask for titles, counts of tokens and the like.
  isTurn: (url, asked) => url.startsWith("/v1/messages") && asked.stream && asked.tools?.length > 0,
  aside(response) {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(message("aside", [{ type: "text", text: "ok" }], "end_turn")));
  },
  read({ messages, tools, system }) {
    const blocks = messages
      .filter(({ role }) => role === "user")
      .flatMap(({ content }) => (typeof content === "string" ? [{ type: "text", text: content }] : content));
    const results = blocks.filter(({ type }) => type === "tool_result");
    return {
      turns: messages.filter(({ role }) => role === "assistant").length,
      told: blocks.filter(({ type }) => type === "text").map(({ text }) => text),
      results: results.map(({ content }) => textOf(content)),
      tools: tools.map(({ name }) => name),
      rules: [system, ...messages.filter(({ role }) => role === "system").map(({ content }) => content)].map(textOf).join("\n"),
    };
  },
  write({ run, tool, input, say, usage = USAGE }, { turns }) {
    if (say !== undefined) {
      return block(turns, usage, { type: "text", text: "" }, { type: "text_delta", text: say }, "end_turn");
    }
    const name = tool ?? "Bash";
    const partial_json = JSON.stringify(input ?? { command: run, description: "a step" });
    const use = { type: "tool_use", id: `toolu_${turns}`, name, input: {} };
    return block(turns, usage, use, { type: "input_json_delta", partial_json }, "tool_use");
  },
};

/** Clients treat messages with the same id as one. */
function message(number, content, stop_reason, { input, cached } = USAGE) {
  const id = `msg_${number}`;
  const usage = { input_tokens: input - cached, cache_read_input_tokens: cached, output_tokens: 1 };
  return { id, type: "message", role: "assistant", model: "fake", content, stop_reason, usage };
}

function block(number, usage, content_block, delta, stop_reason) {
  return events([
    { type: "message_start", message: message(number, [], null, usage) },
    { type: "content_block_start", index: 0, content_block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: usage.output } },
    { type: "message_stop" },
  ]);
}

/** OpenAI's Responses. */
export const responses = {
  isTurn: (url) => url.endsWith("/responses"),
  aside(response) {
    response.statusCode = 404;
    response.end("{}");
  },
  read({ input, tools, instructions }) {
    const rules = input.filter(({ role }) => role === "developer").map(({ content }) => textOf(content));
    const said = ({ type, role }) => type === "message" && role === "assistant";
    const outputs = input.filter(({ type }) => type === "function_call_output");
    return {
      turns: input.filter((item) => item.type === "function_call" || said(item)).length,
      told: input.filter(({ role }) => role === "user").map(({ content }) => textOf(content)),
      results: outputs.map(({ output }) => (typeof output === "string" ? output : JSON.stringify(output))),
      tools: tools.map(({ name }) => name),
      rules: [instructions, ...rules].join("\n"),
    };
  },
  write({ run, tool, namespace, input, say, usage = USAGE }, { turns, tools }) {
    const call = tool === undefined ? shell(tools, run) : { name: tool, namespace, input };
    const { name, ...of } = call;
    const item =
      say === undefined
        ? { type: "function_call", call_id: `call_${turns}`, name, namespace: of.namespace, arguments: JSON.stringify(of.input) }
        : { type: "message", role: "assistant", id: `msg_${turns}`, content: [{ type: "output_text", text: say }] };
    const tokens = {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached },
      output_tokens: usage.output,
      total_tokens: usage.input + usage.output,
    };
    return events([
      { type: "response.created", response: { id: "resp" } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { id: "resp", usage: tokens } },
    ]);
  },
};

/** A call of whichever shell the client offers. */
function shell(tools, line) {
  const inputs = {
    exec_command: { cmd: line },
    shell_command: { command: line },
    shell: { command: ["sh", "-c", line] },
  };
  const name = Object.keys(inputs).find((name) => tools.includes(name));
  if (name === undefined) throw new Error(`no shell among ${tools}`);
  return { name, input: inputs[name] };
}

/** Chat completions. */
export const completions = {
  isTurn: (url, asked) => asked.tools?.length > 0,
  aside(response) {
    response.end(chunks({ content: "ok" }, "stop"));
  },
  read({ messages, tools }) {
    const of = (wanted) => messages.filter(({ role }) => role === wanted);
    return {
      turns: of("assistant").length,
      told: of("user").map(({ content }) => textOf(content)),
      results: of("tool").map(({ content }) => textOf(content)),
      tools: tools.map(({ function: { name } }) => name),
      rules: of("system").map(({ content }) => textOf(content)).join("\n"),
    };
  },
  write({ run, tool, input, say, usage = USAGE }, { turns }) {
    if (say !== undefined) return chunks({ content: say }, "stop", usage);
    const args = JSON.stringify(input ?? { command: run, description: "a step" });
    const call = { index: 0, id: `call_${turns}`, type: "function", function: { name: tool ?? "bash", arguments: args } };
    return chunks({ tool_calls: [call] }, "tool_calls", usage);
  },
};

function chunks(delta, end, { input, cached, output } = USAGE) {
  const usage = {
    prompt_tokens: input,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens: output,
    total_tokens: input + output,
  };
  const chunk = (delta, finish_reason) => {
    const choices = [{ index: 0, delta, finish_reason }];
    const said = { id: "chat", object: "chat.completion.chunk", created: 0, model: "fake", choices };
    if (finish_reason !== null) said.usage = usage;
    return `data: ${JSON.stringify(said)}\n\n`;
  };
  return `${chunk({ role: "assistant", ...delta }, null)}${chunk({}, end)}data: [DONE]\n\n`;
}
