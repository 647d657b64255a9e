if vim.b.did_ftplugin then
  return
end
vim.b.did_ftplugin = 1

vim.bo.commentstring = '// %s'
vim.bo.comments = '://'
-- `.` is part of an op name, `$` and `-` of a value name (`-` is left out: it is also in `->`).
vim.bo.iskeyword = '@,48-57,_,$,.'
vim.bo.suffixesadd = '.mlir'

vim.b.undo_ftplugin = 'setlocal commentstring< comments< iskeyword< suffixesadd<'
