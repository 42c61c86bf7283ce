// Chance that is the same everywhere: the generator that numpy seeds for `venturi compare`, and
// the relabellings of repetitions that follow from it (src/venturi/analyse/relabelling.py).
const chance = (() => {
  const MOST_ENUMERATED = 4000;
  const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;
  // What numpy's PCG64 begins with for each of the seeds that comparisons have.
  const BEGIN = {
    1: [0x9c5b484bfedb756c2a6e7d6f320fbc7en, 0x922af2da2645f895a19857b95740937bn],
    2: [0x692416b3311ec79c2a21eb1bc4f483ccn, 0x5bae0a5743882ba5d1ad0f9f2cb8dbefn],
    3: [0xf38b68fdd16b0f8da7f7267aef605897n, 0xa7043c160277735a2ed88b8bc66abe1fn],
  };

  // PCG64, XSL RR 128/64 (O'Neill, PCG: A Family of Better Random Number Generators, 2014).
  function generator(seed) {
    let [state, increment] = BEGIN[seed];
    let kept = null;  // the upper half of a number whose lower half was taken
    const next = () => {
      state = BigInt.asUintN(128, state * MULTIPLIER + increment);
      const folded = BigInt.asUintN(64, (state >> 64n) ^ state);
      const turn = state >> 122n;
      return BigInt.asUintN(64, (folded >> turn) | (folded << (64n - turn)));
    };
    const half = () => {
      if (kept !== null) {
        const found = kept;
        kept = null;
        return found;
      }
      const whole = next();
      kept = Number(whole >> 32n);
      return Number(whole & 0xffffffffn);
    };
    return {
      // A number from 0 to below 1.
      real: () => Number(next() >> 11n) / 2 ** 53,
      // An integer from 0 to below `end`, of 2 ** 21 at most (Lemire, Fast Random Integer
      // Generation in an Interval, 2019).
      integer: (end) => {
        let wide = half() * end;
        const least = (2 ** 32 - end) % end;
        while (wide % 2 ** 32 < least) wide = half() * end;
        return Math.floor(wide / 2 ** 32);
      },
    };
  }

  const ways = (size, first) => {
    let found = 1;
    for (let i = 1; i <= Math.min(first, size - first); i += 1) {
      found *= (size - Math.min(first, size - first) + i) / i;
    }
    return Number.isFinite(found) ? Math.round(found) : Infinity;
  };

  function* combinations(size, first) {
    const at = Array.from({ length: first }, (_, index) => index);
    for (;;) {
      yield at;
      let moved = first - 1;
      while (moved >= 0 && at[moved] === size - first + moved) moved -= 1;
      if (moved < 0) return;
      at[moved] += 1;
      for (let next = moved + 1; next < first; next += 1) at[next] = at[next - 1] + 1;
    }
  }

  // A row for each relabelling: 1 where a repetition counts as one of the first side. Row 0 is
  // what was measured.
  const known = new Map();
  function relabellings(first, second) {
    const name = `${first} ${second}`;
    if (!known.has(name)) known.set(name, made(first, second));
    return known.get(name);
  }
  function made(first, second) {
    const size = first + second, count = ways(size, first);
    if (count <= MOST_ENUMERATED) {
      const labels = new Uint8Array(count * size);
      let row = 0;
      for (const chosen of combinations(size, first)) {
        for (const at of chosen) labels[row * size + at] = 1;
        row += 1;
      }
      return { labels, rows: count, size };
    }
    const labels = new Uint8Array(MOST_ENUMERATED * size);
    const { real } = generator(1);
    const keys = new Float64Array(size);
    for (let row = 0; row < MOST_ENUMERATED; row += 1) {
      for (let at = 0; at < size; at += 1) keys[at] = real();
      const last = keys.slice().sort()[first - 1];
      for (let at = 0; at < size; at += 1) {
        if (row ? keys[at] <= last : at < first) labels[row * size + at] = 1;
      }
    }
    return { labels, rows: MOST_ENUMERATED, size };
  }

  return { generator, ways, relabellings, MOST_ENUMERATED };
})();
