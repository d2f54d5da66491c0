"""The three languages: one grammar, one tree, one evaluation; filters, context functions and scopes.

`tree` is what an expression is, `tokens` and `syntax` read text, `meaning` turns what was read into a
tree and refuses what the language at hand does not allow, `bounds` counts, `text` prints, `form` is
the same in Python, and `evaluation` gives true, false or unknown.
"""
