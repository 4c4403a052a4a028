"""The parts of a report's content: rules, steps, pooled counts and example rows."""
