"""The command lines of the field's own tools: what they ask for as workloads, and their forms."""
