"""Asif, Vaidya and Papakonstantinou, "Identifying Anomalies while Preserving Privacy" (2022), repeated exactly."""
