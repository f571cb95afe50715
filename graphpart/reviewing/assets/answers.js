// The answers: by pairs of names, kept in the browser, saved and read as CSV, and checked for contradictions.

const WORDS = ["together", "apart", ""];

class Answers {
  /** `key` names them in the browser; `format` is the version of what is kept there. */
  constructor(key, format) {
    this.place = `graphpart-review-${key}`;
    this.format = format;
    this.said = new Map(); // of a pair: [left, right, answer]
    this.past = []; // what to do to undo: [pair, the entry before it]
    this.kept = true;
    this.changed = () => {}; // called with pairs whose answers have changed
    this.asked = () => ["", "", ""]; // the decision, the chance and the kind of the question about two elements, as texts
  }

  static pair(left, right) {
    return JSON.stringify(left < right ? [left, right] : [right, left]);
  }

  of(left, right) {
    return this.said.get(Answers.pair(left, right))?.[2];
  }

  say(left, right, answer) {
    const pair = Answers.pair(left, right);
    this.past.push([pair, this.said.get(pair)]);
    this.said.set(pair, [left, right, answer]);
    this.keep();
    this.changed([pair]);
  }

  /** Take back the last answer; returns its pair, or null if there is none. */
  undo() {
    const last = this.past.pop();
    if (!last) return null;
    const [pair, before] = last;
    if (before) this.said.set(pair, before);
    else this.said.delete(pair);
    this.keep();
    this.changed([pair]);
    return pair;
  }

  keep() {
    try {
      localStorage.setItem(this.place, JSON.stringify({ format: this.format, said: [...this.said.values()] }));
    } catch {
      this.kept = false;
    }
  }

  /** Read what the browser has kept; returns how many answers. */
  recall() {
    try {
      const found = JSON.parse(localStorage.getItem(this.place) ?? "null");
      if (found?.format === this.format) this.add(found.said);
    } catch {
      this.kept = false;
    }
    return this.said.size;
  }

  /** Add answers, unless there is another one about the pair; returns how many are new, and how many differ. */
  add(rows) {
    let fresh = 0, differ = 0;
    for (const [left, right, answer] of rows) {
      const known = this.of(left, right);
      if (known === undefined) {
        this.said.set(Answers.pair(left, right), [left, right, answer]);
        fresh++;
      } else if (known !== answer) differ++;
    }
    return [fresh, differ];
  }

  /** Read a file of answers; returns what to tell, and whether nothing was read. */
  read(text) {
    const rows = parseTable(text);
    if (!rows.length) return ["The file is empty: nothing was changed.", true];
    const places = ["left", "right", "answer"].map((name) => rows[0].map((head) => head.trim()).indexOf(name));
    if (places.includes(-1)) return ["The file has no columns left, right and answer: nothing was changed.", true];
    const found = [];
    for (const [k, row] of rows.slice(1).entries()) {
      const [left, right, word] = places.map((place) => row[place]);
      const answer = word?.trim().toLowerCase();
      if (!left || !right || !WORDS.includes(answer))
        return [`Row ${k + 1} of the file is no answer (together, apart or nothing): nothing was changed.`, true];
      found.push([left, right, answer]);
    }
    const [fresh, differ] = this.add(found);
    this.past = [];
    this.keep();
    this.changed(found.map(([left, right]) => Answers.pair(left, right)));
    const more = differ ? ` ${differ} differ from answers that are here, which stay.` : "";
    return [`${fresh} of ${found.length} answers are new.${more}`, false];
  }

  text() {
    const rows = [...this.said.values()].map((row) => [...row, ...this.asked(row[0], row[1])]);
    return tableText([["left", "right", "answer", "decision", "chance", "about"], ...rows]);
  }

  /** Answers that contradict the one about a pair: a path of pairs, or null if all agree. */
  contradiction(left, right) {
    const answer = this.of(left, right);
    if (!answer) return null;
    const joined = new Map(), cuts = [];
    const link = (a, b) => (joined.get(a) ?? joined.set(a, []).get(a)).push(b);
    for (const [a, b, word] of this.said.values()) {
      if (Answers.pair(a, b) === Answers.pair(left, right)) continue;
      if (word === "together") link(a, b), link(b, a);
      else if (word === "apart") cuts.push([a, b]);
    }
    const from = (start) => {
      const before = new Map([[start, null]]);
      for (const a of before.keys()) for (const b of joined.get(a) ?? []) if (!before.has(b)) before.set(b, a);
      return before;
    };
    const path = (before, to) => {
      const out = [];
      for (let a = to; before.get(a) !== null; a = before.get(a)) out.unshift([before.get(a), a, "together"]);
      return out;
    };
    const near = from(left);
    if (answer === "apart") return near.has(right) ? path(near, right) : null;
    const far = from(right);
    for (const [a, b] of cuts)
      for (const [x, y] of [[a, b], [b, a]])
        if (near.has(x) && far.has(y)) return [...path(near, x), [x, y, "apart"], ...path(far, y)];
    return null;
  }
}
