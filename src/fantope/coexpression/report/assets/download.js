// Any table as CSV, any figure as SVG and PNG, made here: nothing is fetched and nothing sent.
function save(name, content, type) {
  const link = element('a', { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

const fileName = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, '').slice(0, 80) || 'fantope';

// As in the files beside the report: an apostrophe before what a spreadsheet would run as a formula.
function field(text) {
  const safe = /^[=+\-@'\t\r]/.test(text) && (text.trim() === '' || Number.isNaN(Number(text))) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csv(table) {
  const lines = [...table.rows].filter((row) => !row.hidden).map((row) => (
    [...row.cells].map((cell) => field('value' in cell.dataset ? cell.dataset.value : cell.textContent.trim())).join(',')));
  return `\ufeff${lines.join('\r\n')}\r\n`; // the mark tells Excel that it is UTF-8
}

function button(text, title, press) {
  const made = element('button', { type: 'button', title }, text);
  made.addEventListener('click', press);
  return made;
}

function offerTable(wide) {
  const table = wide.querySelector('table');
  const title = wide.getAttribute('aria-label');
  wide.before(element('div', { class: 'save' }, button('CSV', `Download “${title}” as it is shown, for a spreadsheet`, () => {
    save(`${fileName(title)}.csv`, csv(table), 'text/csv;charset=utf-8');
  })));
}

// Other programs know neither our style sheet nor its variables: each element gets what it has as attributes.
const INLINE = ['fill', 'fill-opacity', 'stroke', 'stroke-opacity', 'stroke-width', 'stroke-dasharray', 'opacity'];
const LETTERS = ['font-family', 'font-size', 'font-weight', 'text-anchor'];

function standalone(shown) {
  const copy = shown.cloneNode(true);
  const sources = [...shown.querySelectorAll('*')];
  [...copy.querySelectorAll('*')].forEach((made, k) => {
    const style = window.getComputedStyle(sources[k]);
    const names = made.tagName === 'text' ? [...INLINE, ...LETTERS] : INLINE;
    if (made.tagName !== 'g') names.forEach((name) => made.setAttribute(name, style.getPropertyValue(name)));
    ['class', 'tabindex', 'role', 'aria-label'].forEach((name) => made.removeAttribute(name));
  });
  return copy;
}

// A pen with the calls of a canvas that writes SVG.
class SvgPen {
  constructor(width, height, title) {
    this.root = svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, 'aria-label': title });
    this.path = '';
  }

  add(name, attributes, ...children) {
    this.root.append(svg(name, attributes, ...children));
  }

  drawImage(image, x, y, width, height) {
    this.add('image', { x, y, width, height, preserveAspectRatio: 'none', style: 'image-rendering: pixelated', href: image.toDataURL() });
  }

  strokeRect(x, y, width, height) {
    this.add('rect', { x, y, width, height, fill: 'none', stroke: this.strokeStyle, 'stroke-width': this.lineWidth });
  }

  fillRect(x, y, width, height) {
    this.add('rect', { x, y, width, height, fill: this.fillStyle });
  }

  fillText(text, x, y) {
    const anchor = { left: 'start', center: 'middle', right: 'end' }[this.textAlign];
    this.add('text', { x, y, fill: this.fillStyle, 'text-anchor': anchor, 'font-size': 12, 'font-family': variable('--sans') }, text);
  }

  beginPath() {
    this.path = '';
  }

  moveTo(x, y) {
    this.path += `M${x},${y}`;
  }

  lineTo(x, y) {
    this.path += `L${x},${y}`;
  }

  stroke() {
    this.add('path', { d: this.path, fill: 'none', stroke: this.strokeStyle, 'stroke-width': this.lineWidth });
  }
}

function svgText(figure) {
  return onPaper(() => {
    const shown = figure.querySelector('svg');
    const root = figure.toSvg ? figure.toSvg() : standalone(shown);
    const title = root.getAttribute('aria-label');
    root.prepend(svg('title', {}, title), svg('rect', { width: '100%', height: '100%', fill: variable('--paper') }));
    root.removeAttribute('role');
    return new XMLSerializer().serializeToString(root);
  });
}

function savePng(name, text) {
  const image = new Image();
  image.addEventListener('load', () => {
    const canvas = element('canvas', { width: 3 * image.width, height: 3 * image.height });
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(name, blob, 'image/png'));
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

function figureName(figure) {
  const { heat, number: at, network, group } = figure.dataset;
  const kind = figure.querySelector('[data-chart]')?.dataset;
  if (heat) return `${heat === 'modules' ? 'modules' : 'comparison'} ${(heat === 'modules' ? [data.groups[at]] : data.pairs[at].groups).join(' ')}`;
  if (network) return `network ${data.groups[group]} ${data.networks[group][network].module}`;
  return `${kind.chart} ${kind.number ? data.pairs[kind.number].groups.join(' ') : ''}`;
}

function offerFigure(figure) {
  if (!figure.toSvg && !figure.querySelector('svg')) return;
  const name = fileName(figureName(figure));
  figure.querySelector('figcaption').append(element('span', { class: 'save' },
    button('SVG', 'Download this figure as vectors', () => save(`${name}.svg`, svgText(figure), 'image/svg+xml')),
    button('PNG', 'Download this figure as pixels', () => savePng(`${name}.png`, svgText(figure)))));
}
