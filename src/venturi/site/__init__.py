"""The results site: stores and repositories to a folder of pages."""
