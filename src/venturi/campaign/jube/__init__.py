"""Campaigns out of the files of JUBE: one-way, safely, naming what cannot be taken over."""
