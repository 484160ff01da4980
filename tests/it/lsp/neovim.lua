-- Neovim as a client of `onloop lsp`: does what a person would do and writes down what they see.

local report = {}
local limit_ms = 60000

local function wait(what, condition)
  if not vim.wait(limit_ms, condition, 5) then error("nothing came of: " .. what) end
end

local function say(name, value) report[name] = value end

local function run()
  vim.cmd("edit " .. vim.env.WORKFLOW)
  local buffer = vim.api.nvim_get_current_buf()
  local exit
  local config = {
    name = "onloop",
    cmd = { vim.env.ONLOOP, "lsp" },
    root_dir = vim.fn.getcwd(),
    capabilities = vim.lsp.protocol.make_client_capabilities(),
    on_exit = function(code) exit = code end,
  }
  local id = vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(buffer, id)
  local client = vim.lsp.get_client_by_id(id)
  wait("initialize", function() return client.initialized end)

  local function codes()
    local found = vim.tbl_map(function(d) return d.code or d.user_data.lsp.code end, vim.diagnostic.get(buffer))
    table.sort(found)
    return found
  end
  wait("first findings", function() return #codes() == 2 end)
  say("findings", codes())

  -- Types a line; what was wrong with it is gone.
  vim.api.nvim_buf_set_lines(buffer, 8, 9, true, { "loop: until ok" })
  wait("findings after typing", function() return vim.tbl_contains(codes(), "until-without-verify") end)
  vim.api.nvim_buf_set_text(buffer, 8, 0, 8, 14, { "loop: false", "verify: make" })
  wait("fewer findings", function() return #codes() == 1 end)
  say("after_typing", codes())

  local function ask(method, params)
    local answers, why = vim.lsp.buf_request_sync(buffer, method, params, limit_ms)
    if not answers then error(method .. ": " .. tostring(why)) end
    local answer = answers[id]
    if answer.error then error(method .. ": " .. vim.inspect(answer.error)) end
    return answer.result
  end
  local document = vim.lsp.util.make_text_document_params(buffer)
  local function at(line, character)
    return { textDocument = document, position = { line = line, character = character } }
  end

  say("hover", vim.split(ask("textDocument/hover", at(7, 2)).contents.value, "\n")[1])
  local items = ask("textDocument/completion", at(14, 9)).items
  say("completion", vim.tbl_map(function(item) return item.label end, items))
  local symbols = ask("textDocument/documentSymbol", { textDocument = document })
  say("symbols", vim.tbl_map(function(symbol) return symbol.name end, symbols))
  say("folds", #ask("textDocument/foldingRange", { textDocument = document }))

  -- A quick fix, and a rename.
  local where = { start = { line = 14, character = 0 }, ["end"] = { line = 14, character = 12 } }
  local context = { diagnostics = {} }
  local actions = ask("textDocument/codeAction", { textDocument = document, range = where, context = context })
  local fix = vim.tbl_filter(function(action) return action.kind == "quickfix" end, actions)[1]
  say("fix", fix.title)
  vim.lsp.util.apply_workspace_edit(fix.edit, client.offset_encoding)
  wait("no findings after the fix", function() return #codes() == 0 end)
  local rename = at(6, 13)
  rename.newName = "2"
  vim.lsp.util.apply_workspace_edit(ask("textDocument/rename", rename), client.offset_encoding)
  local edits = ask("textDocument/formatting", {
    textDocument = document,
    options = { tabSize = 2, insertSpaces = true },
  })
  vim.lsp.util.apply_text_edits(edits, buffer, client.offset_encoding)
  say("text", table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), "\n"))
  say("clean", #codes() == 0)

  client.stop()
  wait("exit", function() return exit ~= nil end)
  say("exit", exit)
end

local ok, why = pcall(run)
if not ok then report.error = tostring(why) end
local file = io.open(vim.env.REPORT, "w")
file:write(vim.fn.json_encode(report))
file:close()
vim.cmd("qall!")
