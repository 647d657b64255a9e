-- `:checkhealth noisy`: is there a server, is it enabled, is it attached, what can it do.
local M = {}

---@param cmd string[]
---@return string? version, string? problem
local function version(cmd)
  local ok, result = pcall(function()
    return vim.system({ cmd[1], '--version' }, { text = true, timeout = 5000 }):wait()
  end)
  if not ok or result.code ~= 0 then
    return nil, ('`%s --version` failed'):format(cmd[1])
  end
  local found = result.stdout:match('^noisy%-lsp (%S+)')
  if not found then
    return nil, ('`%s --version` does not answer as noisy-lsp does'):format(cmd[1])
  end
  return found
end

local function check_server()
  vim.health.start('noisy: server')
  local config = vim.lsp.config.noisy_lsp
  if not config then
    vim.health.error('no configuration `noisy_lsp`', {
      'Add the folder `nvim` of the repository to `runtimepath`.',
    })
    return
  end
  if type(config.cmd) ~= 'table' then
    vim.health.info('`cmd` is a function; its version is not checked')
  elseif vim.fn.executable(config.cmd[1]) == 0 then
    vim.health.error(('`%s` is not executable or not on PATH'):format(config.cmd[1]), {
      'Build it: cargo build --release -p noisy-lsp',
      "Name it: vim.lsp.config('noisy_lsp', { cmd = { '/path/to/noisy-lsp' } })",
    })
  else
    local found, problem = version(config.cmd)
    if found then
      vim.health.ok(('noisy-lsp %s (%s)'):format(found, vim.fn.exepath(config.cmd[1])))
    else
      vim.health.error(problem)
    end
  end
  if vim.lsp.is_enabled == nil then
    vim.health.info('this Neovim cannot tell whether `noisy_lsp` is enabled')
  elseif vim.lsp.is_enabled('noisy_lsp') then
    vim.health.ok('enabled')
  else
    vim.health.warn('not enabled', { "vim.lsp.enable('noisy_lsp')" })
  end
end

local function check_clients()
  vim.health.start('noisy: attached clients')
  local clients = vim.lsp.get_clients({ name = 'noisy_lsp' })
  if #clients == 0 then
    vim.health.info('none; open a `.mlir` file')
    return
  end
  for _, client in ipairs(clients) do
    local buffers = vim.tbl_keys(client.attached_buffers)
    vim.health.ok(
      ('client %d: %d buffer(s), root %s, positions in %s'):format(
        client.id,
        #buffers,
        client.root_dir or 'none',
        client.offset_encoding
      )
    )
    local shown = vim.iter(buffers):any(function(buffer)
      return vim.lsp.inlay_hint.is_enabled({ bufnr = buffer })
    end)
    if not client:supports_method('textDocument/inlayHint') then
      vim.health.warn('the server offers no inlay hints')
    elseif shown then
      vim.health.ok('inlay hints are shown')
    else
      vim.health.info('inlay hints are off; see `:help noisy-hints`')
    end
  end
end

function M.check()
  vim.health.start('noisy: Neovim')
  if vim.fn.has('nvim-0.11') == 0 then
    vim.health.error('Neovim 0.11 or newer is needed')
    return
  end
  vim.health.ok(('Neovim %s'):format(vim.version()))
  check_server()
  check_clients()
end

return M
