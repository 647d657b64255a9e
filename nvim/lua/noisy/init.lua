-- What the user commands do. See `:help noisy-commands`.
local M = {}

---@param text string
local function complain(text)
  vim.notify('noisy: ' .. text, vim.log.levels.ERROR)
end

--- The client of the current buffer; without one the user is told what to do.
---@return vim.lsp.Client?
local function client()
  local found = vim.lsp.get_clients({ bufnr = 0, name = 'noisy_lsp' })[1]
  if not found then
    complain('the server is not running for this file. :NoisyRestart starts it, :checkhealth noisy says why.')
  end
  return found
end

--- Whether a buffer is a program or a configuration file, `noisy.toml` or `.noisy.toml`.
---@param buffer integer
---@return boolean
function M.is_ours(buffer)
  local name = vim.fs.basename(vim.api.nvim_buf_get_name(buffer))
  return vim.bo[buffer].filetype ~= 'toml' or name == 'noisy.toml' or name == '.noisy.toml'
end

--- The folder of the first marker that is found; markers in one list count alike.
---@param buffer integer
---@param markers (string|string[])[]
---@return string?
function M.root(buffer, markers)
  for _, marker in ipairs(markers) do
    local found = vim.fs.root(buffer, marker)
    if found then
      return found
    end
  end
end

--- Other servers for MLIR, by the names of their configurations.
local others = { 'mlir_lsp_server', 'heir_lsp' }

--- Whether another server for MLIR runs, or is about to.
---@return boolean
function M.has_other()
  return vim.iter(others):any(function(name)
    -- Neovim 0.11 cannot tell what is enabled.
    local is_enabled = vim.lsp.is_enabled ~= nil and vim.lsp.is_enabled(name)
    return is_enabled or #vim.lsp.get_clients({ name = name }) > 0
  end)
end

--- Tells every server that another one for MLIR is there, if the client that attached is one.
---@param id integer
function M.attached(id)
  local other = vim.lsp.get_client_by_id(id)
  if not other or not vim.list_contains(others, other.name) then
    return
  end
  for _, it in ipairs(vim.lsp.get_clients({ name = 'noisy_lsp' })) do
    it.settings = vim.tbl_deep_extend('force', it.settings or {}, { noisy = { features = { otherServer = true } } })
    it:notify('workspace/didChangeConfiguration', { settings = it.settings })
  end
end

--- Has the server execute a command.
---@param command string
---@param arguments table[]
---@param take fun(answer: any)
local function execute(command, arguments, take)
  local it = client()
  if not it then
    return
  end
  it:request('workspace/executeCommand', { command = command, arguments = arguments }, function(problem, answer)
    if problem then
      complain(problem.message)
    else
      take(answer)
    end
  end)
end

--- Shows what an edit changes, and asks whether to make it.
---@param edit lsp.WorkspaceEdit
---@param question string
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return boolean
local function is_confirmed(edit, question, encoding)
  local text = {}
  for _, change in ipairs(edit.documentChanges or {}) do
    local buffer = vim.uri_to_bufnr(change.textDocument.uri)
    vim.fn.bufload(buffer)
    local before = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
    local copy = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_lines(copy, 0, -1, false, before)
    vim.lsp.util.apply_text_edits(vim.deepcopy(change.edits), copy, encoding)
    local after = vim.api.nvim_buf_get_lines(copy, 0, -1, false)
    vim.api.nvim_buf_delete(copy, { force = true })
    local diff = vim.diff(table.concat(before, '\n') .. '\n', table.concat(after, '\n') .. '\n')
    vim.list_extend(text, vim.split(diff --[[@as string]], '\n', { trimempty = true }))
  end
  vim.cmd.new()
  local shown = vim.api.nvim_get_current_buf()
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile, vim.bo.filetype = 'nofile', 'wipe', false, 'diff'
  vim.api.nvim_buf_set_lines(shown, 0, -1, false, text)
  vim.cmd.redraw()
  local answer = vim.fn.confirm(question .. '?', '&Apply\n&Cancel', 1)
  vim.api.nvim_buf_delete(shown, { force = true })
  return answer == 1
end

--- Applies an edit of the server; one that needs to be confirmed is shown before.
---@type lsp.Handler
function M.apply(problem, params, context)
  local asking = assert(vim.lsp.get_client_by_id(context.client_id))
  for _, it in pairs(params.edit.changeAnnotations or {}) do
    if it.needsConfirmation and not is_confirmed(params.edit, it.label, asking.offset_encoding) then
      return { applied = false, failureReason = 'you cancelled' }
    end
  end
  return vim.lsp.handlers['workspace/applyEdit'](problem, params, context)
end

function M.fix()
  execute('noisy.insertReduceNoise', { { uri = vim.uri_from_bufnr(0) } }, function() end)
end

function M.info()
  execute('noisy.printDebugInformation', {}, function(text)
    vim.cmd.new()
    vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile = 'nofile', 'wipe', false
    vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(text, '\n'))
    vim.bo.modifiable = false
  end)
end

function M.hints()
  local filter = { bufnr = 0 }
  vim.lsp.inlay_hint.enable(not vim.lsp.inlay_hint.is_enabled(filter), filter)
end

function M.log()
  vim.cmd.tabedit(vim.fn.fnameescape(vim.lsp.log.get_filename()))
end

--- Stops every noisy_lsp, and starts it for the buffers that had it and the current one.
function M.restart()
  local buffers = {}
  for _, it in ipairs(vim.lsp.get_clients({ name = 'noisy_lsp' })) do
    vim.list_extend(buffers, vim.tbl_keys(it.attached_buffers))
    -- One that hangs is ended, too.
    it:stop(true)
  end
  local is_ours = vim.list_contains({ 'mlir', 'toml' }, vim.bo.filetype) and M.is_ours(0)
  if is_ours and not vim.list_contains(buffers, vim.api.nvim_get_current_buf()) then
    buffers[#buffers + 1] = vim.api.nvim_get_current_buf()
  end
  vim.wait(2000, function()
    return #vim.lsp.get_clients({ name = 'noisy_lsp' }) == 0
  end, 20)
  for _, buffer in ipairs(buffers) do
    if vim.api.nvim_buf_is_loaded(buffer) then
      vim.api.nvim_exec_autocmds('FileType', { group = 'nvim.lsp.enable', buffer = buffer, modeline = false })
    end
  end
end

--- `noisy-check`: beside the server, as it is built, else on PATH.
---@return string
local function check()
  local command = (vim.lsp.config.noisy_lsp or {}).cmd
  local server = type(command) == 'table' and vim.fn.exepath(command[1]) or ''
  local beside = vim.fs.joinpath(vim.fs.dirname(server), 'noisy-check')
  return server ~= '' and vim.fn.executable(beside) == 1 and beside or 'noisy-check'
end

--- The name of the function whose header stands in the line of the cursor or nearest above it.
---@return string?
local function function_name()
  for line = vim.api.nvim_win_get_cursor(0)[1], 1, -1 do
    local text = vim.fn.getline(line)
    local name = text:match('func%s+@([%w_$.-]+)') or text:match('func%s+%w+%s+@([%w_$.-]+)')
    if name then
      return name
    end
  end
end

--- Has `noisy-check` draw a page of this buffer, and opens it.
---@param arguments string[]
---@param show? fun(file: string) what to do with the page; it is opened as the system opens pages by default
local function draw(arguments, show)
  local command = { check() }
  vim.list_extend(command, arguments)
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n') .. '\n'
  -- Its settings are those of the folder of the file.
  local folder = vim.fn.expand('%:p:h')
  local options = { stdin = text, text = true, cwd = vim.fn.isdirectory(folder) == 1 and folder or nil }
  local ok, problem = pcall(vim.system, command, options, function(result)
    vim.schedule(function()
      if result.code ~= 0 then
        complain(vim.trim((result.stderr:gsub('^noisy%-check: ', ''))))
        return
      end
      local file = vim.fn.tempname() .. '.html'
      vim.fn.writefile(vim.split(result.stdout, '\n'), file);
      (show or vim.ui.open)(file)
    end)
  end)
  if not ok then
    complain(('%s cannot be started: %s'):format(command[1], problem))
  end
end

--- Draws the noise before and after a placement, and opens the page.
---@param show? fun(file: string) what to do with the page
function M.graph(show)
  local arguments = { 'graph', '-', '--fix', '--format', 'html' }
  local name = function_name()
  if name then
    vim.list_extend(arguments, { '--function', name })
  end
  draw(arguments, show)
end

--- Draws the iterations of the loop under the cursor and their dependences, and opens the page.
---@param show? fun(file: string) what to do with the page
function M.nest(show)
  draw({ 'nest', '-', '--line', tostring(vim.api.nvim_win_get_cursor(0)[1]) }, show)
end

return M
