// Charts of the comparison of two groups.
function drawDensity(place, pair) {
  const width = Math.max(320, Math.min(520, place.clientWidth || 480));
  const root = drawing(place, width, 300, `Density of correlations in ${pair.groups.join(' and ')}`);
  const { x, curves } = pair.density;
  const most = Math.max(...curves.flat(), 1e-9) * 1.15;
  const at = panel(root, { left: 44, right: width - 12, top: 28, bottom: 250 }, [-1, 1], [0, most], {
    x: 'correlation',
    y: 'density',
  });
  curves.forEach((curve, k) => root.append(line(x, curve, at, series(k), { 'stroke-dasharray': k % 2 ? '6 3' : 'none' })));
  legend(root, pair.groups, width - 12, 18);
}

function drawNull(place, pair) {
  const width = Math.max(320, Math.min(520, place.clientWidth || 480));
  const root = drawing(place, width, 300, 'The test statistic among those of permuted samples');
  const values = pair.null.filter((value) => value !== null);
  const low = Math.min(...values, pair.statistic);
  const high = Math.max(...values, pair.statistic);
  const pad = (high - low) * 0.05 || 0.1;
  const range = [low - pad, high + pad];
  const bins = 30;
  const counts = new Array(bins).fill(0);
  for (const value of values) counts[Math.min(bins - 1, Math.floor(((value - range[0]) / (range[1] - range[0])) * bins))] += 1;
  const at = panel(root, { left: 44, right: width - 12, top: 28, bottom: 250 }, range, [0, Math.max(...counts, 1) * 1.15], {
    x: 'sparse leading eigenvalue of the difference',
    y: 'permutations',
  });
  counts.forEach((count, k) => {
    const x = at.sx(range[0] + (k * (range[1] - range[0])) / bins);
    const next = at.sx(range[0] + ((k + 1) * (range[1] - range[0])) / bins);
    root.append(svg('rect', { class: 'bar', x, width: next - x, y: at.sy(count), height: at.sy(0) - at.sy(count) }));
  });
  const x = at.sx(pair.statistic);
  root.append(
    svg('line', { class: 'mark', x1: x, x2: x, y1: 28, y2: 250 }),
    svg('text', { class: 'strong', x: x + (x > width / 2 ? -6 : 6), y: 40, 'text-anchor': x > width / 2 ? 'end' : 'start' },
      'these groups'),
  );
}

function drawVolcano(place, pair) {
  const { genes, change, p, fdr } = pair.volcano;
  const width = Math.max(340, Math.min(760, place.clientWidth || 760));
  const root = drawing(place, width, 360, 'Change of co-expression of each gene against its p-value');
  const height = p.map((value) => (value === null ? null : -Math.log10(Math.max(value, 1e-300))));
  const most = Math.max(...height.filter((value) => value !== null), 1.4) * 1.1;
  const widest = Math.max(...change.filter((value) => value !== null).map(Math.abs), 1e-6) * 1.15;
  const at = panel(root, { left: 44, right: width - 70, top: 28, bottom: 310 }, [-widest, widest], [0, most], {
    x: `change of mean correlation, ${pair.groups[0]} to ${pair.groups[1]}`,
    y: '−log10 p',
  });
  root.append(svg('line', { class: 'grid', x1: at.sx(0), x2: at.sx(0), y1: 28, y2: 310 }));
  const order = genes.map((_, k) => k).filter((k) => height[k] !== null && change[k] !== null);
  order.sort((a, b) => height[b] - height[a] || Math.abs(change[b]) - Math.abs(change[a]));
  order.forEach((k) => {
    const found = fdr[k] !== null && fdr[k] <= 0.05;
    const dot = svg('circle', {
      cx: at.sx(change[k]),
      cy: at.sy(height[k]),
      r: 3.6,
      fill: found ? 'var(--accent)' : 'none',
      stroke: found ? 'var(--accent)' : 'var(--quiet)',
      'fill-opacity': 0.75,
      'pointer-events': 'all',
    });
    dot.addEventListener('mousemove', (event) => {
      showTip(event, `${genes[k]}: change ${number(change[k])}, p = ${short(p[k])}, FDR ${short(fdr[k])}`);
    });
    dot.addEventListener('mouseleave', hideTip);
    root.append(dot);
  });
  // Names only for genes that were found, and only where they run into neither each other nor other points.
  const taken = [];
  const found = order.filter((k) => fdr[k] !== null && fdr[k] <= 0.05).sort((a, b) => Math.abs(change[b]) - Math.abs(change[a]));
  for (const k of found) {
    const x = at.sx(change[k]) + 7;
    const y = at.sy(height[k]) + 4;
    const name = genes[k].length > 14 ? `${genes[k].slice(0, 13)}…` : genes[k];
    const end = x + 7.5 * name.length;
    if (taken.length >= 12) break;
    const hidden = order.some((j) => {
      const left = at.sx(change[j]);
      return left > x - 4 && left < end + 4 && Math.abs(at.sy(height[j]) + 4 - y) < 11;
    });
    if (hidden || taken.some((other) => Math.abs(other.y - y) < 14 && x < other.end && end > other.x)) continue;
    taken.push({ x, y, end });
    root.append(svg('text', { x, y }, name));
  }
}
