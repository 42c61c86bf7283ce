// One workload to explore: a metric over time or a parameter, of some machines, with some parameters
// fixed, grouped; as a picture, a table and files.
(() => {
  const data = globalThis.venturiData;
  const place = document.getElementById("explore");
  if (!data || !place) return;
  const SVG = "http://www.w3.org/2000/svg";
  const MOST_ROWS = 500;
  const MOST_MARKS = 200;  // of more, the dots of a line are one path
  const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#59626d"];
  const WIDTH = 900, HEIGHT = 340, LEFT = 90, RIGHT = 20, TOP = 24, BOTTOM = 40;
  const LEGEND = 5, LEVEL = 14;  // names in a row, and the height of one

  const drawn = (name, attributes, text = "") => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  };
  const numeric = (value) => {
    if (typeof value === "number") return value;
    const found = /^([0-9.]+) ?(|B|[KMGT]iB|[kMGT]B)$/.exec(String(value));
    if (!found) return null;
    const powers = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40,
                     kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };
    return Number(found[1]) * (powers[found[2]] || 1);
  };

  // Rows of a series share its fields, and what is asked of fields is asked of each series once.
  const series = seriesOf(data).filter((one) => one.sessions.length).map((one) => ({ ...one,
    fields: { machine: one.machine, ranks: one.ranks, step: one.step, ...one.parameters } }));
  const rows = series.flatMap((one) => one.sessions.map(([started, value, repetitions, session]) => ({
    machine: one.machine, metric: one.metric, unit: one.unit, started, session, value, repetitions,
    fields: one.fields,
  })));
  const metrics = [...new Set(series.map((one) => one.metric))];
  const fields = [...new Set(series.flatMap((one) => Object.keys(one.fields)))].filter(
    (name) => new Set(series.map((one) => one.fields[name])).size > 1 || name === "machine");
  const parameters = [...new Set(series.flatMap((one) => Object.keys(one.parameters)))].sort();
  const along = fields.filter((name) => series.every((one) => numeric(one.fields[name]) !== null));
  const machines = [...new Set(series.map((one) => one.machine))];
  const tagged = new Map(data.tags.map(([tag, own]) =>
    [tag, new Set(own.map(([machine, session]) => JSON.stringify([machine, session])))]));
  const moments = new Map(data.sessions.map(([, started]) => [started, Date.parse(started)]));

  const state = new URLSearchParams(location.hash.slice(1));
  const controls = element("div", { className: "controls" });
  const select = (label, key, options) => {
    const made = element("select", { name: key },
      ...options.map(([value, text]) => element("option", { value }, text)));
    const wanted = state.get(key);
    if (options.some(([value]) => value === wanted)) made.value = wanted;
    made.addEventListener("input", draw);
    controls.append(element("label", {}, label, made));
    return made;
  };
  const day = (label, key) => {
    const made = element("input", { type: "date", name: key, value: state.get(key) || "" });
    made.addEventListener("input", draw);
    controls.append(element("label", {}, label, made));
    return made;
  };
  // A box for each name; none is ticked in the address where all are.
  const checks = (title, names) => {
    const group = element("fieldset", {}, element("legend", {}, title));
    const wanted = state.getAll("machine").filter((name) => names.includes(name));
    const found = names.map((name) => {
      const box = element("input", { type: "checkbox", name: "machine", value: name,
        checked: !wanted.length || wanted.includes(name) });
      box.addEventListener("change", draw);
      group.append(element("label", {}, box, name));
      return box;
    });
    controls.append(group);
    return found;
  };
  const metric = select("Metric", "metric", metrics.map((name) => [name, name]));
  const over = select("Over", "over", [["", "time"], ...along.map((name) => [name, name])]);
  const by = select("Lines for each", "by", [["", "one line"], ...fields.map((n) => [n, n])]);
  if (!state.has("by")) {
    by.value = machines.length > 1 ? "machine" : fields.find((name) => name !== "machine") || "machine";
  }
  const tag = select("Sessions with a run tagged", "tag",
    [["", "any"], ...[...tagged.keys()].sort().map((n) => [n, n])]);
  const from = day("From", "from"), to = day("To", "to");
  const boxes = checks("Machines", machines);
  // A parameter that is fixed keeps the sessions with one of its values; it is called `is-NAME`
  // in the address, so that no parameter can be taken for another control.
  const fixed = fields.filter((name) => name !== "machine").map((name) => {
    const found = [...new Set(series.map((one) => one.fields[name]))].filter((one) => one !== undefined)
      .sort((a, b) => (numeric(a) ?? Infinity) - (numeric(b) ?? Infinity) || (String(a) < String(b) ? -1 : 1));
    return [name, select(`Only ${name}`, `is-${name}`, [["", "all"], ...found.map((n) => [String(n), String(n)])])];
  });

  const picture = element("div", { className: "plot", tabIndex: 0 });
  const status = element("p", { className: "finding", role: "status" });
  const table = element("div", { className: "scroll", tabIndex: 0 });
  const links = element("p", {});
  let waiting = 0;
  place.replaceChildren(controls, status, picture, links, table);

  function chosen() {
    const own = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const asked = fixed.filter(([, control]) => control.value);
    const wanted = tagged.get(tag.value);
    return rows.filter((row) => row.metric === metric.value && own.has(row.machine)
      && asked.every(([name, control]) => String(row.fields[name]) === control.value)
      && (!wanted || wanted.has(JSON.stringify([row.machine, row.session])))
      && (!from.value || row.started.slice(0, 10) >= from.value)
      && (!to.value || row.started.slice(0, 10) <= to.value));
  }
  const x = (row) => over.value ? numeric(row.fields[over.value]) : moments.get(row.started);
  const label = (row) => by.value ? String(row.fields[by.value] ?? "not said") : metric.value;

  function draw() {
    const kept = new URLSearchParams();
    for (const one of [metric, over, by, from, to]) kept.set(one.name, one.value);
    for (const one of [tag, ...fixed.map(([, control]) => control)]) {
      if (one.value) kept.set(one.name, one.value);
    }
    if (!boxes.every((box) => box.checked)) {
      for (const box of boxes) if (box.checked) kept.append(box.name, box.value);
    }
    history.replaceState(null, "", `#${kept}`);
    const found = chosen().sort((a, b) => x(a) - x(b) || (a.started < b.started ? -1 : 1));
    const groups = new Map();
    for (const row of found) {
      if (!groups.has(label(row))) groups.set(label(row), []);
      groups.get(label(row)).push(row);
    }
    const unit = found.length ? found[0].unit : "";
    status.textContent = found.length
      ? `${found.length} sessions, from ${shown(Math.min(...found.map((r) => r.value)), unit)} to `
        + `${shown(Math.max(...found.map((r) => r.value)), unit)}.`
      : "No session is chosen.";
    const svg = chart(found, groups, unit);
    picture.replaceChildren(svg);
    const texts = { CSV: () => csv(found), JSON: () => JSON.stringify(found, null, 1),
                    Parquet: () => parquetOf(columns(found)), SVG: () => alone(svg) };
    links.replaceChildren("Take it along: ");
    for (const [name, text] of Object.entries(texts)) {
      const link = element("a", { href: "#", download: `${metric.value}.${name.toLowerCase()}` }, name);
      link.addEventListener("click", () => {
        link.href = URL.createObjectURL(new Blob([text()]));
      }, { once: true });
      links.append(link, " ");
    }
    waiting += 1;
    if (found.length <= MOST_ROWS) list(found, unit);
    else later(() => list(found, unit));
  }

  // A picture that is taken along has the page's colours in it, as they are on white.
  function alone(svg) {
    const style = "text{fill:#59626d;font:12px sans-serif}.grid{stroke:#d5dadf}";
    return new XMLSerializer().serializeToString(svg).replace(/^<svg[^>]*>/,
      (head) => `${head}<style>${style}</style><rect width="100%" height="100%" fill="#fff"/>`);
  }

  // How a line and its marks look, so that no two of the first twelve differ in colour alone.
  const look = (index) => ({ colour: COLOURS[index % COLOURS.length],
    dash: ["", "6 3", "2 2", "8 2 2 2"][index % 4], isRound: index % 2 === 0 });
  const mark = ({ colour, isRound }, cx, cy) => isRound
    ? drawn("circle", { cx, cy, r: 3.5, fill: colour })
    : drawn("rect", { x: cx - 3, y: cy - 3, width: 6, height: 6, fill: colour });
  // Sessions that differ in nothing but time are joined; others of a group have its looks alone.
  const joined = (own) => {
    const lines = new Map();
    for (const row of own) {
      if (!lines.has(row.fields)) lines.set(row.fields, []);
      lines.get(row.fields).push(row);
    }
    return [...lines.values()];
  };

  // A long table comes once the picture is painted; of several that wait, the last one.
  function later(then) {
    const own = waiting;
    table.replaceChildren();
    requestAnimationFrame(() => setTimeout(() => { if (own === waiting) then(); }));
  }

  function chart(found, groups, unit) {
    const legend = LEVEL * Math.max(0, Math.ceil(groups.size / LEGEND) - 1);  // what a long one takes
    const top = TOP + legend, height = HEIGHT + legend;
    const svg = drawn("svg", { class: "chart", width: WIDTH, height, role: "img",
      viewBox: `0 0 ${WIDTH} ${height}`, "aria-label": status.textContent });
    if (!found.length) return svg;
    const xs = found.map(x), ys = found.map((row) => row.value);
    const isLog = over.value && Math.min(...xs) > 0 && Math.max(...xs) / Math.min(...xs) >= 8;
    const scale = (value) => isLog ? Math.log(value) : value;
    const [left, right] = [scale(Math.min(...xs)), scale(Math.max(...xs))];
    const low = Math.min(0, ...ys), high = Math.max(...ys) || 1;
    const px = (value) => LEFT + (WIDTH - LEFT - RIGHT)
      * (right > left ? (scale(value) - left) / (right - left) : 0.5);
    const py = (value) => height - BOTTOM
      - (height - top - BOTTOM) * (value - low) / (high - low || 1);
    for (let tick = 0; tick <= 4; tick += 1) {
      const value = low + (high - low) * tick / 4;
      svg.append(drawn("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: py(value), y2: py(value) }),
        drawn("text", { x: LEFT - 8, y: py(value) + 4, "text-anchor": "end" }, shown(value, unit)));
    }
    const places = over.value ? [...new Set(xs)].slice(0, 12) : [xs[0], xs[xs.length - 1]];
    const names = new Map(found.map((row) => [x(row),
      over.value ? String(row.fields[over.value]) : row.started.slice(0, 10)]));
    places.forEach((value, index) => svg.append(drawn("text", { x: px(value), y: height - 16,
      "text-anchor": over.value ? "middle" : index ? "end" : "start" }, names.get(value))));
    [...groups].forEach(([name, own], index) => {
      const one = look(index);
      const point = (row) => `${px(x(row)).toFixed(1)},${py(row.value).toFixed(1)}`;
      for (const line of over.value ? [] : joined(own)) {
        svg.append(drawn("polyline", { points: line.map(point).join(" "), fill: "none",
          stroke: one.colour, "stroke-dasharray": one.dash }));
      }
      if (own.length > MOST_MARKS) {
        svg.append(drawn("path", { d: own.map((row) => `M${point(row)}h0`).join(""), fill: "none",
          stroke: one.colour, "stroke-width": one.isRound ? 7 : 6,
          "stroke-linecap": one.isRound ? "round" : "square" }));
      } else for (const row of own) svg.append(mark(one, ...point(row).split(",")));
      const at = LEFT + (index % LEGEND) * 160, level = 9 + LEVEL * Math.floor(index / LEGEND);
      if (!over.value) {
        svg.append(drawn("line", { x1: at - 8, x2: at + 14, y1: level, y2: level,
          stroke: one.colour, "stroke-dasharray": one.dash }));
      }
      svg.append(mark(one, at + 3, level),
        drawn("text", { x: at + 18, y: level + 3 }, name.slice(0, 22)));
    });
    return svg;
  }

  function list(found, unit) {
    const heads = ["Started", ...fields, metric.value, "Repetitions"];
    const body = found.slice(0, MOST_ROWS).map((row) => element("tr", {},
      ...[row.started.slice(0, 16).replace("T", " "), ...fields.map((n) => String(row.fields[n] ?? "–")),
          shown(row.value, unit), String(row.repetitions)].map((text) => element("td", {}, text))));
    const cut = found.length > MOST_ROWS ? `, the first ${MOST_ROWS} of ${found.length}` : "";
    table.replaceChildren(element("table", { className: "wide" },
      element("caption", {}, `Sessions${cut}`),
      element("thead", {}, element("tr", {},
        ...heads.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, ...body)));
  }

  function csv(found) {
    const cell = (value) => {
      const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
      return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
    };
    const heads = ["started", ...fields, metric.value, "unit", "repetitions"];
    const lines = found.map((row) => [row.started, ...fields.map((n) => row.fields[n] ?? ""),
      row.value, row.unit, row.repetitions]);
    return [heads, ...lines].map((line) => line.map(cell).join(",")).join("\n") + "\n";
  }

  // As the site's own Parquet file of all sessions has them; what a session does not have is not a
  // number, or an empty text.
  function columns(found) {
    const isNumber = (name) => found.every(({ fields: own }) =>
      own[name] === undefined || typeof own[name] === "number");
    const of = (pick) => found.map(pick);
    return new Map([["started", of((row) => row.started)], ["session", of((row) => row.session)],
      ["machine", of((row) => row.machine)], ["step", of((row) => row.fields.step)],
      ["metric", of((row) => row.metric)], ["unit", of((row) => row.unit)],
      ["value", of((row) => row.value)], ["repetitions", of((row) => row.repetitions)],
      ["ranks", of((row) => row.fields.ranks)],
      ...parameters.map((name) => [`parameter.${name}`,
        of((row) => row.fields[name] ?? (isNumber(name) ? NaN : ""))])]);
  }

  draw();
})();
