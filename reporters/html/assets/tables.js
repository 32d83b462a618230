// Tables that can be sorted by a click (or Enter) on a heading, and filtered by words.
for (const table of document.querySelectorAll('table[data-sortable]')) {
  const headings = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  if (body.rows.length < 2) continue;
  const original = [...body.rows];
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    if (headings[column].classList.contains('number')) return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
    return cell.textContent.trim().toLowerCase();
  };
  function compare(a, b, direction) {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;   // what is not known stays last
    const order = typeof a === 'number' ? a - b : a.localeCompare(b, 'en', { numeric: true });
    return direction * order;
  }
  function sort(column) {
    const heading = headings[column];
    const number = heading.classList.contains('number');
    const steps = number ? ['descending', 'ascending', 'none'] : ['ascending', 'descending', 'none'];
    const next = steps[(steps.indexOf(heading.getAttribute('aria-sort')) + 1) % steps.length];
    for (const other of headings) other.setAttribute('aria-sort', 'none');
    heading.setAttribute('aria-sort', next);
    const direction = next === 'ascending' ? 1 : -1;
    const rows = next === 'none' ? original
      : [...original].sort((a, b) => compare(keyOf(a, column), keyOf(b, column), direction));
    body.append(...rows);
  }
  headings.forEach((heading, column) => {
    heading.setAttribute('aria-sort', 'none');
    heading.tabIndex = 0;
    heading.addEventListener('click', () => sort(column));
    heading.addEventListener('keydown', event => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      sort(column);
    });
  });
}
for (const table of document.querySelectorAll('table[data-filterable]')) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 2) continue;
  const bar = document.createElement('div');
  bar.className = 'filter';
  const field = document.createElement('input');
  field.type = 'search';
  field.placeholder = 'Filter';
  field.setAttribute('aria-label', 'Show only rows with these words');
  const count = document.createElement('span');
  count.setAttribute('role', 'status');
  function filter() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every(word => text.includes(word));
      if (!row.hidden) ++shown;
    }
    count.textContent = words.length ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
    table.dispatchEvent(new CustomEvent('filtered', { bubbles: true, detail: { shown } }));
  }
  field.addEventListener('input', filter);
  bar.append(field, count);
  table.closest('.scroll').before(bar);
  filter();
}
