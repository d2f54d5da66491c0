"""Sessions: the handles that users hold. They know no engine; a link connects them to one."""
