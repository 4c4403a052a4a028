import DataTable from "DATATABLES";

const page = JSON.parse(document.getElementById("numbers").textContent);
const charts = JSON.parse(document.getElementById("charts").textContent);
const at = (id) => document.getElementById(id);
const POOLED = -1;
const NO_STEP = -1;

// Numbers are shown rounded; data-value keeps the exact one.
const count = (x) => (x === null ? "–"
  : x.toLocaleString("en", Number.isInteger(x) ? {} : { maximumSignificantDigits: 6 }));
const ratio = (x) => (x === null ? "–" : x.toFixed(4));
function score(x) { // costs may be of any size; rounded first, so that -0.00001 is 0 and has no sign
  if (x === null) return "–";
  const fixed = { minimumFractionDigits: page.metric.decimals, maximumFractionDigits: page.metric.decimals };
  return (Number(x.toFixed(page.metric.decimals)) + 0).toLocaleString("en", fixed);
}
const short = (x) => (x === null ? "none" : Number(x.toPrecision(6)).toString());
const digits = (x) => Number(x.toPrecision(4)).toString();
function write(id, value, shown) {
  at(id).textContent = shown(value);
  at(id).dataset.value = value;
}

// The counts at one threshold, and the scores computed from them.
// Sums of weights differ by rounding errors: as in Python, a difference that small counts as 0.
const ROUNDING = 1e-12;
const beyondRounding = (difference, whole) => (difference > ROUNDING * whole ? difference : 0);
const sum = (weights, counts) => weights.reduce((all, w, i) => (w ? all + w * counts[i] : all), 0);
function weighted(weights, counts) {
  const found = sum(weights, counts);
  if (Math.min(...weights) >= 0 || Math.max(...weights) <= 0) return found;
  return Math.abs(found) > ROUNDING * sum(weights.map(Math.abs), counts) ? found : 0; // terms that cancel
}
function fraction(parts, counts) {
  const found = weighted(parts[0], counts) / weighted(parts[1], counts);
  return Number.isNaN(found) ? page.metric.zero : found;
}
function judge(tp, predicted, support, total, known) {
  const counts = [tp, beyondRounding(predicted - tp, predicted), beyondRounding(support - tp, support)];
  counts.push(beyondRounding(total - counts[0] - counts[1] - counts[2], total));
  return {
    tp: counts[0], fp: counts[1], fn: counts[2], tn: counts[3], predicted,
    precision: fraction(page.metric.precision, counts),
    recall: fraction(page.metric.recall, counts),
    score: known === undefined ? fraction(page.metric.parts, counts) : known,
  };
}

// A label, or all of them pooled, as a list of thresholds from high to low.
function stairsOf(j) {
  const steps = page.steps;
  const part = (values) => values && values.slice(steps.offsets[j], steps.offsets[j + 1]);
  const rules = page.rules.map((rule) => ({ key: rule.key, name: rule.name, step: rule.at[j] }));
  return {
    name: page.names[j], support: page.labels.support[j], total: page.total, rules,
    threshold: part(steps.threshold), tp: part(steps.tp), predicted: part(steps.predicted),
    scores: part(steps.score), none: steps.nobody?.[j], low: page.labels.low[j], high: page.labels.high[j],
    half_max: page.labels.half_max[j],
  };
}
function pooledStairs(average) {
  const pooled = page.pooled;
  const step = (value) => (value === null ? NO_STEP : pooled.threshold.findIndex((t) => t <= value));
  const rules = Object.entries(pooled.best).map(([key, value]) => (
    { key, name: page.averages[key].best, step: step(value) }
  ));
  rules.push(...pooled.cuts.map((cut) => ({ key: cut.key, name: cut.name, step: step(cut.at) })));
  return {
    ...pooled, name: "All labels, one threshold", what: page.averages[average].score,
    scores: pooled.scores[average], none: pooled.nobody[average], rules, low: null, high: null, half_max: null,
  };
}
function countsAt(stairs, k) {
  if (k === NO_STEP) return judge(0, 0, stairs.support, stairs.total, stairs.none);
  return judge(stairs.tp[k], stairs.predicted[k], stairs.support, stairs.total, stairs.scores?.[k]);
}

const views = {};
const state = { label: page.first, step: 0, average: page.average === "binary" ? "micro" : page.average };
const slider = at("threshold");
let stairs;
const scoreName = () => stairs.what ?? page.metric.name;

function curveData() {
  const curve = stairs.threshold.flatMap((threshold, k) => {
    const found = countsAt(stairs, k);
    return page.curves.map((kind) => (
      { threshold, kind, what: kind === "score" ? scoreName() : kind, value: found[kind] }
    ));
  });
  const few = stairs.threshold.length <= 100;
  const dots = curve.filter(({ threshold }) => few || threshold === stairs.threshold[stairs.rules[0].step]);
  const known = stairs.rules.filter((rule) => rule.step !== NO_STEP);
  const marks = known.map((rule) => ({ threshold: stairs.threshold[rule.step], name: rule.name }));
  const marked = known.some((rule) => rule.key === "plug-in");
  if (stairs.half_max !== null && !marked) marks.push({ threshold: stairs.half_max, name: page.half_max });
  const [top, bottom] = [stairs.threshold[0], stairs.threshold.at(-1)];
  const along = scale() === "curve-log" ? Math.log : (t) => t;
  const middle = (along(top) + along(bottom)) / 2;
  marks.sort((a, b) => a.threshold - b.threshold).forEach((mark, i) => {
    Object.assign(mark, { place: 14 * i + 8, side: along(mark.threshold) < middle ? "left" : "right" });
  });
  const band = [{ threshold: stairs.low ?? top, high: stairs.high ?? top }];
  return { curve, dots: dots.length ? dots : curve.slice(0, page.curves.length), marks, band, now: now() };
}
// If no rows are predicted there is no line; it is invisible at the highest threshold.
const now = () => (state.step === NO_STEP ? [{ threshold: stairs.threshold[0], seen: 0 }]
  : [{ threshold: stairs.threshold[state.step], seen: 1 }]);
// Thresholds of very different sizes need a logarithmic axis.
function scale() {
  const lowest = stairs.threshold.at(-1);
  const chosen = stairs.threshold[stairs.rules[0].step] ?? stairs.threshold[0];
  return lowest > 0 && chosen < 0.05 * stairs.threshold[0] ? "curve-log" : "curve";
}
// Drawings run one after another; each shows what is open when it begins, so the last one stays.
let drawn = Promise.resolve();
function draw() {
  drawn = drawn.then(redraw, redraw);
  return drawn;
}
async function redraw() {
  const kind = `${scale()} ${scoreName()}`;
  if (views.kind !== kind) { // a legend is laid out once, so another name needs another chart
    views.kind = kind;
    const chart = charts[scale()];
    const params = chart.params.map((one) => (one.name === "scoreName" ? { ...one, value: scoreName() } : one));
    await embed("curve", { ...chart, params }, curveData());
    views.curve.addEventListener("pointerdown", drag);
    views.curve.addEventListener("pointermove", (event) => event.buttons && drag(event));
    views.curve.addEventListener("pointerup", say);
  }
  for (const [name, rows] of Object.entries(curveData())) views.curve.data(name, rows);
  await views.curve.runAsync();
}
// Move to the threshold nearest to a point in the chart.
function drag(event) {
  const left = at("chart-curve").querySelector("svg").getBoundingClientRect().left;
  const pointed = views.curve.scale("x").invert(event.clientX - left - views.curve.origin()[0]);
  const away = stairs.threshold.map((threshold) => Math.abs(threshold - pointed));
  state.step = away.indexOf(Math.min(...away));
  move();
}

// For screen readers: announce the numbers once a threshold has been chosen. Old text is cleared before.
function say() {
  const ratios = ["precision", "recall", "score"].map((id) => `${id === "score" ? scoreName() : id} ${at(id).textContent}`);
  at("said").textContent = `${stairs.name}: ${ratios.join(", ")}`;
}
function move() {
  at("said").textContent = "";
  const found = countsAt(stairs, state.step);
  const threshold = state.step === NO_STEP ? null : stairs.threshold[state.step];
  write("at", threshold, short);
  for (const id of ["tp", "fp", "fn", "tn", "predicted"]) write(id, found[id], count);
  for (const id of ["precision", "recall"]) write(id, found[id], ratio);
  write("score", found.score, score);
  slider.value = state.step === NO_STEP ? slider.max : stairs.threshold.length - 1 - state.step;
  slider.setAttribute("aria-valuetext", short(threshold));
  for (const button of at("rule-buttons").children) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.step) === state.step
      && (state.label !== POOLED || button.dataset.key === state.average || !isBest(button.dataset.key))));
  }
  views.curve?.data("now", now()).runAsync();
}

// Whether a rule of all labels pooled is the best of an average.
const isBest = (key) => key in (page.pooled?.best ?? {});
function showRules() {
  at("rule-table").tBodies[0].replaceChildren(...stairs.rules.map((rule) => {
    const found = countsAt(isBest(rule.key) && state.label === POOLED ? pooledStairs(rule.key) : stairs, rule.step);
    const row = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = rule.name;
    const cells = [short(rule.step === NO_STEP ? null : stairs.threshold[rule.step]), count(found.predicted),
      count(found.tp), ratio(found.precision), ratio(found.recall), score(found.score)];
    row.append(head, ...cells.map((text) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      return cell;
    }));
    return row;
  }));
  at("rule-buttons").replaceChildren(...stairs.rules.map((rule) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = rule.name;
    Object.assign(button.dataset, { key: rule.key, step: rule.step });
    button.addEventListener("click", () => {
      if (state.label === POOLED && isBest(rule.key)) open(POOLED, rule.key);
      else { state.step = rule.step; move(); say(); }
    });
    return button;
  }));
}

function open(label, average = state.average) {
  Object.assign(state, { label, average });
  stairs = label === POOLED ? pooledStairs(average) : stairsOf(label);
  state.step = (stairs.rules.find((rule) => rule.key === average && label === POOLED) ?? stairs.rules[0]).step;
  at("which").textContent = stairs.name;
  at("score-name").textContent = scoreName();
  at("pool")?.setAttribute("aria-pressed", String(label === POOLED));
  slider.max = stairs.threshold.length;
  const range = stairs.high === null ? `at least ${short(stairs.low)}` : `between ${short(stairs.low)} and ${short(stairs.high)}`;
  const ends = stairs.low === null ? "" : `The best threshold is ${range}. `;
  const rule = page.half_max.includes("(") ? `, ${page.half_max}` : ` (${page.half_max})`;
  const half = stairs.half_max === null ? "" : `Calibrated probabilities would have the threshold ${short(stairs.half_max)}${rule}. `;
  at("marks-said").textContent = `${count(stairs.support)} positives. ${ends}${half}`;
  showRules();
  move();
  say();
  return draw();
}

slider.addEventListener("input", () => {
  const place = Number(slider.value);
  state.step = place === stairs.threshold.length ? NO_STEP : stairs.threshold.length - 1 - place;
  move();
});
slider.addEventListener("change", say);
at("pool")?.addEventListener("click", () => { location.hash = "pooled"; });
at("pick")?.addEventListener("input", ({ target }) => {
  const typed = target.value.toLowerCase();
  const found = [];
  for (let j = 0; j < page.names.length && found.length < 50; j += 1) {
    if (page.names[j].toLowerCase().includes(typed)) found.push(page.names[j]);
  }
  at("found-names").replaceChildren(...found.map((name) => {
    const option = document.createElement("option");
    option.value = name;
    return option;
  }));
  const place = page.names.indexOf(target.value);
  if (target.value && place >= 0) location.hash = `label=${place}`;
});

// The address states what is open, so that links and the back button work.
function follow() {
  const query = new URLSearchParams(location.hash.slice(1));
  const label = Number(query.get("label") ?? Number.NaN);
  if (label in page.names) {
    at("explorer").scrollIntoView();
    return open(label);
  }
  if (query.has("finding") && at("finding")) {
    at("finding").value = query.get("finding");
    at("finding").dispatchEvent(new Event("change"));
    at("labels").scrollIntoView();
  }
  if (query.has("pooled") && page.pooled) return open(POOLED);
  return stairs && location.hash ? undefined : open(page.first);
}
window.addEventListener("hashchange", follow);
document.addEventListener("click", ({ target }) => { // a link to what is already open does not change the address
  if (target.closest("a")?.getAttribute("href") === location.hash) follow();
});

const findingsOf = (j) => page.findings.filter((_, i) => page.labels.found[j] & (1 << i)).join(", ");
function labelRow(j) {
  const labels = page.labels;
  const known = labels.score ? labels.score[j] : undefined;
  const found = judge(labels.tp[j], labels.predicted[j], labels.support[j], page.total, known);
  return {
    j, name: page.names[j], threshold: labels.threshold[j], score: found.score, expected: labels.expected[j],
    low: labels.low[j], high: labels.high[j], precision: found.precision, recall: found.recall,
    support: labels.support[j], predicted: labels.predicted[j], base_rate: labels.support[j] / page.total,
    share: labels.predicted[j] / page.total, half_max: labels.half_max[j], findings: findingsOf(j),
    flooding: findingsOf(j).includes("flooding"),
  };
}

// Cells are text; in the export, anything that a spreadsheet could take for a formula is marked as text.
const plain = DataTable.render.text().display;
const harmless = (text) => (/^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(text) ? `'${text}` : text);
const words = (data, type) => (type === "display" ? plain(data) : type === "export" ? harmless(data) : data);
const number = (show, none = "") => (data, type) => (type === "display" ? show(data)
  : type === "export" ? data ?? none : data ?? Number.POSITIVE_INFINITY);
const threshold = number((x) => (x === null ? "none" : digits(x)), "inf");
const unknown = number((x) => (x === null ? "–" : digits(x)));
const link = (data, type, row) => (type === "display"
  ? `<a href="#label=${row.j}">${plain(data)}</a>` : words(data, type));
function table(id, data, columns, file) {
  const format = { body: (cell) => cell, header: (_, i) => harmless(columns[i].title) };
  const csv = { extend: "csv", text: "Download CSV", filename: file, exportOptions: { orthogonal: "export", format } };
  const safe = columns.map((column) => {
    const isText = column.render === words || column.render === link;
    return { ...column, title: plain(column.title), type: isText ? "string" : "num", searchable: isText };
  });
  const created = new DataTable(`#${id}`, {
    data, columns: safe, deferRender: true, pageLength: 25, order: [], autoWidth: false,
    layout: { topStart: { buttons: [csv] }, topEnd: "search", bottomStart: ["pageLength", "info"] },
  });
  for (const head of created.columns().header().toArray()) head.scope = "col";
  return created;
}

const rows = page.names.map((_, j) => labelRow(j));
if (at("labels-table")) {
  const columns = [
    { title: "label", data: "name", render: link },
    { title: "threshold", data: "threshold", render: threshold },
    { title: page.metric.name, data: "score", render: number(score) },
    { title: "expected", data: "expected", render: number(score) },
    { title: "precision", data: "precision", render: number(ratio) },
    { title: "recall", data: "recall", render: number(ratio) },
    { title: "positives", data: "support", render: number(count) },
    { title: "predicted", data: "predicted", render: number(count) },
    { title: "low", data: "low", render: unknown },
    { title: "high", data: "high", render: (data, type, row) => (row.low === null ? unknown : threshold)(data, type) },
    { title: "findings", data: "findings", render: words },
  ];
  const labels = table("labels-table", rows, columns, "labels");
  labels.on("click", "tbody tr", ({ currentTarget }) => {
    const row = labels.row(currentTarget).data(); // undefined if the search found no rows
    if (row) location.hash = `label=${row.j}`;
  });
  at("finding").addEventListener("change", ({ target }) => {
    labels.column(columns.length - 1).search(target.value, { smart: false }).draw();
  });
}
if (page.decision) {
  const names = Object.keys(page.decision);
  const batches = page.decision[names[0]].map((_, i) => names.map((name) => page.decision[name][i]));
  const isText = (i) => typeof batches[0]?.[i] === "string";
  const columns = names.map((title, i) => ({ title, render: isText(i) ? words : threshold }));
  table("decision-table", batches, columns, "decision");
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.documentElement.classList.toggle("dark", dark.matches);
dark.addEventListener("change", paint);
paint();

async function embed(id, spec, datasets) {
  if (datasets?.labels?.length === 0) {
    at(`chart-${id}`).textContent = "There are no labels to show in this chart.";
    return;
  }
  const whole = { ...spec, datasets: { ...spec.datasets, ...datasets } };
  const { view } = await window.vegaEmbed(at(`chart-${id}`), whole, { renderer: "svg", actions: false });
  views[id] = view;
  at(`chart-${id}`).querySelector("summary")?.setAttribute("aria-label", "Save this chart");
  view.addEventListener("click", (_, item) => {
    if (item?.datum?.j !== undefined) location.hash = `label=${item.datum.j}`;
  });
}

const shown = (page.shown ?? page.names.map((_, j) => j)).map((j) => rows[j]);
const data = {
  health: () => ({ labels: shown.filter((row) => row.base_rate > 0 && row.share > 0) }),
  "half-max": () => ({ labels: shown.filter((row) => row.half_max !== null && row.threshold !== null) }),
  honest: () => ({ labels: shown.filter((row) => row.expected !== null) }),
};
// Charts further down are drawn when they come near, or for printing.
const later = Object.keys(charts).filter((name) => !name.startsWith("curve"));
const drawLater = (id) => later.includes(id) && embed(later.splice(later.indexOf(id), 1)[0], charts[id], data[id]?.());
const near = new IntersectionObserver((seen) => seen.forEach(({ target, isIntersecting }) => {
  if (isIntersecting) drawLater(target.id.replace("chart-", ""));
}), { rootMargin: "600px" });
await follow();
if (!stairs) await open(page.first);
document.documentElement.dataset.ready = "yes";
later.forEach((id) => near.observe(at(`chart-${id}`)));
window.addEventListener("beforeprint", () => [...later].forEach(drawLater));
