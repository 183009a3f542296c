// Axes for the small charts.
function ticks(low, high, count = 5) {
  if (!(high > low)) return [low];
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((size) => size >= raw);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

const scale = (low, high, from, to) => (value) => from + ((value - low) / (high - low || 1)) * (to - from);

// A drawing area with axes. `box` is in the units of the viewBox; x and y are [low, high].
function panel(parent, box, x, y, labels) {
  const sx = scale(x[0], x[1], box.left, box.right);
  const sy = scale(y[0], y[1], box.bottom, box.top);
  for (const value of ticks(y[0], y[1], 4)) {
    parent.append(
      svg('line', { class: 'grid', x1: box.left, x2: box.right, y1: sy(value), y2: sy(value) }),
      svg('text', { x: box.left - 8, y: sy(value) + 4, 'text-anchor': 'end' }, String(value).replace('-', '−')),
    );
  }
  parent.append(svg('line', { class: 'axis', x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
  if (labels.x !== null) {
    for (const value of ticks(x[0], x[1], labels.ticks || 6)) {
      parent.append(
        svg('line', { class: 'axis', x1: sx(value), x2: sx(value), y1: box.bottom, y2: box.bottom + 4 }),
        svg('text', { x: sx(value), y: box.bottom + 18, 'text-anchor': 'middle' }, String(value).replace('-', '−')),
      );
    }
    parent.append(
      svg('text', { x: (box.left + box.right) / 2, y: box.bottom + 36, 'text-anchor': 'middle' }, labels.x),
    );
  }
  parent.append(svg('text', { class: 'strong', x: box.left, y: box.top - 10 }, labels.y));
  return { sx, sy };
}

function drawing(place, width, height, title) {
  const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': title });
  place.replaceChildren(root);
  return root;
}

function line(xs, ys, at, colour, attributes = {}) {
  let path = '';
  let pen = false;
  xs.forEach((x, k) => {
    if (ys[k] === null) {
      pen = false;
      return;
    }
    path += `${pen ? 'L' : 'M'}${at.sx(x).toFixed(2)},${at.sy(ys[k]).toFixed(2)}`;
    pen = true;
  });
  return svg('path', { d: path, fill: 'none', stroke: colour, 'stroke-width': 1.8, ...attributes });
}

// Names of the series, in one line that ends at x.
function legend(parent, names, x, y) {
  let right = x;
  [...names.keys()].reverse().forEach((k) => {
    const shown = names[k].length > 24 ? `${names[k].slice(0, 23)}…` : names[k];
    const text = svg('text', { x: right, y, 'text-anchor': 'end' }, shown);
    parent.append(text);
    const left = right - text.getComputedTextLength() - 6;
    const dash = k % 2 ? '6 3' : 'none';
    parent.append(
      svg('line', { x1: left - 20, x2: left, y1: y - 4, y2: y - 4, stroke: series(k), 'stroke-width': 2.2, 'stroke-dasharray': dash }),
    );
    right = left - 34;
  });
}
