"""Context functions, scopes, and the context table (the paper's contextManager)."""
