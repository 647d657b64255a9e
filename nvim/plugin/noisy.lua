-- User commands. What they do is in lua/noisy/init.lua, which is loaded when one is used.
if vim.g.loaded_noisy then
  return
end
vim.g.loaded_noisy = true

local commands = {
  NoisyFix = { 'fix', 'Insert the optimal reduce_noise in this file' },
  NoisyGraph = { 'graph', 'Draw the noise of the function under the cursor, and open the picture' },
  NoisyHints = { 'hints', 'Show or hide the inlay hints of this file' },
  NoisyInfo = { 'info', 'Show server details for bug reports' },
  NoisyLog = { 'log', 'Open the log of the language clients' },
  NoisyNest = { 'nest', 'Draw the iterations of the loop under the cursor, and open the picture' },
  NoisyRestart = { 'restart', 'Stop the server and start it again' },
}
for name, it in pairs(commands) do
  vim.api.nvim_create_user_command(name, function()
    require('noisy')[it[1]]()
  end, { desc = it[2] })
end

vim.api.nvim_create_autocmd('LspAttach', {
  group = vim.api.nvim_create_augroup('noisy', {}),
  callback = function(event)
    require('noisy').attached(event.data.client_id)
  end,
})
