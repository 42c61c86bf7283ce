// Calls come in a cycle, of one call or a few (read, write; seek, read). When the third cycle
// begins as the first two say, the records of the second become those of a run, in their places,
// and from then on calls are added to them.
#include "run.h"

#include <string.h>

#include "spool.h"

enum {
  kMostPeriod = 4,
  kAddresses = 2 * kMostPeriod,
  kMostTimes = 1 << 20,
  // In ticks, which take a nanosecond or less. Who asks for moments finds each call of a run within
  // a millisecond of where it was, and no call and no pause that stands out is in one.
  kFarTicks = 20 * 1000,
  kLongestTicks = 1000 * 1000,
};

typedef struct {
  int64_t offset;
  uint64_t address;
} Place;

typedef struct {
  uint32_t generation;
  uint32_t seen;  // records that stand one behind the other, up to `last`
  Record* last;
  uint32_t period;  // 0: there is no run
  uint32_t slot;    // of the cycle, which comes next
  Run* runs;        // of each slot; the records that they repeat stand before them
  int64_t begin;    // when the calls that they repeat had ended
  int64_t end;
  Place next[kMostPeriod];
  uint64_t addresses[kAddresses];  // of the last records' memory
  bool is_busy;  // a signal's handler that makes calls meanwhile must leave it alone
  bool is_disturbed;
} State;
static _Thread_local State state __attribute__((tls_model("initial-exec")));

static bool is_repeatable(const Record* made) {
  enum {
    kKinds_ = 1 << kRead | 1 << kWrite | 1 << kSeek | 1 << kSync | 1 << kDataSync,
  };
  return made->layer <= kStdio && made->kind <= kDataSync && (kKinds_ >> made->kind & 1) &&
         made->error == 0 && made->file != NO_FILE;
}

// What else `detail` of a call says than where its memory is.
static uint32_t rest_of(const Record* made) {
  const bool moves = made->kind == kRead || made->kind == kWrite;
  return moves ? made->detail & ((1 << kMemoryShift) - 1) : made->detail;
}

static bool is_like(const Record* a, const Record* b) {
  return a->kind == b->kind && a->bytes == b->bytes && a->file == b->file && a->layer == b->layer &&
         a->thread == b->thread && rest_of(a) == rest_of(b);
}

static int64_t start_of(const Record* made) {
  return atomic_load_explicit(&made->start, memory_order_relaxed);
}

// A short call, and a short pause before it.
static bool is_near(int64_t before, const Record* made) {
  const int64_t start = start_of(made);
  return start >= before && start - before <= kFarTicks && made->end >= start &&
         made->end - start <= kFarTicks;
}

static bool is_small_step(uint64_t to, uint64_t from) {
  const int64_t step = (int64_t)(to - from);
  return step >= INT32_MIN && step <= INT32_MAX;
}

static uint64_t address_of(uint32_t back) {
  return state.addresses[(state.seen - 1 - back) % kAddresses];
}

// Whether the last two cycles of records are alike, and the call begins a third one.
static bool begins_third(uint32_t period, const Record* made, uint64_t address) {
  const Record* first = state.last - (2 * period - 1);
  const Record* second = first + period;
  if (!is_like(made, second) || !is_like(second, first)) return false;
  if (made->offset - second->offset != second->offset - first->offset) return false;
  const uint64_t was = address_of(period - 1);
  if (address - was != was - address_of(2 * period - 1)) return false;
  for (uint32_t i = 0; i < period; ++i) {
    if (!is_like(first + i, second + i) || !is_near((second + i - 1)->end, second + i) ||
        !is_small_step(address_of(period - 1 - i), address_of(2 * period - 1 - i)))
      return false;
  }
  return is_near(state.last->end, made) && made->end - (second - 1)->end <= kLongestTicks;
}

// The second cycle's records become a run's.
static void begin_run(uint32_t period) {
  const Record* first = state.last - (2 * period - 1);
  state.period = period;
  state.slot = 0;
  state.runs = (Run*)(first + period);
  state.begin = (first + period - 1)->end;
  state.end = state.last->end;
  int64_t before = state.begin;
  for (uint32_t i = 0; i < period; ++i) {
    Record* second = (Record*)&state.runs[i];
    const uint64_t address = address_of(period - 1 - i);
    const uint64_t step = address - address_of(2 * period - 1 - i);
    const int64_t start = start_of(second);
    Run run = {.took = second->end - start,
               .between = start - before,
               .offset_step = second->offset - first[i].offset,
               .address_step = (int32_t)step,
               .address_rest = (uint32_t)(address - step) % kMemoryUnit,
               .period = period,
               .slot = (uint16_t)i,
               .layer = second->layer,
               .kind = kRun};
    before = second->end;
    state.next[i] = (Place){second->offset + run.offset_step, address + step};
    atomic_store_explicit(&second->start, 0, memory_order_release);
    memcpy((char*)second + sizeof second->start, (const char*)&run + sizeof run.times,
           sizeof run - sizeof run.times);
  }
  for (uint32_t i = 0; i < period; ++i)
    atomic_store_explicit(&state.runs[i].times, 1, memory_order_release);
}

static bool continues(const Record* made, uint64_t address) {
  const Run* run = &state.runs[state.slot];
  const Record* base = (const Record*)run - state.period;
  const Place* next = &state.next[state.slot];
  return made->offset == next->offset && address == next->address && is_like(made, base) &&
         made->error == 0 && is_near(state.end, made) && made->end - state.begin <= kLongestTicks &&
         atomic_load_explicit(&run->times, memory_order_relaxed) < kMostTimes;
}

static void add(const Record* made) {
  Run* run = &state.runs[state.slot];
  Place* next = &state.next[state.slot];
  const int64_t start = start_of(made);
  run->took += made->end - start;
  run->between += start - state.end;
  next->offset += run->offset_step;
  next->address += (uint64_t)(int64_t)run->address_step;
  state.end = made->end;
  if (++state.slot == state.period) state.slot = 0;
  const int64_t times = atomic_load_explicit(&run->times, memory_order_relaxed);
  atomic_store_explicit(&run->times, times + 1, memory_order_release);
}

// The period of the run that the call begins; 0: none.
static uint32_t period_with(const Record* made, uint64_t address) {
  if (!is_repeatable(made)) return 0;
  for (uint32_t period = 1; period <= kMostPeriod && 2 * period <= state.seen; ++period)
    if (begins_third(period, made, address)) return period;
  return 0;
}

static bool take(const Record* made, uint64_t address) {
  if (state.period != 0) {
    if (continues(made, address) && may_record()) {
      add(made);
      return true;
    }
    state.period = state.seen = 0;
    return false;
  }
  const uint32_t period = period_with(made, address);
  if (period == 0 || !may_record()) return false;
  begin_run(period);
  add(made);
  return true;
}

static void leave(void) {
  state.is_busy = false;
  if (!state.is_disturbed) return;
  state.is_disturbed = false;
  state.period = state.seen = 0;
}

static bool enter(void) {
  if (spool.is_without_runs) return false;
  if (state.is_busy) {
    state.is_disturbed = true;
    return false;
  }
  state.is_busy = true;
  if (state.generation != generation) {
    state.generation = generation;
    state.period = state.seen = 0;
  }
  return true;
}

bool run_takes(const Record* made, uint64_t address) {
  if (!enter()) return false;
  const bool taken = take(made, address);
  leave();
  return taken;
}

void run_follows(Record* record, uint64_t address) {
  if (!enter()) return;
  if (!is_repeatable(record)) {
    state.seen = 0;
  } else {
    if (state.seen == 0 || record != state.last + 1) state.seen = 0;
    state.addresses[state.seen++ % kAddresses] = address;
    state.last = record;
  }
  leave();
}

void run_forget(void) { state.period = state.seen = 0; }
