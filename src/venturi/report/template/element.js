// What scripts of pages on which people choose have in common; it stands before them.
"use strict";
const element = (name, attributes, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key in made) made[key] = value; else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
};
const shown = (value, unit) => {
  const bytes = unit === "B/s" || unit === "B";
  const base = bytes ? 1024 : 1000;
  const names = bytes ? ["", "Ki", "Mi", "Gi", "Ti", "Pi"] : ["", "k", "M", "G", "T", "P"];
  let step = 0;
  if (bytes || /^(op|1|flop)\/s$/.test(unit)) {
    while (Math.abs(value) >= base && step < names.length - 1) { value /= base; step += 1; }
  }
  return `${Number(value.toPrecision(3))} ${names[step]}${unit}`.trim();
};

// The series of a workload's data, each session as its start, value, repetitions and name.
const seriesOf = (data) => data.series.map((one) => ({
  ...one,
  sessions: one.at.map((at, index) => [data.sessions[at][1], one.values[index],
    Array.isArray(one.repetitions) ? one.repetitions[index] : one.repetitions,
    data.sessions[at][0]]),
}));
