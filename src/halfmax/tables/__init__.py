"""Long tables, with a row for each (instance, label), scanned where they lie."""
