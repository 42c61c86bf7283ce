// MPI-IO, and the calls in which ranks wait for each other.
//
// Handles are integers in one MPI and pointers in another. Both travel in a register, so a word
// passes them on unchanged, and one tracer serves all: it includes no mpi.h and links no MPI.
//
// Both names of each call are wrapped: Fortran's bindings call C's MPI_ in one library and PMPI_ in
// another. What a library or a tool calls inside of a call that is noted is not noted again.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#include "library.h"
#include "wrap.h"

typedef uintptr_t Word;
typedef int64_t Offset;

enum { kStatusBytes = 256, kFiles = 512 };

// Open MPI files by their handle, which nobody else gets while the file is open.
typedef struct {
  _Atomic Word handle;
  Name* name;
  int64_t element_bytes;  // of what offsets count in a view; 0: there is none, they count bytes
} File;
static File files[kFiles];

static File* file_of(Word handle) {
  for (int i = 0; i < kFiles; ++i)
    if (atomic_load(&files[i].handle) == handle && handle != 0) return &files[i];
  return NULL;
}

static void remember(Word handle, Name* name) {
  for (int i = 0; i < kFiles; ++i) {
    Word none = 0;
    if (atomic_compare_exchange_strong(&files[i].handle, &none, handle)) {
      files[i].name = name;
      files[i].element_bytes = 0;
      return;
    }
  }
}

#define IN_MPI(type, name) ((type)function_in(route.scope, name))

static int64_t size_of(Route route, Word datatype) {
  Offset bytes = 0;
  int (*size)(Word, Offset*) = IN_MPI(int (*)(Word, Offset*), "PMPI_Type_size_x");
  return size && size(datatype, &bytes) == 0 && bytes > 0 ? bytes : 0;
}

static int group_size(Route route, Word group) {
  int ranks = 1;
  int (*size)(Word, int*) = IN_MPI(int (*)(Word, int*), "PMPI_Comm_size");
  return size && size(group, &ranks) == 0 ? ranks : 1;
}

// Whether the caller gives hints. MPI_INFO_NULL, of which no number may be asked, is this integer
// in MPICH and the address of this object in Open MPI.
static bool has_hints(Route route, Word hints) {
  enum { kNullOfMpich = 0x1c000000 };
  if ((uint32_t)hints == kNullOfMpich) return false;
  if (hints == (Word)function_in(route.scope, "ompi_mpi_info_null")) return false;
  int keys = 0;
  int (*count)(Word, int*) = IN_MPI(int (*)(Word, int*), "PMPI_Info_get_nkeys");
  return count && count(hints, &keys) == 0 && keys > 0;
}

// What was moved, by the status; what was asked for where the status does not tell.
static int64_t moved(Route route, const void* status, Offset count, Word datatype) {
  int got = -1;
  int (*get)(const void*, Word, int*) = IN_MPI(int (*)(const void*, Word, int*), "PMPI_Get_count");
  if (get == NULL || get(status, datatype, &got) != 0) got = -1;
  return (got < 0 ? count : got) * size_of(route, datatype);
}

// Where the file's pointer is: in bytes without a view, else in elements of the view.
static Offset position(Route route, Word handle, bool is_shared) {
  Offset at = UNKNOWN_OFFSET;
  const char* name = is_shared ? "PMPI_File_get_position_shared" : "PMPI_File_get_position";
  int (*get)(Word, Offset*) = IN_MPI(int (*)(Word, Offset*), name);
  return get && get(handle, &at) == 0 ? at : UNKNOWN_OFFSET;
}

// Where a request through a view lies in the file, and whether the view leaves holes between its
// bytes; its offset counts elements still where the library does not tell.
static What in_view(Route route, Word handle, const File* file, What what) {
  const Offset elements = what.bytes / file->element_bytes;
  int (*tell)(Word, Offset, Offset*) =
      IN_MPI(int (*)(Word, Offset, Offset*), "PMPI_File_get_byte_offset");
  Offset first = 0, last = 0;
  what.detail |= kInView;
  if (elements <= 0 || what.offset == UNKNOWN_OFFSET || tell == NULL ||
      tell(handle, what.offset, &first) != 0 ||
      tell(handle, what.offset + elements - 1, &last) != 0)
    return what;
  what.offset = first;
  if (last - first == (elements - 1) * file->element_bytes) what.detail &= ~(uint32_t)kInView;
  return what;
}

static void note_mpi(Route route, const Call* call, Word handle, What what) {
  File* file = file_of(handle);
  const bool moves = what.kind == kRead || what.kind == kWrite;
  if (file && file->element_bytes > 0 && moves) what = in_view(route, handle, file, what);
  note(call, file ? file->name : NULL, what);
}

// The frame of the call that this thread is in. Calls below it have lower frames; a frame that is
// not lower tells that the call was left by a jump.
static _Thread_local const char* outermost __attribute__((tls_model("initial-exec")));

// As `begin`; 0 also inside of another call.
static int64_t enter(const char* frame) {
  if (outermost != NULL && frame < outermost) return 0;
  const int64_t start = begin();
  outermost = start == 0 ? NULL : frame;
  return start;
}

#define MPI_BEGIN(name, parameters)                      \
  static KnownRoute routes[kRoutes];                     \
  const Route route = route_to(routes, #name, CALLER);   \
  int(*next) parameters = (int(*) parameters)route.next; \
  Call call = {.start = enter(__builtin_frame_address(0))};

#define MPI_END(is_failure)      \
  call_ended(&call, is_failure); \
  outermost = NULL;              \
  if (call.error) call.error = EIO;

// A wrapper of each of a call's two names.
#define BOTH(wrap, name, ...) wrap(MPI_##name, __VA_ARGS__) wrap(PMPI_##name, __VA_ARGS__)

// A call that moves data, with both types of its count: MPI-4 has large ones.
#define DATA(wrap, name, ...)                                            \
  wrap(MPI_##name, int, __VA_ARGS__) wrap(PMPI_##name, int, __VA_ARGS__) \
      wrap(MPI_##name##_c, Offset, __VA_ARGS__) wrap(PMPI_##name##_c, Offset, __VA_ARGS__)

// A prefix with a colon chooses a driver.
static Name* name_of_file(const char* path) {
  const char* colon = path ? strchr(path, ':') : NULL;
  const bool is_prefix = colon && memchr(path, '/', (size_t)(colon - path)) == NULL;
  return name_of(AT_FDCWD, is_prefix ? colon + 1 : path);
}

// All MPIs have ROMIO's numbers: create 1, read only 2, write only 4, read and write 8,
// exclusive 64.
static uint32_t flags_of(int mode, bool is_collective) {
  const int way = mode & 8 ? O_RDWR : mode & 4 ? O_WRONLY : O_RDONLY;
  return (is_collective ? kCollectiveOpen : 0) | (uint32_t)way | (mode & 1 ? O_CREAT : 0) |
         (mode & 64 ? O_EXCL : 0);
}

#define WRAP_OPEN(name)                                                               \
  EXPORT int name(Word group, const char* path, int mode, Word hints, Word* handle) { \
    MPI_BEGIN(name, (Word, const char*, int, Word, Word*))                            \
    const int result = next(group, path, mode, hints, handle);                        \
    if (call.start == 0) return result;                                               \
    MPI_END(result != 0)                                                              \
    Name* file = name_of_file(path);                                                  \
    if (result == 0) remember(*handle, file);                                         \
    const uint32_t flags = flags_of(mode, group_size(route, group) > 1) |             \
                           (has_hints(route, hints) ? kHintedOpen : 0);               \
    note(&call, file, (What){kMpiio, kOpen, UNKNOWN_OFFSET, 0, flags});               \
    return result;                                                                    \
  }
WRAP_OPEN(MPI_File_open)
WRAP_OPEN(PMPI_File_open)

#define WRAP_CLOSE(name)                                                          \
  EXPORT int name(Word* handle) {                                                 \
    MPI_BEGIN(name, (Word*))                                                      \
    const Word closed = handle ? *handle : 0;                                     \
    const int result = next(handle);                                              \
    if (call.start == 0) return result;                                           \
    MPI_END(result != 0)                                                          \
    note_mpi(route, &call, closed, (What){kMpiio, kClose, UNKNOWN_OFFSET, 0, 0}); \
    File* file = file_of(closed);                                                 \
    if (file) atomic_store(&file->handle, 0);                                     \
    return result;                                                                \
  }
WRAP_CLOSE(MPI_File_close)
WRAP_CLOSE(PMPI_File_close)

#define WRAP_VIEW(name)                                                                            \
  EXPORT int name(Word handle, Offset at, Word element, Word type, const char* form, Word hints) { \
    MPI_BEGIN(name, (Word, Offset, Word, Word, const char*, Word))                                 \
    const int result = next(handle, at, element, type, form, hints);                               \
    if (call.start == 0) return result;                                                            \
    MPI_END(result != 0)                                                                           \
    File* file = file_of(handle);                                                                  \
    const int64_t bytes = size_of(route, element);                                                 \
    const bool is_plain = at == 0 && element == type && bytes == 1;                                \
    if (file && result == 0) file->element_bytes = is_plain ? 0 : bytes;                           \
    return result;                                                                                 \
  }
WRAP_VIEW(MPI_File_set_view)
WRAP_VIEW(PMPI_File_set_view)

#define WRAP_DELETE(name)                                                           \
  EXPORT int name(const char* path, Word hints) {                                   \
    MPI_BEGIN(name, (const char*, Word))                                            \
    const int result = next(path, hints);                                           \
    if (call.start == 0) return result;                                             \
    MPI_END(result != 0)                                                            \
    note(&call, name_of_file(path), (What){kMpiio, kUnlink, UNKNOWN_OFFSET, 0, 0}); \
    return result;                                                                  \
  }
WRAP_DELETE(MPI_File_delete)
WRAP_DELETE(PMPI_File_delete)

#define WRAP_FILE(name, the_kind, parameters, arguments, types, the_offset)     \
  EXPORT int name parameters {                                                  \
    MPI_BEGIN(name, types)                                                      \
    const int result = next arguments;                                          \
    if (call.start == 0) return result;                                         \
    MPI_END(result != 0)                                                        \
    note_mpi(route, &call, handle, (What){kMpiio, the_kind, the_offset, 0, 0}); \
    return result;                                                              \
  }
BOTH(WRAP_FILE, File_sync, kSync, (Word handle), (handle), (Word), UNKNOWN_OFFSET)
BOTH(WRAP_FILE, File_set_size, kTruncate, (Word handle, Offset size), (handle, size),
     (Word, Offset), size)
BOTH(WRAP_FILE, File_preallocate, kAllocate, (Word handle, Offset size), (handle, size),
     (Word, Offset), size)
BOTH(WRAP_FILE, File_seek, kSeek, (Word handle, Offset at, int whence), (handle, at, whence),
     (Word, Offset, int), at)
BOTH(WRAP_FILE, File_seek_shared, kSeek, (Word handle, Offset at, int whence), (handle, at, whence),
     (Word, Offset, int), at)

// A status that can be asked, where the caller wants none.
#define STATUS                  \
  char own[kStatusBytes] = {0}; \
  void* const asked = status;   \
  if ((Word)asked <= 1) status = own;

// At an offset that the call names.
#define WRAP_AT(name, Count, kind, how)                                                       \
  EXPORT int name(Word handle, Offset at, void* data, Count count, Word type, void* status) { \
    MPI_BEGIN(name, (Word, Offset, void*, Count, Word, void*))                                \
    if (call.start == 0) return next(handle, at, data, count, type, status);                  \
    STATUS                                                                                    \
    const int result = next(handle, at, data, count, type, status);                           \
    MPI_END(result != 0)                                                                      \
    note_mpi(route, &call, handle,                                                            \
             (What){kMpiio, kind, at, moved(route, status, count, type), how});               \
    return result;                                                                            \
  }
DATA(WRAP_AT, File_read_at, kRead, 0)
DATA(WRAP_AT, File_read_at_all, kRead, kCollective)
DATA(WRAP_AT, File_write_at, kWrite, 0)
DATA(WRAP_AT, File_write_at_all, kWrite, kCollective)

// At the file's own or the shared pointer.
#define WRAP_POINTER(name, Count, kind, how, is_shared)                                \
  EXPORT int name(Word handle, void* data, Count count, Word type, void* status) {     \
    MPI_BEGIN(name, (Word, void*, Count, Word, void*))                                 \
    if (call.start == 0) return next(handle, data, count, type, status);               \
    STATUS                                                                             \
    const Offset at = is_shared ? UNKNOWN_OFFSET : position(route, handle, is_shared); \
    call.start = begin();                                                              \
    const int result = next(handle, data, count, type, status);                        \
    MPI_END(result != 0)                                                               \
    note_mpi(route, &call, handle,                                                     \
             (What){kMpiio, kind, at, moved(route, status, count, type), how});        \
    return result;                                                                     \
  }
DATA(WRAP_POINTER, File_read, kRead, 0, false)
DATA(WRAP_POINTER, File_read_all, kRead, kCollective, false)
DATA(WRAP_POINTER, File_write, kWrite, 0, false)
DATA(WRAP_POINTER, File_write_all, kWrite, kCollective, false)
DATA(WRAP_POINTER, File_read_shared, kRead, 0, true)
DATA(WRAP_POINTER, File_read_ordered, kRead, kCollective, true)
DATA(WRAP_POINTER, File_write_shared, kWrite, 0, true)
DATA(WRAP_POINTER, File_write_ordered, kWrite, kCollective, true)

// Begun here, ended somewhere else: bytes are those asked for, the time is that of beginning.
#define WRAP_BEGIN_AT(name, Count, kind, how, with_request, with_types, pass)                    \
  EXPORT int name with_request(Count) {                                                          \
    MPI_BEGIN(name, with_types(Count))                                                           \
    const int result = next pass;                                                                \
    if (call.start == 0) return result;                                                          \
    MPI_END(result != 0)                                                                         \
    note_mpi(route, &call, handle, (What){kMpiio, kind, at, count * size_of(route, type), how}); \
    return result;                                                                               \
  }
#define REQUEST_AT(Count) \
  (Word handle, Offset at, void* data, Count count, Word type, Word* request)
#define REQUEST_AT_TYPES(Count) (Word, Offset, void*, Count, Word, Word*)
#define REQUEST_AT_PASS (handle, at, data, count, type, request)
DATA(WRAP_BEGIN_AT, File_iread_at, kRead, kNonBlocking, REQUEST_AT, REQUEST_AT_TYPES,
     REQUEST_AT_PASS)
DATA(WRAP_BEGIN_AT, File_iwrite_at, kWrite, kNonBlocking, REQUEST_AT, REQUEST_AT_TYPES,
     REQUEST_AT_PASS)
DATA(WRAP_BEGIN_AT, File_iread_at_all, kRead, kNonBlocking | kCollective, REQUEST_AT,
     REQUEST_AT_TYPES, REQUEST_AT_PASS)
DATA(WRAP_BEGIN_AT, File_iwrite_at_all, kWrite, kNonBlocking | kCollective, REQUEST_AT,
     REQUEST_AT_TYPES, REQUEST_AT_PASS)
#define SPLIT_AT(Count) (Word handle, Offset at, void* data, Count count, Word type)
#define SPLIT_AT_TYPES(Count) (Word, Offset, void*, Count, Word)
#define SPLIT_AT_PASS (handle, at, data, count, type)
DATA(WRAP_BEGIN_AT, File_read_at_all_begin, kRead, kCollective, SPLIT_AT, SPLIT_AT_TYPES,
     SPLIT_AT_PASS)
DATA(WRAP_BEGIN_AT, File_write_at_all_begin, kWrite, kCollective, SPLIT_AT, SPLIT_AT_TYPES,
     SPLIT_AT_PASS)

#define WRAP_BEGIN(name, Count, kind, how, with_request, with_types, pass)                       \
  EXPORT int name with_request(Count) {                                                          \
    MPI_BEGIN(name, with_types(Count))                                                           \
    const Offset at = call.start ? position(route, handle, false) : UNKNOWN_OFFSET;              \
    const int result = next pass;                                                                \
    if (call.start == 0) return result;                                                          \
    MPI_END(result != 0)                                                                         \
    note_mpi(route, &call, handle, (What){kMpiio, kind, at, count * size_of(route, type), how}); \
    return result;                                                                               \
  }
#define REQUEST(Count) (Word handle, void* data, Count count, Word type, Word* request)
#define REQUEST_TYPES(Count) (Word, void*, Count, Word, Word*)
#define REQUEST_PASS (handle, data, count, type, request)
DATA(WRAP_BEGIN, File_iread, kRead, kNonBlocking, REQUEST, REQUEST_TYPES, REQUEST_PASS)
DATA(WRAP_BEGIN, File_iwrite, kWrite, kNonBlocking, REQUEST, REQUEST_TYPES, REQUEST_PASS)
DATA(WRAP_BEGIN, File_iread_all, kRead, kNonBlocking | kCollective, REQUEST, REQUEST_TYPES,
     REQUEST_PASS)
DATA(WRAP_BEGIN, File_iwrite_all, kWrite, kNonBlocking | kCollective, REQUEST, REQUEST_TYPES,
     REQUEST_PASS)
#define SPLIT(Count) (Word handle, void* data, Count count, Word type)
#define SPLIT_TYPES(Count) (Word, void*, Count, Word)
#define SPLIT_PASS (handle, data, count, type)
DATA(WRAP_BEGIN, File_read_all_begin, kRead, kCollective, SPLIT, SPLIT_TYPES, SPLIT_PASS)
DATA(WRAP_BEGIN, File_write_all_begin, kWrite, kCollective, SPLIT, SPLIT_TYPES, SPLIT_PASS)

// Ranks wait for each other: marks for whoever looks for phases.
static void note_meeting(const Call* call, Route route, Word group) {
  const int ranks = group_size(route, group);
  if (ranks > 1) note(call, NULL, (What){kMpiio, kBarrier, UNKNOWN_OFFSET, 0, (uint32_t)ranks});
}

#define WRAP_MEETING(name, parameters, types, arguments) \
  EXPORT int name parameters {                           \
    MPI_BEGIN(name, types)                               \
    const int result = next arguments;                   \
    if (call.start == 0) return result;                  \
    MPI_END(result != 0)                                 \
    note_meeting(&call, route, group);                   \
    return result;                                       \
  }
BOTH(WRAP_MEETING, Barrier, (Word group), (Word), (group))
BOTH(WRAP_MEETING, Bcast, (void* data, int count, Word type, int root, Word group),
     (void*, int, Word, int, Word), (data, count, type, root, group))
BOTH(WRAP_MEETING, Allreduce,
     (const void* data, void* into, int count, Word type, Word how, Word group),
     (const void*, void*, int, Word, Word, Word), (data, into, count, type, how, group))
BOTH(WRAP_MEETING, Reduce,
     (const void* data, void* into, int count, Word type, Word how, int root, Word group),
     (const void*, void*, int, Word, Word, int, Word), (data, into, count, type, how, root, group))
BOTH(WRAP_MEETING, Gather,
     (const void* data, int count, Word type, void* into, int into_count, Word into_type, int root,
      Word group),
     (const void*, int, Word, void*, int, Word, int, Word),
     (data, count, type, into, into_count, into_type, root, group))
BOTH(WRAP_MEETING, Scatter,
     (const void* data, int count, Word type, void* into, int into_count, Word into_type, int root,
      Word group),
     (const void*, int, Word, void*, int, Word, int, Word),
     (data, count, type, into, into_count, into_type, root, group))
BOTH(WRAP_MEETING, Allgather,
     (const void* data, int count, Word type, void* into, int into_count, Word into_type,
      Word group),
     (const void*, int, Word, void*, int, Word, Word),
     (data, count, type, into, into_count, into_type, group))
BOTH(WRAP_MEETING, Alltoall,
     (const void* data, int count, Word type, void* into, int into_count, Word into_type,
      Word group),
     (const void*, int, Word, void*, int, Word, Word),
     (data, count, type, into, into_count, into_type, group))
