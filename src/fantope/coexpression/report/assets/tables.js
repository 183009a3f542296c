// Tables that sort by any column, and fields that search them.
const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

function cellValue(cell) {
  if (!('value' in cell.dataset)) return cell.textContent;
  return cell.dataset.value === '' ? null : Number(cell.dataset.value);
}

function sortBy(table, column, descending) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [cellValue(row.cells[column]), row]);
  const sign = descending ? -1 : 1;
  // Missing numbers come last either way.
  rows.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (typeof a === 'number' ? a - b : collator.compare(a, b));
  });
  body.append(...rows.map(([, row]) => row));
  table.firstLink();
}

function startSorting(table) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = heading.querySelector('button');
    if (!button) return;
    button.addEventListener('click', () => {
      const before = heading.getAttribute('aria-sort');
      // Numbers are most often wanted from the largest down.
      const descending = before ? before === 'ascending' : heading.classList.contains('number');
      headings.forEach((other) => other.removeAttribute('aria-sort'));
      heading.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
      sortBy(table, column, descending);
    });
  });
}

// Hundreds of names would be hundreds of stops on the way through the page.
function startLinks(table) {
  table.firstLink = roving(table, 'a');
}

function startSearch(input) {
  const table = document.getElementById(input.dataset.table);
  const told = document.querySelector(`[data-matches="${input.dataset.table}"]`);
  const rows = [...table.tBodies[0].rows].map((row) => [row, [...row.cells].map((cell) => cell.textContent).join(' ').toLowerCase()]);
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const [row, text] of rows) {
      const shown = words.every((word) => text.includes(word));
      row.hidden = !shown;
      count += shown;
    }
    table.firstLink();
    told.textContent = words.length ? `${count} of ${rows.length}` : '';
  });
}
