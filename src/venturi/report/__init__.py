"""Documents to what a person looks at: terminal, HTML, Markdown, JSON and CSV."""
