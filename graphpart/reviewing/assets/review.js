// One question after the other. Text from data only ever becomes text of the page, never HTML.

const data = JSON.parse(document.getElementById("data").textContent);
const answers = new Answers(data.key, data.format);
const find = (id) => document.getElementById(id);
let at = 0; // the question that is shown; after the last one, the end

/** An element of the page with children; children that are no nodes become text. */
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return node;
}

const names = (k) => data.questions[k].slice(0, 2).map((i) => data.elements[i][0]);
const said = (k) => answers.of(...names(k));
const called = (answer) => answer || "not known";

function tell(text, alert = false) {
  find("status").textContent = text;
  find("status").classList.toggle("alert", alert);
}

function show() {
  const count = data.questions.length;
  let done = 0;
  for (let k = 0; k < count; k++) if (said(k) !== undefined) done++;
  find("progress").textContent = `Question ${Math.min(at + 1, count)} of ${count}, ${done} answered`;
  Object.assign(find("bar"), { max: count, value: done });
  const ended = at >= count;
  find("question").hidden = ended;
  find("end").hidden = !ended;
  if (ended) find("ended").textContent = done === count ? "All questions are answered" : `${done} of ${count} questions are answered`;
  for (const id of ["together", "apart", "unknown"]) find(id).disabled = ended;
  find("back").disabled = at === 0;
  find("next").disabled = ended;
  find("undo").disabled = !answers.past.length;
  if (!ended) showQuestion();
}

function showQuestion() {
  const [a, b, together, chance, clusters] = data.questions[at];
  const [left, right] = [data.elements[a], data.elements[b]];
  const answer = said(at);
  const [one, other] = data.pictures ? [" (orange)", " (blue)"] : ["", ""];
  find("asked").textContent = `Do ${left[0]}${one} and ${right[0]}${other} belong together?`;
  const picture = data.pictures?.[at];
  find("picture").hidden = !picture;
  if (picture) Object.assign(find("picture"), { src: `data:image/png;base64,${picture}`, alt: `Their boundary: ${left[0]} is orange, ${right[0]} is blue` });
  find("records").tHead.replaceChildren(make("tr", {}, make("th", { scope: "col" }, ""), make("th", { scope: "col" }, left[0]), make("th", { scope: "col" }, right[0])));
  find("records").tBodies[0].replaceChildren(...data.columns.map((name, k) => row(name, left[k + 1], right[k + 1], data.apart[k])));
  for (const [id, word] of [["together", "together"], ["apart", "apart"], ["unknown", ""]])
    find(id).setAttribute("aria-pressed", String(answer === word));
  find("outcome").textContent = answer === undefined ? "" : `You: ${called(answer)}. ${judged(together, chance)}`;
  find("members").replaceChildren(
    ...clusters.flatMap(([label, size, some]) => [
      make("p", { class: "faint" }, `Cluster ${label}, ${size} ${size === 1 ? "element" : "elements"}`),
      make("ul", {}, ...some.map((i) => make("li", {}, data.members[i])), ...(size > some.length ? [make("li", {}, `and ${size - some.length} more`)] : [])),
    ]),
  );
}

function judged(together, chance) {
  const share = chance < 0.01 ? "below 1%" : `${Math.round(100 * chance)}%`;
  return `The result has them ${together ? "together" : "apart"}; the chance that this is wrong was ${share}.`;
}

/** A row of the table: the values of a column, with the letters marked in which they differ, if they need not differ. */
function row(name, left, right, apart) {
  const same = apart || left === right;
  const cells = same || !left || !right ? [[[left, false]], [[right, false]]] : differences(left, right);
  const cell = (parts) => make("td", {}, ...parts.map(([text, differs]) => (differs ? make("mark", {}, text) : text)));
  return make("tr", same ? { class: "same" } : {}, make("th", { scope: "row" }, name), ...cells.map(cell));
}

function reply(answer) {
  if (at >= data.questions.length) return;
  const [left, right] = names(at), [, , together, chance] = data.questions[at];
  answers.say(left, right, answer);
  const against = answers.contradiction(left, right);
  if (against) {
    const path = against.map(([a, b, word]) => `${a} and ${b} ${word}`).join(", ");
    tell(`${left} and ${right} ${called(answer)} contradicts earlier answers: ${path}.`, true);
  } else if (!answers.kept) tell("This browser does not keep answers: save them before you close the page.", true);
  else tell(`${left} and ${right}: ${called(answer)}. ${judged(together, chance)}`);
  go(at + 1);
}

function go(to) {
  at = Math.max(0, Math.min(to, data.questions.length));
  find("clusters").open = false;
  show();
}

function undo() {
  const pair = answers.undo();
  if (pair === null) return;
  const k = data.questions.findIndex((_, j) => Answers.pair(...names(j)) === pair);
  tell("The last answer is taken back.");
  go(k < 0 ? at : k);
}

function save() {
  const link = make("a", { download: "answers.csv", href: URL.createObjectURL(new Blob([answers.text()], { type: "text/csv" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  tell(`${answers.said.size} answers are in answers.csv.`);
}

async function open() {
  const [file] = find("file").files;
  if (!file) return;
  try {
    tell(...answers.read(await file.text()));
  } catch {
    tell("The file cannot be read: nothing was changed.", true);
  }
  find("file").value = "";
  show();
}

const actions = {
  together: () => reply("together"), apart: () => reply("apart"), unknown: () => reply(""),
  back: () => go(at - 1), next: () => go(at + 1), undo, save, open: () => find("file").click(),
};
const keys = { t: "together", a: "apart", d: "unknown", b: "back", n: "next", u: "undo", s: "save", o: "open", ArrowLeft: "back", ArrowRight: "next", 1: "together", 2: "apart", 3: "unknown" };
for (const [id, action] of Object.entries(actions)) find(id).addEventListener("click", action);
find("file").addEventListener("change", open);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key === "c") find("clusters").open = !find("clusters").open;
  else if (keys[key] && !find(keys[key]).disabled) actions[keys[key]]();
  else return;
  event.preventDefault();
});

const asked = new Map();
function note() {
  for (const [k, question] of data.questions.entries()) asked.set(Answers.pair(...names(k)), [question[2] ? "together" : "apart", String(question[3]), question[5]]);
}
answers.asked = (left, right) => asked.get(Answers.pair(left, right)) ?? ["", "", ""];
note();
const known = answers.recall() + answers.add(data.answers ?? [])[0];
at = data.questions.findIndex((_, k) => said(k) === undefined);
if (at < 0) at = data.questions.length;
if (known) tell(data.server ? `${known} answers so far.` : `${known} answers were kept in this browser.`);
show();
if (data.server) serve();
document.documentElement.dataset.ready = "yes";
