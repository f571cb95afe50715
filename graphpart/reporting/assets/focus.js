// The picture of some clusters: their elements in discs, the pairs between them, those against the partition in colour.

const MOST = 300; // elements that are drawn
const GUESTS = 60; // of other clusters, which some pair would join
const VISIBLE = [600, 100, 600, 600, 300, 100, 300, 300]; // lines up to which a kind is shown at first
const STRONGEST = [1500, 1500, 200, 100, 500, 500, 200, 100]; // lines of each kind, at most; the last four are lifted

/** Draw clusters by their labels; say in the caption what is left out. */
function focus(labels, marked = []) {
  const chart = charts.graph;
  if (!chart?.spec.focus || !elements?.pairs) return;
  const wanted = new Set(labels);
  const { u, v, cost } = elements.pairs;
  const against = new Float64Array(elements.n); // strength of an element's pairs against the partition
  for (let k = 0; k < u.length; k++) {
    const joined = elements.labels[u[k]] === elements.labels[v[k]];
    if (joined ? cost[k] > 0 : cost[k] < 0) {
      const size = Math.min(Math.abs(cost[k]), 1e300);
      against[u[k]] += size;
      against[v[k]] += size;
    }
  }
  const must = new Set(marked);
  const members = [];
  for (let i = 0; i < elements.n; i++) if (wanted.has(elements.labels[i])) members.push(i);
  members.sort((a, b) => must.has(b) - must.has(a) || against[b] - against[a] || elements.place[a] - elements.place[b]);
  const kept = members.slice(0, MOST);
  const inside = new Set(kept);
  const guests = new Map();
  for (let k = 0; k < u.length; k++) {
    const [a, b] = [inside.has(u[k]), inside.has(v[k])];
    if (a === b || cost[k] >= 0) continue;
    const other = a ? v[k] : u[k];
    if (!wanted.has(elements.labels[other])) guests.set(other, (guests.get(other) ?? 0) - cost[k]);
  }
  const some = [...guests].sort((a, b) => b[1] - a[1]).slice(0, Math.min(GUESTS, MOST - kept.length));
  const drawn = [...kept, ...some.map(([i]) => i)];
  const at = new Map(drawn.map((i, k) => [i, k]));
  const links = chart.spec.links.map(() => []);
  for (let k = 0; k < u.length; k++) {
    const [a, b] = [at.get(u[k]), at.get(v[k])];
    if (a === undefined || b === undefined) continue;
    const joined = elements.labels[u[k]] === elements.labels[v[k]];
    const kind = joined ? (cost[k] < 0 ? 0 : 2) : cost[k] > 0 ? 1 : 3;
    links[kind + (elements.pairs.lifted?.[k] ? 4 : 0)].push([a, b, cost[k]]);
  }
  const weaker = [2, 3, 6, 7].map((k) => (links[k]?.length ?? 0) - STRONGEST[k]).reduce((sum, more) => sum + Math.max(0, more), 0);
  links.forEach((pairs, k) => {
    if (pairs.length > STRONGEST[k]) links[k] = pairs.sort((p, q) => Math.abs(q[2]) - Math.abs(p[2])).slice(0, STRONGEST[k]);
  });
  const [x, y] = placed(drawn, links);
  const colours = drawn.map((i) => COLOURS[elements.labels[i] % COLOURS.length]);
  const size = Math.min(14, Math.max(5, 14 * Math.sqrt(60 / drawn.length)));
  for (const renderer of rendererOf(chart, "nodes")) renderer.glyph.size = { value: size };
  sourceOf(chart, "nodes").data = { x, y, element: drawn, colour: colours };
  links.forEach((pairs, k) => {
    sourceOf(chart, `links-${k}`).data = {
      x0: pairs.map(([a]) => x[a]),
      y0: pairs.map(([a]) => y[a]),
      x1: pairs.map(([, b]) => x[b]),
      y1: pairs.map(([, b]) => y[b]),
      u: pairs.map(([a]) => drawn[a]),
      v: pairs.map(([, b]) => drawn[b]),
      cost: pairs.map(([, , c]) => c),
    };
    if (!chart.spec.links[k].touched) {
      const visible = pairs.length <= VISIBLE[k];
      for (const renderer of rendererOf(chart, `links-${k}`)) renderer.visible = visible;
      const box = document.getElementById(`kind-${k}`);
      if (box) box.checked = visible;
    }
  });
  sourceOf(chart, "near").data = { x0: [], y0: [], x1: [], y1: [], colour: [] };
  sourceOf(chart, "marker").data = { x: marked.map((i) => x[at.get(i)]), y: marked.map((i) => y[at.get(i)]) };
  fit(chart, x, y);
  const names = labels.length > 4 ? `${shown(labels.length)} clusters` : labels.length > 1 ? `clusters ${labels.join(" and ")}` : `cluster ${labels[0]}`;
  const left = kept.length < members.length ? `: ${shown(kept.length)} of ${plural(members.length, "element")}, those with the most against them` : `: ${plural(members.length, "element")}`;
  const more = some.length ? `, and ${shown(some.length)} of other clusters that a pair would join` : "";
  const rest = weaker ? ` Of the pairs against the partition, ${shown(weaker)} weaker ones are left out.` : "";
  chart.box.querySelector(".shown").textContent = `Drawn: ${names}${left}${more}.${rest}`;
}

/** Show a box with all points, in the shape of the chart. */
function fit(chart, x, y) {
  const { plot } = chart;
  const shape = plot.inner_height ? plot.inner_width / plot.inner_height : 1.5;
  const [left, right, top, bottom] = [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)];
  const margin = 0.06 * Math.max(right - left, bottom - top, 1);
  const high = Math.max(bottom - top + 2 * margin, (right - left + 2 * margin) / shape);
  const wide = high * shape;
  const [mx, my] = [(left + right) / 2, (top + bottom) / 2];
  chart.home = [mx - wide / 2, mx + wide / 2, my + high / 2, my - high / 2];
  setRange(chart, ...chart.home);
}

/** Places of elements: each cluster in a disc, by springs; the discs in rows, the largest first. */
function placed(drawn, links) {
  const groups = new Map();
  drawn.forEach((i, k) => {
    const label = elements.labels[i];
    if (!groups.has(label)) groups.set(label, []);
    groups.get(label).push(k);
  });
  const [x, y] = [new Array(drawn.length).fill(0), new Array(drawn.length).fill(0)];
  const inner = new Map();
  for (const [a, b, cost] of links[0]) {
    const label = elements.labels[drawn[a]];
    if (!inner.has(label)) inner.set(label, []);
    inner.get(label).push([a, b, Math.min(-cost, 1e300)]);
  }
  const discs = [...groups].map(([label, mine]) => {
    springs(mine, inner.get(label) ?? [], x, y);
    return { mine, radius: 0.55 * Math.sqrt(mine.length) + 0.45 };
  });
  discs.sort((a, b) => b.radius - a.radius);
  const width = Math.max(2 * discs[0].radius, Math.sqrt(2.4 * discs.reduce((sum, d) => sum + 4 * d.radius ** 2, 0)));
  let [left, top, high] = [0, 0, 0];
  for (const { mine, radius } of discs) {
    if (left && left + 2 * radius > width * 1.05) [left, top, high] = [0, top + high, 0];
    high = Math.max(high, 2 * radius);
    for (const k of mine) {
      x[k] += left + radius;
      y[k] += top + radius;
    }
    left += 2 * radius;
  }
  return [x, y];
}

/** Fruchterman & Reingold within one cluster, scaled to its disc; starts on a spiral, so that it is always the same. */
function springs(mine, pairs, x, y) {
  const n = mine.length;
  const at = new Map(mine.map((k, place) => [k, place]));
  const [px, py] = [new Float64Array(n), new Float64Array(n)];
  for (let i = 0; i < n; i++) {
    const [r, turn] = [Math.sqrt((i + 0.5) / Math.PI), i * 2.399963];
    [px[i], py[i]] = n > 1 ? [r * Math.cos(turn), r * Math.sin(turn)] : [0, 0];
  }
  const strongest = pairs.reduce((most, [, , size]) => Math.max(most, size), 0) || 1;
  const rounds = n > 3 ? 120 : 0;
  for (let round = 0; round < rounds; round++) {
    const [dx, dy] = [new Float64Array(n), new Float64Array(n)];
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < i; j++) {
        const [vx, vy] = [px[i] - px[j], py[i] - py[j]];
        const push = 0.6 / (vx * vx + vy * vy + 0.01);
        dx[i] += vx * push;
        dy[i] += vy * push;
        dx[j] -= vx * push;
        dy[j] -= vy * push;
      }
    }
    for (const [a, b, size] of pairs) {
      const [i, j] = [at.get(a), at.get(b)];
      const [vx, vy] = [px[i] - px[j], py[i] - py[j]];
      const pull = (Math.hypot(vx, vy) * (0.3 + size / strongest)) / Math.sqrt(n);
      dx[i] -= vx * pull;
      dy[i] -= vy * pull;
      dx[j] += vx * pull;
      dy[j] += vy * pull;
    }
    const heat = 0.5 * (1 - round / rounds);
    for (let i = 0; i < n; i++) {
      const length = Math.hypot(dx[i], dy[i]) || 1;
      const step = Math.min(length, heat);
      px[i] += (dx[i] / length) * step - 0.01 * px[i];
      py[i] += (dy[i] / length) * step - 0.01 * py[i];
    }
  }
  const mean = (values) => values.reduce((a, b) => a + b, 0) / n;
  const [mx, my] = [mean(px), mean(py)];
  let reach = 0;
  for (let i = 0; i < n; i++) reach = Math.max(reach, Math.hypot(px[i] - mx, py[i] - my));
  const scale = n > 1 ? (0.5 * Math.sqrt(n)) / (reach || 1) : 0;
  mine.forEach((k, i) => {
    x[k] = (px[i] - mx) * scale;
    y[k] = (py[i] - my) * scale;
  });
}
