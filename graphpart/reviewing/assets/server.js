// With a server behind the page: changes of answers are sent at once, and new questions take the place of open ones.

/** Send answers that only this browser has, and each change from now on. */
function serve() {
  const waiting = new Set(); // pairs that were not sent yet
  let sending = false;
  answers.changed = async (pairs) => {
    for (const pair of pairs) waiting.add(pair);
    if (sending) return;
    sending = true;
    while (waiting.size) {
      const now = [...waiting];
      waiting.clear();
      try {
        const rows = now.map((pair) => {
          const [left, right] = JSON.parse(pair);
          return [left, right, answers.of(left, right) ?? null, ...answers.asked(left, right)];
        });
        const response = await fetch(location.href, { method: "POST", body: JSON.stringify({ changes: rows, end: at >= data.questions.length }) });
        if (!response.ok) throw new Error(response.statusText);
        const reply = await response.json();
        if (reply.data) renew(reply.data);
        if (reply.told) tell(reply.told, reply.alert);
        find("saved").textContent = `${reply.saved} answers are in the file.`;
      } catch (error) {
        for (const pair of now) waiting.add(pair);
        find("saved").textContent = `${waiting.size} answers are not in the file yet: the server does not answer. They are tried again with the next answer, or save them here.`;
        break;
      }
    }
    sending = false;
  };
  const there = new Set(data.answers.map(([left, right]) => Answers.pair(left, right)));
  answers.changed([...answers.said.keys()].filter((pair) => !there.has(pair)));
}

/** New questions in place of those that follow the one that is shown. */
function renew(fresh) {
  const [elements, members] = [data.elements.length, data.members.length];
  const seen = data.questions.slice(0, at + 1);
  const known = new Set(seen.map((_, k) => Answers.pair(...names(k))));
  data.elements.push(...fresh.elements);
  data.members.push(...fresh.members);
  data.questions = seen;
  for (const [a, b, together, chance, clusters, about] of fresh.questions) {
    const [left, right] = [a, b].map((i) => fresh.elements[i][0]);
    if (known.has(Answers.pair(left, right)) || answers.of(left, right) !== undefined) continue;
    const moved = clusters.map(([label, size, some]) => [label, size, some.map((i) => i + members)]);
    data.questions.push([a + elements, b + elements, together, chance, moved, about]);
  }
  note();
  show();
}
