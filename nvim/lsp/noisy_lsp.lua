---@brief
--- Noise analysis for the noisy (FHE) dialect of MLIR. See `:help noisy`.
---@type vim.lsp.Config
return {
  cmd = { 'noisy-lsp' },
  filetypes = { 'mlir', 'toml' },
  root_markers = { { 'noisy.toml', '.noisy.toml' }, '.git' },
  -- Of the files of TOML only the configuration is of interest.
  root_dir = function(buffer, start)
    if require('noisy').is_ours(buffer) then
      start(require('noisy').root(buffer, vim.lsp.config.noisy_lsp.root_markers))
    end
  end,
  -- The server analyzes in far less time than the 150 ms that Neovim would wait.
  flags = { debounce_text_changes = 10 },
  -- An empty table is a list in JSON; what is not set here is decided by noisy.toml or the default.
  settings = { noisy = vim.empty_dict() },
  -- The menu shows what is refused, with the reason; who chooses it is told the reason, and nothing changes.
  -- A rewriting is an edit of the server, which `apply` below shows before it is made.
  capabilities = {
    textDocument = { codeAction = { disabledSupport = true } },
    workspace = { workspaceEdit = { documentChanges = true, changeAnnotationSupport = vim.empty_dict() } },
    experimental = { confirmsEdits = true },
  },
  handlers = {
    ['workspace/applyEdit'] = function(...)
      return require('noisy').apply(...)
    end,
  },
  -- What the server offers is decided before Neovim sends settings.
  before_init = function(params, config)
    local noisy = (config.settings or {}).noisy or vim.empty_dict()
    -- The server asks for the settings again later.
    noisy.features = vim.tbl_extend('keep', noisy.features or {}, { otherServer = require('noisy').has_other() })
    config.settings = vim.tbl_extend('force', config.settings or {}, { noisy = noisy })
    params.initializationOptions = noisy
  end,
}
