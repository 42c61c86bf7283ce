// Filters over tables that are there without them: by words, by numbers, by columns, in an order.
"use strict";
(() => {
  const element = (name, attributes, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key in made) made[key] = value; else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  };
  const number = (text) => {
    const found = parseFloat(text.replace(/[,\u00a0 ]/g, ""));
    return Number.isNaN(found) ? null : found;
  };
  const CHOSEN = ["BoF", "Year", "Vendor", "File system", "Class", "Reproducibility", "Machine",
    "Verdict"];

  const filter = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const titles = heads.map((cell) => cell.textContent);
    const rows = [...table.tBodies[0].rows];
    const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent));
    const wanted = new URLSearchParams(location.hash.slice(1));
    const controls = element("div", { className: "controls" });
    const count = element("p", { className: "muted small", role: "status" });
    const tests = [];
    const boxes = [];

    const add = (label, key, input, test) => {
      input.value = wanted.get(key) || "";
      controls.append(element("label", {}, label, input));
      input.addEventListener("input", apply);
      tests.push({ key, input, test });
    };
    const distinct = (at) =>
      [...new Set(texts.map((row) => row[at]).filter((text) => text))].sort();
    const select = (choices) => {
      const all = element("option", { value: "" }, "all");
      const made = element("select", {}, all);
      for (const text of choices) made.append(element("option", { value: text }, text));
      return made;
    };

    function apply() {
      const state = new URLSearchParams();
      for (const { key, input } of tests) if (input.value) state.set(key, input.value);
      const hidden = [...boxes.keys()].filter((at) => !boxes[at].checked);
      if (hidden.length) state.set("hide", hidden.join("."));
      let shown = 0;
      rows.forEach((row, index) => {
        const fits = tests.every(({ input, test }) => !input.value || test(texts[index], input.value));
        row.hidden = !fits;
        shown += fits;
      });
      count.textContent = `${shown} of ${rows.length} rows`;
      history.replaceState(null, "", `#${state}`);
    }

    const words = (row, text) => row.join(" ").toLowerCase().includes(text.toLowerCase());
    add("Words", "words", element("input", { type: "search" }), words);
    titles.forEach((title, at) => {
      if (CHOSEN.includes(title)) {
        add(title, title, select(distinct(at)), (row, text) => row[at] === text);
      }
      if (title === "#") {
        add("Place", "place", select(["alone", "shared"]), (row, text) =>
          /^\d/.test(row[at]) && row[at].endsWith("=") === (text === "shared"));
      }
      if (title === "Interval") {
        add("Repetition interval", "interval", select(["with", "without"]),
            (row, text) => (row[at] !== "") === (text === "with"));
      }
      if (title === "Nodes") {
        add("Ten nodes", "ten", select(["ten", "other"]),
            (row, text) => (number(row[at]) === 10) === (text === "ten"));
        const least = element("input", { type: "number", min: 1 });
        const most = element("input", { type: "number", min: 1 });
        add("Nodes, at least", "least", least, (row, text) => number(row[at]) >= Number(text));
        add("Nodes, at most", "most", most,
            (row, text) => number(row[at]) !== null && number(row[at]) <= Number(text));
      }
    });

    const columns = element("fieldset", {}, element("legend", {}, "Columns"));
    const left = (wanted.get("hide") || "").split(".");
    titles.forEach((title, at) => {
      const box = element("input", { type: "checkbox", checked: !left.includes(String(at)) });
      const show = () => {
        for (const row of [heads, ...rows.map((one) => one.cells)]) row[at].hidden = !box.checked;
      };
      box.addEventListener("change", () => { show(); apply(); });
      if (!box.checked) show();
      boxes.push(box);
      columns.append(element("label", {}, box, title));
    });
    controls.append(columns);

    heads.forEach((cell, at) => {
      const button = element("button", { type: "button", className: "order" }, cell.textContent);
      button.addEventListener("click", () => {
        const up = cell.getAttribute("aria-sort") !== "ascending";
        for (const one of heads) one.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", up ? "ascending" : "descending");
        const isNumber = cell.className === "num";
        const value = (row) => {
          const text = row.cells[at].textContent;
          return isNumber ? (number(text) ?? -Infinity) : text.toLowerCase();
        };
        const sorted = rows.map((row) => [value(row), row]);
        sorted.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (up ? 1 : -1));
        table.tBodies[0].append(...sorted.map(([, row]) => row));
      });
      cell.replaceChildren(button);
    });

    table.closest(".scroll").before(controls, count);
    apply();
  };

  for (const table of document.querySelectorAll("table[data-filter]")) filter(table);
})();
