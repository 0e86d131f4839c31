// Charts: axes, bars, lines. A scale is a function from numbers to places.
function scale(low, high, from, to) {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

function ticks(low, high, wanted) {
  const rough = (high - low || 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) found.push(Number(value.toPrecision(12)));
  return found;
}

function frame(width, height, label, xs, ys, options = {}) {
  const box = { left: options.left ?? 52, right: width - 14, top: options.top ?? 12, bottom: height - 40 };
  const svg = picture(width, height, label);
  const x = scale(xs[0], xs[1], box.left, box.right);
  const y = scale(ys[0], ys[1], box.bottom, box.top);
  const wholes = (values, whole) => (whole ? values.filter(Number.isInteger) : values);
  for (const value of wholes(ticks(ys[0], ys[1], 4), options.wholeY)) {
    svg.append(shape("line", { class: "axis", x1: box.left, x2: box.right, y1: y(value), y2: y(value) }));
    svg.append(words(box.left - 7, y(value) + 4, value.toLocaleString("en"), { "text-anchor": "end" }));
  }
  for (const value of wholes(ticks(xs[0], xs[1], Math.max(3, width / 120)), options.wholeX)) {
    svg.append(words(x(value), box.bottom + 17, value.toLocaleString("en"), { "text-anchor": "middle" }));
  }
  svg.append(words((box.left + box.right) / 2, height - 5, options.xLabel ?? "", { "text-anchor": "middle" }));
  return { svg, x, y, box };
}

function legend(svg, entries, x, y) {
  let place = x;
  for (const [text, colour] of entries) {
    svg.append(shape("rect", { x: place, y: y - 9, width: 11, height: 11, rx: 2, fill: colour }));
    svg.append(words(place + 16, y + 1, text));
    place += 30 + 6.6 * text.length;
  }
}

function histogram(width) {
  const { all, true: right, least } = data.histogram;
  const most = Math.max(...all, 1);
  const label = "Histogram of pair probabilities";
  const { svg, x, y } = frame(width, 240, label, [0, 1], [0, most * 1.08], {
    xLabel: `probability of being one person (pairs of at least ${least})`, wholeY: true, top: right ? 30 : 12,
  });
  const wide = x(0.05) - x(0) - 2;
  all.forEach((count, bin) => {
    const true_ = right ? right[bin] : count;
    const tip = `${number(count)} pairs between ${(bin / 20).toFixed(2)} and ${((bin + 1) / 20).toFixed(2)}` + (right ? `, ${number(true_)} of them true` : "");
    const bar = (from, to, fill) => to > from && svg.append(shape("rect", { x: x(bin / 20) + 1, width: wide, y: y(to), height: y(from) - y(to), rx: 1.5, style: `fill:var(${fill})` }, shape("title", {}, tip)));
    bar(0, true_, "--bar");
    bar(true_, count, "--second");
  });
  if (right) legend(svg, [["true matches", "var(--bar)"], ["no matches", "var(--second)"]], 56, 14);
  return svg;
}

function calibration(width) {
  const size = Math.min(width, 400);
  const { svg, x, y } = frame(size, size, "Calibration", [0, 1], [0, 1], { xLabel: "predicted probability", top: 24 });
  svg.append(words(52, 12, "share of matches"));
  svg.append(shape("line", { x1: x(0), y1: y(0), x2: x(1), y2: y(1), stroke: "var(--faint)", "stroke-dasharray": "5 4" }));
  const { p, share, pairs } = data.calibration;
  p.forEach((value, bin) => {
    const n = pairs[bin], s = share[bin];
    const centre = (s + 1.92 / n) / (1 + 3.84 / n);
    const half = (1.96 * Math.sqrt((s * (1 - s)) / n + 0.96 / n ** 2)) / (1 + 3.84 / n);
    svg.append(shape("line", { x1: x(value), x2: x(value), y1: y(centre - half), y2: y(centre + half), stroke: "var(--bar)", "stroke-width": 4, opacity: 0.4 }));
    svg.append(shape("circle", { class: "dot", cx: x(value), cy: y(s), r: 5, style: "fill:var(--bar)" }, shape("title", {}, `${number(n)} pairs, said ${value.toFixed(2)}, true ${s.toFixed(2)}`)));
    svg.append(words(x(value) - 7, s > 0.5 ? y(s) + 16 : y(s) - 8, number(n), { "text-anchor": "end" }));
  });
  return svg;
}

function countChart(width) {
  const { n, posterior, prior } = data.count;
  const low = Math.min(...n, ...(prior ? prior.n.slice(0, 1) : [])), high = Math.max(...n, ...(prior ? prior.n.slice(-1) : []));
  const most = Math.max(...posterior, ...(prior ? prior.p : []));
  const { svg, x, y, box } = frame(width, 220, "Prior and posterior of the number of persons", [low - 0.5, high + 0.5], [0, most * 1.1], {
    xLabel: "number of persons N", wholeX: true, top: 30,
  });
  const wide = Math.max(1.5, Math.min(30, x(1) - x(0) - 1));
  n.forEach((value, place) => {
    const tip = `${number(value)} persons: posterior ${posterior[place].toFixed(3)}`;
    svg.append(shape("rect", { x: x(value) - wide / 2, width: wide, y: y(posterior[place]), height: box.bottom - y(posterior[place]), style: "fill:var(--bar)" }, shape("title", {}, tip)));
  });
  const entries = [["posterior", "var(--bar)"]];
  if (prior) {
    const line = prior.n.map((value, place) => `${x(value).toFixed(1)},${y(prior.p[place]).toFixed(1)}`).join(" ");
    svg.append(shape("polyline", { points: line, fill: "none", stroke: "var(--second)", "stroke-width": 2 }));
    if (prior.n.length === 1) svg.append(shape("circle", { cx: x(prior.n[0]), cy: y(prior.p[0]), r: 4, style: "fill:var(--second)" }));
    entries.push(["prior", "var(--second)"]);
  }
  legend(svg, entries, 56, 14);
  return svg;
}

function traces(width) {
  return data.traces.map((trace) => {
    const values = trace.chains.flat();
    let low = Math.min(...values), high = Math.max(...values);
    if (low === high) [low, high] = [low - 1, high + 1];
    const last = trace.draws[trace.draws.length - 1];
    const { svg, x, y } = frame(width, 190, `Trace: ${trace.name}`, [1, Math.max(2, last)], [low, high], { xLabel: "draw", top: 26, left: 62, wholeX: true });
    svg.append(words(62, 13, trace.name, { class: "strong" }));
    trace.chains.forEach((chain, place) => {
      const line = chain.map((value, draw) => `${x(trace.draws[draw]).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
      svg.append(shape("polyline", { points: line, fill: "none", stroke: CHAIN_COLOURS[place % 5], opacity: 0.75 }, shape("title", {}, `chain ${place + 1}`)));
    });
    return svg;
  });
}

// A long text in two lines, cut where even these are too short.
function inTwo(text, most) {
  if (text.length <= most) return [text];
  const space = text.lastIndexOf(" ", most);
  const at = space > most / 3 ? space : most;
  const rest = text.slice(at).trim();
  return [text.slice(0, at), rest.length > most ? rest.slice(0, most - 1) + "…" : rest];
}

// Bars from top to bottom: each from where the one before ended (a waterfall, with its sum), or each from 0.
function bars(entries, width, label, stacked = false) {
  const ends = entries.map((_, place) => (stacked ? entries.slice(0, place + 1).reduce((sum, [, value]) => sum + value, 0) : entries[place][1]));
  const left = Math.min(190, width * 0.42), most = Math.floor(left / 6.8);
  const rows = entries.map(([part, value, fill], place) => ({ part, value, end: ends[place], fill: fill ?? (value >= 0 ? "var(--bar)" : "var(--second)") }));
  if (stacked) rows.push({ part: "log-odds", value: ends.at(-1), end: ends.at(-1), fill: "var(--ink)", strong: true });
  const low = Math.min(0, ...ends), high = Math.max(0, ...ends);
  const x = scale(low, high, left + 46, width - 44);
  let bottom = 0;
  for (const row of rows) {
    row.lines = inTwo(row.part, most);
    row.top = bottom;
    bottom += row.lines.length > 1 ? 34 : 24;
  }
  const svg = picture(width, bottom + 22, label);
  rows.forEach(({ part, value, end, fill, strong, lines, top }) => {
    const from = x(end - value), to = x(end), y = top + (lines.length > 1 ? 9 : 4);
    lines.forEach((text, line) => svg.append(words(left, y + 12 + (line - (lines.length - 1) / 2) * 14, text, { "text-anchor": "end", class: strong ? "strong" : "" })));
    svg.lastChild.append(shape("title", {}, part));
    svg.append(shape("rect", { x: Math.min(from, to), width: Math.max(1, Math.abs(to - from)), y, height: 15, rx: 2, style: `fill:${fill}` }));
    const sign = (value >= 0 ? "+" : "−") + Math.abs(value).toFixed(1);
    svg.append(words(value >= 0 ? Math.max(from, to) + 4 : Math.min(from, to) - 4, y + 12, sign, { "text-anchor": value >= 0 ? "start" : "end" }));
  });
  svg.append(shape("line", { x1: x(0), x2: x(0), y1: 0, y2: bottom, stroke: "var(--faint)" }));
  svg.append(words(Math.min(x(0), width - 40) - 8, bottom + 16, "◂ against", { "text-anchor": "end" }));
  svg.append(words(Math.min(x(0), width - 40) + 8, bottom + 16, "for ▸"));
  return svg;
}

// Ties are shown by the people they are with; what is left over is no evidence, and grey.
function waterfall(row, width) {
  const { why, who, rest, parts } = data.links;
  const entries = why[row].flatMap((value, place) => {
    if (parts[place] === "ties" && who[row].length) return who[row];
    return [parts[place] === "all else" ? [`all else: ${rest[row]}`, value, "var(--faint)"] : [parts[place], value]];
  });
  return bars(entries, width, "Evidence, part by part", true);
}
