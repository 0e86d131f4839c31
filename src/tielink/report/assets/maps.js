// Networks, neighbourhoods, the latent space, and records with their persons.
const marked = new Map();
function remember(person, node) {
  if (person < 0) return;
  if (!marked.has(person)) marked.set(person, new Set());
  marked.get(person).add(node);
}

function point(record) {
  const person = data.persons[record];
  const told = document.getElementById("pointed");
  document.querySelectorAll("svg .hot").forEach((node) => node.classList.remove("hot"));
  if (person >= 0) (marked.get(person) ?? []).forEach((node) => node.isConnected && node.classList.add("hot"));
  if (!told) return;
  const partners = person < 0 ? [] : Object.entries(data.persons).flatMap(([place, other]) => (other === person && Number(place) !== record ? [Number(place)] : []));
  told.textContent = describe(record) + (partners.length ? "  =  " + partners.map(describe).join("  =  ") : "  is linked to nobody");
}

function dot(record, x, y, radius, fill, marker = 0) {
  const person = data.persons[record];
  const attributes = { class: "dot" + (fill ? "" : " none"), onpointerenter: () => point(record), onclick: () => point(record), "data-person": person };
  if (fill) attributes.style = `fill:${fill}`;
  const node = marker % 2
    ? shape("rect", { ...attributes, x: x - radius * 0.9, y: y - radius * 0.9, width: radius * 1.8, height: radius * 1.8 }, shape("title", {}, describe(record)))
    : shape("circle", { ...attributes, cx: x, cy: y, r: radius }, shape("title", {}, describe(record)));
  remember(person, node);
  return node;
}

function networkMap(entry, width) {
  const size = Math.min(width, 520);
  const svg = picture(size, size, `Network of ${data.files[entry.file]}`);
  const place = (values) => (index) => ((values[index] + 1) / 2) * (size - 24) + 12;
  const x = place(entry.x), y = place(entry.y);
  const paths = ["", ""];
  entry.shared.forEach((shared, tie) => {
    const [a, b] = [entry.ties[2 * tie], entry.ties[2 * tie + 1]];
    paths[shared] += `M${x(a).toFixed(1)} ${y(a).toFixed(1)}L${x(b).toFixed(1)} ${y(b).toFixed(1)}`;
  });
  svg.append(shape("path", { class: "tie", d: paths[0] }), shape("path", { class: "tie shared", d: paths[1] }));
  const order = entry.records.map((_, index) => index).sort((a, b) => data.persons[entry.records[a]] - data.persons[entry.records[b]]);
  for (const index of order) {
    const person = data.persons[entry.records[index]];
    svg.append(dot(entry.records[index], x(index), y(index), person < 0 ? 3.2 : 5.6, person < 0 ? null : data.colours[person]));
  }
  return svg;
}

function networkMaps() {
  const box = document.getElementById("network-maps");
  if (!box) return;
  data.networks.forEach((entry, place) => {
    const id = `network-${place}`;
    const size = data.offsets[entry.file + 1] - data.offsets[entry.file];
    const heading = element("h3", { dir: "auto" }, `${data.files[entry.file]}: ${number(size)} records`);
    box.append(element("div", {}, heading, element("div", { id }), entry.note ? element("p", { class: "note" }, entry.note) : ""));
    draw(id, (width) => networkMap(entry, width));
  });
}

function latentMap(width) {
  const { records, x: xs, y: ys } = data.latent;
  const flat = ys.every((value) => value === 0);
  const height = flat ? 120 : Math.min(width, 620);
  const svg = picture(width, height + 26, "Latent space");
  const span = Math.max(Math.max(...xs) - Math.min(...xs), flat ? 0 : Math.max(...ys) - Math.min(...ys)) || 1;
  const unit = Math.min(width - 40, flat ? width - 40 : height - 40) / span;
  const middle = (values) => (Math.max(...values) + Math.min(...values)) / 2;
  const [mx, my] = [middle(xs), middle(ys)];
  const across = (index) => width / 2 + (xs[index] - mx) * unit;
  const down = (index) => 26 + height / 2 - (ys[index] - my) * unit;
  const groups = new Map();
  records.forEach((record, index) => {
    const person = data.persons[record];
    if (person >= 0) groups.set(person, [...(groups.get(person) ?? []), index]);
  });
  for (const group of groups.values()) {
    for (const other of group.slice(1)) svg.append(shape("line", { x1: across(group[0]), y1: down(group[0]), x2: across(other), y2: down(other), stroke: "var(--soft)", "stroke-width": 1.2 }));
  }
  // Later files below and larger, so that records at the same place can both be seen.
  for (const index of records.map((_, place) => place).reverse()) {
    const file = fileOf(records[index]), person = data.persons[records[index]];
    svg.append(dot(records[index], across(index), down(index), person < 0 ? 3.4 : 4.4 + 1.6 * file, person < 0 ? null : data.colours[person], file));
  }
  let place = 10;
  data.files.forEach((file, number) => {
    const text = Array.from(file).slice(0, 24).join("");
    svg.append(number % 2 ? shape("rect", { x: place - 5, y: 5, width: 10, height: 10, class: "none" }) : shape("circle", { cx: place, cy: 10, r: 5, class: "none" }));
    svg.append(words(place + 10, 14, text));
    place += 40 + 7 * text.length;
  });
  return svg;
}

// The neighbours of every record, made when first asked for.
let around = null;
function neighbours(record) {
  if (!around) {
    around = new Map();
    for (const ties of data.ties) {
      for (let tie = 0; ties && tie < ties.length; tie += 2) {
        for (const [a, b] of [[ties[tie], ties[tie + 1]], [ties[tie + 1], ties[tie]]]) {
          if (!around.has(a)) around.set(a, []);
          around.get(a).push(b);
        }
      }
    }
  }
  return around.get(record) ?? [];
}

const PAIR_COLOURS = ["#2f86c6", "#e08a00", "#1fa37a", "#c46aa0", "#8a6d3b", "#56b4e9", "#b5651d", "#6a5acd"];
const MOST_NEIGHBOURS = 22;

function neighbourhood(a, b, width) {
  const person = (record) => data.persons[record];
  const mine = [neighbours(a), neighbours(b)];
  const shared = mine[0].map(person).filter((one) => one >= 0 && mine[1].some((other) => person(other) === one));
  const common = [...new Set(shared)].filter((one) => one !== person(a) || one !== person(b)).slice(0, MOST_NEIGHBOURS);
  const half = width / 2, radius = Math.min(half / 2 - 16, 92), height = 2 * radius + 66;
  const svg = picture(width, height, "Neighbourhoods of the two records");
  const lists = mine.map((list) => {
    const first = common.map((one) => list.find((record) => person(record) === one));
    const rest = list.filter((record) => !first.includes(record));
    return { first, rest: rest.slice(0, MOST_NEIGHBOURS - first.length), left: Math.max(0, rest.length - (MOST_NEIGHBOURS - first.length)) };
  });
  [a, b].forEach((ego, side) => {
    const { first, rest, left } = lists[side];
    const cx = half * side + half / 2, cy = radius + 30;
    const total = Math.max(1, first.length + rest.length);
    const all = [...first, ...rest];
    // Common neighbours stand at the same angles on both sides, so that the eye can compare.
    const places = all.map((_, index) => {
      const angle = index < first.length
        ? -Math.PI / 2 + ((index + 0.5) / Math.max(1, first.length)) * Math.PI * (rest.length ? 1.1 : 2)
        : -Math.PI / 2 + Math.PI * (first.length ? 1.1 : 0) + ((index - first.length + 0.5) / Math.max(1, rest.length)) * Math.PI * (first.length ? 0.9 : 2);
      return [cx + radius * Math.cos(angle), cy + radius * Math.sin(angle)];
    });
    // A tie that both sides have is drawn thick: to common neighbours, and between those who are tied on both sides.
    const opposite = lists[1 - side].first;
    const tie = (from, to, shared, style = null) => svg.append(shape("line", { class: shared ? "tie shared" : "tie", x1: from[0], y1: from[1], x2: to[0], y2: to[1], style }));
    all.forEach((record, index) => {
      tie([cx, cy], places[index], index < first.length, "opacity:.9");
      neighbours(record).forEach((other) => {
        const found = all.indexOf(other);
        if (found > index) tie(places[index], places[found], found < first.length && neighbours(opposite[index]).includes(opposite[found]));
      });
    });
    all.forEach((record, index) => {
      const [x, y] = places[index];
      const linked = index < first.length;
      svg.append(dot(record, x, y, linked ? 9 : 4, linked ? PAIR_COLOURS[index % PAIR_COLOURS.length] : null));
      if (linked) svg.append(words(x, y + 4, String(index + 1), { "text-anchor": "middle", style: "fill:#fff;pointer-events:none", "font-size": 11 }));
    });
    svg.append(dot(ego, cx, cy, 9, "var(--ink)"));
    svg.append(words(cx, 14, name(ego, Math.floor(half / 9)), { "text-anchor": "middle", class: "strong" }));
    const without = data.ties[fileOf(ego)] === null;
    const said = without ? "no network" : total === 1 && !all.length ? "no ties" : left ? `${number(left)} more ties not drawn` : `${number(mine[side].length)} ties`;
    svg.append(words(cx, height - 6, said, { "text-anchor": "middle" }));
  });
  return { svg, common: common.length };
}
