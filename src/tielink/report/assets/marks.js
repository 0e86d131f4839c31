// What the reader finds out about pairs: kept in the browser for the next visit, and saved as a file of anchors.
const ANSWERS = ["same", "different", "unsure"];
const SHELF = `tielink marks: ${data.files.join(", ")}`;
const pairName = (row) => JSON.stringify([links.a[row], links.b[row]].flatMap((record) => [data.files[fileOf(record)], data.ids[record]]));
const said = new Map();
try {
  for (const [pair, word] of JSON.parse(localStorage.getItem(SHELF) ?? "[]")) if (ANSWERS.includes(word)) said.set(pair, word);
} catch { /* no storage here: marks last as long as the page */ }

function markButtons(row) {
  const pair = pairName(row);
  const box = element("span", { class: "marks", "data-pair": pair });
  const make = (word) => element("button", { type: "button", "aria-pressed": String(said.get(pair) === word), onclick: (event) => {
    event.stopPropagation();
    if (said.get(pair) === word) said.delete(pair); else said.set(pair, word);
    try { localStorage.setItem(SHELF, JSON.stringify([...said])); } catch { /* as above */ }
    for (const other of document.querySelectorAll(".marks")) {
      if (other.dataset.pair === pair) for (const button of other.children) button.setAttribute("aria-pressed", String(said.get(pair) === button.textContent));
    }
    countMarks();
  } }, word);
  box.append(...ANSWERS.map(make));
  return box;
}

function countMarks() {
  document.getElementById("save-marks").disabled = !said.size;
  document.getElementById("marked").textContent = said.size ? `${number(said.size)} marked` : "";
}

function saveMarks() {
  const formula = (text) => /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(text) && !/^\s*[+-]?[\d.,]+\s*$/.test(text);  // to a spreadsheet
  const quoted = (text) => `"${(formula(text) ? "'" : "") + text.replaceAll('"', '""')}"`;
  const lines = [...said].map(([pair, word]) => [...JSON.parse(pair), word].map(quoted).join(","));
  const text = ["file_a,id_a,file_b,id_b,answer", ...lines].join("\n") + "\n";
  element("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: "marks.csv" }).click();
}
