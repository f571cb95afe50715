// Tables that are sorted by the buttons in their heads, filtered by words and comparisons, and shown page by page.

const ROWS = 20;

function makeTable(spec) {
  const box = document.getElementById(`table-${spec.key}`);
  const columns = spec.columns.map((column) => ({
    ...column,
    values: column.kind === "number" ? column.values.map(numeric) : column.values,
  }));
  const count = columns.length ? columns[0].values.length : 0;
  const text = (column, row) => {
    const value = column.values[row];
    if (column.kind === "number") return shown(value);
    return column.kind === "element" ? elementName(value) : String(value);
  };
  let order = Array.from({ length: count }, (_, row) => row);
  let found = order;
  let page = 0;
  let sorted = { column: -1, down: false };

  const body = make("tbody");
  const status = make("p", { class: "status", role: "status", id: `status-${spec.key}` });
  const heads = columns.map((column, k) =>
    make(
      "th",
      { scope: "col", class: column.kind === "number" ? "number" : "text" },
      make("button", { type: "button", onclick: () => sort(k, sorted.column === k && !sorted.down) }, column.name),
    ),
  );
  const table = make(
    "table",
    {
      class: columns.length > 10 ? "many" : "",
      "aria-labelledby": `title-${spec.key}`,
      "aria-describedby": `caption-${spec.key}`,
    },
    make("thead", {}, make("tr", {}, ...heads)),
    body,
  );
  const before = make("button", { type: "button", onclick: () => turn(-1) }, "Previous");
  const next = make("button", { type: "button", onclick: () => turn(1) }, "Next");
  const pager = make("div", { class: "pager" }, before, next);

  function cell(column, row) {
    const kinds = { number: "number", element: "text name" };
    const letters = column.kind === "number" ? 0 : text(column, row).length;
    const wide = letters > 80 ? " longest" : letters > 20 ? " long" : "";
    const attributes = { class: (kinds[column.kind] ?? "text") + wide };
    if (column.kind === "element" && chosen.element) {
      const act = () => chosen.element(column.values[row]);
      return make("td", attributes, make("button", { type: "button", class: "link", onclick: act }, text(column, row)));
    }
    if (column.kind === "change" && chosen.decision) {
      const act = () => chosen.decision(column.values[row], ...column.targets[row], column.bits?.[row]);
      return make("td", attributes, make("button", { type: "button", class: "link", onclick: act }, text(column, row)));
    }
    if (column.kind === "cluster" && chosen.group) {
      const act = () => chosen.group(column.values[row]);
      return make("td", attributes, make("button", { type: "button", class: "link", onclick: act }, text(column, row)));
    }
    return make("td", attributes, text(column, row));
  }

  function show() {
    const pages = Math.max(1, Math.ceil(found.length / ROWS));
    page = Math.min(Math.max(page, 0), pages - 1);
    const rows = found.slice(page * ROWS, (page + 1) * ROWS);
    body.replaceChildren(...rows.map((row) => make("tr", {}, ...columns.map((column) => cell(column, row)))));
    const from = rows.length ? page * ROWS + 1 : 0;
    const some = found.length < count ? `${shown(found.length)} of ${plural(count, "row")} match` : plural(count, "row");
    status.textContent = pages > 1 ? `${some}; ${shown(from)} to ${shown(from + rows.length - 1)} are shown` : some;
    before.disabled = page === 0;
    next.disabled = page === pages - 1;
    pager.hidden = pages === 1;
  }

  function turn(step) {
    page += step;
    show();
  }

  function sort(k, down) {
    const { values, kind } = columns[k];
    const sign = down ? -1 : 1;
    const compare =
      kind === "number" || kind === "cluster"
        ? (a, b) => {
            const [x, y] = [values[a], values[b]];
            if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
            return x === y ? a - b : x < y ? -sign : sign;
          }
        : (a, b) => sign * collator.compare(text(columns[k], a), text(columns[k], b)) || a - b;
    order = order.slice().sort(compare);
    sorted = { column: k, down };
    heads.forEach((head, i) => {
      if (i === k) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    page = 0;
    filter();
  }

  /** Rows that have all the words; `size>=3` compares the column whose name starts with `size`. */
  function filter() {
    const parts = input.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const tests = parts.map((part) => {
      const match = /^([^<>=]+)(<=|>=|<|>|=)(-?[\d.]+(?:e-?\d+)?)$/.exec(part);
      const bare = (name) => name.toLowerCase().replaceAll(" ", "");
      const column = match && columns.find((c) => c.kind !== "text" && bare(c.name).startsWith(match[1]));
      if (!column) return (row) => columns.some((c) => text(c, row).toLowerCase().includes(part));
      const limit = Number(match[3]);
      const compare = {
        "<": (x) => x < limit,
        "<=": (x) => x <= limit,
        ">": (x) => x > limit,
        ">=": (x) => x >= limit,
        "=": (x) => x === limit,
      }[match[2]];
      return (row) => compare(column.values[row]);
    });
    found = tests.length ? order.filter((row) => tests.every((test) => test(row))) : order;
    show();
  }

  const input = make("input", {
    type: "search",
    id: `filter-${spec.key}`,
    autocomplete: "off",
    spellcheck: "false",
    placeholder: columns.some((c) => c.name === "size") ? "words, or size>=3" : "words, or comparisons",
    oninput: () => {
      page = 0;
      filter();
    },
  });
  const label = make("label", { for: input.id }, "Filter");
  const tools = make("div", { class: "controls" }, label, input, status);
  const scroll = make(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": `title-${spec.key}` },
    table,
  );
  box.append(tools, scroll, pager);
  if (spec.sort) sort(Math.abs(spec.sort) - 1, spec.sort < 0);
  else filter();
}
