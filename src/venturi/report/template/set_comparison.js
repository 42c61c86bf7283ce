// Two sets of runs point by point, and what a reader must know first, as `venturi compare` says it
// (src/venturi/analyse/set_comparison.py and contrast_row.py, src/venturi/report/run_comparison.py).
const setComparison = (() => {
  // As Python's `{:.3g}` and the like write numbers.
  function general(value, digits) {
    if (!value) return "0";
    const [figures, power] = value.toExponential(digits - 1).split("e");
    const exponent = Number(power);
    if (exponent >= -4 && exponent < digits) return String(Number(value.toPrecision(digits)));
    const sign = exponent < 0 ? "-" : "+";
    return `${Number(figures)}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  const percent = (share) => String(BigInt(Math.round(100 * share)));
  const counted = (count) => (count > 1 ? `${count} metrics` : "one metric");
  const distance = ({ ratio }) => (ratio ? Math.max(ratio, 1 / ratio) : Infinity);
  const farthest = (rows) => rows.reduce((most, row) => (distance(row) > distance(most) ? row : most));
  const isSignificant = (row) => row.change === "higher" || row.change === "lower";
  const of = (rows, change) => rows.filter((row) => row.change === change);

  // Runs that measured something, by what they did.
  function pointsOf(runs) {
    const found = new Map();
    for (const run of runs) {
      if (run.isInvalid || !run.metrics.size) continue;
      if (!found.has(run.key)) found.set(run.key, []);
      found.get(run.key).push(run);
    }
    return found;
  }

  // Runs of one session share the day's load: where a side has several, each is one value.
  function bySession(runs, name) {
    const found = new Map();
    const ordered = [...runs].sort((a, b) => (a.started < b.started ? -1 : a.started > b.started ? 1 : 0));
    for (const run of ordered) {
      if (!run.metrics.has(name)) continue;
      if (!found.has(run.session)) found.set(run.session, []);
      found.get(run.session).push(...run.metrics.get(name).values);
    }
    return [...found.values()];
  }

  function pairsOf(first, second) {
    const found = new Map();
    for (const name of new Set(first.flatMap((run) => [...run.metrics.keys()]))) {
      const sides = [bySession(first, name), bySession(second, name)];
      if (!sides[1].length) continue;
      const isSeveral = sides.some((side) => side.length > 1);
      const values = sides.map((side) => (isSeveral ? side.map(contrast.median) : side[0]));
      const measure = first.find((run) => run.metrics.has(name)).metrics.get(name);
      found.set(name, { unit: measure.unit, of: measure.of, better: measure.better, isSeveral,
        first: values[0], second: values[1], unlike: unlike(first, second, name) });
    }
    return found;
  }
  function unlike(first, second, name) {
    const sides = [first, second].map((side) => new Set(side.filter((run) => run.metrics.has(name))
      .map((run) => run.metrics.get(name)).map((one) => JSON.stringify([one.unit, one.of, one.condition]))));
    const quantities = new Set([...sides[0], ...sides[1]].map((text) =>
      JSON.stringify(JSON.parse(text).slice(0, 2))));
    const isSame = sides[0].size === sides[1].size && [...sides[0]].every((one) => sides[1].has(one));
    if (isSame && quantities.size === 1) return "";
    const told = sides.map((side) => [...side].map((text) => JSON.parse(text).filter(Boolean).join(" "))
      .sort().join(" and "));
    return `${told[0]} in the first and ${told[1]} in the second`;
  }

  // Null where the two have no metric of one point in common.
  function compare(first, second) {
    const sides = [pointsOf(first), pointsOf(second)];
    const points = [...sides[0].keys()].filter((key) => sides[1].has(key))
      .map((key) => [sides[0].get(key)[0], pairsOf(sides[0].get(key), sides[1].get(key))])
      .filter(([, pairs]) => pairs.size);
    if (!points.length) return null;
    const { rows, judged, serial } = contrast.rowsOf(points.map(([, pairs]) => pairs));
    const parts = points.map(([run, ], at) => ({ title: run.title, ranks: run.ranks,
      parameters: run.parameters, rows: rows[at], headline: headlineOf(rows[at]) }));
    const only = [0, 1].map((side) =>
      [...sides[side].keys()].filter((key) => !sides[1 - side].has(key)).length);
    return { parts, judged, serial, only, headline: wholeOf(parts) + leftOut([...first, ...second]) };
  }

  function headlineOf(rows) {
    const found = rows.filter(isSignificant);
    if (found.length) {
      const most = farthest(found);
      const times = most.ratio === null ? "" : ` (${general(most.ratio, 3)} times the first)`;
      const rest = rows.length > 1 ? `; ${found.length} of ${rows.length} metrics differ` : "";
      return `${most.name} is significantly ${most.change} in the second run${times}${rest}.`;
    }
    const apart = of(rows, "apart");
    return apart.length ? apartText(rows, apart) : noneText(rows);
  }
  function apartText(rows, apart) {
    const most = farthest(apart), side = most.superiority > 0.5 ? "above" : "below";
    const times = most.ratio === null ? "" : ` (${general(most.ratio, 3)} times)`;
    const others = apart.length > 1 ? `, and so for ${apart.length - 1} more` : "";
    return `All values of ${most.name} in the second run are ${side} all of the first${times}${others}; `
      + `with ${most.first.n} and ${most.second.n} repetitions of ${counted(rows.length)} this is not `
      + "significant. Repeat both runs more often.";
  }
  function noneText(rows) {
    const unsure = of(rows, "too few repetitions").length;
    const judged = rows.filter((row) => !["too few repetitions", "not compared"].includes(row.change));
    if (!judged.length && !unsure) return "No metric was measured alike in both runs.";
    if (!judged.length) {
      const few = `${rows[0].first.n} and ${rows[0].second.n}`;
      return `Too few repetitions (${few}): no difference can be significant; four each can.`;
    }
    const small = of(judged, "less than 5 %");
    const seen = of(judged, "not significant").map((row) => row.detectable).filter(Boolean);
    const could = seen.length
      ? `this comparison could have detected changes of at least ${percent(Math.max(...seen))} %` : "";
    const nothing = judged.length === 1 ? `${judged[0].name} does not differ significantly`
      : `None of the ${judged.length} metrics differs significantly`;
    const most = small.length ? farthest(small) : null;
    const said = most ? `${nothing} by 5 % or more; ${most.name} is ${general(most.ratio, 3)} times the first`
      : of(judged, "equal").length === judged.length
        ? `All values of ${counted(judged.length)} are equal in both runs` : nothing;
    const left = unsure ? ` ${unsure} more have too few repetitions.` : "";
    return could ? `${said}; ${could}.${left}` : `${said}.${left}`;
  }
  function wholeOf(parts) {
    if (parts.length === 1) return parts[0].headline;
    const count = (fits) => parts.filter((part) => part.rows.some(fits)).length;
    const found = count(isSignificant);
    if (found) {
      return `${found} of ${parts.length} points differ significantly, ${count((row) => row.is_worse)} `
        + "of them for the worse.";
    }
    const apart = parts.filter((part) => part.rows.some((row) => row.change === "apart"));
    if (apart.length) return `${apart.length} of ${parts.length} points: ${apart[0].headline}`;
    const seen = parts.flatMap((part) => part.rows).map((row) => row.detectable)
      .filter((one) => one !== null);
    const could = seen.length
      ? `; this comparison could have detected changes of at least ${percent(Math.max(...seen))} %` : "";
    return `None of the ${parts.length} points differs significantly${could}.`;
  }
  function leftOut(runs) {
    const invalid = runs.filter((run) => run.isInvalid);
    if (!invalid.length) return "";
    const last = invalid.reduce((most, run) => (run.started > most.started ? run : most));
    if (invalid.length === 1) return ` Left out as INVALID: ${last.id}.`;
    return ` Left out as INVALID: ${invalid.length} runs, the last ${last.id}.`;
  }

  // What a row says, in a few words.
  function verdictOf(row) {
    const [n, m] = [row.first.n, row.second.n];
    if (row.change === "not significant" && row.detectable) {
      return `not significant; detectable: ${general(100 * row.detectable, 3)} % or more`;
    }
    if (row.change === "less than 5 %") return "differs significantly, by less than 5 %";
    if (row.change === "equal") return "equal in all repetitions";
    if (row.change === "apart") {
      return `all values are ${row.superiority > 0.5 ? "higher" : "lower"}, but not significantly; `
        + "repeat more often";
    }
    if (row.change === "too few repetitions") return `${n} and ${m} values are too few for any verdict`;
    if (row.why) return `not compared: ${row.why}`;
    if (isSignificant(row)) return `significantly ${row.change}${row.is_worse ? ": WORSE" : ""}`;
    return row.change;
  }
  const pOf = (p) => (p === null ? "–" : p >= 0.001 ? general(p, 2) : "< 0.001");

  return { compare, verdictOf, pOf, general, isSignificant };
})();
