// Everything is drawn once, again when the window changes, and in print colours for print.
const redraws = [startSelection()];

for (const figure of document.querySelectorAll('[data-heat]')) {
  const number_ = Number(figure.dataset.number);
  const source = figure.dataset.heat === 'modules' ? data.modules[number_] : data.pairs[number_].heat;
  const map = new HeatMap(figure, source);
  redraws.push(() => map.draw());
}

const charts = { density: drawDensity, null: drawNull, volcano: drawVolcano };
for (const place of document.querySelectorAll('[data-chart]')) {
  const draw = charts[place.dataset.chart];
  if (draw) {
    const again = () => draw(place, data.pairs[Number(place.dataset.number)]);
    again();
    redraws.push(again);
  }
}

document.querySelectorAll('table[data-sortable]').forEach(startSorting);
document.querySelectorAll('input[data-table]').forEach(startSearch);

const redraw = () => redraws.forEach((again) => again());
let waiting = 0;
window.addEventListener('resize', () => {
  window.clearTimeout(waiting);
  waiting = window.setTimeout(redraw, 100);
});
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
window.addEventListener('beforeprint', () => {
  printing = true;
  document.querySelectorAll('details').forEach((part) => part.toggleAttribute('data-closed', !part.open));
  document.querySelectorAll('details').forEach((part) => part.setAttribute('open', ''));
  redraw();
});
window.addEventListener('afterprint', () => {
  printing = false;
  document.querySelectorAll('details[data-closed]').forEach((part) => part.removeAttribute('open'));
  redraw();
});

// The section in view is marked in the list of sections.
const links = new Map([...document.querySelectorAll('nav a')].map((link) => [link.hash.slice(1), link]));
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    links.forEach((link) => link.removeAttribute('aria-current'));
    links.get(entry.target.id).setAttribute('aria-current', 'true');
  }
}, { rootMargin: '-10% 0px -80% 0px' });
document.querySelectorAll('main section').forEach((section) => watcher.observe(section));
