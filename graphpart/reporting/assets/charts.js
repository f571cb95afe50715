// Charts: BokehJS draws them; their colours follow the page, buttons zoom them.

const charts = {}; // by key: {spec, box, plot, home}

async function drawChart(spec) {
  const box = document.getElementById(`chart-${spec.key}`);
  const target = box.querySelector(".plot");
  target.id = `plot-${spec.key}`;
  if (spec.kind === "matrix") await fillMatrix(spec);
  const views = await Bokeh.embed.embed_item(spec.item, target.id);
  const plot = views.roots[0].model;
  const { x_range: x, y_range: y } = plot;
  const chart = { spec, box, plot, home: [x.start, x.end, y.start, y.end] };
  charts[spec.key] = chart;
  delete spec.item;
  addControls(chart);
  colourChart(chart);
  watch(chart);
  if (spec.kind === "map") plot.properties.inner_width.change.connect(() => showNames(chart));
}

const [LETTER, LINE] = [6.5, 13]; // pixels of a name on the map
const ROOM = 800; // pixels that the whole map has to be wide for names
const rendererOf = (chart, name) => chart.plot.renderers.filter((renderer) => renderer.name === name);
const sourceOf = (chart, name) => rendererOf(chart, name)[0]?.data_source;

/** The image of a symmetric matrix, from its upper half. */
async function fillMatrix(spec) {
  const half = await unpack(spec.half);
  const n = spec.cells;
  const full = new Float32Array(n * n);
  let k = 0;
  for (let i = 0; i < n; i++) {
    for (let j = i; j < n; j++, k++) full[i * n + j] = full[j * n + i] = half[k];
  }
  spec.full = full;
  delete spec.half;
  const place = (value) => {
    if (Array.isArray(value)) return value.some(place);
    if (value === null || typeof value !== "object") return false;
    if (value.type === "ndarray" && value.dtype === "float32" && value.shape.length === 2) {
      value.array = { type: "bytes", data: full };
      value.shape = [n, n];
      return true;
    }
    return Object.values(value).some(place);
  };
  place(spec.item);
}

function addControls(chart) {
  const { spec, box } = chart;
  const controls = box.querySelector(".controls");
  const name = box.querySelector("h3").textContent;
  const button = (text, label, act) =>
    make("button", { type: "button", "aria-label": `${label}: ${name}`, title: label, onclick: act }, text);
  controls.append(
    button("+", "Zoom in", () => zoom(chart, 1 / 1.6)),
    button("−", "Zoom out", () => zoom(chart, 1.6)),
    button("All", "Show all", () => setRange(chart, ...chart.home)),
  );
  const plot = box.querySelector(".plot");
  plot.tabIndex = 0;
  plot.setAttribute("role", "group");
  plot.setAttribute("aria-label", `${name}: arrow keys move it, + and - zoom, 0 shows all`);
  plot.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const { key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key in moves) pan(chart, ...moves[key]);
    else if (key === "+" || key === "=") zoom(chart, 1 / 1.6);
    else if (key === "-") zoom(chart, 1.6);
    else if (key === "0") setRange(chart, ...chart.home);
    else return;
    event.preventDefault();
  });
  const choices = [];
  if (spec.kind === "lines") {
    for (const series of spec.series) choices.push([series, [series.name], true, series.name]);
  }
  if (spec.kind === "graph") {
    spec.links.forEach((link, k) => {
      const count = link.drawn < link.count ? `${shown(link.drawn)} of ${shown(link.count)}` : shown(link.count);
      const text = spec.focus ? link.name : `${link.name} (${count})`;
      if (link.count) choices.push([link, [`links-${k}`], link.visible, text, `kind-${k}`]);
    });
  }
  if (choices.length) {
    const group = make("fieldset", {}, make("legend", {}, spec.kind === "graph" ? "Pairs" : "Curves"));
    for (const [style, names, visible, text, id] of choices) {
      const act = (event) => {
        for (const each of names.flatMap((part) => rendererOf(chart, part))) each.visible = event.target.checked;
        style.touched = true;
      };
      const dash = style.dash && style.dash !== "solid" ? "dashed" : "solid";
      const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.borderTop = `3px ${dash} ${style.colour}`;
      group.append(make("label", {}, make("input", { type: "checkbox", id: id ?? null, checked: visible, onchange: act }), swatch, text));
    }
    controls.append(group);
  }
  if (spec.focus) controls.append(make("p", { class: "status shown", role: "status" }));
  if (spec.legend?.length) {
    const items = spec.legend.map(({ name: text, colour }) => {
      const swatch = make("span", { class: "swatch square", "aria-hidden": "true" });
      swatch.style.background = colour;
      return make("li", {}, swatch, text);
    });
    controls.append(make("ul", { class: "legend", "aria-label": "Colours" }, ...items));
  }
}

const isLog = (scale) => scale.type === "LogScale";

function zoomed([start, end], factor, log) {
  const [a, b] = log ? [Math.log(start), Math.log(end)] : [start, end];
  const [middle, half] = [(a + b) / 2, ((b - a) / 2) * factor];
  const found = [middle - half, middle + half];
  return log ? found.map(Math.exp) : found;
}

function zoom(chart, factor) {
  const { x_range: x, y_range: y, x_scale: sx, y_scale: sy } = chart.plot;
  setRange(chart, ...zoomed([x.start, x.end], factor, isLog(sx)), ...zoomed([y.start, y.end], factor, isLog(sy)));
}

/** Move by a fifth of what is shown. */
function pan(chart, right, up) {
  const { x_range: x, y_range: y, x_scale: sx, y_scale: sy } = chart.plot;
  const moved = ({ start, end }, share, log) => {
    const [a, b] = log ? [Math.log(start), Math.log(end)] : [start, end];
    const step = share * 0.2 * (b - a);
    return log ? [Math.exp(a + step), Math.exp(b + step)] : [a + step, b + step];
  };
  setRange(chart, ...moved(x, right, isLog(sx)), ...moved(y, up, isLog(sy)));
}

function setRange(chart, left, right, bottom, top) {
  chart.plot.x_range.setv({ start: left, end: right });
  chart.plot.y_range.setv({ start: bottom, end: top });
  showNames(chart);
}

/** The names on the map, where there is room for them: in wide windows, and after zooming in. */
function showNames(chart) {
  if (chart.spec.kind !== "map") return;
  const { x_range: range } = chart.plot;
  const share = chart.home ? Math.abs((range.end - range.start) / (chart.home[1] - chart.home[0])) : 1;
  const renderer = rendererOf(chart, "names")[0];
  renderer.visible = chart.box.clientWidth / share >= ROOM;
  if (!renderer.visible || !chart.plot.inner_width) return;
  const [scaleX, scaleY] = scaleOf(chart);
  const { x, below, size, member, text } = renderer.data_source.data;
  const taken = []; // the left, right and lower ends of names: the largest clusters come first
  const free = new Array(member.length).fill("");
  for (const i of [...member.keys()].sort((a, b) => size[b] - size[a] || a - b)) {
    const half = (LETTER * member[i].length) / 2;
    const [at, high] = [x[i] * scaleX, below[i] * scaleY];
    if (taken.some(([left, right, y]) => at - half < right && at + half > left && Math.abs(high - y) < LINE)) continue;
    taken.push([at - half, at + half, high]);
    free[i] = member[i];
  }
  if (free.some((name, i) => name !== text[i])) renderer.data_source.data = { ...renderer.data_source.data, text: free };
}

/** Move a place into the middle if it is outside or near the border, as near as the chart is now. */
function centre(chart, x, y, closer = false) {
  const { x_range: xr, y_range: yr } = chart.plot;
  let [w, h] = [xr.end - xr.start, yr.end - yr.start];
  if (closer) {
    const all = chart.home[1] - chart.home[0];
    const factor = Math.min(1, Math.abs(all / 2 / w));
    [w, h] = [w * factor, h * factor];
  }
  setRange(chart, x - w / 2, x + w / 2, y - h / 2, y + h / 2);
}

function colourChart(chart) {
  const style = getComputedStyle(document.documentElement);
  const [text, line, ground] = ["--text", "--line", "--panel"].map((name) => style.getPropertyValue(name).trim());
  const { plot, spec } = chart;
  const sides = [...plot.left, ...plot.right, ...plot.above, ...plot.below];
  for (const axis of sides.filter((side) => "axis_label_text_color" in side)) {
    axis.setv({
      axis_label_text_color: text,
      axis_label_text_font_style: "normal",
      major_label_text_color: text,
      axis_line_color: line,
      major_tick_line_color: line,
      minor_tick_line_color: null,
    });
  }
  for (const grid of plot.center.filter((part) => "grid_line_color" in part)) grid.grid_line_color = line;
  if (spec.kind === "map") {
    rendererOf(chart, "names")[0].glyph.text_color = { value: text };
    showNames(chart);
  }
  if (spec.kind === "matrix") {
    const { glyph } = rendererOf(chart, "image")[0];
    glyph.color_mapper.palette = diverging(ground);
  }
}

/** From blue over the colour of the ground to red, 255 colours. */
function diverging(ground) {
  const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const [low, middle, high] = ["#2f6fb2", ground, "#cf4a22"].map(rgb);
  const hex = (part) => Math.round(part).toString(16).padStart(2, "0");
  return Array.from({ length: 255 }, (_, k) => {
    const share = Math.abs(k - 127) / 127;
    const end = k < 127 ? low : high;
    return "#" + middle.map((part, i) => hex(part + (end[i] - part) * share)).join("");
  });
}
