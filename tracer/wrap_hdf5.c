// HDF5: datasets with their shapes, and what of them was read and written.
//
// Ids are 64-bit integers since 1.10; no header of HDF5 is needed, and no library is linked.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"
#include "library.h"
#include "wrap.h"

typedef int64_t Id;
typedef uint64_t Size;

enum {
  kNameBytes = 1024,
  kDatasets = 4096,
  kMostDimensions = 8,
  kHdf5Dimensions = 32,
  kChunked = 2,
  kFileId = 1,
  kDatasetId = 5,
  kLastWord = 2
};

// Open datasets by their id.
typedef struct {
  _Atomic Id id;
  Name* _Atomic name;
} Known;
static Known known[kDatasets];

#define IN_HDF5(name, ...) ((__VA_ARGS__)function_in(route.scope, name))

static Id ask_id(Route route, const char* name, Id id) {
  Id (*get)(Id) = IN_HDF5(name, Id (*)(Id));
  return get ? get(id) : -1;
}

static void let_go(Route route, const char* name, Id id) {
  if (id >= 0) (void)ask_id(route, name, id);
}

// The file of a path; one that leads through a descriptor is that descriptor's file, or below it.
static Name* file_at(const char* path) {
  static const char kDescriptors[] = "/proc/self/fd/";
  const size_t bytes = sizeof kDescriptors - 1;
  if (path == NULL || strncmp(path, kDescriptors, bytes) != 0) return name_of(AT_FDCWD, path);
  const int descriptor = atoi(path + bytes);
  const char* below = strchr(path + bytes, '/');
  if (below) return name_of(descriptor, below + 1);
  const Open* open = descriptor_find(descriptor);
  return open ? open->path : NULL;
}

static Name* file_of(Route route, Id id) {
  char path[kNameBytes];
  ssize_t (*get)(Id, char*, size_t) = IN_HDF5("H5Fget_name", ssize_t (*)(Id, char*, size_t));
  if (get == NULL || get(id, path, sizeof path) <= 0) return NULL;
  return file_at(path);
}

static void read_shape(Route route, Id space, Dataset* dataset) {
  int (*count)(Id) = IN_HDF5("H5Sget_simple_extent_ndims", int (*)(Id));
  int (*sizes)(Id, Size*, Size*) = IN_HDF5("H5Sget_simple_extent_dims", int (*)(Id, Size*, Size*));
  const int dimensions = count ? count(space) : -1;
  if (dimensions <= 0 || dimensions > kMostDimensions || sizes == NULL) return;
  if (sizes(space, dataset->shape, NULL) == dimensions) dataset->dimensions = (uint32_t)dimensions;
}

// What keeps the chunks while the dataset is open: whoever opened it, or its version of HDF5,
// chose.
static void read_cache(Route route, Id id, Dataset* dataset) {
  size_t slots = 0;
  size_t bytes = 0;
  double finished_first = 0;
  const Id list = ask_id(route, "H5Dget_access_plist", id);
  int (*get)(Id, size_t*, size_t*, double*) =
      IN_HDF5("H5Pget_chunk_cache", int (*)(Id, size_t*, size_t*, double*));
  if (list >= 0 && get && get(list, &slots, &bytes, &finished_first) >= 0)
    dataset->cache_and_1 = bytes < UINT32_MAX ? (uint32_t)bytes + 1 : UINT32_MAX;
  let_go(route, "H5Pclose", list);
}

static void read_chunk(Route route, Id id, Dataset* dataset) {
  const Id list = ask_id(route, "H5Dget_create_plist", id);
  if (list < 0) return;
  int (*layout)(Id) = IN_HDF5("H5Pget_layout", int (*)(Id));
  int (*chunk)(Id, int, Size*) = IN_HDF5("H5Pget_chunk", int (*)(Id, int, Size*));
  if (layout && chunk && dataset->dimensions > 0 && layout(list) == kChunked) {
    chunk(list, (int)dataset->dimensions, dataset->shape + dataset->dimensions);
    read_cache(route, id, dataset);
  }
  let_go(route, "H5Pclose", list);
}

// Datasets that have no name yet (h5py links them afterwards) are numbered, to be told apart.
static void without_name(char* text) {
  static _Atomic unsigned count;
  char digits[16];
  char* at = digits + sizeof digits;
  *--at = 0;
  unsigned number = atomic_fetch_add(&count, 1);
  do *--at = (char)('0' + number % 10);
  while (number /= 10);
  strcpy(text, "<unnamed ");
  strcat(strcat(text, at), ">");
}

static Name* describe(Route route, Id id) {
  char text[kNameBytes];
  ssize_t (*get)(Id, char*, size_t) = IN_HDF5("H5Iget_name", ssize_t (*)(Id, char*, size_t));
  if (get == NULL || get(id, text, sizeof text) <= 0) without_name(text);
  Dataset dataset = {.file = file_of(route, id)};
  if (dataset.file && dataset.file->is_left_out) return left_out();
  if (dataset.file) write_name((Name*)dataset.file);
  const Id space = ask_id(route, "H5Dget_space", id);
  if (space >= 0) read_shape(route, space, &dataset);
  let_go(route, "H5Sclose", space);
  const Id type = ask_id(route, "H5Dget_type", id);
  size_t (*size)(Id) = IN_HDF5("H5Tget_size", size_t (*)(Id));
  if (type >= 0 && size) dataset.element_bytes = (uint32_t)size(type);
  let_go(route, "H5Tclose", type);
  read_chunk(route, id, &dataset);
  return name_of_dataset(text, &dataset);
}

static Name* dataset_of(Route route, Id id) {
  Known* slot = &known[(uint64_t)id % kDatasets];
  if (atomic_load(&slot->id) == id) {
    Name* kept = atomic_load(&slot->name);
    if (kept && atomic_load(&slot->id) == id) return kept;
  }
  Name* name = describe(route, id);
  atomic_store(&slot->id, 0);
  atomic_store(&slot->name, name);
  atomic_store(&slot->id, id);
  return name;
}

static void forget(Id id) {
  Known* slot = &known[(uint64_t)id % kDatasets];
  if (atomic_load(&slot->id) == id) atomic_store(&slot->id, 0);
}

#define HDF5_BEGIN(name, type, ...)                              \
  static KnownRoute routes[kRoutes];                             \
  const Route route = route_to(routes, #name, CALLER);           \
  type (*next)(__VA_ARGS__) = (type (*)(__VA_ARGS__))route.next; \
  Call call = {.start = begin()};

#define HDF5_END                 \
  call_ended(&call, result < 0); \
  if (call.error) call.error = EIO;

// Files.
static Id file_opened(const Call* call, const char* path, int flags, Id result) {
  note(call, file_at(path), (What){kHdf5File, kOpen, UNKNOWN_OFFSET, 0, (uint32_t)flags});
  return result;
}

EXPORT Id H5Fcreate(const char* path, unsigned flags, Id creation, Id access) {
  HDF5_BEGIN(H5Fcreate, Id, const char*, unsigned, Id, Id)
  const Id result = next(path, flags, creation, access);
  if (call.start == 0) return result;
  HDF5_END
  return file_opened(&call, path, O_RDWR | O_CREAT | O_TRUNC, result);
}

EXPORT Id H5Fopen(const char* path, unsigned flags, Id access) {
  HDF5_BEGIN(H5Fopen, Id, const char*, unsigned, Id)
  const Id result = next(path, flags, access);
  if (call.start == 0) return result;
  HDF5_END
  return file_opened(&call, path, flags & 1 ? O_RDWR : O_RDONLY, result);
}

EXPORT int H5Fclose(Id id) {
  HDF5_BEGIN(H5Fclose, int, Id)
  Name* file = call.start ? file_of(route, id) : NULL;
  const int result = next(id);
  if (call.start == 0) return result;
  HDF5_END
  note(&call, file, (What){kHdf5File, kClose, UNKNOWN_OFFSET, 0, 0});
  return result;
}

// Letting the last reference go closes a file or dataset as well; Python's h5py does it so.
EXPORT int H5Idec_ref(Id id) {
  HDF5_BEGIN(H5Idec_ref, int, Id)
  int (*type)(Id) = call.start ? IN_HDF5("H5Iget_type", int (*)(Id)) : NULL;
  const int kind = type ? type(id) : 0;
  const bool is_dataset = kind == kDatasetId;
  Name* name = is_dataset ? dataset_of(route, id) : kind == kFileId ? file_of(route, id) : NULL;
  const int result = next(id);
  if (name == NULL || result != 0) return result;
  HDF5_END
  if (is_dataset) forget(id);
  note(&call, name, (What){is_dataset ? kHdf5Dataset : kHdf5File, kClose, UNKNOWN_OFFSET, 0, 0});
  return result;
}

EXPORT int H5Fflush(Id id, int scope) {
  HDF5_BEGIN(H5Fflush, int, Id, int)
  const int result = next(id, scope);
  if (call.start == 0) return result;
  HDF5_END
  note(&call, file_of(route, id), (What){kHdf5File, kSync, UNKNOWN_OFFSET, 0, 0});
  return result;
}

// Datasets.
static Id dataset_opened(const Call* call, Route route, int flags, Id result) {
  Name* name = NULL;
  if (result >= 0) {
    forget(result);
    name = dataset_of(route, result);
  }
  note(call, name, (What){kHdf5Dataset, kOpen, UNKNOWN_OFFSET, 0, (uint32_t)flags});
  return result;
}

EXPORT Id H5Dcreate2(Id at, const char* path, Id type, Id space, Id link, Id creation, Id access) {
  HDF5_BEGIN(H5Dcreate2, Id, Id, const char*, Id, Id, Id, Id, Id)
  const Id result = next(at, path, type, space, link, creation, access);
  if (call.start == 0) return result;
  HDF5_END
  return dataset_opened(&call, route, O_RDWR | O_CREAT, result);
}

EXPORT Id H5Dcreate1(Id at, const char* path, Id type, Id space, Id creation) {
  HDF5_BEGIN(H5Dcreate1, Id, Id, const char*, Id, Id, Id)
  const Id result = next(at, path, type, space, creation);
  if (call.start == 0) return result;
  HDF5_END
  return dataset_opened(&call, route, O_RDWR | O_CREAT, result);
}

EXPORT Id H5Dcreate_anon(Id at, Id type, Id space, Id creation, Id access) {
  HDF5_BEGIN(H5Dcreate_anon, Id, Id, Id, Id, Id, Id)
  const Id result = next(at, type, space, creation, access);
  if (call.start == 0) return result;
  HDF5_END
  return dataset_opened(&call, route, O_RDWR | O_CREAT, result);
}

EXPORT Id H5Dopen2(Id at, const char* path, Id access) {
  HDF5_BEGIN(H5Dopen2, Id, Id, const char*, Id)
  const Id result = next(at, path, access);
  if (call.start == 0) return result;
  HDF5_END
  return dataset_opened(&call, route, O_RDWR, result);
}

EXPORT Id H5Dopen1(Id at, const char* path) {
  HDF5_BEGIN(H5Dopen1, Id, Id, const char*)
  const Id result = next(at, path);
  if (call.start == 0) return result;
  HDF5_END
  return dataset_opened(&call, route, O_RDWR, result);
}

// A dataset that was made without a name gets one: both names are known as one from then on.
EXPORT int H5Olink(Id id, Id at, const char* path, Id link, Id access) {
  HDF5_BEGIN(H5Olink, int, Id, Id, const char*, Id, Id)
  int (*type)(Id) = call.start ? IN_HDF5("H5Iget_type", int (*)(Id)) : NULL;
  Name* before = type && type(id) == kDatasetId ? dataset_of(route, id) : NULL;
  const int result = next(id, at, path, link, access);
  if (before == NULL || before->is_left_out || result < 0) return result;
  HDF5_END
  forget(id);
  Name* after = dataset_of(route, id);
  if (after == NULL || after == before || after->is_left_out) return result;
  write_name(after);
  note(&call, before, (What){kHdf5Dataset, kLink, UNKNOWN_OFFSET, 0, after->id});
  return result;
}

EXPORT int H5Dclose(Id id) {
  HDF5_BEGIN(H5Dclose, int, Id)
  Name* name = call.start ? dataset_of(route, id) : NULL;
  const int result = next(id);
  if (call.start == 0) return result;
  HDF5_END
  forget(id);
  note(&call, name, (What){kHdf5Dataset, kClose, UNKNOWN_OFFSET, 0, 0});
  return result;
}

EXPORT int H5Dset_extent(Id id, const Size* sizes) {
  HDF5_BEGIN(H5Dset_extent, int, Id, const Size*)
  const int result = next(id, sizes);
  if (call.start == 0) return result;
  HDF5_END
  note(&call, dataset_of(route, id), (What){kHdf5Dataset, kTruncate, UNKNOWN_OFFSET, 0, 0});
  return result;
}

static bool is_collective(Route route, Id transfer) {
  int mode = 0;
  int (*get)(Id, int*) = IN_HDF5("H5Pget_dxpl_mpio", int (*)(Id, int*));
  return transfer != 0 && get && get(transfer, &mode) >= 0 && mode == 1;
}

// Attributes: that they were written or read, not what.
#define WRAP_ATTRIBUTE(name)                                                              \
  EXPORT int name(Id id, Id type, void* data) {                                           \
    HDF5_BEGIN(name, int, Id, Id, void*)                                                  \
    const int result = next(id, type, data);                                              \
    if (call.start == 0) return result;                                                   \
    HDF5_END                                                                              \
    note(&call, file_of(route, id), (What){kHdf5File, kAttribute, UNKNOWN_OFFSET, 0, 0}); \
    return result;                                                                        \
  }
WRAP_ATTRIBUTE(H5Aread)
WRAP_ATTRIBUTE(H5Awrite)

// Bytes of a selection, and where its first element lies in the dataset in row-major order.
static What selected(Route route, Kind kind, const Name* name, Id id, Id in_file) {
  What what = {kHdf5Dataset, kind, 0, 0, 0};
  int64_t (*points)(Id) = IN_HDF5("H5Sget_select_npoints", int64_t (*)(Id));
  int (*bounds)(Id, Size*, Size*) = IN_HDF5("H5Sget_select_bounds", int (*)(Id, Size*, Size*));
  // Small numbers are words for the whole dataset.
  const bool is_whole = in_file <= kLastWord;
  const Id own = is_whole ? ask_id(route, "H5Dget_space", id) : -1;
  const Id space = is_whole ? own : in_file;
  const int64_t count = points && space >= 0 ? points(space) : 0;
  const uint32_t size = name ? name->element_bytes : 0;
  what.bytes = count > 0 ? count * size : 0;
  Size first[kHdf5Dimensions], last[kHdf5Dimensions];
  if (!is_whole && count > 0 && bounds && name && name->shape &&
      bounds(in_file, first, last) >= 0) {
    Size inside = 1;
    for (uint32_t i = 0; i < name->dimensions; ++i) {
      what.offset = what.offset * (int64_t)name->shape[i] + (int64_t)first[i];
      inside *= last[i] - first[i] + 1;
    }
    if (inside != (Size)count) what.detail = kScattered;
  }
  what.offset *= size;
  let_go(route, "H5Sclose", own);
  return what;
}

static void note_moved(const Call* call, Route route, Kind kind, Id id, Id in_file, Id transfer) {
  Name* name = dataset_of(route, id);
  What what = selected(route, kind, name, id, in_file);
  if (is_collective(route, transfer)) what.detail |= kCollective;
  if (call->error) what.bytes = 0;
  note(call, name, what);
}

#define WRAP_MOVE(name, kind)                                                          \
  EXPORT int name(Id id, Id type, Id in_memory, Id in_file, Id transfer, void* data) { \
    HDF5_BEGIN(name, int, Id, Id, Id, Id, Id, void*)                                   \
    if (call.start != 0) see_memory(&call, kind, data, 0);                             \
    const int result = next(id, type, in_memory, in_file, transfer, data);             \
    if (call.start == 0) return result;                                                \
    HDF5_END                                                                           \
    note_moved(&call, route, kind, id, in_file, transfer);                             \
    return result;                                                                     \
  }
WRAP_MOVE(H5Dread, kRead)
WRAP_MOVE(H5Dwrite, kWrite)

// Of several datasets at once: a record each, over the time of all.
#define WRAP_MULTI(name, kind, type)                                                         \
  EXPORT int name(size_t count, Id* ids, Id* types, Id* in_memory, Id* in_file, Id transfer, \
                  type data) {                                                               \
    HDF5_BEGIN(name, int, size_t, Id*, Id*, Id*, Id*, Id, type)                              \
    const int result = next(count, ids, types, in_memory, in_file, transfer, data);          \
    if (call.start == 0) return result;                                                      \
    HDF5_END                                                                                 \
    for (size_t i = 0; i < count; ++i)                                                       \
      note_moved(&call, route, kind, ids[i], in_file[i], transfer);                          \
    return result;                                                                           \
  }
WRAP_MULTI(H5Dread_multi, kRead, void**)
WRAP_MULTI(H5Dwrite_multi, kWrite, const void**)
