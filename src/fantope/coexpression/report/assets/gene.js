// A gene's own panel, opened by its address, #gene=NAME.
const dialog = document.getElementById('gene');
const placeOf = new Map(data.panels.names.map((name, k) => [name, k]));
const WORDS = { i: 'proven in use', o: 'proven not in use', u: 'undecided' };

function goToGene(name) {
  window.location.hash = `gene=${encodeURIComponent(name)}`;
}

function geneLink(name) {
  return element('a', { href: `#gene=${encodeURIComponent(name)}` }, name);
}

// A table of cells that are text, elements, or [value, text] for numbers.
function plainTable(caption, headings, rows) {
  const isNumber = (cell) => Array.isArray(cell);
  const made = element('table', {}, element('caption', {}, caption),
    element('thead', {}, element('tr', {}, ...headings.map((text, k) => (
      element('th', { scope: 'col', ...(rows.length && isNumber(rows[0][k]) ? { class: 'number' } : {}) }, text))))),
    element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map((cell) => (isNumber(cell)
      ? element('td', { class: 'number', 'data-value': cell[0] ?? '' }, cell[1]) : element('td', {}, cell)))))));
  startLinks(made);
  const wide = element('div', { class: 'wide', role: 'region', tabindex: '0', 'aria-label': caption }, made);
  const place = element('div', {}, wide);
  offerTable(wide);
  return place;
}

// What one group knows of a gene: its place among the group's genes, or none.
const inGroup = (group, k) => group.at.indexOf(k);

function groupRows(k) {
  return data.panels.groups.map((group, g) => {
    const i = inGroup(group, k);
    const shown = (key, digits) => (i < 0 ? [null, '–'] : [group[key][i], digits ? number(group[key][i], digits) : String(group[key][i])]);
    return [data.groups[g], i < 0 ? 'not in use' : group.module[i], WORDS[data.panels.verdicts[g][k]],
      shown('leverage', 3), shown('kme', 3), shown('rank', 0)];
  });
}

// Partners of a gene in use, or the genes in use that an unused one is a partner of.
function partnersOf(k) {
  const step = 1 + data.groups.length;
  const found = [];
  data.panels.partners.forEach((flat, own) => {
    for (let i = 0; i < flat.length; i += step) {
      if (own === k) found.push([flat[i], flat.slice(i + 1, i + step)]);
      else if (k >= data.panels.used && flat[i] === k) found.push([own, flat.slice(i + 1, i + step)]);
    }
  });
  const size = ([, values]) => Math.max(...values.map(Math.abs));
  return found.sort((a, b) => size(b) - size(a));
}

function partnerTable(k) {
  const several = data.groups.length > 1;
  const rows = partnersOf(k).map(([other, values]) => {
    const where = data.groups.filter((_, g) => inGroup(data.panels.groups[g], other) >= 0);
    const inUse = where.length ? (several ? where.join(', ') : 'yes') : 'no';
    return [geneLink(data.panels.names[other]), ...values.map((r) => [r / 1000, number(r / 1000)]), inUse];
  });
  if (!rows.length) return element('p', {}, 'Partners are listed for genes that stand in the pictures; this one is in none.');
  const name = data.panels.names[k];
  const caption = k < data.panels.used ? `Strongest partners of ${name} among all analysed genes`
    : `Genes in use that ${name} is among the strongest partners of`;
  return plainTable(caption, ['partner', ...data.groups.map((group) => (several ? `r, ${group}` : 'r')), 'in use'], rows);
}

function changesOf(name) {
  return data.pairs.flatMap(({ groups, volcano }) => {
    const at = volcano.genes.indexOf(name);
    if (at < 0) return [];
    return [element('p', {}, `From ${groups[0]} to ${groups[1]} its mean correlation with its modules’ genes changes by `
      + `${number(volcano.change[at])} (p = ${short(volcano.p[at])}, false discovery rate ${short(volcano.fdr[at])}).`)];
  });
}

function fillPanel(name) {
  const k = placeOf.get(name);
  const close = element('button', { type: 'button', class: 'close', autofocus: '' }, 'Close');
  close.addEventListener('click', () => dialog.close());
  const parts = [element('header', {}, element('h2', { id: 'gene-name' }, name), close)];
  if (k === undefined) {
    parts.push(element('p', {}, `No group uses ${name}, and it is a strong partner of no gene in use. If it is not spelt `
      + `differently, it was left out before the analysis or is one of the other ${plural(data.panels.analysed, 'gene')} analysed.`));
  } else {
    const remark = data.panels.remarks[k];
    if (remark) parts.push(element('p', { class: 'notice' }, `Take care: ${remark}.`));
    const several = data.groups.length > 1;
    const heads = ['group', 'module', 'verdict', 'leverage', 'kME', 'hub rank'];
    const rows = groupRows(k);
    parts.push(plainTable(`${name} in ${several ? 'each group' : 'all samples'}`, several ? heads : heads.slice(1),
      several ? rows : rows.map((row) => row.slice(1))));
    parts.push(...changesOf(name), partnerTable(k));
  }
  dialog.replaceChildren(...parts);
  dialog.scrollTop = 0;
}

function showGene() {
  const found = /^#gene=(.*)$/s.exec(window.location.hash);
  if (!found) {
    if (dialog.open) dialog.close();
    return;
  }
  let name = found[1];
  try {
    name = decodeURIComponent(name);
  } catch {
    // Typed by hand: taken as it stands.
  }
  fillPanel(name);
  if (!dialog.open) dialog.showModal();
}

function startPanels() {
  dialog.setAttribute('aria-labelledby', 'gene-name');
  dialog.addEventListener('close', () => {
    if (window.location.hash.startsWith('#gene=')) window.history.replaceState(null, '', window.location.href.split('#')[0]);
  });
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
  const form = document.querySelector('.find');
  const input = form.querySelector('input');
  document.getElementById('gene-names').append(...data.panels.names.map((name) => element('option', { value: name })));
  const find = (text) => {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return;
    const names = data.panels.names;
    const same = names.find((name) => name.toLowerCase() === wanted);
    goToGene(same ?? names.find((name) => name.toLowerCase().startsWith(wanted)) ?? text.trim());
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    find(input.value);
  });
  input.addEventListener('input', (event) => {
    // Chosen from the list, not typed.
    if (!(event instanceof InputEvent) || event.inputType === 'insertReplacementText') find(input.value);
  });
  form.hidden = false;
  window.addEventListener('hashchange', showGene);
  showGene();
}
