// What the page holds, and small helpers. Text from data only ever becomes text of the page, never HTML.

const data = JSON.parse(document.getElementById("data").textContent);
const COLOURS = data.colours;
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** An element of the page with attributes and children; children that are no nodes become text. */
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return node;
}

/** A number of the data: JSON has no word for infinite ones. */
function numeric(value) {
  if (value === null || value === "nan") return NaN;
  if (value === "inf") return Infinity;
  if (value === "-inf") return -Infinity;
  return value;
}

/** A number for people, with at most six digits if it is no whole one. */
function shown(value) {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) {
    const digits = String(Math.abs(value));
    const grouped = digits.length > 4 ? digits.replace(/\B(?=(\d{3})+$)/g, "\u202f") : digits;
    return (value < 0 ? "−" : "") + grouped;
  }
  return String(Number(value.toPrecision(6))).replace(/^-/, "−").replace("e-", "e−");
}

const plural = (count, word) => `${shown(count)} ${word}${count === 1 ? "" : "s"}`;

/** A packed array: little-endian numbers, or lines of text; gzip, base64. */
async function unpack(packed) {
  if (!packed) return null;
  const letters = atob(packed.gzip);
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k++) bytes[k] = letters.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  if (packed.dtype === "text") return new TextDecoder().decode(buffer).split("\n");
  const kinds = { float32: Float32Array, float64: Float64Array, int32: Int32Array, uint8: Uint8Array };
  return new kinds[packed.dtype](buffer);
}
