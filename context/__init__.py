"""Context: functions and scopes over it, and the contextManager table that holds it."""
