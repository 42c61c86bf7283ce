// Two sides of one workload to choose: machines, tags, weeks, days, sessions or single runs, and
// whether they differ, by the test of `venturi compare`.
(() => {
  const data = globalThis.venturiRuns;
  const place = document.getElementById("explore");
  if (!data || !place) return;
  const CONFIDENCE = 0.95;
  const DAY_MS = 86400e3, WEEK_DAYS = 7, BEFORE_DAYS = 28;
  const MOST_AT_ONCE = 600;  // runs; more are judged once the page is painted
  const MOST_NAMED = 2000;  // runs among which a name is completed

  const runs = data.flatMap(({ machine, points, metrics, sessions, runs: own }) =>
    own.map(([id, started, point, session, measures, tags]) => {
      const [title, ranks, parameters, key] = points[point];
      return { id, started, machine, title, ranks, parameters, key, session: sessions[session],
        tags: tags || [], isInvalid: measures === null,
        metrics: new Map((measures || []).map(([index, ...values]) => {
          const [name, unit, better, condition, of] = metrics[index];
          return [name, { unit, better, condition, of, values }];
        })) };
    })).sort((a, b) => (a.started < b.started ? -1 : a.started > b.started ? 1 : 0));
  const distinct = (values) => [...new Set(values)];
  const machines = distinct(runs.map((run) => run.machine)).sort();
  const tags = distinct(runs.flatMap((run) => run.tags)).sort();
  const day = (run) => run.started.slice(0, 10);
  const moved = (date, days) => new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
  const monday = (date) => moved(date, -((new Date(date).getUTCDay() + 6) % 7));
  const weeks = distinct(runs.map((run) => monday(day(run)))).reverse();
  const newest = (own) => (own.length ? day(own[own.length - 1]) : "");
  const state = new URLSearchParams(location.hash.slice(1));

  // What is compared before anybody chose: two machines in their last five weeks; of one machine
  // the last week and the four before it.
  function preset(prefix) {
    const machine = machines[prefix === "second" && machines.length > 1 ? 1 : 0];
    const last = newest(runs.filter((run) => run.machine === machine && !run.isInvalid));
    if (!last) return { machine };
    const begin = moved(last, -WEEK_DAYS - BEFORE_DAYS), week = moved(last, 1 - WEEK_DAYS);
    if (machines.length > 1) return { machine, from: begin };
    return prefix === "first" ? { machine, from: begin, to: moved(week, -1) } : { machine, from: week };
  }

  const controls = element("div", { className: "controls" });
  const option = (value, text) => element("option", { value }, text);
  function side(title, prefix) {
    const group = element("fieldset", {}, element("legend", {}, title));
    const add = (label, name, input, changed = draw) => {
      input.name = `${prefix}-${name}`;
      group.append(element("label", {}, label, input));
      input.addEventListener("input", changed);
      return input;
    };
    const machine = add("Machine", "machine", element("select", {}, option("", "all"),
      ...machines.map((name) => option(name, name))), () => { list(); draw(); });
    const tag = add("Tag", "tag", element("select", {}, option("", "any"),
      ...tags.map((name) => option(name, name))));
    const week = add("Week", "week", element("select", {}, option("", "any"),
      ...weeks.map((begin) => option(begin, `from ${begin}`))), () => {
      [from.value, to.value] = week.value ? [week.value, moved(week.value, WEEK_DAYS - 1)] : ["", ""];
      draw();
    });
    const from = add("From", "from", element("input", { type: "date" }));
    const to = add("To", "to", element("input", { type: "date" }));
    const session = add("Session", "session", element("select", {}));
    const run = add("Run", "run", element("input", { type: "text", size: 32, autocomplete: "off" }));
    const names = element("datalist", { id: `${prefix}-runs` });
    run.setAttribute("list", names.id);
    group.append(names);
    controls.append(group);
    const inputs = [machine, tag, from, to, session, run];
    const own = () => runs.filter((one) => !machine.value || one.machine === machine.value);
    const list = () => {
      const kept = session.value;
      const starts = new Map(own().map((one) => [one.session, one.started]).reverse());
      session.replaceChildren(option("", "all"), ...[...starts].map(([id, started]) =>
        option(id, `${started.slice(0, 16).replace("T", " ")} ${id}`)));
      session.value = starts.has(kept) ? kept : "";
      names.replaceChildren(...own().reverse().slice(0, MOST_NAMED).map(({ id }) => element("option", { value: id })));
    };
    const isSaid = inputs.some((input) => state.has(input.name));
    const wanted = isSaid ? Object.fromEntries(inputs.map((input) =>
      [input.name.slice(prefix.length + 1), state.get(input.name) || ""])) : preset(prefix);
    const set = (input, value = "") => {
      input.value = value;
      if (input.value !== value) input.value = "";
    };
    set(machine, wanted.machine);
    list();
    for (const [input, name] of [[tag, "tag"], [from, "from"], [to, "to"], [session, "session"], [run, "run"]]) {
      set(input, wanted[name]);
    }
    const chosen = () => {
      week.value = from.value && to.value === moved(from.value, WEEK_DAYS - 1) ? from.value : "";
      if (week.selectedIndex < 0) week.value = "";
      const id = run.value.trim();
      if (id) return runs.filter((one) => one.id === id);
      return own().filter((one) => (!tag.value || one.tags.includes(tag.value))
        && (!from.value || day(one) >= from.value) && (!to.value || day(one) <= to.value)
        && (!session.value || one.session === session.value));
    };
    // What chooses the same runs at a terminal; empty where no word does. In a store, machines
    // without a file of their own are called as what starts ranks there.
    const words = () => {
      if (run.value.trim()) return run.value.trim();
      if (from.value || to.value) return "";
      const inStore = machine.value.replace(/^(local|openmpi|mpich)-[0-9a-f]{6}$/, "$1");
      return [tag.value && `tag:${tag.value}`, session.value && `session:${session.value}`,
        machine.value && `machine:${inStore}`, `name:${data[0].name}`].filter(Boolean).join(",");
    };
    return { inputs, chosen, words };
  }
  const verdict = element("p", { className: "finding", role: "status" });
  const how = element("p", {});
  const table = element("div", { className: "scroll", tabIndex: 0 });
  let waiting = 0;
  const both = [side("First", "first"), side("Second", "second")];
  place.replaceChildren(controls, verdict, how, table);

  const quoted = (text) => (/^[\w.:,@+-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);
  function explain(found) {
    const said = both.map(({ words }) => words());
    const command = said.every(Boolean) ? `venturi compare ${said.map(quoted).join(" ")}`
      : "venturi compare tag:ONE tag:OTHER";
    const few = found.judged > 1 ? `p is adjusted for all ${found.judged} metrics (permutation max-T). `
      : "p is the share of relabellings of the values that differ as much. ";
    const serial = found.serial ? "Values resemble the ones before them, so standard errors were taken "
      + "3 times as large as those of independent values, in place of 1.5 times. " : "";
    const only = found.only.map((count, index) => (count
      ? `${count} points are only in the ${index ? "second" : "first"}. ` : "")).join("");
    how.replaceChildren(`${found.judged ? few : ""}${serial}${only}The same at a terminal: `,
      element("code", {}, command),
      said.every(Boolean) ? "." : " once the runs of these days have a tag (venturi results tag).");
  }

  const cells = ({ median, low, high, coverage, n }, { unit, isSeveral }) => {
    const word = isSeveral ? "session" : "repetition";
    const count = `${n} ${word}${n === 1 ? "" : "s"}`;
    if (n === 1) return [shown(median, unit), "–", count];
    const sure = coverage >= CONFIDENCE ? "" : ` (${Math.floor(100 * coverage)} %)`;
    return [shown(median, unit), `${shown(low, unit)} to ${shown(high, unit)}${sure}`, count];
  };
  function show(found) {
    verdict.textContent = found.headline;
    explain(found);
    const heads = ["Metric", "Of", "First", "95 % interval", "Values", "Second", "95 % interval",
                   "Values", "Second / first", "Its interval", "p (adjusted)", "Verdict"];
    const parts = [...found.parts].sort((a, b) => Number(b.rows.some(setComparison.isSignificant))
      - Number(a.rows.some(setComparison.isSignificant)));
    const three = (value) => (value === null ? "–" : setComparison.general(value, 3));
    const body = parts.flatMap((part) => part.rows.map((row) => {
      const said = Object.entries(part.parameters).map(([word, value]) => `${word} ${value}`);
      const texts = [row.name,
        [part.title, `${part.ranks} rank${part.ranks === 1 ? "" : "s"}`, ...said].join(", "),
        ...cells(row.first, row), ...cells(row.second, row), three(row.ratio),
        row.low === null ? "–" : `${three(row.low)} to ${three(row.high)}`,
        setComparison.pOf(row.p_adjusted)];
      return element("tr", {}, ...texts.map((text) => element("td", {}, text)),
        element("td", {}, element("span", { className: row.is_worse ? "bad" : "" }, setComparison.verdictOf(row))));
    }));
    table.replaceChildren(element("table", { className: "wide" },
      element("caption", {}, "Medians of sessions, or of the repetitions where each side has one session"),
      element("thead", {}, element("tr", {},
        ...heads.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, ...body)));
  }

  function judge(sides) {
    const found = setComparison.compare(...sides);
    if (found) {
      show(found);
      return;
    }
    const empty = sides.map((own) => !own.some((run) => !run.isInvalid && run.metrics.size));
    verdict.textContent = empty[0] || empty[1]
      ? `The ${empty[0] ? "first" : "second"} side has no run that measured anything: choose another.`
      : "The two sides have no metric in common: choose others.";
    how.replaceChildren();
    table.replaceChildren();
  }

  function draw() {
    const kept = new URLSearchParams();
    for (const { inputs } of both) for (const one of inputs) if (one.value) kept.set(one.name, one.value);
    const sides = both.map(({ chosen }) => chosen());
    history.replaceState(null, "", `#${kept}`);
    waiting += 1;
    const own = waiting, count = sides[0].length + sides[1].length;
    if (count <= MOST_AT_ONCE) {
      judge(sides);
      return;
    }
    verdict.textContent = `Judging ${count} runs …`;
    how.replaceChildren();
    table.replaceChildren();
    requestAnimationFrame(() => setTimeout(() => { if (own === waiting) judge(sides); }));
  }

  draw();
})();
