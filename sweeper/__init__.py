"""Recovery: turn "nobody knows" into a decision, from provider-side evidence only."""
