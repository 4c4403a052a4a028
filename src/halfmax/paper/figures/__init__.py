"""The paper's figures and some new ones: their data, how they are drawn, and their captions."""
