// The letters in which two texts differ: those outside a longest common subsequence.

/** For two texts, lists of parts [text, whether it differs]. */
function differences(a, b) {
  const x = [...a], y = [...b], width = y.length + 1;
  const common = new Uint16Array((x.length + 1) * width);
  for (let i = x.length - 1; i >= 0; i--)
    for (let j = y.length - 1; j >= 0; j--)
      common[i * width + j] =
        x[i].toLowerCase() === y[j].toLowerCase()
          ? common[(i + 1) * width + j + 1] + 1
          : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
  const left = [], right = [];
  const put = (parts, letter, differs) => {
    if (parts.length && parts.at(-1)[1] === differs) parts.at(-1)[0] += letter;
    else parts.push([letter, differs]);
  };
  let i = 0, j = 0;
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i].toLowerCase() === y[j].toLowerCase()) {
      put(left, x[i++], false);
      put(right, y[j++], false);
    } else if (j >= y.length || (i < x.length && common[(i + 1) * width + j] >= common[i * width + j + 1]))
      put(left, x[i++], true);
    else put(right, y[j++], true);
  }
  return [left, right];
}
