// Elements (or variables): search by name, what there is to know of one, and where it is in the charts.

let elements = null; // {n, names, labels, order, doubt, to, own, pairs, word, group, sizes}
const chosen = { element: null, group: null }; // what a press on an element or a cluster does
const FOUND = 12;
const MEMBERS = 200;

const elementName = (i) => (elements?.names ? elements.names[i] : data.shape ? pixelName(i) : String(i));

/** The number of a pixel, and where it is. */
function pixelName(i) {
  const [height, width] = data.shape.slice(-2);
  const plane = data.shape.length > 2 ? `plane ${Math.floor(i / (width * height))}, ` : "";
  return `${i} (${plane}row ${Math.floor(i / width) % height}, column ${i % width})`;
}

async function loadElements(packed) {
  const [names, labels, order, doubt, to, own] = await Promise.all(
    ["names", "labels", "order", "doubt", "to", "own"].map((name) => unpack(packed[name])),
  );
  elements = { ...packed, names, labels, order, doubt, to, own, sizes: new Map() };
  for (const label of labels) elements.sizes.set(label, (elements.sizes.get(label) ?? 0) + 1);
  if (packed.pairs) {
    const [u, v, cost, lifted] = await Promise.all(["u", "v", "cost", "lifted"].map((name) => unpack(packed.pairs[name])));
    for (let k = 0, place = 0; k < u.length; k++) { // differences of places in the order of clusters
      place += u[k];
      [u[k], v[k]] = [order[place], order[place + v[k]]];
    }
    elements.pairs = { u, v, cost, lifted };
  }
  if (packed.order) {
    elements.place = new Int32Array(packed.n);
    order.forEach((i, k) => (elements.place[i] = k));
  }
}

/** A few lines on an element. */
function aboutElement(i) {
  const label = elements.labels[i];
  const lines = [elementName(i)];
  if (elements.group === "label") lines.push(`label ${label}`);
  else lines.push(`cluster ${label}, ${plural(elements.sizes.get(label), "element")}`);
  if (elements.own) lines.push(`costs with its cluster: ${shown(elements.own[i])}`);
  if (elements.doubt) lines.push(changeOf(i));
  return lines;
}

function changeOf(i) {
  const [doubt, to] = [elements.doubt[i], elements.to[i]];
  if (!Number.isFinite(doubt)) return elements.group === "label" ? "no other label is allowed" : "no other place";
  if (elements.group === "label") return `with label ${to} it would cost ${shown(doubt)} more`;
  return `${to < 0 ? "on its own" : `in cluster ${to}`} it would cost ${shown(doubt)} more`;
}

function makeSearch() {
  const box = document.getElementById("search");
  if (!box || !elements) return;
  const word = elements.word;
  const status = make("p", { class: "status", role: "status" });
  const list = make("ul", { class: "found", "aria-label": "Found" });
  const detail = make("div", { class: "detail", "aria-live": "polite", id: "detail" });
  const input = make("input", {
    type: "search",
    id: "search-input",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "name",
    oninput: () => search(),
    onkeydown: (event) => {
      if (event.key === "Enter") list.querySelector("button")?.click();
    },
  });
  const { doubt } = elements;
  let unsure = null; // sorted once it is asked for
  let next = 0;
  const least = make(
    "button",
    {
      type: "button",
      onclick: () => {
        unsure ??= [...doubt.keys()].filter((i) => Number.isFinite(doubt[i])).sort((a, b) => doubt[a] - doubt[b] || a - b);
        choose(unsure[next % unsure.length]);
        next++;
      },
    },
    `Next least sure ${word}`,
  );
  const tools = [make("label", { for: input.id }, `Search for ${word === "element" ? "an element" : "a variable"}`), input];
  if (doubt?.some(Number.isFinite)) tools.push(least);
  box.append(make("div", { class: "controls", role: "search" }, ...tools, status), list, detail);

  function search() {
    const wanted = input.value.trim().toLowerCase();
    const [exact, starts, holds] = [[], [], []];
    let count = 0;
    for (let i = 0; wanted && i < elements.n; i++) {
      const name = elementName(i).toLowerCase();
      const at = name.indexOf(wanted);
      if (at < 0) continue;
      count++;
      const group = name === wanted ? exact : at === 0 ? starts : holds;
      if (group.length < FOUND) group.push(i);
    }
    const some = [...exact, ...starts, ...holds].slice(0, FOUND);
    if (wanted && !count) detail.replaceChildren();
    status.textContent = !wanted ? "" : count > FOUND ? `${plural(count, word)}, the first ${FOUND} are shown` : plural(count, word);
    list.replaceChildren(
      ...some.map((i) => make("li", {}, make("button", { type: "button", onclick: () => choose(i) }, elementName(i)))),
    );
  }

  function choose(i, here = false) {
    const label = elements.labels[i];
    const group = elements.group === "label" ? make("span", {}, `label ${label}`) : groupLink(label);
    const rows = [[elements.group, group]];
    if (elements.own) rows.push(["costs with its cluster", shown(elements.own[i])]);
    if (elements.doubt) rows.push(["cheapest change", changeOf(i)]);
    const facts = rows.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
    const near = neighbours(i);
    const parts = [make("h3", {}, elementName(i)), make("dl", { class: "facts" }, ...facts)];
    if (near.length) {
      parts.push(
        make("p", {}, "Its strongest pairs, which the graph shows as lines:"),
        make(
          "ul",
          { class: "found" },
          ...near.map(([j, cost]) => {
            const what = elements.labels[j] === label ? "together" : "apart";
            return make("li", {}, elementLink(j), ` ${pairText(cost)}, ${what}`);
          }),
        ),
      );
    }
    if (charts.graph?.spec.focus && !sourceOf(charts.graph, "nodes").data.element.includes(i)) focus([label], [i]);
    ring([label]);
    mark([i], !here, near);
    detail.replaceChildren(...parts);
  }

  function chooseGroup(label) {
    const members = [];
    for (let i = 0; i < elements.n; i++) if (elements.labels[i] === label) members.push(i);
    const some = members.slice(0, MEMBERS);
    const note = members.length > MEMBERS ? `, of which ${MEMBERS} are listed` : "";
    detail.replaceChildren(
      make("h3", {}, `Cluster ${label}`),
      make("p", {}, `${plural(members.length, word)}${note}:`),
      make("ul", { class: "found" }, ...some.map((i) => make("li", {}, elementLink(i)))),
    );
    focus([label]);
    ring([label]);
    if (charts.image) markImage(charts.image, members);
    document.getElementById("chart-graph")?.scrollIntoView({ block: "nearest" });
  }

  /** A decision: its clusters in the picture, the pairs between them, and what makes up the evidence of one pair. */
  function chooseDecision(text, labels, [a, b], bits) {
    focus(labels, [a, b]);
    ring(labels);
    const both = new Set(labels);
    const { u, v, cost } = elements.pairs;
    const pairs = [];
    for (let k = 0; k < u.length; k++) {
      const [p, q] = [elements.labels[u[k]], elements.labels[v[k]]];
      if (both.has(p) && both.has(q) && (labels.length === 1 || p !== q)) pairs.push([u[k], v[k], cost[k]]);
    }
    pairs.sort((p, q) => Math.abs(q[2]) - Math.abs(p[2]));
    const what = labels.length === 1 ? "Pairs within it" : "Pairs between the two clusters";
    const list = pairs.slice(0, FOUND).map(([i, j, c]) => make("li", {}, elementLink(i), " – ", elementLink(j), ` ${pairText(c)}`));
    const parts = [make("h3", {}, text), make("p", {}, `${what} with a cost other than 0: ${shown(pairs.length)}.`), make("ul", { class: "found" }, ...list)];
    if (bits?.length) parts.push(waterfall(`${elementName(a)} – ${elementName(b)}`, bits));
    detail.replaceChildren(...parts);
    box.scrollIntoView({ block: "nearest" });
  }

  const elementLink = (i) => make("button", { type: "button", class: "link", onclick: () => choose(i) }, elementName(i));
  const groupLink = (label) =>
    make(
      "button",
      { type: "button", class: "link", onclick: () => chooseGroup(label) },
      `${label}, ${plural(elements.sizes.get(label), word)}`,
    );

  chosen.element = (i, here = false) => {
    choose(i, here);
    if (!here) box.scrollIntoView({ block: "nearest" });
  };
  chosen.group = chooseGroup;
  chosen.decision = chooseDecision;
}

/** A cost, and the score that it comes from. */
function pairText(cost) {
  if (cost === Infinity) return "required apart";
  const scores = elements.scores;
  if (!scores) return shown(cost);
  const value = { weight: -cost, similarity: scores.shift - cost, probability: 1 / (1 + 2 ** (cost - scores.shift)) }[scores.kind];
  return `${scores.name} ${Number(value.toPrecision(3))}, cost ${Number(cost.toPrecision(3))}`;
}

/** What each comparison adds to the evidence of a pair, in bits, one after the other. */
function waterfall(name, bits) {
  const sums = [0];
  for (const [, value] of bits) sums.push(sums[sums.length - 1] + value);
  const [low, high] = [Math.min(...sums), Math.max(...sums)];
  const share = (value) => `${(100 * (value - low)) / (high - low || 1)}%`;
  const rows = [...bits, ["in all", sums[sums.length - 1]]].map(([what, value], k) => {
    const [from, to] = k < bits.length ? [sums[k], sums[k + 1]] : [0, value];
    const bar = make("span", { class: value < 0 ? "bar less" : "bar" });
    bar.style.left = share(Math.min(from, to));
    bar.style.width = share(low + Math.abs(to - from));
    return make("tr", {}, make("th", { scope: "row" }, what), make("td", { class: "number" }, shown(Number(value.toPrecision(3)))), make("td", { class: "track" }, bar));
  });
  return make("table", { class: "waterfall" }, make("caption", {}, `Evidence that ${name} belong together, in bits`), make("tbody", {}, ...rows));
}

/** The pairs of an element with the largest absolute costs. */
function neighbours(i) {
  const found = [];
  if (elements.pairs) {
    const { u, v, cost } = elements.pairs;
    for (let k = 0; k < u.length; k++) {
      if (u[k] === i) found.push([v[k], cost[k]]);
      else if (v[k] === i) found.push([u[k], cost[k]]);
    }
  }
  return found.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 10);
}

/** Mark clusters on the map. */
function ring(labels) {
  const { map } = charts;
  if (!map) return;
  const { x, y, label } = sourceOf(map, "clusters").data;
  const at = [...label.keys()].filter((k) => labels.includes(label[k]));
  sourceOf(map, "ring").data = { x: at.map((k) => x[k]), y: at.map((k) => y[k]) };
}

/** Mark elements in all charts. */
function mark(some, move, near = []) {
  const wanted = new Set(some);
  const { graph, matrix, image } = charts;
  if (graph) {
    const nodes = sourceOf(graph, "nodes").data;
    const [x, y] = [[], []];
    for (let k = 0; k < nodes.element.length; k++) {
      if (wanted.has(nodes.element[k])) {
        x.push(nodes.x[k]);
        y.push(nodes.y[k]);
      }
    }
    sourceOf(graph, "marker").data = { x, y };
    markPairs(graph, nodes, some[0], near);
    if (move && x.length) centre(graph, x[0], y[0], x.length === 1);
  }
  if (matrix) {
    const n = matrix.home[1];
    const at = some.length === 1 ? [elements.place[some[0]] + 0.5] : [];
    const zeros = at.map(() => 0);
    const ends = at.map(() => n);
    sourceOf(matrix, "cross").data = {
      x0: [...zeros, ...at],
      x1: [...ends, ...at],
      y0: [...at, ...zeros],
      y1: [...at, ...ends],
    };
  }
  if (image) markImage(image, some);
}

/** Lines to the strongest pairs of an element, as far as they are in the graph. */
function markPairs(graph, nodes, i, near) {
  const at = new Map();
  nodes.element.forEach((element, k) => at.set(element, k));
  const from = at.get(i);
  const columns = { x0: [], y0: [], x1: [], y1: [], colour: [] };
  for (const [j, cost] of from === undefined ? [] : near) {
    const to = at.get(j);
    if (to === undefined) continue;
    columns.x0.push(nodes.x[from]);
    columns.y0.push(nodes.y[from]);
    columns.x1.push(nodes.x[to]);
    columns.y1.push(nodes.y[to]);
    columns.colour.push(cost < 0 ? "#3b78b8" : "#d1542c");
  }
  sourceOf(graph, "near").data = columns;
}

async function markImage(image, some) {
  const { width, place } = image.spec;
  const cells = place ? (image.spec.cells ??= await unpack(place)) : null;
  const at = some.length > 500 ? [] : some.map((i) => (cells ? cells[i] : i));
  sourceOf(image, "marker").data = { x: at.map((k) => (k % width) + 0.5), y: at.map((k) => Math.floor(k / width) + 0.5) };
}
