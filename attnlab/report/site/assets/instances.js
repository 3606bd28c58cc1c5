// Instances of one model: a list that draws only the rows in view, and the instance that is open.
// Everything comes from this site's own folder, as scripts, since pages on a disk may not fetch. Texts of the data set
// reach the page through textContent alone.
"use strict";

const attnlabParts = {}; // where the scripts of data/ put their content
const about = JSON.parse(document.getElementById("about").textContent);
const one = about.unit.replace(/s$/, ""); // of the tokens, sentences or words that attention weighs
const $ = (id) => document.getElementById(id);

// ---- data -----------------------------------------------------------------------------------------------------------

const loading = new Map();

function part(name) {
  if (!loading.has(name)) {
    loading.set(name, new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${about.place}${name}.js`;
      script.onload = () => (name in attnlabParts ? resolve(attnlabParts[name]) : reject(new Error(`${name}.js is damaged`)));
      script.onerror = () => reject(new Error(`${name}.js is missing from the site`));
      document.head.append(script);
    }));
  }
  return loading.get(name);
}

function floats(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}

let data; // the index: one value per instance in each column
const offsets = new Float64Array(about.count + 1);

async function loadIndex() {
  const index = await part("index");
  const values = index.columns.map((column, c) => (about.columns[c].kind === "text" ? column : floats(column)));
  data = { id: index.id, excerpt: index.excerpt, values };
  for (const name of ["label", "prediction", "length", "max_attention"]) data[name] = floats(index[name]);
  data.probabilities = index.probabilities ? floats(index.probabilities) : null;
  for (let i = 0; i < about.count; i++) offsets[i + 1] = offsets[i] + data.length[i];
}

const partOf = (instance) => about.starts.findLastIndex((start) => start <= instance);

async function instanceText(instance) {
  const k = partOf(instance);
  const [text, scores] = await Promise.all([part(`text-${k}`), part(`scores-${k}`)]);
  const row = instance - about.starts[k];
  const from = offsets[instance] - offsets[about.starts[k]];
  scores.forEach((packed, s) => { if (typeof packed === "string") scores[s] = floats(packed); });
  return {
    tokens: data.length[instance] ? text.tokens[row].split("\x1f") : [],
    rationale: new Set(text.rationale?.[row] ?? []),
    scores: scores.map((all) => all.subarray(from, from + data.length[instance])),
  };
}

const confidence = (i) =>
  data.probabilities ? data.probabilities[i * about.classes.length + data.prediction[i]] : NaN;

// ---- what is asked for ----------------------------------------------------------------------------------------------

const DEFAULTS = { sort: "", order: "down", label: "", prediction: "", outcome: "", where: "", q: "", id: "" };
let state = { ...DEFAULTS };
let order = []; // instances that are shown, in order
let current = -1; // the one that is open

const keyOf = (column) => `${column.protocol}.${column.name}`;
const columnAt = (key) => about.columns.findIndex((column) => keyOf(column) === key);
const words = (name) => name.replaceAll("_", " ");

function sortValues(key) {
  if (key === "length" || key === "max_attention") return data[key];
  if (key === "confidence") return Float32Array.from({ length: about.count }, (_, i) => confidence(i));
  const c = columnAt(key);
  return c >= 0 && about.columns[c].kind !== "text" ? data.values[c] : null;
}

function passes(i) {
  const right = data.label[i] === data.prediction[i];
  return (state.label === "" || data.label[i] === +state.label)
    && (state.prediction === "" || data.prediction[i] === +state.prediction)
    && (state.outcome === "" || right === (state.outcome === "right"));
}

function whereTest() {
  const c = columnAt(state.where);
  if (c < 0) return () => true;
  const values = data.values[c];
  return about.columns[c].kind === "text" ? (i) => values[i] !== null : (i) => values[i] > 0;
}

const lower = [];

async function searchTest(query, isCurrent) {
  const wanted = query.trim().toLowerCase().split(/\s+/).join("\x1f");
  if (!wanted) return () => true;
  const found = new Uint8Array(about.count);
  for (let k = 0; k < about.starts.length && isCurrent(); k++) {
    if (!lower[k]) {
      if (about.starts.length > 1) $("status").textContent = `Reading texts: ${k + 1} of ${about.starts.length}`;
      lower[k] = (await part(`text-${k}`)).tokens.map((text) => text.toLowerCase());
    }
    // The next are on their way while this one is read.
    for (let next = k + 1; next < Math.min(k + 4, about.starts.length); next++) part(`text-${next}`).catch(complain);
    lower[k].forEach((text, row) => { found[about.starts[k] + row] = text.includes(wanted); });
  }
  const id = query.trim().toLowerCase();
  return (i) => found[i] || data.id[i].toLowerCase().includes(id);
}

let asked = 0;

async function update() {
  const turn = ++asked;
  const matches = await searchTest(state.q, () => turn === asked);
  if (turn !== asked) return;
  const where = whereTest();
  const kept = [];
  for (let i = 0; i < about.count; i++) if (passes(i) && where(i) && matches(i)) kept.push(i);
  const values = sortValues(state.sort);
  const sign = state.order === "down" ? -1 : 1;
  // What has no value comes last, whatever the direction.
  if (values) kept.sort((a, b) => (isNaN(values[a]) - isNaN(values[b])) || sign * (values[a] - values[b]) || a - b);
  else if (state.order === "up") kept.reverse();
  order = kept;
  $("status").textContent = kept.length === about.count
    ? `${count(about.count)} instances` : `${count(kept.length)} of ${count(about.count)} instances`;
  $("list").scrollTop = 0;
  drawControls();
  if (order.length) return open(Math.max(order.indexOf(current), 0));
  current = -1;
  state.id = "";
  remember();
  $("instance").replaceChildren();
  drawRows();
}

const count = (n) => n.toLocaleString("en");

function remember() {
  const kept = Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name]);
  history.replaceState(null, "", `#${new URLSearchParams(kept)}`);
}

function recall() {
  state = { ...DEFAULTS, ...Object.fromEntries(new URLSearchParams(location.hash.slice(1))) };
  current = data.id.indexOf(state.id);
  $("search").value = state.q;
}

// ---- small pieces ---------------------------------------------------------------------------------------------------

function element(tag, className, ...content) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

function isolated(text, tag = "bdi") {
  const made = element(tag, "", text);
  made.dir = "auto";
  return made;
}

function figure(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value === "string") return value;
  if (Number.isInteger(value)) return String(value).replace("-", "−");
  const text = Math.abs(value) < 0.001 ? value.toExponential(1) : value.toFixed(3);
  return text.replaceAll("-", "−");
}

const valueText = (column, value) => (column.kind === "flag" && !Number.isNaN(value) ? (value ? "yes" : "no") : figure(value));
const className = (c) => about.classes[c] ?? String(c);

// ---- controls -------------------------------------------------------------------------------------------------------

function option(value, text) {
  const made = element("option", "", text);
  made.value = value;
  return made;
}

function grouped(select, wanted, text = (column) => words(column.name)) {
  const groups = new Map();
  for (const column of about.columns.filter(wanted)) {
    if (!groups.has(column.protocol)) {
      const group = element("optgroup");
      group.label = words(column.protocol);
      groups.set(column.protocol, group);
    }
    groups.get(column.protocol).append(option(keyOf(column), `${text(column)}, ${words(column.protocol)}`));
  }
  select.append(...groups.values());
}

const isFlip = (column) => column.kind === "number" && column.name.includes("flip_share");

function makeControls() {
  $("sort").append(option("", "order of the data"), option("length", "length"), option("max_attention", "max attention"));
  if (data.probabilities) $("sort").append(option("confidence", "probability of the prediction"));
  grouped($("sort"), (column) => column.kind !== "text");
  for (const name of ["label", "prediction"]) {
    $(name).append(option("", "all"), ...about.classes.map((text, c) => option(c, text)));
  }
  $("where").append(option("", "anything"));
  const reason = (column) => column.name === "excluded" && data.values[columnAt(keyOf(column))].some((v) => v !== null);
  grouped($("where"), (column) => column.kind === "flag" || isFlip(column) || reason(column),
    (column) => (column.name === "excluded" ? "not measured" : isFlip(column) ? "the decision flips" : words(column.name)));
  for (const name of ["sort", "label", "prediction", "outcome", "where"]) {
    $(name).addEventListener("change", () => ask({ [name]: $(name).value }));
  }
  $("order").addEventListener("click", () => ask({ order: state.order === "down" ? "up" : "down" }));
  let typing;
  $("search").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => ask({ q: $("search").value }), 150);
  });
  document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  $("quick").append(...views().map(([text, wanted]) => {
    const button = element("button", "", text);
    button.type = "button";
    button.addEventListener("click", () => ask({ sort: "", order: "down", where: "", outcome: "", ...wanted }));
    button.wanted = wanted;
    return button;
  }));
}

function views() {
  const named = (name) => about.columns.filter((column) => column.name === name).map(keyOf);
  return [
    ...named("median_tvd").map((key) => ["Largest |Δp|, attention shuffled", { sort: key, order: "down" }]),
    ...named("largest_change").map((key) => [`Largest |Δp|, a ${one} deleted`, { sort: key, order: "down" }]),
    ...about.columns.filter((column) => column.name === "tau")
      .map((column) => [`Lowest τ, ${words(column.protocol)}`, { sort: keyOf(column), order: "up" }]),
    ...named("jsd").map((key) => ["Furthest adversary", { sort: key, order: "down" }]),
    ...about.columns.filter(isFlip).map((column) => ["Decision flips", { sort: keyOf(column), order: "down", where: keyOf(column) }]),
    ["Wrong predictions", { outcome: "wrong" }],
  ];
}

function ask(wanted) {
  Object.assign(state, wanted);
  current = -1; // what comes first now is what was asked for
  update().catch(complain);
}

function drawControls() {
  for (const name of ["sort", "label", "prediction", "outcome", "where"]) $(name).value = state[name];
  const down = state.order === "down";
  $("order").textContent = state.sort ? (down ? "largest first" : "smallest first") : (down ? "first to last" : "last to first");
  $("order").setAttribute("aria-pressed", String(down));
  for (const button of $("quick").children) {
    button.setAttribute("aria-pressed", String(Object.entries(button.wanted).every(([k, v]) => state[k] === v)));
  }
}

// ---- the list -------------------------------------------------------------------------------------------------------

let rowHeight = 0;

function drawRows() {
  const list = $("list");
  rowHeight ||= parseFloat(getComputedStyle(list).getPropertyValue("--row")) * parseFloat(getComputedStyle(document.documentElement).fontSize);
  $("rows").style.height = `${order.length * rowHeight}px`;
  const first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 4);
  const last = Math.min(order.length, Math.ceil((list.scrollTop + list.clientHeight) / rowHeight) + 4);
  const shown = [];
  for (let place = first; place < last; place++) shown.push(row(place));
  $("rows").replaceChildren(...shown);
  if (current >= 0) list.setAttribute("aria-activedescendant", `row-${current}`);
  else list.removeAttribute("aria-activedescendant");
}

function row(place) {
  const i = order[place];
  const right = data.label[i] === data.prediction[i];
  const verdict = element("span", right ? "right" : "wrong", right ? "✓ " : "✗ ", isolated(className(data.prediction[i])));
    const head = element("span", "head", isolated(data.id[i], "b"), verdict, element("span", "value", sortedBy(i)));
  const made = element("div", "row", head, isolated(data.excerpt[i], "span"));
  made.lastChild.className = "excerpt";
  made.id = `row-${i}`;
  made.setAttribute("role", "option");
  made.setAttribute("aria-selected", String(i === current));
  made.setAttribute("aria-setsize", String(order.length));
  made.setAttribute("aria-posinset", String(place + 1));
  made.style.top = `${place * rowHeight}px`;
  made.addEventListener("click", () => open(place));
  return made;
}

function sortedBy(i) {
  if (state.sort === "confidence") return figure(confidence(i));
  if (state.sort === "length" || state.sort === "max_attention") return figure(data[state.sort][i]);
  const c = columnAt(state.sort);
  return c < 0 ? "" : valueText(about.columns[c], data.values[c][i]);
}

function show(place) {
  const list = $("list");
  const top = place * rowHeight;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight - list.clientHeight;
}

function open(place) {
  current = order[place];
  state.id = data.id[current];
  remember();
  show(place);
  drawRows();
  drawInstance().catch(complain);
}

function move(by) {
  if (!order.length) return;
  const place = order.indexOf(current);
  open(Math.min(Math.max(place + by, 0), order.length - 1));
}

// ---- the instance ---------------------------------------------------------------------------------------------------

const LONG = 400; // tokens from which a text scrolls in its panel
const BLOCK = 100;

let byRank = false;
let token = -1; // the one that is pointed at, in all panels
let opened = null;

async function drawInstance() {
  const i = current;
  const text = await instanceText(i);
  if (i !== current) return;
  token = -1;
  const panels = about.scores.map((score, s) => panel(score, text, text.scores[s], i)).filter(Boolean);
  opened = { text, panels };
  const readout = element("p", "readout", `Point at a ${one}, or move with ← and → in a text, to read its scores.`);
  readout.id = "readout";
  const scale = element("button", "", byRank ? "coloured by rank" : "coloured by value");
  scale.type = "button";
  scale.title = `Shades follow the value as a share of the text’s largest, or the rank among its ${about.unit}`;
  scale.addEventListener("click", () => { byRank = !byRank; drawInstance().catch(complain); });
  const legend = element("p", "legend", element("i", "swatch"), " larger ");
  if (about.rationale) legend.append(element("u", "gold", "underlined"), " the label’s gold rationale ");
  legend.append(scale);
  const grid = element("div", panels.length ? "panels" : "", ...panels.map((p) => p.made));
  if (text.tokens.length > LONG) followScroll(panels);
  $("instance").replaceChildren(heading(i), probabilities(i), legend, readout, grid, measurements(i));
  $("instance").scrollTop = 0;
}

function heading(i) {
  const right = data.label[i] === data.prediction[i];
  const title = element("h2", "", isolated(data.id[i]));
  const says = element("p", "verdict", "predicted ", element("strong", "", isolated(className(data.prediction[i]))), ", label ",
    element("strong", "", isolated(className(data.label[i]))), element("span", right ? "right" : "wrong", right ? " ✓ right" : " ✗ wrong"),
    `, ${count(data.length[i])} ${about.unit}`);
  return element("header", "", title, says);
}

function probabilities(i) {
  if (!data.probabilities) return "";
  const classes = about.classes.map((name, c) => [name, data.probabilities[i * about.classes.length + c], c]);
  classes.sort((a, b) => b[1] - a[1]);
  const bars = classes.slice(0, 6).map(([name, p, c]) => {
    const bar = element("span", "fill");
    bar.style.width = `${100 * p}%`;
    const line = element("li", c === data.label[i] ? "gold-class" : "", isolated(name), element("span", "track", bar), element("span", "value", figure(p)));
    return line;
  });
  const list = element("ul", "probabilities", ...bars);
  list.setAttribute("aria-label", "Probability of each class");
  return list;
}

function ranks(values) {
  const places = Array.from(values.keys()).sort((a, b) => values[b] - values[a]);
  const rank = new Uint32Array(values.length);
  places.forEach((place, r) => { rank[place] = r && values[place] === values[places[r - 1]] ? rank[places[r - 1]] : r; });
  // Of equal values none is shaded above what all of them exceed.
  const below = new Uint32Array(values.length);
  for (let r = places.length - 2; r >= 0; r--) {
    const [place, next] = [places[r], places[r + 1]];
    below[place] = values[place] === values[next] ? below[next] : places.length - 1 - r;
  }
  return { places, rank, below };
}

function panel(score, text, values, i) {
  if (!values.length || Number.isNaN(values[0])) return null;
  const largest = values.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
  const { places, rank, below } = ranks(values);
  const body = isolated("", "p");
  body.className = "tokens";
  body.tabIndex = 0;
  body.setAttribute("role", "group");
  body.setAttribute("aria-label", `${score.title}, ${one} by ${one}`);
  const spans = text.tokens.map((word, t) => {
    const span = element("span", values[t] < 0 ? "minus" : "", word);
    if (text.rationale.has(t)) span.classList.add("gold");
    span.dataset.t = t;
    const share = byRank ? below[t] / Math.max(values.length - 1, 1) : largest ? Math.abs(values[t]) / largest : 0;
    span.style.setProperty("--w", share.toFixed(3));
    return span;
  });
  // Long texts stand in blocks, of which the browser lays out those in view.
  const block = spans.length > LONG ? BLOCK : spans.length;
  for (let from = 0; from < spans.length; from += block) {
    const some = spans.slice(from, from + block).flatMap((span) => [span, " "]);
    body.append(...(block === BLOCK ? [element("span", "block", ...some)] : some));
  }
  body.addEventListener("pointerover", (event) => { if (event.target.dataset.t) point(+event.target.dataset.t); });
  body.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) { point(Math.min(Math.max(token + by, 0), spans.length - 1)); event.preventDefault(); }
  });
  const top = element("ol", "top", ...places.slice(0, 5).filter((t) => values[t]).map((t) => element("li", "", isolated(text.tokens[t]), " ", figure(values[t]))));
  top.setAttribute("aria-label", "The five largest");
  const said = facts(score.protocol, i);
  if (score.name === "attention") said.append(element("span", "", "largest ", element("b", "", figure(largest))));
  const made = element("section", "panel", element("h3", "", score.title), said, body, top);
  return { score, values, rank, spans, body, made };
}

function facts(protocol, i) {
  const said = about.columns.flatMap((column, c) => {
    const value = data.values[c][i];
    if (column.protocol !== protocol || value === null || Number.isNaN(value)) return [];
    if (column.name === "excluded") return [element("span", "excluded", "not measured: ", isolated(value))];
    return [element("span", "", `${words(column.name)} `, element("b", "", valueText(column, value)))];
  });
  return element("p", "facts", ...said.flatMap((fact) => [fact, " "]));
}

function point(t) {
  token = t;
  const said = [`${t + 1}. `, isolated(opened.text.tokens[t], "b")];
  for (const { score, values, rank, spans, body } of opened.panels) {
    body.querySelector(".here")?.classList.remove("here");
    spans[t].classList.add("here");
    if (document.activeElement === body) spans[t].scrollIntoView({ block: "nearest" });
    said.push(element("span", "", `${score.title} `, element("b", "", figure(values[t])), ` (${rank[t] + 1}.)`));
  }
  $("readout").replaceChildren(...said);
}

function followScroll(panels) {
  for (const { body } of panels) {
    body.classList.add("long");
    body.addEventListener("scroll", () => panels.forEach((other) => { other.body.scrollTop = body.scrollTop; }));
  }
}

function measurements(i) {
  const withPanel = new Set(opened.panels.map(({ score }) => score.protocol));
  const others = [...new Set(about.columns.map((column) => column.protocol))].filter((protocol) => !withPanel.has(protocol));
  const rows = others.map((protocol) => {
    const name = element("th", "", words(protocol));
    name.scope = "row";
    return element("tr", "", name, element("td", "", facts(protocol, i).hasChildNodes() ? facts(protocol, i) : "not in its records"));
  });
  if (!rows.length) return "";
  const table = element("table", "measurements", element("caption", "", "Other measurements of this instance"), element("tbody", "", ...rows));
  return table;
}

// ---- keys -----------------------------------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, select, textarea");
  const inList = event.target === $("list");
  if (event.key === "Escape") $("list").focus();
  else if (event.key === "Enter" && event.target === $("search")) $("list").focus();
  else if (typing) return;
  else if (event.key === "/") { $("search").focus(); $("search").select(); }
  else if (event.key === "j" || (inList && event.key === "ArrowDown")) move(1);
  else if (event.key === "k" || (inList && event.key === "ArrowUp")) move(-1);
  else if (inList && event.key === "PageDown") move(8);
  else if (inList && event.key === "PageUp") move(-8);
  else if (inList && event.key === "Home") move(-Infinity);
  else if (inList && event.key === "End") move(Infinity);
  else if (inList && event.key === "Enter") $("instance").focus();
  else return;
  event.preventDefault();
});

function complain(error) {
  $("status").textContent = `This cannot be shown: ${error.message}`;
}

let drawing = 0;
const redraw = () => { cancelAnimationFrame(drawing); drawing = requestAnimationFrame(drawRows); };
$("list").addEventListener("scroll", redraw);
addEventListener("resize", () => { rowHeight = 0; redraw(); });
addEventListener("hashchange", () => { recall(); update().catch(complain); });

loadIndex().then(() => {
  makeControls();
  recall();
  return update();
}).catch(complain);
