// Elements of the page. Texts of the user's only ever become text nodes.
const data = JSON.parse(document.getElementById("data").textContent);
const FILE_COLOURS = ["#2f86c6", "#e08a00", "#1fa37a", "#c46aa0", "#8a6d3b"];
const CHAIN_COLOURS = ["#2f86c6", "#e08a00", "#1fa37a", "#c46aa0", "#8a6d3b"];

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

function shape(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function picture(width, height, label) {
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
}

function words(x, y, text, attributes = {}) {
  return shape("text", { x, y, ...attributes }, text);
}

function number(value, digits = 0) {
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function fileOf(record) {
  let file = 0;
  while (record >= data.offsets[file + 1]) file += 1;
  return file;
}

function valueOf(field, record) {
  const { values, codes } = data.fields[field];
  return codes[record] < 0 ? null : values[codes[record]];
}

// Letters shown of a name in a picture, both ends of a long one; bidirectional texts stay apart from what is around them.
function name(record, most = 18) {
  const text = data.ids[record];
  const letters = Array.from(text);
  return "\u2068" + (letters.length > most ? letters.slice(0, Math.floor(most / 2)).join("") + "…" + letters.slice(1 - Math.ceil(most / 2)).join("") : text) + "\u2069";
}

function describe(record) {
  const told = Object.keys(data.fields).map((field) => valueOf(field, record)).filter((value) => value !== null);
  return `${data.files[fileOf(record)]}: ${name(record, 40)}` + (told.length ? ` (${told.join(", ")})` : "");
}

// Draw into a box now, and again when its width changes.
const drawn = [];
function draw(id, make) {
  const box = document.getElementById(id);
  if (!box) return;
  const entry = { box, make, width: 0 };
  drawn.push(entry);
  redraw(entry);
}

function redraw(entry) {
  const width = Math.floor(entry.box.clientWidth);
  if (width === entry.width || width === 0) return;
  entry.width = width;
  entry.box.replaceChildren(...[entry.make(width)].flat());
}

window.addEventListener("resize", () => drawn.forEach(redraw));
