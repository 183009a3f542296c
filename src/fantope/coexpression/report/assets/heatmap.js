// Matrices on canvas: correlations in the modules' order, and the loadings beside them.
// Blue for negative, red for positive, the paper's colour at zero: distinct under the common colour deficiencies.
const LIGHT = [[33, 102, 172], [146, 197, 222], [250, 250, 247], [244, 165, 130], [178, 24, 43]];
const DARK = [[110, 180, 240], [55, 105, 150], [30, 34, 38], [150, 80, 60], [250, 140, 110]];
const isDark = () => !onPaper.active() && window.matchMedia('(prefers-color-scheme: dark)').matches;

function colourTable() {
  const stops = isDark() ? DARK : LIGHT;
  const table = new Uint8ClampedArray(255 * 3);
  for (let k = 0; k < 255; k += 1) {
    const place = (k / 254) * 4;
    const below = Math.min(3, Math.floor(place));
    for (let c = 0; c < 3; c += 1) {
      table[3 * k + c] = stops[below][c] + (place - below) * (stops[below + 1][c] - stops[below][c]);
    }
  }
  return table;
}

// A small picture with one pixel for each entry; the browser scales it without smoothing.
function picture(bytes, columns, rows, colours) {
  const canvas = document.createElement('canvas');
  canvas.width = columns;
  canvas.height = rows;
  const image = new ImageData(columns, rows);
  for (let k = 0; k < columns * rows; k += 1) {
    const from = 3 * (Math.max(-127, bytes[k]) + 127);
    image.data.set([colours[from], colours[from + 1], colours[from + 2], 255], 4 * k);
  }
  canvas.getContext('2d').putImageData(image, 0, 0);
  return canvas;
}

class HeatMap {
  constructor(figure, source) {
    this.source = source;
    this.size = source.genes.length;
    this.canvas = figure.querySelector('canvas');
    this.readout = figure.querySelector('.readout');
    this.matrices = source.matrices.map((matrix) => decode(matrix.values));
    this.weights = source.loadings ? decode(source.loadings.values) : null;
    this.cursor = null;
    this.canvas.addEventListener('mousemove', (event) => this.point(event));
    this.canvas.addEventListener('mouseleave', () => this.set(null));
    this.canvas.addEventListener('click', (event) => this.point(event));
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    this.canvas.addEventListener('focus', () => {
      if (this.cursor === null && this.canvas.matches(':focus-visible')) this.set([0, Math.min(1, this.size - 1)]);
    });
    this.canvas.addEventListener('blur', () => this.set(null));
    this.draw();
  }

  // Where the panels are, in CSS pixels.
  layout(width = this.canvas.clientWidth || 640) {
    const count = this.matrices.length;
    const left = this.source.bands.length ? 12 + 7 * Math.min(14, Math.max(...this.source.bands.map((b) => b.name.length))) : 8;
    const top = count > 1 || this.weights ? 26 : 8;
    const stack = count > 1 && width < 560;
    const panels = [];
    if (this.weights) {
      const strip = Math.min(150, Math.max(60, 22 * this.source.loadings.count, width * 0.16));
      const side = Math.min(560, width - left - 28 - strip);
      panels.push({ x: left, y: top, width: side, height: side, matrix: 0 });
      panels.push({ x: left + side + 26, y: top, width: strip, height: side, matrix: null });
    } else {
      const room = width - left - 2; // the last pixels are the frame's
      const side = Math.min(440, stack ? room : (room - 24 * (count - 1)) / count);
      for (let k = 0; k < count; k += 1) {
        const x = stack ? left : left + k * (side + 24);
        panels.push({ x, y: stack ? top + k * (side + 34) : top, width: side, height: side, matrix: k });
      }
    }
    const last = panels[panels.length - 1];
    return { panels, left, width, height: last.y + last.height + 46, stack };
  }

  draw() {
    const plan = this.layout();
    const ratio = Math.max(2, window.devicePixelRatio || 1);
    this.canvas.style.height = `${plan.height}px`;
    this.canvas.width = Math.round(plan.width * ratio);
    this.canvas.height = Math.round(plan.height * ratio);
    const pen = this.canvas.getContext('2d');
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.imageSmoothingEnabled = false;
    this.paint(pen, plan);
    this.plan = plan;
    if (this.cursor) this.drawCursor(pen, variable('--ink'));
  }

  // The same figure as SVG, for a file: matrices as pictures, the rest as lines and text.
  toSvg() {
    const plan = this.layout(760);
    const pen = new SvgPen(plan.width, plan.height, this.canvas.getAttribute('aria-label'));
    this.paint(pen, plan);
    return pen.root;
  }

  paint(pen, plan) {
    const ink = variable('--ink');
    const quiet = variable('--quiet');
    const colours = colourTable();
    pen.font = `12px ${variable('--sans')}`;
    plan.panels.forEach((box, k) => {
      const strip = box.matrix === null;
      const columns = strip ? this.source.loadings.count : this.size;
      const image = picture(strip ? this.weights : this.matrices[box.matrix], columns, this.size, colours);
      pen.drawImage(image, box.x, box.y, box.width, box.height);
      pen.strokeStyle = quiet;
      pen.lineWidth = 1;
      pen.strokeRect(box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1);
      this.drawBands(pen, box, strip, k === 0 || plan.stack, plan.left, ink, quiet);
      pen.fillStyle = ink;
      pen.textAlign = 'left';
      if (strip) {
        for (let c = 0; c < columns; c += 1) {
          pen.textAlign = 'center';
          const name = box.width / columns < 20 ? String(c + 1) : `C${c + 1}`;
          pen.fillText(name, box.x + ((c + 0.5) * box.width) / columns, box.y - 9);
        }
      } else if (plan.panels.length > 1) {
        const title = this.weights ? 'correlation' : this.source.matrices[box.matrix].title;
        pen.fillText(title, box.x, box.y - 9, box.width);
      }
    });
    this.drawScale(pen, plan, quiet, colours);
  }

  drawBands(pen, box, strip, labelled, left, ink, quiet) {
    const cell = box.height / this.size;
    let free = -Infinity;
    for (const band of this.source.bands) {
      const y = box.y + band.start * cell;
      const height = (band.stop - band.start) * cell;
      pen.strokeStyle = ink;
      pen.lineWidth = 0.8;
      if (band.start > 0) {
        pen.beginPath();
        pen.moveTo(box.x, y);
        pen.lineTo(box.x + box.width, y);
        if (!strip) {
          const x = box.x + band.start * cell;
          pen.moveTo(x, box.y);
          pen.lineTo(x, box.y + box.height);
        }
        pen.stroke();
      }
      if (labelled && !strip && y + height / 2 > free) {
        pen.fillStyle = quiet;
        pen.textAlign = 'right';
        const name = band.name.length > 14 ? `${band.name.slice(0, 13)}…` : band.name;
        pen.fillText(name, left - 6, y + height / 2 + 4);
        free = y + height / 2 + 13;
      }
    }
  }

  drawScale(pen, plan, quiet, colours) {
    const first = plan.panels[0];
    const y = plan.height - 30;
    const width = Math.min(180, first.width);
    for (let k = 0; k < width; k += 1) {
      const from = 3 * Math.round((k / (width - 1)) * 254);
      pen.fillStyle = `rgb(${colours[from]},${colours[from + 1]},${colours[from + 2]})`;
      pen.fillRect(first.x + k, y, 1.5, 8);
    }
    pen.fillStyle = quiet;
    pen.textAlign = 'left';
    pen.fillText('−1', first.x, y + 22);
    pen.textAlign = 'center';
    pen.fillText('0', first.x + width / 2, y + 22);
    pen.textAlign = 'right';
    pen.fillText('+1', first.x + width, y + 22);
  }

  drawCursor(pen, ink) {
    const [row, column] = this.cursor;
    pen.strokeStyle = ink;
    for (const box of this.plan.panels) {
      const cell = box.height / this.size;
      const strip = box.matrix === null;
      const wide = strip ? box.width : cell;
      const x = strip ? box.x : box.x + column * cell;
      const y = box.y + row * cell;
      pen.lineWidth = 0.6;
      pen.beginPath();
      pen.moveTo(box.x, y + cell / 2);
      pen.lineTo(box.x + box.width, y + cell / 2);
      if (!strip) {
        pen.moveTo(x + cell / 2, box.y);
        pen.lineTo(x + cell / 2, box.y + box.height);
      }
      pen.stroke();
      pen.lineWidth = 1.6;
      pen.strokeRect(x - 1.5, y - 1.5, wide + 3, cell + 3);
    }
  }

  point(event) {
    const frame = this.canvas.getBoundingClientRect();
    const x = event.clientX - frame.left;
    const y = event.clientY - frame.top;
    for (const box of this.plan.panels) {
      if (x < box.x || y < box.y || x >= box.x + box.width || y >= box.y + box.height) continue;
      const row = Math.floor(((y - box.y) / box.height) * this.size);
      const column = box.matrix === null ? row : Math.floor(((x - box.x) / box.width) * this.size);
      this.set([row, column]);
      showTip(event, this.describe());
      return;
    }
    this.set(null);
  }

  key(event) {
    const far = event.shiftKey ? 10 : 1;
    const moves = { ArrowUp: [-far, 0], ArrowDown: [far, 0], ArrowLeft: [0, -far], ArrowRight: [0, far] };
    const [row, column] = this.cursor || [0, 0];
    const inside = (value) => Math.max(0, Math.min(this.size - 1, value));
    if (event.key in moves) {
      const [down, right] = moves[event.key];
      this.set([inside(row + down), inside(column + right)]);
    } else if (event.key === 'Home') this.set([row, 0]);
    else if (event.key === 'End') this.set([row, this.size - 1]);
    else if (event.key === 'Escape') this.set(null);
    else return;
    event.preventDefault();
  }

  band(index) {
    const found = this.source.bands.find((band) => index >= band.start && index < band.stop);
    return found ? found.name : '';
  }

  describe() {
    const [row, column] = this.cursor;
    const gene = (k) => `${this.source.genes[k]} (${this.band(k)})`;
    let text = gene(row);
    if (row !== column) {
      text += ` and ${gene(column)}: r = `;
      text += this.matrices.map((bytes, k) => {
        const value = number(bytes[row * this.size + column] / 127);
        return this.matrices.length > 1 ? `${value} in ${this.source.matrices[k].title}` : value;
      }).join(', ');
      return `${text}.`;
    }
    if (!this.weights) return `${text}.`;
    const count = this.source.loadings.count;
    const shown = [];
    for (let c = 0; c < count; c += 1) {
      const value = this.weights[row * count + c];
      if (value) shown.push(`${number((value / 127) * this.source.loadings.limits[c])} on C${c + 1}`);
    }
    return `${text}: loadings ${shown.join(', ') || 'below 0.01'}.`;
  }

  set(cursor) {
    this.cursor = cursor;
    if (cursor === null) hideTip();
    this.readout.textContent = cursor === null ? '' : this.describe();
    this.draw();
  }
}
