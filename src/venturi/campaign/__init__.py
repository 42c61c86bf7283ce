"""Many runs over a space of parameters, on any machine, safe against kills."""
