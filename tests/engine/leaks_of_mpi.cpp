// The libraries of MPI keep memory to the end of the process; leaks are looked for without them.

extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
