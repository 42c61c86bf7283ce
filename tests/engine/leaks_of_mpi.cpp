// The libraries of MPI keep memory to the end of the process; leaks are looked for without theirs.

extern "C" {

// A leak is nobody's once the library that made it is unloaded, so none is.
int dlclose(void* /*library*/) { return 0; }

// What the C library holds for threads of Open MPI is gone when leaks are looked for there.
const char* __asan_default_options() { return "print_suppressions=0:intercept_tls_get_addr=0"; }

// Open MPI's components, its layers below, and the texts that those make by asprintf, which we
// never call. MPICH has none of its own. HDF5 forgets memory of files that a full disk refused, and
// of what it closes when the process ends; forked ranks are searched with it.
const char* __lsan_default_suppressions() {
  return "leak:openmpi3/mca_\n"
         "leak:libmca_common_\n"
         "leak:libmpi.so\n"
         "leak:libopen-pal\n"
         "leak:libopen-rte\n"
         "leak:libpmix\n"
         "leak:pmix2/\n"
         "leak:libhwloc\n"
         "leak:libevent\n"
         "leak:libhdf5_\n"
         "leak:__vasprintf_internal\n";
}
}
