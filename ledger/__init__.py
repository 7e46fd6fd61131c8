"""The ground floor: tables, guarded database functions and the three doors to them."""
