// Everything is drawn once, again when the window changes, and in print colours for print.
const redraws = [startSelection()];

for (const figure of document.querySelectorAll('[data-heat]')) {
  const number_ = Number(figure.dataset.number);
  const source = figure.dataset.heat === 'modules' ? data.modules[number_] : data.pairs[number_].heat;
  const map = new HeatMap(figure, source);
  figure.toSvg = () => map.toSvg();
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

document.querySelectorAll('[data-network]').forEach((figure) => {
  drawNetwork(figure, Number(figure.dataset.group), Number(figure.dataset.network));
});
document.querySelectorAll('.drawn').forEach((text) => { text.hidden = false; });
document.querySelectorAll('table[data-sortable]').forEach(startSorting);
document.querySelectorAll('table').forEach(startLinks);
document.querySelectorAll('input[data-table]').forEach(startSearch);
document.querySelectorAll('.wide').forEach(offerTable);
document.querySelectorAll('figure').forEach(offerFigure);
startPanels();

const redraw = () => redraws.forEach((again) => again());
let waiting = 0;
window.addEventListener('resize', () => {
  window.clearTimeout(waiting);
  waiting = window.setTimeout(redraw, 100);
});
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
window.addEventListener('beforeprint', () => {
  document.documentElement.classList.add('paper');
  document.querySelectorAll('details').forEach((part) => part.toggleAttribute('data-closed', !part.open));
  document.querySelectorAll('details').forEach((part) => part.setAttribute('open', ''));
  redraw();
});
window.addEventListener('afterprint', () => {
  document.documentElement.classList.remove('paper');
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
