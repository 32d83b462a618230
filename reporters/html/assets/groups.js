// A page of groups, each with a table: filters above all of them, by submitter, accelerator, workload and words. What is
// filtered away goes from tables and plots; a group without a row goes as a whole.
const groupFilter = document.querySelector('.group-filter');
if (groupFilter) {
  const groups = [...document.querySelectorAll('.group')].map(element => {
    const table = element.querySelector('table');
    const headings = [...table.tHead.rows[0].cells].map(cell => cell.textContent);
    const submitter = headings.indexOf('Submitter');
    const rows = [...table.tBodies[0].rows].map(row => {
      const system = row.cells[0].firstChild?.textContent ?? '';
      const by = submitter < 0 ? '' : row.cells[submitter].textContent;
      return { row, by, system, name: by ? `${by}, ${system}` : system, text: row.textContent.toLowerCase() };
    });
    const figures = [...element.querySelectorAll('figure.plot')].map(figure => figure.dataset.plot);
    return { element, rows, figures, accelerator: element.dataset.accelerator, workload: element.dataset.workload };
  });
  const unique = values => [...new Set(values.filter(Boolean))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  function choice(label, values) {
    const select = document.createElement('select');
    select.setAttribute('aria-label', label);
    select.name = label.toLowerCase();
    select.append(new Option(`every ${label.toLowerCase()}`, ''), ...values.map(value => new Option(value, value)));
    if (values.length > 1) groupFilter.append(select);
    return select;
  }
  const submitter = choice('Submitter', unique(groups.flatMap(group => group.rows.map(row => row.by))));
  const accelerator = choice('Accelerator', unique(groups.map(group => group.accelerator)));
  const workload = choice('Workload', unique(groups.map(group => group.workload)));
  const field = document.createElement('input');
  field.type = 'search';
  field.name = 'words';
  field.placeholder = 'Filter';
  field.setAttribute('aria-label', 'Show only results with these words');
  const count = document.createElement('span');
  count.setAttribute('role', 'status');
  groupFilter.append(field, count);
  groupFilter.classList.add('filter');
  groupFilter.hidden = false;

  function filterPlots(group) {
    const shown = group.rows.filter(row => !row.row.hidden);
    const all = shown.length === group.rows.length;
    for (const id of group.figures) {
      const plot = plots.drawn.get(id), spec = plots.specs.get(id);
      if (!plot) continue;
      spec.series.forEach((series, i) => {
        const belongs = row => series.label === row.name || series.label === row.by || series.label.startsWith(`${row.name} (`)
          || series.label.startsWith(`${row.by} (`) || series.names.includes(row.system);
        const show = all || spec.xNames.length > 0 || shown.some(belongs);
        if (plot.series[i + 1].show !== show) plot.setSeries(i + 1, { show });
      });
    }
  }
  function filterGroups() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let results = 0, left = 0;
    for (const group of groups) {
      const fits = (!accelerator.value || group.accelerator === accelerator.value) && (!workload.value || group.workload === workload.value);
      const about = `${group.workload} ${group.accelerator}`.toLowerCase();
      let shown = 0;
      for (const one of group.rows) {
        one.row.hidden = !fits || (submitter.value !== '' && one.by !== submitter.value)
          || !words.every(word => one.text.includes(word) || about.includes(word));
        if (!one.row.hidden) ++shown;
      }
      group.element.hidden = shown === 0;
      results += shown;
      if (shown > 0) ++left;
    }
    plots.drawSeen();
    groups.forEach(filterPlots);
    const total = groups.reduce((sum, group) => sum + group.rows.length, 0);
    count.textContent = results === total ? `${total} results in ${groups.length} groups` : `${results} of ${total} results in ${left} of ${groups.length} groups`;
  }
  for (const one of [submitter, accelerator, workload]) one.addEventListener('change', filterGroups);
  field.addEventListener('input', filterGroups);
  filterGroups();
}
