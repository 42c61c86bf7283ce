"""What the commands do, as calls for notebooks and scripts: documents in, documents out.

`import venturi as v` offers them (`v.run`, `v.open` ...). Each result shows itself by the pages and
the terminal text that the commands print.
"""
