// PnetCDF: variables with their shapes, and what of them was written and read.
//
// As with MPI and HDF5, no header is needed and no library is linked. Fortran's bindings call the
// same functions.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#include "library.h"
#include "wrap.h"

typedef uintptr_t Word;
typedef int64_t Offset;

enum {
  kPathBytesHere = 2048,
  kNameBytes = 512,
  kVariables = 4096,
  kMostDimensions = 8,
  kNoError = 0,
};

// Open variables by the numbers of their file and their own.
typedef struct {
  _Atomic uint64_t key;  // 0: free
  Name* _Atomic name;
} Known;
static Known known[kVariables];

#define IN_PNETCDF(name, ...) ((int (*)(__VA_ARGS__))function_in(route.scope, name))

static uint64_t key_of(int file, int variable) {
  return ((uint64_t)(uint32_t)file << 32 | (uint32_t)variable) + 1;
}

// A prefix with a colon chooses a driver of MPI-IO.
static Name* name_of_file(const char* path) {
  const char* colon = path ? strchr(path, ':') : NULL;
  const bool is_prefix = colon && memchr(path, '/', (size_t)(colon - path)) == NULL;
  return name_of(AT_FDCWD, is_prefix ? colon + 1 : path);
}

static Name* file_of(Route route, int file) {
  char path[kPathBytesHere] = {0};
  int bytes = 0;
  int (*get)(int, int*, char*) = IN_PNETCDF("ncmpi_inq_path", int, int*, char*);
  if (get == NULL || get(file, &bytes, NULL) != kNoError || bytes <= 0 || bytes >= kPathBytesHere)
    return NULL;
  return get(file, &bytes, path) == kNoError ? name_of_file(path) : NULL;
}

static void read_shape(Route route, int file, int variable, Dataset* dataset) {
  int dimensions = 0, ids[kMostDimensions];
  int (*count)(int, int, int*) = IN_PNETCDF("ncmpi_inq_varndims", int, int, int*);
  int (*which)(int, int, int*) = IN_PNETCDF("ncmpi_inq_vardimid", int, int, int*);
  int (*length)(int, int, Offset*) = IN_PNETCDF("ncmpi_inq_dimlen", int, int, Offset*);
  if (count == NULL || which == NULL || length == NULL) return;
  if (count(file, variable, &dimensions) != kNoError || dimensions > kMostDimensions) return;
  if (dimensions <= 0 || which(file, variable, ids) != kNoError) return;
  for (int i = 0; i < dimensions; ++i) {
    Offset size = 0;
    if (length(file, ids[i], &size) != kNoError || size < 0) return;
    dataset->shape[i] = (uint64_t)size;
  }
  dataset->dimensions = (uint32_t)dimensions;
}

static uint32_t element_bytes(Route route, int file, int variable) {
  static const uint8_t kBytes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  int type = 0;
  int (*get)(int, int, int*) = IN_PNETCDF("ncmpi_inq_vartype", int, int, int*);
  if (get == NULL || get(file, variable, &type) != kNoError) return 0;
  return type > 0 && (size_t)type < sizeof kBytes ? kBytes[type] : 0;
}

static Name* describe(Route route, int file, int variable) {
  char text[kNameBytes] = "<unnamed>";
  int (*get)(int, int, char*) = IN_PNETCDF("ncmpi_inq_varname", int, int, char*);
  if (get == NULL || get(file, variable, text) != kNoError) return NULL;
  Dataset dataset = {.file = file_of(route, file)};
  if (dataset.file && dataset.file->is_left_out) return left_out();
  if (dataset.file) write_name((Name*)dataset.file);
  dataset.element_bytes = element_bytes(route, file, variable);
  read_shape(route, file, variable, &dataset);
  return name_of_dataset(text, &dataset);
}

static Name* variable_of(Route route, int file, int variable) {
  const uint64_t key = key_of(file, variable);
  Known* slot = &known[key % kVariables];
  if (atomic_load(&slot->key) == key) {
    Name* name = atomic_load(&slot->name);
    if (name && atomic_load(&slot->key) == key) return name;
  }
  Name* name = describe(route, file, variable);
  atomic_store(&slot->key, 0);
  atomic_store(&slot->name, name);
  atomic_store(&slot->key, key);
  return name;
}

static void forget(int file) {
  for (int i = 0; i < kVariables; ++i)
    if ((atomic_load(&known[i].key) - 1) >> 32 == (uint32_t)file) atomic_store(&known[i].key, 0);
}

#define BEGIN(name, ...)                                       \
  static KnownRoute routes[kRoutes];                           \
  const Route route = route_to(routes, #name, CALLER);         \
  int (*next)(__VA_ARGS__) = (int (*)(__VA_ARGS__))route.next; \
  Call call = {.start = begin()};

#define END                              \
  call_ended(&call, result != kNoError); \
  if (call.error) call.error = EIO;

static void note_open_file(const Call* call, Route route, const char* path, Word group, int flags) {
  int ranks = 1;
  int (*size)(Word, int*) = (int (*)(Word, int*))function_in(route.scope, "PMPI_Comm_size");
  if (size == NULL || size(group, &ranks) != 0) ranks = 1;
  const uint32_t together = ranks > 1 ? kCollectiveOpen : 0;
  const What what = {kPnetcdfFile, kOpen, UNKNOWN_OFFSET, 0, together | (uint32_t)flags};
  note(call, name_of_file(path), what);
}

// Modes: writable 1, not over another file 4.
EXPORT int ncmpi_create(Word group, const char* path, int mode, Word hints, int* file) {
  BEGIN(ncmpi_create, Word, const char*, int, Word, int*)
  const int result = next(group, path, mode, hints, file);
  if (call.start == 0) return result;
  END note_open_file(&call, route, path, group, O_RDWR | O_CREAT | (mode & 4 ? O_EXCL : O_TRUNC));
  return result;
}

EXPORT int ncmpi_open(Word group, const char* path, int mode, Word hints, int* file) {
  BEGIN(ncmpi_open, Word, const char*, int, Word, int*)
  const int result = next(group, path, mode, hints, file);
  if (call.start == 0) return result;
  END note_open_file(&call, route, path, group, mode & 1 ? O_RDWR : O_RDONLY);
  return result;
}

#define WRAP_FILE(name, kind)                                            \
  EXPORT int name(int file) {                                            \
    BEGIN(name, int)                                                     \
    Name* path = call.start ? file_of(route, file) : NULL;               \
    if (call.start) call.start = begin();                                \
    const int result = next(file);                                       \
    if (call.start == 0) return result;                                  \
    END if ((kind) == kClose) forget(file);                              \
    note(&call, path, (What){kPnetcdfFile, kind, UNKNOWN_OFFSET, 0, 0}); \
    return result;                                                       \
  }
WRAP_FILE(ncmpi_close, kClose)
WRAP_FILE(ncmpi_sync, kSync)

// A part of a variable: without `start` all of it, without `count` one element.
typedef struct {
  int file, variable;
  const Offset* start;
  const Offset* count;
} Part;

static int64_t elements(const Name* name, const Part* part) {
  int64_t product = 1;
  for (uint32_t i = 0; i < name->dimensions; ++i) {
    if (part->start == NULL) product *= (int64_t)name->shape[i];
    if (part->start && part->count) product *= part->count[i];
  }
  return product > 0 ? product : 0;
}

// Where the part's first element lies in the variable, in row-major order.
static int64_t first_element(const Name* name, const Offset* start) {
  int64_t at = 0;
  for (uint32_t i = 0; start && i < name->dimensions; ++i)
    at = at * (int64_t)name->shape[i] + start[i];
  return at;
}

static void note_part(const Call* call, Route route, Kind kind, uint32_t how, Part part) {
  Name* name = variable_of(route, part.file, part.variable);
  What what = {kPnetcdfVariable, kind, UNKNOWN_OFFSET, 0, how};
  if (name && name->is_dataset && !call->error) {
    what.offset = first_element(name, part.start) * name->element_bytes;
    what.bytes = elements(name, &part) * name->element_bytes;
  }
  note(call, name, what);
}

static void note_parts(const Call* call, Route route, Kind kind, uint32_t how, int file,
                       int variable, int parts, Offset* const* starts, Offset* const* counts) {
  Name* name = variable_of(route, file, variable);
  What what = {kPnetcdfVariable, kind, UNKNOWN_OFFSET, 0, how};
  if (name && name->is_dataset && !call->error && parts > 0 && starts) {
    what.offset = first_element(name, starts[0]) * name->element_bytes;
    for (int i = 0; i < parts; ++i) {
      const Part part = {file, variable, starts[i], counts ? counts[i] : NULL};
      what.bytes += elements(name, &part) * name->element_bytes;
    }
  }
  note(call, name, what);
}

// What each form of a call takes, passes on, and says of the part that it moves.
#define TAKES_var int file, int variable
#define PASSES_var file, variable
#define PART_var \
  (Part) { file, variable, NULL, NULL }
#define TAKES_var1 int file, int variable, const Offset *start
#define PASSES_var1 file, variable, start
#define PART_var1 \
  (Part) { file, variable, start, NULL }
#define TAKES_vara int file, int variable, const Offset *start, const Offset *count
#define PASSES_vara file, variable, start, count
#define PART_vara \
  (Part) { file, variable, start, count }
#define TAKES_vars TAKES_vara, const Offset* stride
#define PASSES_vars PASSES_vara, stride
#define PART_vars PART_vara
#define TAKES_varm TAKES_vars, const Offset* map
#define PASSES_varm PASSES_vars, map
#define PART_varm PART_vara
#define NOTE_part(form, kind, how) note_part(&call, route, kind, how, PART_##form)
#define NOTE_var NOTE_part
#define NOTE_var1 NOTE_part
#define NOTE_vara NOTE_part
#define NOTE_vars NOTE_part
#define NOTE_varm NOTE_part
#define TAKES_varn int file, int variable, int parts, Offset *const *starts, Offset *const *counts
#define PASSES_varn file, variable, parts, starts, counts
#define NOTE_varn(form, kind, how) \
  note_parts(&call, route, kind, how, file, variable, parts, starts, counts)

// What comes behind the data: nothing, its type in memory, the request that was begun.
#define TAKES_typed
#define PASSES_typed
#define TAKES_any , Offset amount, Word type
#define PASSES_any , amount, type
#define TAKES_typed_later , int* request
#define PASSES_typed_later , request
#define TAKES_any_later , Offset amount, Word type, int *request
#define PASSES_any_later , amount, type, request

#define WRAP_MOVE(name, form, more, kind, how)                  \
  EXPORT int name(TAKES_##form, void* data TAKES_##more) {      \
    BEGIN(name, TAKES_##form, void* data TAKES_##more)          \
    const int result = next(PASSES_##form, data PASSES_##more); \
    if (call.start == 0) return result;                         \
    END NOTE_##form(form, kind, how);                           \
    return result;                                              \
  }
#define WRAP_TYPES(begin, end, form, later, kind, how)            \
  WRAP_MOVE(begin##end, form, any##later, kind, how)              \
  WRAP_MOVE(begin##_text##end, form, typed##later, kind, how)     \
  WRAP_MOVE(begin##_schar##end, form, typed##later, kind, how)    \
  WRAP_MOVE(begin##_uchar##end, form, typed##later, kind, how)    \
  WRAP_MOVE(begin##_short##end, form, typed##later, kind, how)    \
  WRAP_MOVE(begin##_ushort##end, form, typed##later, kind, how)   \
  WRAP_MOVE(begin##_int##end, form, typed##later, kind, how)      \
  WRAP_MOVE(begin##_uint##end, form, typed##later, kind, how)     \
  WRAP_MOVE(begin##_long##end, form, typed##later, kind, how)     \
  WRAP_MOVE(begin##_float##end, form, typed##later, kind, how)    \
  WRAP_MOVE(begin##_double##end, form, typed##later, kind, how)   \
  WRAP_MOVE(begin##_longlong##end, form, typed##later, kind, how) \
  WRAP_MOVE(begin##_ulonglong##end, form, typed##later, kind, how)
#define WRAP_FORM(form)                                               \
  WRAP_TYPES(ncmpi_put_##form, , form, , kWrite, 0)                   \
  WRAP_TYPES(ncmpi_put_##form, _all, form, , kWrite, kCollective)     \
  WRAP_TYPES(ncmpi_get_##form, , form, , kRead, 0)                    \
  WRAP_TYPES(ncmpi_get_##form, _all, form, , kRead, kCollective)      \
  WRAP_TYPES(ncmpi_iput_##form, , form, _later, kWrite, kNonBlocking) \
  WRAP_TYPES(ncmpi_iget_##form, , form, _later, kRead, kNonBlocking)  \
  WRAP_TYPES(ncmpi_bput_##form, , form, _later, kWrite, kNonBlocking)
WRAP_FORM(var)
WRAP_FORM(var1)
WRAP_FORM(vara)
WRAP_FORM(vars)
WRAP_FORM(varm)
WRAP_FORM(varn)

// A part of a variable that a type of MPI chooses in the file.
static void note_typed_part(const Call* call, Route route, Kind kind, uint32_t how, int file,
                            int variable, Word type) {
  Offset bytes = 0;
  int (*size)(Word, Offset*) = (int (*)(Word, Offset*))function_in(route.scope, "PMPI_Type_size_x");
  if (size == NULL || size(type, &bytes) != 0 || bytes < 0 || call->error) bytes = 0;
  Name* name = variable_of(route, file, variable);
  note(call, name, (What){kPnetcdfVariable, kind, UNKNOWN_OFFSET, bytes, how | kScattered});
}

#define WRAP_VARD(name, kind, how)                                                            \
  EXPORT int name(int file, int variable, Word shape, void* data, Offset amount, Word type) { \
    BEGIN(name, int, int, Word, void*, Offset, Word)                                          \
    const int result = next(file, variable, shape, data, amount, type);                       \
    if (call.start == 0) return result;                                                       \
    END note_typed_part(&call, route, kind, how, file, variable, shape);                      \
    return result;                                                                            \
  }
WRAP_VARD(ncmpi_put_vard, kWrite, 0)
WRAP_VARD(ncmpi_put_vard_all, kWrite, kCollective)
WRAP_VARD(ncmpi_get_vard, kRead, 0)
WRAP_VARD(ncmpi_get_vard_all, kRead, kCollective)

// Several variables at once: one note for each.
typedef struct {
  int file, many;
  const int* variables;
  Offset* const* starts;
  Offset* const* counts;
} Several;

static void note_several(const Call* call, Route route, Kind kind, uint32_t how, Several all) {
  for (int i = 0; i < all.many; ++i) {
    const Part part = {all.file, all.variables[i], all.starts ? all.starts[i] : NULL,
                       all.counts ? all.counts[i] : NULL};
    note_part(call, route, kind, how, part);
  }
}

#define TAKES_mvar int file, int many, const int *variables
#define PASSES_mvar file, many, variables
#define SEVERAL_mvar \
  (Several) { file, many, variables, NULL, NULL }
#define TAKES_mvar1 TAKES_mvar, Offset* const* starts
#define PASSES_mvar1 PASSES_mvar, starts
#define SEVERAL_mvar1 \
  (Several) { file, many, variables, starts, NULL }
#define TAKES_mvara TAKES_mvar1, Offset* const* counts
#define PASSES_mvara PASSES_mvar1, counts
#define SEVERAL_mvara \
  (Several) { file, many, variables, starts, counts }
#define TAKES_mvars TAKES_mvara, Offset* const* strides
#define PASSES_mvars PASSES_mvara, strides
#define SEVERAL_mvars SEVERAL_mvara
#define TAKES_mvarm TAKES_mvars, Offset* const* maps
#define PASSES_mvarm PASSES_mvars, maps
#define SEVERAL_mvarm SEVERAL_mvara
#define NOTE_several(form, kind, how) note_several(&call, route, kind, how, SEVERAL_##form)
#define NOTE_mvar NOTE_several
#define NOTE_mvar1 NOTE_several
#define NOTE_mvara NOTE_several
#define NOTE_mvars NOTE_several
#define NOTE_mvarm NOTE_several
#define TAKES_any_several , const Offset *amounts, const Word *types
#define PASSES_any_several , amounts, types
#define TAKES_typed_several
#define PASSES_typed_several
#define WRAP_SEVERAL(form, of)                                           \
  WRAP_TYPES(ncmpi_mput_##of, , form, _several, kWrite, 0)               \
  WRAP_TYPES(ncmpi_mput_##of, _all, form, _several, kWrite, kCollective) \
  WRAP_TYPES(ncmpi_mget_##of, , form, _several, kRead, 0)                \
  WRAP_TYPES(ncmpi_mget_##of, _all, form, _several, kRead, kCollective)
WRAP_SEVERAL(mvar, var)
WRAP_SEVERAL(mvar1, var1)
WRAP_SEVERAL(mvara, vara)
WRAP_SEVERAL(mvars, vars)
WRAP_SEVERAL(mvarm, varm)
