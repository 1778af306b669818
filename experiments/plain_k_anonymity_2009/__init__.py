"""Plain k-anonymity (Wang and Liu, EDBT 2009): its figures again, its baselines, and where its theorems fail."""
