// CSV as RFC 4180 has it: fields in quotation marks may hold commas, line ends and doubled quotation marks.

/** The rows of a CSV text, each a list of fields; empty lines are left out. */
function parseTable(text) {
  const rows = [];
  let row = [], field = "", quoted = false, begun = false;
  const close = () => {
    row.push(field);
    field = "";
    begun = false;
  };
  const end = () => {
    close();
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  };
  for (let k = text.charCodeAt(0) === 0xfeff ? 1 : 0; k < text.length; k++) {
    const c = text[k];
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[k + 1] === '"') field += text[k++];
      else quoted = false;
    } else if (c === '"' && !begun) quoted = begun = true;
    else if (c === ",") close();
    else if (c === "\n") end();
    else if (c !== "\r" || text[k + 1] !== "\n") {
      field += c;
      begun = true;
    }
  }
  if (field !== "" || row.length) end();
  return rows;
}

/** Rows as CSV. */
function tableText(rows) {
  const quote = (field) => (/[",\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field);
  return rows.map((row) => row.map(quote).join(",") + "\n").join("");
}
