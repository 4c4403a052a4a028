"""The paper's figures: their data and how they are drawn."""
