"""Figures: Vega-Lite specifications as plain dictionaries, and their drawing as SVG."""
