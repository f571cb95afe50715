// Put it together: elements first, as charts and tables name them.

async function start() {
  if (data.elements) await loadElements(data.elements);
  makeSearch();
  data.tables.forEach(makeTable);
  for (const spec of data.charts) await drawChart(spec);
  if (elements?.first) {
    focus(elements.first);
    ring(elements.first.length > 2 ? [] : elements.first);
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => Object.values(charts).forEach(colourChart));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") say(null);
  });
  document.addEventListener("scroll", () => say(null), { passive: true });
  document.documentElement.dataset.ready = "yes";
}

Bokeh.set_log_level("error");
start().catch((error) => {
  const place = document.getElementById("main");
  place.prepend(make("p", { class: "warning", role: "alert" }, `The charts could not be drawn: ${error.message}`));
  throw error;
});
