"use strict";
// Texts of the data only ever become text nodes.
const KEYS = ["1", "2", "3", "4", "5"];
const SAID = { none: "none of them", unsure: "unsure" };
const tab = sessionStorage.getItem("tab") ?? crypto.randomUUID();
sessionStorage.setItem("tab", tab);
let question = null, busy = false, settled = "";
const at = (id) => document.getElementById(id);
const about = () => (at("audit").checked ? "audit" : "review");

function element(name, attributes = {}, ...children) {
  const made = name.startsWith("svg:") ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

async function ask(path, given) {
  const options = given ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ tab, about: about(), ...given }) } : {};
  try {
    const answer = await fetch(path, options);
    const found = await answer.json();
    if (answer.ok) return found;
    complain(found.error ?? "The server could not answer.");
  } catch {
    complain("The server does not answer. Answers so far are on disk; start tielink review again and open its new address.");
  }
  return null;
}

function complain(text) {
  at("alert").textContent = text;
  at("alert").hidden = !text;
}

// The parts of `text` that are in `other`, and those that are not; an empty one where letters of `other` are missing.
function differing(text, other) {
  const a = Array.from(text), b = Array.from(other);
  const rows = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  const same = (i, j) => a[i].toLowerCase() === b[j].toLowerCase();
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) rows[i][j] = same(i, j) ? rows[i + 1][j + 1] + 1 : Math.max(rows[i + 1][j], rows[i][j + 1]);
  const parts = [];
  let i = 0, j = 0;
  const add = (letter, differs) => { const last = parts.at(-1); if (last && last.differs === differs) last.text += letter; else parts.push({ text: letter, differs }); };
  while (i < a.length) {
    if (j < b.length && same(i, j)) { add(a[i], false); i++; j++; }
    else if (j < b.length && rows[i][j + 1] >= rows[i + 1][j]) { add("", true); j++; }
    else { add(a[i], true); i++; }
  }
  if (j < b.length) add("", true);
  return parts;
}

function values(card, other) {
  const list = element("dl");
  question.fields.forEach((field, place) => {
    const value = card.values[place], beside = other ? other.values[place] : null;
    const cell = element("dd", { dir: "auto", class: value === null ? "missing" : null });
    if (value === null) cell.append("missing");
    else if (other && beside !== null) cell.append(...differing(value, beside).map((part) => (part.differs ? element("mark", { class: part.text ? null : "gap" }, part.text) : part.text)));
    else cell.append(value);
    list.append(element("dt", { dir: "auto" }, field), cell);
  });
  return list;
}

// Whom both know: the two records at the sides, and between them each neighbour by name.
function between(option) {
  if (!question.networks) return "";
  const words = option.commons ? `both know ${option.commons}` : "no common neighbour";
  const box = element("div", { class: "between" }, `${question.record.ties} and ${option.ties} ties; ${words}`);
  if (!option.common.length) return box;
  const height = 20 * option.common.length + 6, width = 190;
  const svg = element("svg:svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words });
  const middle = height / 2;
  option.common.forEach(([mine, theirs], row) => {
    const y = 20 * row + 13;
    const letters = Array.from(mine === theirs ? mine : `${mine} = ${theirs}`);
    const name = letters.length > 22 ? letters.slice(0, 21).join("") + "…" : letters.join("");
    const side = Math.max(16, width / 2 - 3.4 * Math.min(letters.length, 22) - 5);
    svg.append(element("svg:line", { x1: 6, y1: middle, x2: side, y2: y }), element("svg:line", { x1: width - 6, y1: middle, x2: width - side, y2: y }));
    svg.append(element("svg:text", { x: width / 2, y: y + 4, "text-anchor": "middle" }, "\u2068" + name + "\u2069"));
  });
  svg.append(element("svg:circle", { cx: 5, cy: middle, r: 4 }), element("svg:circle", { cx: width - 5, cy: middle, r: 4 }));
  box.append(svg);
  return box;
}

function card(given, place) {
  const asked = place < 0;
  const head = element("h2", {}, asked ? "" : element("span", { class: "key" }, KEYS[place] ?? "•"), element("span", { dir: "auto" }, `${given.file}: ${given.id}`));
  const made = element("article", { class: asked ? "card asked" : "card" }, head, values(given, asked ? null : question.record));
  if (!asked) {
    made.append(between(given));
    made.append(element("p", { class: "believed", hidden: !at("show").checked }, `the model: ${given.probability.toFixed(2)}`));
  }
  return made;
}

function show() {
  const box = at("question");
  const options = question?.asked ? question.options : [];
  at("another").hidden = !question?.asked;
  at("another").open = false;
  at("search").value = "";
  at("found").replaceChildren();
  if (!question?.asked) {
    const done = about() === "audit" ? "The audit has asked everything it planned." : "Nothing is left that an answer would help with.";
    box.replaceChildren(element("p", { class: "good" }, done));
  } else {
    const none = options.length ? "" : element("p", { class: "note" }, "No record is at all likely. If you know of none, say none; or search.");
    box.replaceChildren(card(question.record, -1), element("div", { class: "options" }, none, ...options.map(card)));
  }
  buttons();
}

function buttons() {
  const asked = Boolean(question?.asked) && !busy;
  const count = question?.asked ? question.options.length : 0;
  const one = (key, word, run, enabled) => element("button", { type: "button", "data-key": key, disabled: !enabled, onclick: run }, element("b", {}, key), element("span", {}, word));
  at("buttons").replaceChildren(
    ...KEYS.map((key, place) => one(key, "this one", () => choose(place), asked && place < count)),
    one("0", "none", () => answer("none"), asked), one("u", "unsure", () => answer("unsure"), asked), one("z", "undo", undo, !busy),
  );
}

function tell(found) {
  at("who").textContent = found.who ? `as ${found.who}` : "";
  const everybody = found.everybody > found.answered ? ` (${found.everybody} by everybody)` : "";
  at("status").textContent = `${found.answered} answered${everybody}; ${found.doubtful} pairs in doubt.` + (found.sampling ? " Too few draws agree with the answers: sampling again in the background." : found.agreement ? ` ${found.agreement}` : "");
  complain([found.trouble, ...found.contradictions.map((text) => `Contradiction, set aside until one is changed: ${text}`)].filter(Boolean).join("\n"));
  at("audited").hidden = about() !== "audit";
  at("audited").textContent = (found.asked ? found.audit : "Records are drawn at random, and the model's opinion is hidden.") + (found.following ? ` ${found.following - found.asked} more questions to the next step of ${found.following}.` : "");
}

const choose = (place) => { if (question?.asked && place < question.options.length) answer(question.options[place].number); };

async function answer(chosen) {
  if (busy || !question?.asked) return;
  busy = true;
  buttons();
  const found = await ask("answer", { about: question.about, asked: question.asked, chosen });
  if (found) {
    const believed = typeof chosen === "number" && found.believed !== null ? ` The model gave it ${found.believed.toFixed(2)}.` : "";
    const others = found.settled === null ? "" : found.settled ? ` This settled ${found.settled} other link${found.settled === 1 ? "" : "s"}.` : "";
    settled = `Saved: ${SAID[chosen] ?? "chosen"}.${believed}${others}`;
    at("told").textContent = settled;
    tell(found);
    await next();
  }
  busy = false;
  buttons();
}

async function undo() {
  if (busy) return;
  busy = true;
  buttons();
  const found = await ask("undo", {});
  if (found) { at("told").textContent = "The last answer is taken back."; tell(found); await next(); }
  busy = false;
  buttons();
}

async function next() {
  const found = await ask(`question?${new URLSearchParams({ tab, about: about() })}`);
  if (found) { question = found; show(); window.scrollTo(0, 0); }
}

async function past() {
  if (!at("past").open) return;
  const found = await ask("past");
  if (!found) return;
  const head = element("tr", {}, ...["record", "answer", "who", "when", ""].map((text) => element("th", {}, text)));
  const rows = found.answers.map((row) => {
    const again = element("button", { type: "button", onclick: async () => { at("audit").checked = row.about === "audit"; if (await ask("change", { about: row.about, asked: row.asked })) { at("past").open = false; await next(); } } }, "change");
    return element("tr", {}, ...[row.record, row.chosen, row.who, row.when.slice(0, 16).replace("T", " ")].map((text) => element("td", { dir: "auto" }, text)), element("td", {}, row.mine ? again : ""));
  });
  at("answers").replaceChildren(rows.length ? element("div", { class: "scroll" }, element("table", { class: "plain" }, element("thead", {}, head), element("tbody", {}, ...rows))) : "Nothing yet.");
}

let typed = 0;
at("search").addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(async () => {
    const found = await ask(`search?${new URLSearchParams({ text: at("search").value, record: question.asked[0] })}`);
    if (found) at("found").replaceChildren(...found.found.map((given) => element("button", { type: "button", onclick: () => answer(given.number) }, `${given.file}: ${given.id} (${given.values.map((value) => value ?? "–").join(", ")})`)));
  }, 150);
});
at("show").addEventListener("change", () => document.querySelectorAll(".believed").forEach((line) => { line.hidden = !at("show").checked; }));
at("audit").addEventListener("change", async () => { if (at("audit").checked) at("show").checked = false; at("show").disabled = at("audit").checked; tell((await ask("status")) ?? {}); await next(); });
at("past").addEventListener("toggle", past);
document.addEventListener("keydown", (event) => {
  if (event.target instanceof HTMLInputElement && event.target.type === "search") return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (KEYS.includes(event.key)) choose(KEYS.indexOf(event.key));
  else if (event.key === "0") answer("none");
  else if (event.key === "u") answer("unsure");
  else if (event.key === "z") undo();
  else if (event.key === "?") { at("help").open = !at("help").open; if (at("help").open) at("help").scrollIntoView(); }
  else return;
  event.preventDefault();
});
setInterval(async () => { if (!busy && document.visibilityState === "visible") { const found = await ask("status"); if (found) tell(found); } }, 5000);
(async () => { const found = await ask("status"); if (found) { tell(found); await next(); } })();
