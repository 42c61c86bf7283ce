// Two sets of runs, judged by the test of `venturi compare`: the permutation test of the largest t.
// The formulas and where they come from: src/venturi/analyse/contrast.py, contrast_row.py,
// detectable.py, serial_dependence.py and set_comparison.py. A test holds the two to each other.
const contrast = (() => {
  const ALPHA = 0.05, CONFIDENCE = 0.95, MATTERS = 0.05, LEAST_SPREAD = 0.01;
  const ALLOWANCE = 1.5, SERIAL_ALLOWANCE = 3, FEWEST_IN_ORDER = 3, SHUFFLES = 1000;
  const CLAMPED = 8, MOST_LOSS = 0.5, POWER_Z = 2, SCATTER = 0.4, MANY = 40;
  const LARGEST_SHARE = Math.fround(1 - 1e-7), LARGEST_LOG = 700, ROUNDED_UP = 1 + 1e-5;
  const { fround } = Math;

  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const mean = (values) => sum(values) / values.length;
  const ascending = (values) => Float64Array.from(values).sort();
  const middleOf = (ordered) => {
    const half = Math.floor(ordered.length / 2);
    return ordered.length % 2 ? ordered[half] : (ordered[half - 1] + ordered[half]) / 2;
  };
  const median = (values) => middleOf(ascending(values));
  const exp = (value) => Math.exp(Math.min(Math.max(value, -LARGEST_LOG), LARGEST_LOG));

  // The median and its interval by order statistics (src/venturi/model/statistic.py).
  const coverage = (n, k) => {
    let logarithm = -n * Math.LN2;  // of C(n, 0) / 2^n
    let below = 0;
    for (let i = 0; i < k; i += 1) {
      below += Math.exp(logarithm);
      logarithm += Math.log(n - i) - Math.log(i + 1);
    }
    return Math.max(0, 1 - 2 * below);
  };
  function interval(values) {
    const ordered = ascending(values), n = ordered.length;
    let best = 1;
    for (let k = 2; k <= Math.floor(n / 2) && coverage(n, k) >= CONFIDENCE; k += 1) best = k;
    return { median: middleOf(ordered), low: ordered[best - 1], high: ordered[n - best],
             coverage: coverage(n, best), n };
  }

  const leastP = (first, second) =>
    (first === second ? 2 : 1) / chance.ways(first + second, first);
  const isEnough = (first, second) => first + second > 2 && leastP(first, second) <= ALPHA;
  const clampedOf = (first, second) =>
    Math.max(Math.min(Math.floor((first + second) / CLAMPED), Math.min(first, second) - 1), 0);
  const scaleOf = (freedom) => (8 * freedom + 1) / (8 * freedom + 3);
  const scoreOf = (t, freedom) =>
    scaleOf(freedom) * Math.sqrt(freedom * Math.log1p(t * t / freedom));
  const tOf = (score, freedom) =>
    Math.sqrt(freedom * Math.expm1((score / scaleOf(freedom)) ** 2 / freedom));

  // The size of a difference: the share of pairs that are higher, and the median of their ratios.
  function described(first, second) {
    let above = 0;
    for (const a of first) for (const b of second) above += b > a ? 1 : b === a ? 0.5 : 0;
    const superiority = above / (first.length * second.length);
    let ratio = null;
    if (Math.min(...first, ...second) > 0) {
      const logs = [first.map(Math.log), second.map(Math.log)];
      ratio = exp(median(logs[1].flatMap((b) => logs[0].map((a) => b - a))));
    }
    return { p: 1, superiority, ratio, low: null, high: null, detectable: null, isHigher: false,
             isJudged: false };
  }

  // Metrics of one point as columns, repetitions as rows; those of the first side come first.
  function tableOf(metrics, allowance) {
    const first = Math.max(...metrics.map(([own]) => own.length));
    const second = Math.max(...metrics.map(([, own]) => own.length));
    const found = chance.relabellings(first, second);
    const columns = metrics.map(([own, others]) => columnOf(own, others, first, second));
    const scores = columns.map((column) => scoresOf(column, found));
    const own = columns.map((column) => ownScore(column, first, allowance));
    const extreme = extremesOf(found);
    scores.forEach((column, index) => extreme.forEach((isExtreme, row) => {
      if (isExtreme) column[row] = own[index].score;
    }));
    return { metrics, columns, scores, own: own.map(({ score }) => score), extreme, allowance,
             rows: found.rows, shifts: own.map(({ shift }) => shift),
             errors: own.map(({ error }) => error) };
  }

  function columnOf(own, others, first, second) {
    let values = [...own, ...others];
    let floor = LEAST_SPREAD * mean(values.map(Math.abs));
    if (Math.min(...values) > 0) [values, floor] = [values.map(Math.log), LEAST_SPREAD];
    const clamped = clampedOf(own.length, others.length);
    if (clamped) {
      const ordered = ascending(values);
      const [low, high] = [ordered[clamped], ordered[ordered.length - 1 - clamped]];
      values = values.map((value) => Math.min(Math.max(value, low), high));
    }
    const middle = mean(values), rows = new Float64Array(first + second);
    const present = new Uint8Array(first + second);
    values.forEach((value, index) => {
      const at = index < own.length ? index : first + index - own.length;
      rows[at] = value - middle;
      present[at] = 1;
    });
    return { values: rows, present, floor, size: values.length, freedom: values.length - 2,
             counts: [own.length, others.length] };
  }

  // The normal deviate that is as rare as the t of a metric, for each relabelling.
  function scoresOf({ values, present, floor, size, freedom }, { labels, rows, size: width }) {
    const single = Float32Array.from(values);
    const squares = fround(sum(values.map((value) => value ** 2)) + freedom * floor ** 2);
    const scale = fround(scaleOf(freedom) * Math.sqrt(freedom));
    const found = new Float32Array(rows);
    for (let row = 0; row < rows; row += 1) {
      let total = 0, count = 0;
      for (let at = 0, place = row * width; at < width; at += 1, place += 1) {
        if (labels[place]) {
          total += single[at];
          count += present[at];
        }
      }
      const weight = count && count < size ? fround(size / (count * (size - count))) : 0;
      const share = squares > 0 ? fround(fround(total) ** 2 * fround(weight / squares)) : 0;
      found[row] = scale * fround(Math.sqrt(-Math.log1p(-Math.min(share, LARGEST_SHARE))));
    }
    return found;
  }

  function extremesOf({ labels, rows, size }) {
    const found = new Uint8Array(rows);
    for (let row = 0; row < rows; row += 1) {
      let same = 0;
      for (let at = 0; at < size; at += 1) same += labels[row * size + at] === labels[at];
      found[row] = same === size || same === 0;
    }
    return found;
  }

  // How far the second mean is above the first, its standard error, and the score of both.
  function ownScore({ values, present, floor, freedom, counts }, first, allowance) {
    const sides = [[...values.keys()].slice(0, first), [...values.keys()].slice(first)]
      .map((side) => side.filter((at) => present[at]).map((at) => values[at]));
    const means = sides.map(mean);
    const within = sides.map((side, index) => sum(side.map((v) => (v - means[index]) ** 2)));
    const spread = Math.sqrt((within[0] + within[1]) / freedom);
    const error = Math.hypot(spread, floor) * Math.sqrt(1 / counts[0] + 1 / counts[1]);
    const shift = means[1] - means[0];
    const t = error > 0 ? Math.abs(shift) / (error * allowance) : 0;
    return { shift, error, score: fround(scoreOf(t, freedom)) };
  }

  // All metrics of all points are one family; those that differ leave it, and the rest is judged
  // anew (the step-down form).
  function judge(tables) {
    const draws = drawsOf(tables);
    const left = tables.map(({ own }) => own.map(() => true));
    const p = tables.map(({ own }) => own.map(() => 1));
    const limit = tables.map(({ own }) => own.map(() => 0));
    let least = 0, family = new Float32Array(0);
    while (left.some((open) => open.some(Boolean))) {
      family = largest(tables, draws, left);
      const ordered = family.slice().sort(), count = family.length;
      const critical = ordered[count - 1 - Math.floor(ALPHA * count + 1e-9)];
      const found = [];
      tables.forEach(({ own }, at) => own.forEach((score, index) => {
        if (!left[at][index]) return;
        p[at][index] = Math.max((count - firstAtLeast(ordered, score)) / count, least);
        limit[at][index] = critical;
        if (p[at][index] <= ALPHA) found.push([at, index]);
      }));
      if (!found.length) break;
      least = Math.max(least, ...found.map(([at, index]) => p[at][index]));
      for (const [at, index] of found) left[at][index] = false;
    }
    return tables.map((table, at) => {
      const critical = effectCritical(family, draws[at], table);
      return table.own.map((_, index) => resultOf(table, index, p[at][index], limit[at][index],
                                                  critical));
    });
  }
  function drawsOf(tables) {
    if (tables.length === 1) return [Uint32Array.from({ length: tables[0].rows }, (_, row) => row)];
    const { integer } = chance.generator(2);
    return tables.map(({ rows }) => {
      const own = Uint32Array.from({ length: chance.MOST_ENUMERATED }, () => integer(rows));
      own[0] = 0;
      return own;
    });
  }
  function largest(tables, draws, left) {
    const found = new Float32Array(draws[0].length).fill(-Infinity);
    tables.forEach(({ scores, rows }, at) => {
      const most = new Float32Array(rows).fill(-Infinity);
      const open = scores.filter((_, index) => left[at][index]);
      for (const own of open) own.forEach((score, row) => { if (score > most[row]) most[row] = score; });
      draws[at].forEach((row, draw) => { if (most[row] > found[draw]) found[draw] = most[row]; });
    });
    return found;
  }
  function firstAtLeast(ordered, score) {
    let low = 0, high = ordered.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ordered[middle] < score) low = middle + 1; else high = middle;
    }
    return low;
  }
  function effectCritical(family, draws, { extreme }) {
    const others = family.filter((_, draw) => !extreme[draws[draw]]).sort();
    const own = family.length - others.length;
    const room = Math.floor(ALPHA * family.length + 1e-9) - own;
    if (room < 0 || room >= others.length) return null;
    return others[others.length - 1 - room] + SCATTER / Math.sqrt(Math.max(room / Math.max(own, 1), 1));
  }
  function resultOf(table, index, p, critical, effect) {
    const { freedom, counts } = table.columns[index];
    const [spread, loss] = spreadIfChanged(...table.metrics[index]);
    const limit = ROUNDED_UP * table.allowance * tOf(critical, freedom);
    return { p, shift: table.shifts[index], margin: limit * table.errors[index],
             detectable: effect === null ? null
               : leastChange(spread, counts, effect, loss, table.allowance) };
  }

  // The spread, and the loss of shift by clamping, that the values of distant sides would have.
  function spreadIfChanged(first, second) {
    if (Math.min(...first, ...second) <= 0) return [0, 0];
    const clamped = clampedOf(first.length, second.length);
    const one = [...ascending(first.map(Math.log))], other = [...ascending(second.map(Math.log))];
    const [a, b] = [outer(one, other, clamped), outer(other, one, clamped)];
    return a[0] > b[0] || (a[0] === b[0] && a[1] >= b[1]) ? a : b;
  }
  function outer(lower, upper, clamped) {
    const ends = [lower.map((value) => Math.max(value, lower[clamped])),
                  upper.map((value) => Math.min(value, upper[upper.length - 1 - clamped]))];
    const squares = sum(ends.map((end) => sum(end.map((value) => (value - mean(end)) ** 2))));
    const spread = Math.sqrt(squares / (lower.length + upper.length - 2));
    const loss = mean(ends[0]) - mean(lower) + mean(upper) - mean(ends[1]);
    return [spread, Math.min(loss, MOST_LOSS * spread)];
  }

  // The least change, as a share, that nine of ten comparisons find.
  function leastChange(spread, [first, second], critical, loss, allowance) {
    const freedom = first + second - 2;
    const limit = allowance * Math.max(tOf(critical, freedom), mixedT(first, second));
    const error = Math.hypot(spread, LEAST_SPREAD) * Math.sqrt(1 / first + 1 / second);
    const typical = meanOfSpread(freedom);
    const reach = limit * typical + POWER_Z * Math.sqrt(1 + limit ** 2 * (1 - typical ** 2));
    const change = Math.max(reach * error / typical, -Math.log1p(-MATTERS) + POWER_Z * error);
    return Math.expm1(Math.min(change + loss, LARGEST_LOG));
  }
  function mixedT(first, second) {
    const size = first + second, found = [];
    if (size > MANY) return 0;
    for (let swapped = 0; swapped <= Math.min(first, second); swapped += 1) {
      const p = swapped / first, q = swapped / second;
      const within = (first * p * (1 - p) + second * q * (1 - q)) / (size - 2);
      const error = Math.sqrt(within * (1 / first + 1 / second));
      found.push([error ? Math.abs(1 - p - q) / error : Infinity,
                  chance.ways(first, swapped) * chance.ways(second, swapped)]);
    }
    let seen = 0;
    for (const [t, count] of found.sort((a, b) => (b[0] === a[0] ? b[1] - a[1] : b[0] > a[0] ? 1 : -1))) {
      seen += count;
      if (seen > ALPHA * chance.ways(size, first)) return Number.isFinite(t) ? t : 0;
    }
    return 0;
  }
  // Gamma((f + 1) / 2) / Gamma(f / 2), from f - 2 to f, from those of 1 and 2.
  function meanOfSpread(freedom) {
    let found = freedom % 2 ? 1 / Math.sqrt(Math.PI) : Math.sqrt(Math.PI) / 2;
    for (let f = freedom % 2 ? 1 : 2; f < freedom; f += 2) found *= (f + 1) / f;
    return Math.sqrt(2 / freedom) * found;
  }

  // Whether repetitions resemble the ones before them more than in shuffled orders.
  function serialDependence(parts) {
    const { real } = chance.generator(3);
    const names = [], measured = [];
    for (const part of parts) {
      const orders = ordersOf([...part.values()], real);
      for (const [name, runs] of part) {
        const found = autocorrelations(runs, orders);
        if (found) {
          names.push(name);
          measured.push(found);
        }
      }
    }
    return measured.length ? judgeOrder(names, measured) : null;
  }
  function ordersOf(metrics, real) {
    const sides = metrics.length ? [0, 1] : [], known = new Map();
    const counts = sides.map((side) => Math.max(...metrics.map((own) => own[side].length)));
    const keys = counts.map((count) => Float64Array.from({ length: SHUFFLES * count }, real));
    return (side, count) => {
      const name = `${side} ${count}`;
      if (!known.has(name)) {
        known.set(name, Array.from({ length: SHUFFLES }, (_, row) => {
          const order = Uint32Array.from({ length: count }, (__, at) => at);
          const begin = row * counts[side];
          return row ? order.sort((a, b) => keys[side][begin + a] - keys[side][begin + b]) : order;
        }));
      }
      return known.get(name);
    };
  }
  function autocorrelations(runs, orders) {
    const products = new Float64Array(SHUFFLES), every = runs.flat();
    const positive = Math.min(...every) > 0;
    let squares = 0, count = 0;
    runs.forEach((run, side) => {
      if (run.length < FEWEST_IN_ORDER) return;
      const values = positive ? run.map(Math.log) : run, middle = mean(values);
      const own = values.map((value) => value - middle);
      orders(side, run.length).forEach((order, row) => {
        for (let at = 1; at < order.length; at += 1) products[row] += own[order[at]] * own[order[at - 1]];
      });
      squares += sum(own.map((value) => value ** 2));
      count += run.length;
    });
    const level = positive ? 1 : mean(every.map(Math.abs));
    if (!count || squares <= count * (LEAST_SPREAD * level) ** 2) return null;
    return products.map((value) => value / squares);
  }
  function judgeOrder(names, measured) {
    const centred = (own) => {
      const middle = mean(own);
      return own.map((value) => value - middle);
    };
    const excess = measured.map(centred);
    const deviations = excess.map((own) => {
      const spread = Math.sqrt(mean(centred(own).map((value) => value ** 2)));
      return own.map((value) => value / Math.max(spread, Number.MIN_VALUE));
    });
    const columns = Array.from({ length: SHUFFLES }, (_, at) => deviations.map((own) => own[at]));
    const shareAbove = (found) => mean(found.map((value) => (value >= found[0] - 1e-9 ? 1 : 0)));
    const shares = [shareAbove(columns.map(mean)), shareAbove(columns.map((own) => Math.max(...own)))];
    const isOne = names.length === 1;
    const p = Math.min(1, Math.min(...shares) * (isOne ? 1 : 2));
    if (p > ALPHA) return null;
    if (isOne || shares[1] < shares[0]) {
      const most = columns[0].indexOf(Math.max(...columns[0]));
      return { excess: excess[most][0], p, metric: names[most], metrics: names.length };
    }
    return { excess: mean(excess.map((own) => own[0])), p, metric: "", metrics: names.length };
  }

  // The rows of each part, a map from the name of a metric to both sides of it.
  function rowsOf(parts) {
    const alike = parts.map((pairs) => new Map([...pairs].filter(([, pair]) => !pair.unlike)
      .map(([name, { first, second }]) => [name, [first, second]])));
    const judged = alike.map((own) => new Map([...own].filter(([, sides]) =>
      isEnough(sides[0].length, sides[1].length))));
    const serial = serialDependence(judged);
    const allowance = serial ? SERIAL_ALLOWANCE : ALLOWANCE;
    const filled = judged.filter((own) => own.size);
    const results = judge(filled.map((own) => tableOf([...own.values()], allowance)));
    const found = parts.map((pairs, at) => {
      const own = results[filled.indexOf(judged[at])], names = [...judged[at].keys()];
      return [...pairs].map(([name, pair]) => {
        const what = described(pair.first, pair.second), place = names.indexOf(name);
        return rowOf(name, pair, place < 0 ? what : completed(what, own[place]));
      });
    });
    return { rows: found, judged: sum(judged.map((own) => own.size)), serial };
  }
  function completed(what, { p, shift, margin, detectable }) {
    const own = { ...what, p, isHigher: shift > 0, isJudged: true };
    if (what.ratio === null) return own;
    return { ...own, low: Math.min(exp(shift - margin), what.ratio),
             high: Math.max(exp(shift + margin), what.ratio), detectable };
  }
  function rowOf(name, pair, what) {
    const change = changeOf(pair, what);
    const worse = { higher: "lower", lower: "higher" }[pair.better];
    return { name, unit: pair.unit, of: pair.of, isSeveral: pair.isSeveral, first: interval(pair.first),
             second: interval(pair.second), ratio: what.ratio, low: what.low, high: what.high,
             p_adjusted: what.isJudged ? what.p : null, superiority: what.superiority,
             detectable: what.detectable, change, is_worse: change === worse, why: pair.unlike };
  }
  function changeOf({ first, second, unlike }, what) {
    if (unlike) return "not compared";
    if (new Set([...first, ...second]).size === 1) return "equal";
    const isSmall = what.ratio !== null && Math.abs(what.ratio - 1) < MATTERS;
    if (what.isJudged && what.p <= ALPHA) {
      return isSmall ? "less than 5 %" : what.isHigher ? "higher" : "lower";
    }
    if ((what.superiority === 0 || what.superiority === 1) && !isSmall) return "apart";
    return what.isJudged ? "not significant" : "too few repetitions";
  }

  return { interval, median, rowsOf };
})();
