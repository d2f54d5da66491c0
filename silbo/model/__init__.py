"""What travels: values, geometries, events, publications and notifications, and the log file's form of them."""
