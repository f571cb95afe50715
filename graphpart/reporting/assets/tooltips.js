// What is under the pointer, said in words. Names are set as text.

const tooltip = document.getElementById("tooltip");

function say(lines, chart, at) {
  if (!lines) {
    tooltip.hidden = true;
    return;
  }
  tooltip.replaceChildren(...lines.map((line) => make("div", {}, line)));
  tooltip.hidden = false;
  const box = chart.box.querySelector(".plot").getBoundingClientRect();
  const [x, y] = [box.left + at.sx, box.top + at.sy];
  const left = Math.min(x + 14, document.documentElement.clientWidth - tooltip.offsetWidth - 6);
  const below = y + 16 + tooltip.offsetHeight < document.documentElement.clientHeight;
  tooltip.style.left = `${Math.max(4, left)}px`;
  tooltip.style.top = `${below ? y + 16 : y - tooltip.offsetHeight - 12}px`;
}

/** Pixels for each unit of both axes. */
function scaleOf({ plot }) {
  const { x_range: x, y_range: y } = plot;
  return [plot.inner_width / Math.abs(x.end - x.start), plot.inner_height / Math.abs(y.end - y.start)];
}

function watch(chart) {
  const seek = seekers[chart.spec.kind](chart);
  let waiting = null;
  chart.plot.on_event("mousemove", (event) => {
    if (waiting === null) {
      requestAnimationFrame(() => {
        const at = waiting;
        waiting = null;
        if (at) say(seek(at)?.lines, chart, at);
      });
    }
    waiting = event;
  });
  chart.plot.on_event("mouseleave", () => {
    waiting = null;
    say(null);
  });
  chart.plot.on_event("tap", (event) => {
    const found = seek(event);
    if (found?.element !== undefined) chosen.element?.(found.element, true);
    else if (found?.group !== undefined) chosen.group?.(found.group);
    else say(found?.lines, chart, event);
  });
}

/** Pixels from a place to a line. */
function toLine({ x0, y0, x1, y1 }, i, x, y, width, height) {
  const [ax, ay] = [(x0[i] - x) * width, (y0[i] - y) * height];
  const [bx, by] = [(x1[i] - x) * width, (y1[i] - y) * height];
  const [dx, dy] = [bx - ax, by - ay];
  const share = Math.min(1, Math.max(0, -(ax * dx + ay * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(ax + share * dx, ay + share * dy);
}

const seekers = {
  lines(chart) {
    const { spec, plot } = chart;
    return ({ sx, sy, x, y }) => {
      let best = null;
      const log = (value, scale) => (isLog(scale) ? Math.log(value) : value);
      const { x_range: xr, y_range: yr, x_scale: xs, y_scale: ys } = plot;
      const width = plot.inner_width / Math.abs(log(xr.end, xs) - log(xr.start, xs));
      const height = plot.inner_height / Math.abs(log(yr.end, ys) - log(yr.start, ys));
      for (const series of spec.series) {
        const renderer = rendererOf(chart, series.name)[0];
        if (!renderer?.visible) continue;
        const columns = renderer.data_source.data;
        for (let i = 0; i < columns.x.length; i++) {
          const dx = (log(columns.x[i], xs) - log(x, xs)) * width;
          const dy = (log(columns.y[i], ys) - log(y, ys)) * height;
          const distance = Math.hypot(dx, dy);
          if (distance < (best?.distance ?? 30)) best = { distance, series, x: columns.x[i], y: columns.y[i] };
        }
      }
      if (!best) return null;
      const rest = spec.y ? `${shown(best.y)} of instances at ${shown(best.x)} ${spec.x}` : `after ${shown(best.x)} ${spec.x}`;
      return { lines: spec.y ? [best.series.name, rest] : [`${best.series.name} ${shown(best.y)}`, rest] };
    };
  },

  bars(chart) {
    const columns = sourceOf(chart, "bars").data;
    return ({ x }) => {
      for (let k = 0; k < columns.left.length; k++) {
        if (x >= columns.left[k] && x <= columns.right[k]) return { lines: [chart.spec.texts[k]] };
      }
      return null;
    };
  },

  graph(chart) {
    const kinds = chart.spec.links.map((link, k) => [link, rendererOf(chart, `links-${k}`)[0]]);
    return ({ x, y }) => {
      const nodes = sourceOf(chart, "nodes").data;
      const [width, height] = scaleOf(chart);
      let [best, at] = [11, -1];
      for (let i = 0; i < nodes.x.length; i++) {
        const distance = Math.hypot((nodes.x[i] - x) * width, (nodes.y[i] - y) * height);
        if (distance < best) [best, at] = [distance, i];
      }
      if (at >= 0) return { lines: aboutElement(nodes.element[at]), element: nodes.element[at] };
      let found = null;
      best = 5;
      for (const [link, renderer] of kinds) {
        if (!renderer.visible) continue;
        const { u, v, cost } = renderer.data_source.data;
        for (let i = 0; i < u.length; i++) {
          const distance = toLine(renderer.data_source.data, i, x, y, width, height);
          if (distance < best) [best, found] = [distance, [link.name, u[i], v[i], cost[i]]];
        }
      }
      if (!found) return null;
      const [kind, a, b, cost] = found;
      const what = elements?.word === "variable" ? "above the least energy by" : "cost";
      const says = elements?.word === "variable" ? `${what} ${shown(cost)}` : elements?.scores ? pairText(cost) : `${what} ${shown(cost)}`;
      return { lines: [`${elementName(a)} – ${elementName(b)}`, says, kind] };
    };
  },

  map(chart) {
    const points = sourceOf(chart, "clusters").data;
    const lines = sourceOf(chart, "lines").data;
    return ({ x, y }) => {
      const [width, height] = scaleOf(chart);
      let [best, at] = [0, -1];
      for (let i = 0; i < points.x.length; i++) {
        const reach = Math.max(points.radius[i] * width, 8);
        const near = reach - Math.hypot((points.x[i] - x) * width, (points.y[i] - y) * height);
        if (near > best) [best, at] = [near, i];
      }
      if (at >= 0) {
        const label = points.label[at];
        return { lines: [`cluster ${label}`, plural(points.size[at], "element"), "press to draw it"], group: label };
      }
      let found = -1;
      best = 5;
      for (let i = 0; i < lines.x0.length; i++) {
        const distance = toLine(lines, i, x, y, width, height);
        if (distance < best) [best, found] = [distance, i];
      }
      if (found < 0) return null;
      const [a, b] = [points.label[lines.u[found]], points.label[lines.v[found]]];
      const rest = `${plural(lines.pairs[found], "pair")} between them, ${shown(lines.attract[found])} of them attract`;
      return { lines: [`clusters ${a} and ${b}`, `summed cost ${shown(lines.cost[found])}`, rest] };
    };
  },

  matrix(chart) {
    const { cells, full, scale } = chart.spec;
    const n = chart.home[1];
    return ({ x, y }) => {
      if (!(x >= 0 && x < n && y >= 0 && y < n)) return null;
      const [i, j] = [Math.floor((y * cells) / n), Math.floor((x * cells) / n)];
      const cost = full[i * cells + j] * scale;
      const words = Number.isNaN(cost) ? "no cost" : cost === Infinity ? "required apart" : `cost ${shown(cost)}`;
      if (cells < n) {
        const some = (k) => `${shown(Math.ceil((k * n) / cells) + 1)} to ${shown(Math.ceil(((k + 1) * n) / cells))}`;
        return { lines: [`places ${some(i)} and ${some(j)}`, Number.isNaN(cost) ? words : `mean ${words}`] };
      }
      const [a, b] = [elements.order[i], elements.order[j]];
      if (a === b) return { lines: aboutElement(a), element: a };
      const joined = elements.labels[a] === elements.labels[b];
      return { lines: [`${elementName(a)} – ${elementName(b)}`, words, joined ? "together" : "apart"] };
    };
  },

  image(chart) {
    const { width, height, place } = chart.spec;
    let at = null;
    if (place) {
      at = new Map();
      unpack(place).then((cells) => cells.forEach((cell, i) => at.set(cell, i)));
    }
    return ({ x, y }) => {
      if (!(x >= 0 && x < width && y >= 0 && y < height) || !elements) return null;
      const cell = Math.floor(y) * width + Math.floor(x);
      const i = at ? at.get(cell) : cell;
      return i === undefined ? null : { lines: aboutElement(i), element: i };
    };
  },
};
