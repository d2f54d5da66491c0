"""The three languages: one grammar, one tree, one evaluation; filters, context functions and scopes.

`tree` has the nodes of an expression. `tokens` and `syntax` read text; `meaning` builds the tree and
refuses what the language does not allow; `bounds` checks the sizes. `text` prints a tree, `form` is the
Python form, and `evaluation` gives true, false or unknown. `grammar.lark` is the grammar in one file.
"""
