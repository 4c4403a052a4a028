"""Long tables, with one row for each (instance, label) pair, processed where they are stored."""
