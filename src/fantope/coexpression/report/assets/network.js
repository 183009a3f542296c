// The strongest pairs of a module around a circle; genes that are alike stand side by side.
const RING = { size: 400, radius: 118, middle: 190, thin: 0.7, thick: 4 };

function drawNetwork(figure, groupAt, moduleAt) {
  const { module, genes, edges, pairs } = data.networks[groupAt][moduleAt];
  const group = data.groups[groupAt];
  const known = data.panels.groups[groupAt];
  const leverage = new Map(known.at.map((k, i) => [k, known.leverage[i]]));
  const where = data.groups.length > 1 ? `${module} of ${group}` : module;
  const caption = figure.querySelector('figcaption');
  if (!edges.length) {
    caption.textContent = `${where} has one gene, and no pairs.`;
    return;
  }
  const title = `Strongest pairs of ${where}`;
  const root = drawing(figure.querySelector('.chart'), RING.size, RING.size, title);
  root.setAttribute('role', 'group');
  const sizes = edges.map(([, , r]) => Math.abs(r) / 1000);
  const [low, high] = [Math.min(...sizes), Math.max(...sizes)];
  const width = scale(low, high, RING.thin, RING.thick);
  const angle = (k) => (2 * Math.PI * (k + 0.5)) / genes.length - Math.PI / 2;
  const at = (k, radius) => [RING.size / 2 + radius * Math.cos(angle(k)), RING.middle + radius * Math.sin(angle(k))];
  const lines = edges.map(([i, j, r]) => {
    const [x1, y1] = at(i, RING.radius);
    const [x2, y2] = at(j, RING.radius);
    const bend = `${RING.size / 2 + 0.25 * (x1 + x2 - RING.size)},${RING.middle + 0.25 * (y1 + y2 - 2 * RING.middle)}`;
    return svg('path', {
      class: r < 0 ? 'edge negative' : 'edge',
      d: `M${x1.toFixed(1)},${y1.toFixed(1)}Q${bend} ${x2.toFixed(1)},${y2.toFixed(1)}`,
      'stroke-width': width(Math.abs(r) / 1000).toFixed(2),
    });
  });
  root.append(...lines);
  const largest = Math.max(...genes.map((k) => leverage.get(k)), 1e-9);
  const nodes = genes.map((gene, k) => {
    const name = data.panels.names[gene];
    const mine = edges.filter((edge) => edge[0] === k || edge[1] === k);
    const [x, y] = at(k, RING.radius);
    const turn = (angle(k) * 180) / Math.PI;
    const left = Math.cos(angle(k)) < 0;
    const radius = 3 + 5 * Math.sqrt(leverage.get(gene) / largest);
    const text = name.length > 11 ? `${name.slice(0, 10)}…` : name;
    const told = `${name}: ${plural(mine.length, 'pair')} here, the strongest r = ${number(strongest(mine), 3)}`;
    const node = svg('g', { class: 'node', role: 'link', tabindex: '-1', 'aria-label': told },
      svg('circle', { cx: x, cy: y, r: radius.toFixed(1) }),
      svg('text', {
        transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${(left ? turn + 180 : turn).toFixed(1)})`,
        x: left ? -12 : 12, y: 4, 'text-anchor': left ? 'end' : 'start',
      }, text));
    const near = (on) => {
      figure.classList.toggle('pointed', on);
      edges.forEach(([i, j], e) => lines[e].classList.toggle('near', on && (i === k || j === k)));
      nodes.forEach((other, o) => {
        other.classList.toggle('near', on && (o === k || mine.some(([i, j]) => i === o || j === o)));
      });
    };
    node.addEventListener('mousemove', (event) => { near(true); showTip(event, told); });
    node.addEventListener('mouseleave', () => { near(false); hideTip(); });
    node.addEventListener('focus', () => near(true));
    node.addEventListener('blur', () => near(false));
    node.addEventListener('click', () => { hideTip(); goToGene(name); });
    node.addEventListener('keydown', (event) => { if (event.key === 'Enter') goToGene(name); });
    return node;
  });
  root.append(...nodes);
  drawKey(root, low, high, edges.some(([, , r]) => r < 0));
  roving(root, '.node');
  const count = edges.length < pairs ? `the ${edges.length} strongest of ${plural(pairs, 'pair')}` : `all ${plural(pairs, 'pair')}`;
  caption.textContent = `${where}: ${count}, |r| from ${number(low, 3)} to ${number(high, 3)}.`;
}

function strongest(edges) {
  return edges.reduce((best, [, , r]) => (Math.abs(r) > Math.abs(best) ? r : best), 0) / 1000;
}

// What lines and discs mean, inside the picture, so that it goes with the file.
function drawKey(root, low, high, negative) {
  const y = RING.size - 8;
  const sample = (x, width, text, kind = 'edge') => root.append(
    svg('line', { class: kind, x1: x, x2: x + 24, y1: y - 4, y2: y - 4, 'stroke-width': width }),
    svg('text', { x: x + 29, y }, text),
  );
  sample(8, RING.thin, `|r| ${number(low, 3)}`);
  sample(108, RING.thick, number(high, 3));
  if (negative) sample(184, 2, 'negative', 'edge negative');
  root.append(
    svg('circle', { class: 'disc', cx: 268, cy: y - 4, r: 3 }),
    svg('circle', { class: 'disc', cx: 281, cy: y - 4, r: 8 }),
    svg('text', { x: 295, y }, 'leverage'),
  );
}
