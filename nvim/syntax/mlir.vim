" Vim syntax file
" Language: MLIR, with the noisy dialect

if exists('b:current_syntax')
  finish
endif

syn keyword mlirTodo contained TODO FIXME NB
syn match mlirComment "//.*$" contains=mlirTodo,@Spell
syn match mlirSplit "^\s*// -----\s*\(//.*\)\=$"

syn match mlirEscape contained '\\\%(["\\nt]\|\x\x\)'
syn region mlirString start=+"+ skip=+\\.+ end=+"+ oneline contains=mlirEscape
" An op in generic form.
syn match mlirOp '"\h\w*\%(\.[[:alnum:]_$]\+\)\+"\ze\s*('

syn match mlirValue "%\%(\d\+\|[[:alpha:]$._-][[:alnum:]$._-]*\)\%(#\d\+\)\="
syn match mlirBlock "\^\%(\d\+\|[[:alpha:]$._-][[:alnum:]$._-]*\)"
syn match mlirSymbol '@\%(\h[[:alnum:]_$.]*\|"\%([^"\\]\|\\.\)*"\)'
syn match mlirAttribute "#\%(\d\+\|[[:alpha:]$._-][[:alnum:]$._-]*\)"
syn match mlirType "!\%(\d\+\|[[:alpha:]$._-][[:alnum:]$._-]*\)"
syn match mlirType "\<\%([su]\=i\d\+\|bf16\|tf32\|f\%(16\|32\|64\|80\|128\)\|index\|none\)\>"
syn match mlirType "\<\%(memref\|tensor\|vector\|complex\|tuple\)\>\ze\s*<"

syn match mlirNumber "\%([[:alnum:]_$.]\)\@1<!-\=\d\+\%(\.\d*\%([eE][+-]\=\d\+\)\=\)\="
syn match mlirNumber "\<0x\x\+\>"
syn match mlirArrow "->"

syn match mlirOp "\%([[:alnum:]_$.]\)\@1<!\h[[:alnum:]_$]*\.[[:alnum:]_$.]\+"
syn match mlirControl "\%([[:alnum:]_$.]\)\@1<!\%(func\.\%(func\|return\|call\)\|builtin\.module\|cf\.\%(br\|cond_br\|switch\)\|scf\.\%(if\|for\|while\|yield\|condition\)\|module\|return\|call\|else\)\%([[:alnum:]_$.]\)\@!"
syn keyword mlirKeyword to step iter_args loc dense sparse array affine_map affine_set attributes public private nested
syn keyword mlirBoolean true false unit

" Last, so that they win over mlirOp.
syn match mlirNoisyOp "\%([[:alnum:]_$.]\)\@1<!noisy\.\%(encode\|decode\|add\|sub\|mul\)\%([[:alnum:]_$.]\)\@!"
syn match mlirNoisyReduce "\%([[:alnum:]_$.]\)\@1<!noisy\.reduce_noise\%([[:alnum:]_$.]\)\@!"

hi def link mlirTodo Todo
hi def link mlirComment Comment
hi def link mlirSplit PreProc
hi def link mlirEscape SpecialChar
hi def link mlirString String
hi def link mlirValue Identifier
hi def link mlirBlock Label
hi def link mlirSymbol Function
hi def link mlirAttribute Constant
" Not Type and Operator, which the default theme does not colour.
hi def link mlirType Special
hi def link mlirNumber Number
hi def link mlirArrow Operator
hi def link mlirOp Function
hi def link mlirControl Statement
hi def link mlirKeyword Keyword
hi def link mlirBoolean Boolean
hi def link mlirNoisyOp Statement
hi def link mlirNoisyReduce DiagnosticOk

" What the server says of a token looks as the text does.
hi def link @lsp.type.macro.mlir mlirOp
hi def link @lsp.type.type.mlir mlirType
hi def link @lsp.typemod.macro.noisy.mlir mlirNoisyOp
hi def link @lsp.typemod.type.noisy.mlir mlirType

let b:current_syntax = 'mlir'
