// The data, and small tools that the other parts share.
const data = JSON.parse(document.getElementById('data').textContent);
const series = (k) => `var(--series-${k % 4})`;
const tip = document.getElementById('tip');

// One signed byte per number: 127 stands for the limit.
function decode(text) {
  const raw = atob(text);
  const bytes = new Int8Array(raw.length);
  for (let k = 0; k < raw.length; k += 1) bytes[k] = raw.charCodeAt(k);
  return bytes;
}

// Text from data only ever becomes text: no function here takes HTML.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Colours of the light theme while something is drawn for print or for a file.
function onPaper(draw) {
  document.documentElement.classList.add('paper');
  try {
    return draw();
  } finally {
    document.documentElement.classList.remove('paper');
  }
}
onPaper.active = () => document.documentElement.classList.contains('paper');

const variable = (name) => window.getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Of several things in one figure or table the Tab key reaches one; arrow keys move among them.
function roving(place, selector) {
  const items = () => [...place.querySelectorAll(selector)].filter((item) => !item.closest('[hidden]'));
  const stop = (chosen) => {
    place.querySelectorAll(selector).forEach((item) => item.setAttribute('tabindex', item === chosen ? '0' : '-1'));
  };
  place.addEventListener('focusin', (event) => {
    const item = event.target.closest(selector);
    if (item) stop(item);
  });
  place.addEventListener('keydown', (event) => {
    const found = items();
    const at = found.indexOf(document.activeElement);
    const far = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (at < 0 || !far) return;
    event.preventDefault();
    found[(at + far + found.length) % found.length].focus();
  });
  const reset = () => stop(items()[0]);
  reset();
  return reset;
}

function number(value, digits = 2) {
  if (value === null || value === undefined) return '–';
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace('-', '') : text.replace('-', '−');
}

function short(value) {
  if (value === null || value === undefined) return '–';
  const text = value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential(1) : Number(value.toPrecision(2)).toString();
  return text.replaceAll('-', '−');
}

function gap(value) {
  return value !== null && value < 1e-6 ? '< 1e−6' : short(value);
}

function plural(count, noun) {
  return `${count.toLocaleString('en').replaceAll(',', '\u202f')} ${noun}${count === 1 ? '' : 's'}`;
}

function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, window.innerWidth - box.width - 8);
  const above = event.clientY - box.height - 12;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${above > 4 ? above : event.clientY + 16}px`;
}

function hideTip() {
  tip.hidden = true;
}
