// Draws the plots of the data block with uPlot, each when it is first seen; redraws them for another theme and for print.
const plots = (() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const specs = new Map(data.plots.map(spec => [spec.id, spec]));
  const drawn = new Map();   // id -> uPlot
  const heightFor = width => (width < 480 ? 220 : 280);
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  const trimmed = (value, digits) => String(Number(value.toPrecision(digits)));

  // 0.00021 -> "210 µs" where the unit is a second; other numbers with as many digits as tell something.
  function valueText(value, unit) {
    if (value == null) return '–';
    if (unit === 's') {
      const size = Math.abs(value);
      if (size > 0 && size < 1e-3) return trimmed(value * 1e6, 4) + ' µs';
      if (size > 0 && size < 1) return trimmed(value * 1e3, 4) + ' ms';
    }
    const text = Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en-US') : trimmed(value, 4);
    return unit ? text + ' ' + unit : text;
  }
  // Ticks: "1.2M" only where the plain number would be long.
  const tickText = value => (value == null ? '' : Math.abs(value) >= 1e6 ? trimmed(value / 1e6, 6) + 'M'
    : Math.abs(value) >= 1e4 ? trimmed(value / 1e3, 6) + 'k' : String(Number(value.toPrecision(8))));

  function pathsOf(shape) {
    if (shape === 'bars') return uPlot.paths.bars({ size: [0.6, 64], radius: 0.08 });
    if (shape === 'steps' || shape === 'area') return uPlot.paths.stepped({ align: 1 });
    if (shape === 'dots') return () => null;
    return uPlot.paths.linear();
  }
  function seriesOptions(series) {
    const line = colour(series.colour);
    const dots = series.shape === 'dots';
    return {
      label: series.unit ? `${series.label} (${series.unit})` : series.label,
      scale: series.right ? 'right' : 'y',
      stroke: line,
      width: series.shape === 'bars' ? 0 : 1.75,
      fill: series.shape === 'bars' ? line + 'd0' : series.shape === 'area' ? line + '40' : undefined,
      paths: pathsOf(series.shape),
      points: { show: dots || series.showPoints, size: dots ? 8 : 7, fill: dots ? line : colour('paper'), stroke: line, width: 1.75 },
      value: (self, value, seriesIndex, at) => {
        const text = valueText(value, series.unit);
        const name = at == null ? null : series.names[series.x.indexOf(self.data[0][at])];
        return name && value != null ? `${text}, ${name}` : text;
      },
    };
  }
  // Room for the longest label of an axis.
  function axisSize(self, values, axisIndex, cycle) {
    const axis = self.axes[axisIndex];
    if (cycle > 1) return axis._size;
    const longest = (values ?? []).reduce((a, b) => (String(b).length > a.length ? String(b) : a), '');
    if (!longest) return axis.ticks.size + axis.gap;
    self.ctx.font = axis.font[0];
    return Math.ceil(axis.ticks.size + axis.gap + self.ctx.measureText(longest).width / devicePixelRatio);
  }
  function axes(spec) {
    const base = { stroke: colour('soft'), grid: { stroke: colour('line'), width: 1 }, ticks: { stroke: colour('line'), width: 1 },
      font: '12px system-ui, sans-serif', labelFont: '12px system-ui, sans-serif', labelSize: 22 };
    const x = { ...base, label: spec.xLabel, size: 30, labelSize: 20 };
    if (spec.xNames.length) {
      x.splits = self => {
        const room = Math.max(1, Math.floor((self.bbox.width || 600) / devicePixelRatio / 44));
        const every = Math.ceil(spec.xNames.length / room);
        return spec.xNames.map((_, i) => i + 1).filter(i => (i - 1) % every === 0);
      };
      x.values = (self, splits) => splits.map(i => spec.xNames[i - 1] ?? '');
      x.grid = { show: false };
    } else if (spec.xLog) {
      // A line and a number at every decade; those between would fill the plot.
      const decades = (self, splits) => splits.map(v => (v != null && Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9 ? v : null));
      x.grid = { ...base.grid, filter: decades };
      x.ticks = { ...base.ticks, filter: decades };
      x.values = (self, splits) => splits.map(v => (v == null || Math.abs(Math.log10(v) - Math.round(Math.log10(v))) > 1e-9 ? ''
        : valueText(v, spec.xLabel.endsWith('(s)') ? 's' : '')));
    } else {
      x.values = (self, splits) => splits.map(tickText);
    }
    const all = [x, { ...base, scale: 'y', label: spec.yLabel, size: axisSize, values: (self, splits) => splits.map(tickText) }];
    if (spec.series.some(s => s.right))
      all.push({ ...base, scale: 'right', side: 1, label: spec.rightLabel, size: axisSize, grid: { show: false },
        values: (self, splits) => splits.map(tickText) });
    return all;
  }
  function scales(spec) {
    const upTo = (least, thresholds) => (self, low, high) => {
      if (low == null) return [0, 1];
      const top = Math.max(high, least ?? -Infinity, ...thresholds.map(t => t.value));
      const bottom = Math.min(low, ...thresholds.map(t => t.value));
      if (!spec.yFromZero) return uPlot.rangeNum(bottom, top, 0.1, true);
      return [Math.min(0, bottom), least != null && top <= least ? least : top > 0 ? top * 1.06 : 1];
    };
    const x = { time: false };
    if (spec.xNames.length) x.range = [0.4, spec.xNames.length + 0.6];
    else if (spec.xLog) x.distr = 3;
    return { x, y: { range: upTo(spec.yMax, spec.thresholds) }, right: { range: upTo(null, []) } };
  }
  // Where something begins, as thin lines with a name: behind the series.
  function drawMarks(self, spec) {
    const { ctx, bbox } = self;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour('soft');
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = 'left';
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    let free = -Infinity;
    for (const { value, label } of spec.xMarks ?? []) {
      const x = Math.round(self.valToPos(value, 'x', true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      if (x < free) continue;   // no room for its name
      ctx.fillText(label, x + 3 * devicePixelRatio, bbox.top - 4 * devicePixelRatio);
      free = x + ctx.measureText(label).width + 8 * devicePixelRatio;
    }
    ctx.restore();
  }
  function drawThresholds(self, spec) {
    const { ctx, bbox } = self;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour('ink');
    ctx.lineWidth = 1.25 * devicePixelRatio;
    ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = 'right';
    for (const { value, label } of spec.thresholds) {
      const y = Math.round(self.valToPos(value, 'y', true));
      ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      const right = bbox.left + bbox.width, width = ctx.measureText(label).width + 8 * devicePixelRatio;
      ctx.fillStyle = colour('paper');   // readable on a bar, too
      ctx.fillRect(right - width, y - 19 * devicePixelRatio, width, 17 * devicePixelRatio);
      ctx.fillStyle = colour('ink');
      ctx.fillText(label, right - 4 * devicePixelRatio, y - 6 * devicePixelRatio);
    }
    ctx.restore();
  }

  function draw(figure, width) {
    const spec = specs.get(figure.dataset.plot);
    const place = figure.querySelector('.canvas');
    const tables = spec.series.map(s => [s.x, s.y]);
    const joined = tables.length > 1 ? uPlot.join(tables) : tables[0] ?? [[], []];
    const options = {
      width, height: heightFor(width), scales: scales(spec), axes: axes(spec),
      series: [{ label: spec.xLabel, value: (self, v) => (v == null ? '–' : spec.xNames.length ? spec.xNames[Math.round(v) - 1] ?? '–'
        : valueText(v, spec.xLog && spec.xLabel.endsWith('(s)') ? 's' : '')) }, ...spec.series.map(seriesOptions)],
      cursor: { y: false, drag: { x: !spec.xNames.length, y: false } },
      padding: [spec.xMarks ? 18 : null, null, null, null],
      hooks: { drawAxes: [self => drawMarks(self, spec)], draw: [self => drawThresholds(self, spec)] },
    };
    drawn.get(spec.id)?.destroy();
    drawn.set(spec.id, new uPlot(options, joined, place));
  }
  const widthOf = figure => Math.floor(figure.querySelector('.canvas').clientWidth);
  function drawVisible(only) {
    for (const figure of document.querySelectorAll('figure.plot')) {
      const width = widthOf(figure);
      if (width > 0 && (!only || only(figure, width))) draw(figure, width);
    }
  }
  // A new size redraws what is seen; a figure of a part that was hidden has its first size when it is chosen.
  new ResizeObserver(() => drawVisible((figure, width) => drawn.get(figure.dataset.plot)?.width !== width)).observe(document.body);

  return {
    specs, drawn,
    drawSeen: () => drawVisible(figure => !drawn.has(figure.dataset.plot)),
    redraw: () => drawVisible(),
    redrawAt: width => {
      for (const figure of document.querySelectorAll('figure.plot')) if (widthOf(figure) > 0) draw(figure, Math.min(width, widthOf(figure)));
    },
  };
})();
