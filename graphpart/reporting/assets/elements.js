// Elements (or variables): search by name, what there is to know of one, and where it is in the charts.

let elements = null; // {n, names, labels, order, doubt, to, own, pairs, word, group, sizes}
const chosen = { element: null, group: null }; // what a press on an element or a subset does
const FOUND = 12;
const MEMBERS = 200;

const elementName = (i) => (elements?.names ? elements.names[i] : String(i));

async function loadElements(packed) {
  const [labels, order, doubt, to, own] = await Promise.all(
    ["labels", "order", "doubt", "to", "own"].map((name) => unpack(packed[name])),
  );
  elements = { ...packed, labels, order, doubt, to, own, sizes: new Map() };
  for (const label of labels) elements.sizes.set(label, (elements.sizes.get(label) ?? 0) + 1);
  if (packed.pairs) {
    const [u, v, cost] = await Promise.all(["u", "v", "cost"].map((name) => unpack(packed.pairs[name])));
    elements.pairs = { u, v, cost };
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
  else lines.push(`subset ${label}, ${plural(elements.sizes.get(label), "element")}`);
  if (elements.own) lines.push(`costs with its subset: ${shown(elements.own[i])}`);
  if (elements.doubt) lines.push(changeOf(i));
  return lines;
}

function changeOf(i) {
  const [doubt, to] = [elements.doubt[i], elements.to[i]];
  if (!Number.isFinite(doubt)) return elements.group === "label" ? "no other label is allowed" : "no other place";
  if (elements.group === "label") return `with label ${to} it would cost ${shown(doubt)} more`;
  return `${to < 0 ? "on its own" : `in subset ${to}`} it would cost ${shown(doubt)} more`;
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
  const unsure = [...(elements.doubt ?? [])]
    .map((doubt, i) => [doubt, i])
    .filter(([doubt]) => Number.isFinite(doubt))
    .sort((a, b) => a[0] - b[0]);
  let next = 0;
  const least = make(
    "button",
    {
      type: "button",
      onclick: () => {
        choose(unsure[next % unsure.length][1]);
        next++;
      },
    },
    `Next least sure ${word}`,
  );
  const tools = [make("label", { for: input.id }, `Search for ${word === "element" ? "an element" : "a variable"}`), input];
  if (unsure.length) tools.push(least);
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
    status.textContent = !wanted ? "" : count > FOUND ? `${plural(count, word)}, the first ${FOUND} are shown` : plural(count, word);
    list.replaceChildren(
      ...some.map((i) => make("li", {}, make("button", { type: "button", onclick: () => choose(i) }, elementName(i)))),
    );
  }

  function choose(i, here = false) {
    const label = elements.labels[i];
    const group = elements.group === "label" ? make("span", {}, `label ${label}`) : groupLink(label);
    const rows = [[elements.group, group]];
    if (elements.own) rows.push(["costs with its subset", shown(elements.own[i])]);
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
            return make("li", {}, elementLink(j), ` ${cost === Infinity ? "required apart" : shown(cost)}, ${what}`);
          }),
        ),
      );
    }
    const hidden = mark([i], !here, near);
    if (hidden) parts.push(make("p", { class: "status" }, "It is not among those that the graph shows."));
    detail.replaceChildren(...parts);
  }

  function chooseGroup(label) {
    const members = [];
    for (let i = 0; i < elements.n; i++) if (elements.labels[i] === label) members.push(i);
    const some = members.slice(0, MEMBERS);
    const note = members.length > MEMBERS ? `, of which ${MEMBERS} are listed` : "";
    detail.replaceChildren(
      make("h3", {}, `Subset ${label}`),
      make("p", {}, `${plural(members.length, word)}${note}:`),
      make("ul", { class: "found" }, ...some.map((i) => make("li", {}, elementLink(i)))),
    );
    mark(members, true);
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
}

/** The pairs of an element with the largest absolute costs. */
function neighbours(i) {
  const found = [];
  const matrix = charts.matrix?.spec;
  if (elements.pairs) {
    const { u, v, cost } = elements.pairs;
    for (let k = 0; k < u.length; k++) {
      if (u[k] === i) found.push([v[k], cost[k]]);
      else if (v[k] === i) found.push([u[k], cost[k]]);
    }
  } else if (matrix && matrix.cells === elements.n) {
    const row = elements.place[i] * matrix.cells;
    for (let k = 0; k < matrix.cells; k++) {
      const cost = matrix.full[row + k] * matrix.scale;
      if (cost) found.push([elements.order[k], cost]); // NaN, where there is no cost, is false as well
    }
  }
  return found.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 10);
}

/** Mark elements in all charts; true if none of them is in the graph. */
function mark(some, move, near = []) {
  const wanted = new Set(some);
  let hidden = false;
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
    hidden = x.length === 0;
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
  if (image) markImage(image, wanted, some);
  return hidden;
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

async function markImage(image, wanted, some) {
  const { width, place } = image.spec;
  const cells = place ? (image.spec.cells ??= await unpack(place)) : null;
  const at = some.length > 500 ? [] : some.map((i) => (cells ? cells[i] : i));
  sourceOf(image, "marker").data = { x: at.map((k) => (k % width) + 0.5), y: at.map((k) => Math.floor(k / width) + 0.5) };
}
