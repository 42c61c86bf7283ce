// What did not come until now: the page says when each subject is late, the browser has the clock.
(() => {
  const MOST_NAMED = 4;
  const table = document.querySelector('table[data-filter="due"]');
  if (!table) return;
  const late = [...table.tBodies[0].rows].filter((row) => {
    const moment = Date.parse(`${row.cells[4].textContent.replace(/\s/, "T")}Z`);
    return moment < Date.now();
  });
  if (!late.length) return;
  for (const row of late) row.cells[4].append(" ", element("span", { className: "bad" }, "late"));
  const names = late.slice(0, MOST_NAMED).map((row) => `${row.cells[1].textContent} on ${row.cells[0].textContent}`);
  const more = late.length > MOST_NAMED ? ` and ${late.length - MOST_NAMED} more` : "";
  const all = late.length === table.tBodies[0].rows.length;
  const text = `${all ? "Everything stopped" : `${late.length} subjects are late`} by the clock of this browser: `
    + `${names.join(", ")}${more}. They did not run, or this site was not built since.`;
  document.getElementById("main").prepend(
    element("p", { className: "remark is-bad", role: "status" }, text));
})();
