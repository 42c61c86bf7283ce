// Two sides of one workload to choose: machines, days, sessions or single runs, beside each other.
(() => {
  const data = globalThis.venturiData;
  const place = document.getElementById("explore");
  if (!data || !place) return;
  const CONFIDENCE = 0.95;

  // The median and its interval by order statistics, as every page of Venturi has them:
  // src/venturi/model/statistic.py says where the formula comes from; a test compares the two.
  const coverage = (n, k) => {
    let logarithm = -n * Math.LN2;  // of C(n, 0) / 2^n
    let below = 0;
    for (let i = 0; i < k; i += 1) {
      below += Math.exp(logarithm);
      logarithm += Math.log(n - i) - Math.log(i + 1);
    }
    return Math.max(0, 1 - 2 * below);
  };
  const interval = (values) => {
    const ordered = [...values].sort((a, b) => a - b);
    const n = ordered.length, half = Math.floor(n / 2);
    let best = 1;
    for (let k = 1; k <= half; k += 1) if (coverage(n, k) >= CONFIDENCE) best = k;
    const median = n % 2 ? ordered[half] : (ordered[half - 1] + ordered[half]) / 2;
    return { median, low: ordered[best - 1], high: ordered[n - best], coverage: coverage(n, best), n };
  };
  globalThis.venturiInterval = interval;

  const series = seriesOf(data);
  const runs = new Map((globalThis.venturiRuns || []).flatMap(({ points, metrics, runs: own }) =>
    own.map(([id, , machine, point, measures]) => [id, { machine, point: points[point],
      measures: measures.map(([index, ...values]) => [metrics[index], values]) }])));
  const machines = [...new Set(series.map((one) => one.machine))];
  const state = new URLSearchParams(location.hash.slice(1));
  const key = (one) => JSON.stringify([one.step, one.metric, one.unit, one.ranks,
    Object.entries(one.parameters).sort()]);
  const sessionsOf = (machine) => {
    const found = new Map();
    for (const one of series.filter((own) => own.machine === machine)) {
      for (const [started, , , session] of one.sessions) found.set(session, started);
    }
    return [...found].sort((a, b) => (a[1] < b[1] ? 1 : -1));
  };

  // In a store, machines without a file of their own are called as what starts ranks there.
  const inStore = (name) => name.replace(/^(local|openmpi|mpich)-[0-9a-f]{6}$/, "$1");
  const controls = element("div", { className: "controls" });
  const side = (title, prefix, preset) => {
    const group = element("fieldset", {}, element("legend", {}, title));
    const add = (label, name, input) => {
      input.name = `${prefix}-${name}`;
      group.append(element("label", {}, label, input));
      input.addEventListener("input", () => { if (name === "machine") list(); draw(); });
      return input;
    };
    const options = machines.map((name) => element("option", { value: name }, name));
    const machine = add("Machine", "machine", element("select", {}, ...options));
    const wanted = state.get(`${prefix}-machine`);
    machine.value = machines.includes(wanted) ? wanted : preset;
    const from = add("From", "from", element("input", { type: "date" }));
    const to = add("To", "to", element("input", { type: "date" }));
    const session = add("Session", "session", element("select", {}));
    const run = add("Run", "run", element("input", { type: "text", size: 32, autocomplete: "off" }));
    const found = () => runs.get(run.value.trim());
    run.setAttribute("list", `${prefix}-runs`);
    const names = element("datalist", { id: `${prefix}-runs` });
    group.append(names);
    const list = () => {
      session.replaceChildren(element("option", { value: "" }, "all"),
        ...sessionsOf(machine.value).map(([id, started]) =>
          element("option", { value: id }, `${started.slice(0, 16).replace("T", " ")} ${id}`)));
      names.replaceChildren(...[...runs].filter(([, one]) => one.machine === machine.value)
        .map(([id]) => element("option", { value: id })));
    };
    run.value = state.get(run.name) || "";
    if (found()) machine.value = found().machine;
    list();
    from.value = state.get(from.name) || "";
    to.value = state.get(to.name) || "";
    session.value = state.get(session.name) || "";
    if (session.selectedIndex < 0) session.value = "";
    controls.append(group);
    const inputs = [machine, from, to, session, run];
    const fits = ([started, , , id]) => (!from.value || started.slice(0, 10) >= from.value)
      && (!to.value || started.slice(0, 10) <= to.value)
      && (!session.value || id === session.value);
    const ofRun = ({ point: [step, ranks, parameters], measures }) => new Map(
      measures.map(([[metric, unit], values]) => {
        const one = { step, metric, unit, ranks, parameters };
        return [key(one), { one, values, count: `1 run of ${values.length}` }];
      }));
    const ofSessions = () => new Map(series.filter((one) => one.machine === machine.value)
      .map((one) => [key(one), one, one.sessions.filter(fits)]).filter(([, , rows]) => rows.length)
      .map(([name, one, rows]) => [name, { one, values: rows.map((row) => row[1]),
        count: rows.length === 1 ? `1 session of ${rows[0][2]}` : `${rows.length} sessions` }]));
    const values = () => {
      const own = found();
      if (own && own.machine !== machine.value) {
        machine.value = own.machine;
        list();
      }
      return own ? ofRun(own) : run.value.trim() ? new Map() : ofSessions();
    };
    const isWhole = () => !inputs.slice(1).some((input) => input.value);
    const words = () => (found() ? run.value.trim() : session.value ? `session:${session.value}`
      : from.value || to.value ? ""
        : `machine:${inStore(machine.value)},name:${data.name}`);
    return { inputs, values, isWhole, machine, words };
  };
  const first = side("First", "first", machines[0]);
  const second = side("Second", "second", machines[1] || machines[0]);
  const verdict = element("p", { className: "finding", role: "status" });
  const how = element("p", {});
  const table = element("div", { className: "scroll", tabIndex: 0 });
  place.replaceChildren(controls, verdict, how, table);

  const quoted = (text) => (/^[\w.:,-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);
  const command = () => {
    const sides = [first.words(), second.words()];
    return sides.every(Boolean) ? `venturi compare ${sides.map(quoted).join(" ")}`
      : "venturi compare tag:ONE tag:OTHER";
  };

  function judge(count) {
    const built = first.isWhole() && second.isWhole() && data.contrasts.find(([a, b]) =>
      (a === first.machine.value && b === second.machine.value));
    if (!count) {
      verdict.textContent = "The two sides have no metric in common: choose others.";
      how.replaceChildren();
    } else if (built) {
      const [, , address, headline] = built;
      verdict.textContent = headline;
      how.replaceChildren("That is the test of the newest five weeks: ",
        element("a", { href: `../${address}` }, "its page"), ".");
    } else {
      verdict.textContent = `${count} metrics in common.`;
      how.replaceChildren("Whether they differ significantly is judged by ",
        element("code", {}, command()), " where the results are (runs of chosen days get their tag ",
        "by venturi results tag); this page only sets them beside each other.");
    }
  }

  const cell = ({ values, count }, unit) => {
    if (values.length === 1) return [shown(values[0], unit), "–", count];
    const found = interval(values);
    const sure = found.coverage >= CONFIDENCE ? "" : ` (${Math.floor(100 * found.coverage)} %)`;
    return [shown(found.median, unit), `${shown(found.low, unit)} to ${shown(found.high, unit)}${sure}`,
            count];
  };
  const middle = ({ values }) => interval(values).median;

  function draw() {
    const kept = new URLSearchParams();
    for (const one of [...first.inputs, ...second.inputs]) if (one.value) kept.set(one.name, one.value);
    history.replaceState(null, "", `#${kept}`);
    const sides = [first.values(), second.values()];
    const common = [...sides[0].keys()].filter((name) => sides[1].has(name));
    judge(common.length);
    const heads = ["Metric", "Of", "First", "95 % interval", "Values", "Second", "95 % interval",
                   "Values", "Second / first"];
    const body = common.map((name) => {
      const [own, other] = sides.map((found) => found.get(name));
      const { one } = own;
      const said = Object.entries(one.parameters).map(([word, value]) => `${word} ${value}`);
      const ratio = middle(other) / middle(own);
      const texts = [one.metric, [one.step, `${one.ranks} rank${one.ranks === 1 ? "" : "s"}`, ...said].join(", "),
        ...cell(own, one.unit), ...cell(other, one.unit),
        Number.isFinite(ratio) ? ratio.toPrecision(3) : "–"];
      return element("tr", {}, ...texts.map((text) => element("td", {}, text)));
    });
    table.replaceChildren(element("table", { className: "wide" },
      element("caption", {}, "Medians of sessions, or of the repetitions of a run"),
      element("thead", {}, element("tr", {},
        ...heads.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, ...body)));
  }

  draw();
})();
