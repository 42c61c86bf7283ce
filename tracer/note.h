// Turning a finished call into a record and into counts.
#pragma once

#include <stdio.h>
#include <sys/uio.h>

#include "descriptor.h"

// A call under way: when it began, and how it went.
typedef struct {
  int64_t start;
  int64_t end;
  int error;  // 0: fine
  int errno_after;
  uint32_t memory;   // bits of `detail`
  uint64_t address;  // of that memory; 0: unknown
} Call;

// A read into, or a write from, memory begins: notes where that is, and of large reads whether it
// has pages, which may move the beginning of the call.
void see_memory(Call* call, Kind kind, const void* data, size_t bytes);
void see_parts(Call* call, Kind kind, const struct iovec* parts, int count);

// What else there is to say about a call.
typedef struct {
  Layer layer;
  Kind kind;
  int64_t offset;
  int64_t bytes;
  uint32_t detail;
} What;

// The call ended just now.
void call_ended(Call* call, bool is_failure);

void note(const Call* call, Name* name, What what);

// Calls on a descriptor. `note_data` is for read and write where the position decides.
void note_descriptor(const Call* call, int fd, What what);
void note_data(const Call* call, int fd, Kind kind, int64_t result);
void note_data_at(const Call* call, int fd, Kind kind, int64_t offset, int64_t result);
void note_seek(const Call* call, int fd, int64_t position);
void note_open(const Call* call, int folder, const char* path, int flags, int fd);
void note_close(const Call* call, Layer layer, Open* open);
void note_copy(const Call* call, Kind kind, int to, int from, const int64_t* to_offset,
               const int64_t* from_offset, int64_t result);
// At the offsets that the call leaves behind what it moved, or at the positions.
void note_splice(const Call* call, int from, const off64_t* from_at, int to, const off64_t* to_at,
                 int64_t result);
// Blocks of one file that become those of another one, too; 0 bytes: all up to its end.
void note_clone(const Call* call, int to, int from, int64_t from_offset, int64_t bytes);
// Of all that devices are told only what copies files is noted.
void note_device_control(const Call* call, int to, unsigned long request, long argument);
// What fcntl did to a descriptor.
void note_control(int fd, int command, long argument, int result);
void note_map(const Call* call, int fd, int64_t offset, size_t bytes, bool is_seen_through);
// Memory of a mapped file is made persistent; nothing where the file is not known.
void note_memory_sync(const Call* call, const void* address);

// Reading a directory becomes one record per pass, not one per entry: it begins with the first
// call and lasts as long as all calls of the pass together, not what is done between them.
void note_entries(const Call* call, int fd, int64_t count, bool is_last);
void note_list_end(int fd);
// The same of many entries at a time, as getdents64 gives them: so many bytes; 0: it was the end.
void note_names(const Call* call, int fd, const void* entries, int64_t bytes);

// Calls on paths. Where a call failed, the kernel may not have been able to read them: then there
// is no name.
Name* name_after(const Call* call, int folder, const char* path);
// Whether a call on an empty path, or none, in this folder means the folder itself.
bool is_folder_meant(const Call* call, int folder, const char* path);
void note_path(const Call* call, Kind kind, int folder, const char* path, int64_t offset);
// Where there is no path, or an empty one in a folder, the folder's descriptor is meant.
void note_attribute(const Call* call, Attribute what, int folder, const char* path);
// What is set by this key; the key of a call that failed may be no text. The list of access rights
// that programs copy with a file is its mode where it has no more than the three usual entries.
Attribute set_by(const Call* call, const char* key);
void note_two_paths(const Call* call, Kind kind, int folder, const char* path, int to_folder,
                    const char* to);
void note_symlink(const Call* call, const char* target, int folder, const char* path);

// Calls on streams. `note_stream` moves the stream's position by `bytes`.
void note_stream_open(const Call* call, const char* path, const char* mode, FILE* stream);
void note_stream(const Call* call, FILE* stream, Kind kind, int64_t bytes);
void note_stream_seek(const Call* call, FILE* stream);

// A program is started as process `process`; the record may be taken back.
Record* note_start(const char* path, int process);
