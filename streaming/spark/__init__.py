"""The streaming job on Spark, and the state that Spark keeps for it."""
