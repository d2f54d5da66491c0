"""The data model: values, geometries, events, publications and notifications, and texts of them for people."""
