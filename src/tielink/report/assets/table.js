// A table of pairs: search, filter, sort, pages; a row opens to say why.
const DECISIONS = ["link", "known", "no link"];
const links = data.links;
const every = links.p.map((_, row) => row);
const fields = Object.keys(data.fields);

const searchable = new Map();
function textOf(row) {
  if (!searchable.has(row)) {
    const parts = [];
    for (const record of [links.a[row], links.b[row]]) {
      parts.push(data.files[fileOf(record)], data.ids[record], ...fields.map((field) => valueOf(field, record) ?? ""));
    }
    searchable.set(row, parts.join(" ").toLowerCase().normalize("NFKC"));
  }
  return searchable.get(row);
}

const two = data.files.length === 2;
function recordName(record) {
  return data.files.length > 2 ? `${data.files[fileOf(record)]}: ${data.ids[record]}` : data.ids[record];
}
function recordCell(record) {
  return element("td", { dir: "auto" }, recordName(record));
}

function columnsOf(marks) {
  const heads = two ? data.files : ["record", "record"];
  const columns = [
    { head: heads[0], key: (row) => data.ids[links.a[row]], cell: (row) => recordCell(links.a[row]) },
    { head: heads[1], key: (row) => data.ids[links.b[row]], cell: (row) => recordCell(links.b[row]) },
  ];
  columns.push({ head: "probability", numeric: true, right: true, key: (row) => links.p[row], cell: chanceCell });
  columns.push({ head: "decision", key: (row) => DECISIONS[links.decision[row]], cell: (row) => element("td", {}, element("span", { class: `chip ${DECISIONS[links.decision[row]].replace(" ", "-")}` }, DECISIONS[links.decision[row]])) });
  for (const field of fields) {
    columns.push({ head: field, key: (row) => valueOf(field, links.a[row]) ?? "", cell: (row) => fieldCell(field, row) });
  }
  if (links.true) columns.push({ head: "truth", key: (row) => links.true[row], numeric: true, cell: (row) => element("td", {}, element("span", { class: "chip" + (links.true[row] === 1 ? "" : " wrong") }, links.true[row] ? "match" : "no match")) });
  if (marks) columns.push({ head: "you say", cell: (row) => element("td", {}, markButtons(row)) });
  return columns;
}

function fieldCell(field, row) {
  const [a, b] = [valueOf(field, links.a[row]), valueOf(field, links.b[row])];
  if (a === b && a !== null) return element("td", { dir: "auto" }, a);
  if (a === null && b === null) return element("td", { class: "missing" }, "–");
  const kind = a === null || b === null ? "two" : "two other"; // a missing value does not disagree
  const part = (value) => element("span", { class: value === null ? "two missing" : kind, dir: "auto" }, value ?? "–");
  return element("td", {}, part(a), part(b));
}

function chanceCell(row) {
  const p = links.p[row], error = links.error[row];
  const tip = error === null ? null : `give or take ${error.toFixed(3)} from chance alone`;
  const bar = element("i", { "aria-hidden": "true" });
  bar.style.setProperty("--p", `${100 * p}%`);
  return element("td", { class: "number" }, element("span", { class: "chance", title: tip }, bar, p.toFixed(2)));
}

function because(row, width) {
  const box = element("div", { class: "because" });
  const wide = width > 720 ? Math.floor(width / 2) - 24 : width - 8;
  const [a, b] = [links.a[row], links.b[row]];
  if (links.why[row]) {
    const chance = links.p[row].toFixed(2);
    box.append(element("div", {}, element("h4", {}, `Why ${chance}: evidence in log-odds, part by part`), waterfall(row, wide)));
    for (const [set, parts] of Object.entries(links.inside[row])) {
      box.append(element("details", {}, element("summary", {}, `What is in ${set}`), bars(parts, wide, `Evidence of ${set}, part by part`, true)));
    }
  } else {
    const reason = DECISIONS[links.decision[row]] === "known" ? "This pair was given as known, so there is nothing to explain." : "This pair was not taken apart; it is among the surest, or the model does not allow it.";
    box.append(element("p", { class: "note" }, reason));
  }
  if (data.ties.some((ties) => ties !== null)) {
    const { svg, common } = neighbourhood(a, b, wide);
    const heading = common ? `Around the two: ${common} neighbour${common === 1 ? "" : "s"} linked to each other, numbered` : "Around the two: no neighbours that are linked to each other";
    box.append(element("div", {}, element("h4", {}, heading), svg));
    if (data.tie_note) box.append(element("p", { class: "note" }, data.tie_note));
  }
  box.append(element("p", {}, "Are the two one person? ", markButtons(row)));
  return box;
}

function pairTable(id, rows, { marks = false, order = null, filters = true } = {}) {
  const box = document.getElementById(id);
  if (!box) return;
  const columns = columnsOf(marks);
  const state = { search: "", filter: "all", sort: -1, down: true, page: 0, size: 25, open: new Set() };
  const search = element("input", { type: "search", placeholder: "Search ids and values", "aria-label": "Search", oninput: () => { state.search = search.value.toLowerCase().normalize("NFKC").trim(); state.page = 0; show(); } });
  const filter = element("select", { "aria-label": "Filter", onchange: () => { state.filter = filter.value; state.page = 0; show(); } });
  const choices = [["all", "all pairs"], ["0", "links"], ["1", "known"], ["2", "not linked"], ["doubt", "in doubt"], ...(links.true ? [["wrong", "at odds with the truth"]] : [])];
  filter.append(...choices.map(([value, text]) => element("option", { value }, text)));
  const size = element("select", { "aria-label": "Rows on a page", onchange: () => { state.size = Number(size.value); state.page = 0; show(); } });
  size.append(...[25, 50, 100].map((count) => element("option", { value: count }, `${count} rows`)));
  const status = element("span", { class: "note", role: "status" });
  const head = element("tr"), body = element("tbody");
  const heads = columns.map((column, place) => {
    const cell = element("th", { scope: "col", class: column.right ? "number" : null, dir: "auto" });
    cell.append(column.key ? element("button", { type: "button", onclick: () => { state.down = state.sort === place ? !state.down : Boolean(column.numeric); state.sort = place; state.page = 0; show(); } }, column.head) : column.head);
    head.append(cell);
    return cell;
  });
  const back = element("button", { type: "button", onclick: () => { state.page -= 1; show(); } }, "‹ back");
  const next = element("button", { type: "button", onclick: () => { state.page += 1; show(); } }, "next ›");
  const where = element("span", { class: "note" });
  box.append(
    element("div", { class: "tools" }, search, ...(filters ? [filter] : []), size, status),
    element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), body)),
    element("div", { class: "pages" }, back, where, next),
  );

  const passes = (row) => {
    if (state.filter === "doubt" && !links.review[row]) return false;
    if (state.filter === "wrong" && (links.decision[row] !== 2) === Boolean(links.true[row])) return false;
    if (/^\d$/.test(state.filter) && links.decision[row] !== Number(state.filter)) return false;
    return !state.search || textOf(row).includes(state.search);
  };

  function sorted(found) {
    if (state.sort < 0) return order ? found.sort(order) : found;
    const { key, numeric } = columns[state.sort];
    const sign = state.down ? -1 : 1;
    const compare = numeric ? (a, b) => a - b : new Intl.Collator(undefined, { numeric: true }).compare;
    return found.map((row) => [key(row), row]).sort((a, b) => sign * compare(a[0], b[0]) || a[1] - b[1]).map(([, row]) => row);
  }

  function show() {
    const found = sorted(rows.filter(passes));
    const pages = Math.max(1, Math.ceil(found.length / state.size));
    state.page = Math.min(Math.max(state.page, 0), pages - 1);
    heads.forEach((cell, place) => {
      if (place === state.sort) cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    body.replaceChildren(...found.slice(state.page * state.size, (state.page + 1) * state.size).flatMap(line));
    if (!found.length) body.append(element("tr", {}, element("td", { colspan: columns.length, class: "note" }, rows.length ? "Nothing matches the search." : "There are no such pairs.")));
    status.textContent = found.length === rows.length ? `${number(found.length)} pairs` : `${number(found.length)} of ${number(rows.length)} pairs`;
    where.textContent = `page ${number(state.page + 1)} of ${number(pages)}`;
    back.disabled = state.page === 0;
    next.disabled = state.page >= pages - 1;
  }

  function line(row) {
    const open = state.open.has(row);
    const toggle = () => { if (open) state.open.delete(row); else state.open.add(row); show(); body.querySelector(`tr.row[data-row="${row}"]`)?.focus({ preventScroll: true }); };
    const made = element("tr", { class: "row" + (open ? " open" : ""), tabindex: 0, "data-row": row, "aria-expanded": String(open), onclick: toggle, onkeydown: (event) => { if (event.target === made && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); toggle(); } } }, ...columns.map((column) => column.cell(row)));
    columns.forEach((column, place) => { made.cells[place].dataset.head = column.head; });
    if (!open) return [made];
    const room = Math.min(box.clientWidth, 1040) - 24;
    const inside = element("td", { colspan: columns.length }, because(row, room));
    inside.firstChild.style.maxWidth = `${room}px`;
    return [made, element("tr", { class: "why" }, inside)];
  }

  show();
}
