"""Okada, Fukuchi, Kakizaki and Sakuma, Differentially Private Analysis of Outliers (2015): Figures 3 to 7, Tables 1 and 2."""
