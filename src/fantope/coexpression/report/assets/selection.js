// The curve that alpha was chosen by, and the slider that steps through the path.
function drawSelection(place) {
  const chosen = data.selection;
  const several = data.groups.length > 1;
  const width = Math.max(360, Math.min(760, place.clientWidth || 760));
  const top = several ? { left: 52, right: width - 12, top: 28, bottom: 170 } : null;
  const shift = several ? 190 : 0;
  const low = { left: 52, right: width - 12, top: shift + 28, bottom: shift + 190 };
  const root = drawing(place, width, low.bottom + 46, 'Overlap and size of the active sets against alpha');
  const xs = chosen.alphas;
  const margin = (xs[xs.length - 1] - xs[0]) * 0.03 || 0.01;
  const range = [xs[0] - margin, xs[xs.length - 1] + margin];
  const largest = Math.max(...chosen.sizes.flat().filter((value) => value !== null));
  const upper = Math.min(largest, 3 * chosen.limits[1]) * 1.06;
  let over = null;
  if (several) {
    over = panel(root, top, range, [0, Math.max(...chosen.overlap, 0.01) * 1.12], { x: null, y: 'overlap V(alpha)' });
    root.append(line(xs, chosen.overlap, over, 'var(--accent)'));
  }
  const at = panel(root, low, range, [0, upper], { x: 'alpha', y: 'active genes', ticks: width < 500 ? 4 : 8 });
  const ceiling = at.sy(Math.min(chosen.limits[1], upper));
  const floor = at.sy(Math.min(chosen.limits[0], upper));
  root.append(
    svg('rect', { class: 'band', x: low.left, width: low.right - low.left, y: ceiling, height: floor - ceiling }),
  );
  const inside = (value) => (value === null || value > upper ? null : value);
  chosen.sizes.forEach((sizes, k) => root.append(
    line(xs, sizes.map(inside), at, series(k), { 'stroke-dasharray': k % 2 ? '6 3' : 'none' }),
  ));
  const cursor = svg('line', { class: 'cursor', y1: several ? top.top : low.top, y2: low.bottom });
  root.append(cursor);
  xs.forEach((x, j) => {
    const fill = (colour) => (chosen.eligible[j] ? colour : 'var(--paper)');
    if (several) {
      const point = { cx: over.sx(x), cy: over.sy(chosen.overlap[j]), r: 3.6, stroke: 'var(--accent)' };
      root.append(svg('circle', { ...point, fill: fill('var(--accent)') }));
      if (j === chosen.chosen) root.append(svg('circle', { ...point, class: 'ring', r: 8 }));
    }
    chosen.sizes.forEach((sizes, k) => {
      if (inside(sizes[j]) === null) return;
      const point = { cx: at.sx(x), cy: at.sy(sizes[j]), r: 3.2, stroke: series(k), fill: fill(series(k)) };
      root.append(svg('circle', point));
      if (!several && j === chosen.chosen) root.append(svg('circle', { ...point, class: 'ring', r: 8, fill: 'none' }));
    });
  });
  if (several) legend(root, data.groups, low.right, low.top - 10);
  return (k) => {
    cursor.setAttribute('x1', at.sx(xs[k]));
    cursor.setAttribute('x2', at.sx(xs[k]));
  };
}

function names(indices, count) {
  const shown = indices.slice(0, 60).map((k) => data.selection.genes[k]).join(', ');
  return count > 60 ? `${shown} and ${(count - 60).toLocaleString('en')} more` : shown;
}

function describeStep(k) {
  const chosen = data.selection;
  const parts = [];
  const state = k === chosen.chosen ? 'This is the chosen alpha.' : chosen.eligible[k]
    ? 'Eligible by the rule, but not chosen.' : 'Outside the limits of the rule.';
  const overlap = data.groups.length > 1 ? ` Overlap ${number(chosen.overlap[k], 3)}.` : '';
  parts.push(element('p', {}, `${state}${overlap}`));
  data.groups.forEach((group, j) => {
    const step = chosen.steps[j][k];
    const label = element('b', {}, data.groups.length > 1 ? group : 'All samples');
    if (step === null) {
      parts.push(element('p', {}, label, ': not solved at this alpha.'));
      return;
    }
    parts.push(
      element('p', {}, label, `: ${plural(chosen.sizes[j][k], 'active gene')}, gap ${gap(chosen.gaps[j][k])}.`),
    );
    const last = k === chosen.alphas.length - 1;
    const [entering, leaving] = step.counts;
    if (last && entering) {
      parts.push(element('p', { class: 'names' }, `In use already at the largest alpha: ${names(step.enter, entering)}.`));
    } else {
      if (entering) {
        parts.push(element('p', { class: 'names' }, `Enter (${entering}): ${names(step.enter, entering)}.`));
      }
      if (leaving) {
        parts.push(element('p', { class: 'names' }, `Leave (${leaving}): ${names(step.leave, leaving)}.`));
      }
      if (!entering && !leaving) parts.push(element('p', { class: 'names' }, 'No gene enters or leaves here.'));
    }
  });
  return parts;
}

function startSelection() {
  const place = document.querySelector('[data-chart="selection"]');
  const slider = document.getElementById('alpha-slider');
  const rows = document.querySelectorAll('#selection-table tbody tr');
  rows[data.selection.chosen].classList.add('chosen');
  let move = drawSelection(place);
  const step = () => {
    const k = Number(slider.value);
    const alpha = String(data.selection.alphas[k]);
    move(k);
    document.getElementById('alpha-value').textContent = alpha;
    slider.setAttribute('aria-valuetext', `alpha ${alpha}`);
    document.getElementById('alpha-state').replaceChildren(...describeStep(k));
    rows.forEach((row, j) => row.classList.toggle('current', j === k));
  };
  document.querySelector('[data-slider]').hidden = false;
  slider.addEventListener('input', step);
  step();
  return () => {
    move = drawSelection(place);
    move(Number(slider.value));
  };
}
