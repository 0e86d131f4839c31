// What a threshold would cost, which fields carry the links, and persons with all their records.
function thresholdTool() {
  const { links: counts, expected, total, right, matches } = data.threshold;
  const slider = element("input", { type: "range", min: 0, max: counts.length - 1, value: Math.round((counts.length - 1) / 2), "aria-label": "Threshold", oninput: show });
  const words = element("p", { role: "status" });
  const share = (part, whole) => (whole > 0 ? Math.min(1, part / whole).toFixed(3) : "–");
  function show() {
    const at = Number(slider.value), limit = (at / (counts.length - 1)).toFixed(2);
    const truth = right ? ` Against the truth: precision ${share(right[at], counts[at])}, recall ${share(right[at], matches)}.` : "";
    words.textContent = `Linking every pair above ${limit}: ${number(counts[at])} links, expected precision ${share(expected[at], counts[at])}, expected recall ${share(expected[at], total)}.${truth}`;
  }
  show();
  return [slider, words];
}

function fieldWeights(width) {
  const rows = every.filter((row) => links.why[row] && links.decision[row] === 0);
  if (!rows.length) return [element("p", { class: "note" }, "No link was taken apart.")];
  const means = links.parts.map((part, place) => [part, rows.reduce((sum, row) => sum + links.why[row][place], 0) / rows.length]);
  const shown = means.filter(([part]) => Object.hasOwn(data.fields, part) || part === "ties" || part.endsWith(" together")).sort((a, b) => b[1] - a[1]);
  const note = element("p", { class: "note" }, `Mean over ${number(rows.length)} links, in log-odds.`);
  return [bars(shown, width, "Mean evidence of each field over all links"), note];
}

function clusterTable() {
  const fields = Object.keys(data.fields);
  const cell = (values) => {
    const known = [...new Set(values.filter((value) => value !== null))];
    return element("td", { class: known.length ? null : "missing" }, ...(known.length ? known : ["–"]).map((value) => element("span", { class: known.length > 1 ? "two other" : "two", dir: "auto" }, value)));
  };
  const heads = ["records", "probability", ...fields];
  const rows = data.clusters.shown.map(([records, share]) => element("tr", {},
    element("td", {}, ...records.map((record) => element("span", { class: "two", dir: "auto" }, recordName(record)))),
    element("td", { class: "number" }, share.toFixed(2)),
    ...fields.map((field) => cell(records.map((record) => valueOf(field, record)))),
  ));
  for (const row of rows) [...row.cells].forEach((made, place) => { made.dataset.head = heads[place]; });
  return [element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))), element("tbody", {}, ...rows)))];
}
