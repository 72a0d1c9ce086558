/** One line or cloud of points; `[x, y]`, in the order in which lines connect them. */
export interface PlotSeries {
  readonly name: string;
  readonly points: readonly (readonly [number, number])[];
  /** Default `line`. */
  readonly mark?: 'line' | 'points' | undefined;
  /** One label a point, for clouds. */
  readonly labels?: readonly string[] | undefined;
}

export interface Axis {
  readonly title: string;
  readonly scale?: 'linear' | 'log' | undefined;
}

export interface Plot {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly PlotSeries[];
}

const WIDTH = 640;
const HEIGHT = 360;
const MARGIN = { left: 64, right: 16, top: 36, bottom: 48 };
/** Okabe & Ito's palette (2008): told apart by people with colour blindness, too. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'];
const LEGEND_LINE = 16;

interface Scale {
  readonly ticks: readonly number[];
  place(value: number): number;
}

/** A plot as one self-contained SVG element; no script, no font or style from elsewhere. Non-finite points are left out. */
export function renderPlot(plot: Plot): string {
  const series = plot.series.map((one) => ({ ...one, points: one.points.filter(isPlottable(plot)) }));
  const all = series.flatMap(({ points }) => points);
  const legendHeight = series.length > 1 ? Math.ceil(series.length / 3) * LEGEND_LINE : 0;
  const height = HEIGHT + legendHeight;
  const x = scaleOf(
    plot.x,
    all.map(([value]) => value),
    [MARGIN.left, WIDTH - MARGIN.right],
  );
  const y = scaleOf(
    plot.y,
    all.map(([, value]) => value),
    [HEIGHT - MARGIN.bottom, MARGIN.top],
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escapeXml(plot.title)}" font-family="system-ui, sans-serif" font-size="11">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="${MARGIN.left}" y="20" font-size="14" font-weight="600" fill="#1a1a1a">${escapeXml(plot.title)}</text>`,
    ...x.ticks.map((tick) => {
      const at = round(x.place(tick));
      return `<path d="M${at} ${MARGIN.top}V${HEIGHT - MARGIN.bottom}" stroke="#e4e4e4"/><text x="${at}" y="${HEIGHT - MARGIN.bottom + 16}" text-anchor="middle" fill="#444">${tickText(tick)}</text>`;
    }),
    ...y.ticks.map((tick) => {
      const at = round(y.place(tick));
      return `<path d="M${MARGIN.left} ${at}H${WIDTH - MARGIN.right}" stroke="#e4e4e4"/><text x="${MARGIN.left - 8}" y="${at + 4}" text-anchor="end" fill="#444">${tickText(tick)}</text>`;
    }),
    `<text x="${(MARGIN.left + WIDTH - MARGIN.right) / 2}" y="${HEIGHT - 12}" text-anchor="middle" fill="#1a1a1a">${escapeXml(plot.x.title)}</text>`,
    `<text transform="translate(14 ${(MARGIN.top + HEIGHT - MARGIN.bottom) / 2}) rotate(-90)" text-anchor="middle" fill="#1a1a1a">${escapeXml(plot.y.title)}</text>`,
    ...series.map((one, index) => renderSeries(one, x, y, COLOURS[index % COLOURS.length] ?? '#000')),
    ...(series.length > 1 ? series.map((one, index) => legend(one.name, index)) : []),
    '</svg>',
  ].join('\n');
}

function renderSeries(series: PlotSeries, x: Scale, y: Scale, colour: string): string {
  const at = series.points.map(([a, b]) => [round(x.place(a)), round(y.place(b))] as const);
  const dots = at.map(([cx, cy], index) => {
    const label = series.labels?.[index];
    const title = label === undefined ? '' : `<title>${escapeXml(label)}</title>`;
    const text =
      label === undefined
        ? ''
        : `<text x="${cx > WIDTH * 0.75 ? cx - 6 : cx + 6}" y="${cy - 5}" text-anchor="${cx > WIDTH * 0.75 ? 'end' : 'start'}" fill="#333" font-size="10">${escapeXml(label)}</text>`;
    return `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${colour}">${title}</circle>${text}`;
  });
  const path = at.map(([px, py], index) => `${index === 0 ? 'M' : 'L'}${px} ${py}`).join('');
  const line =
    series.mark === 'points' || at.length < 2
      ? ''
      : `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`;
  return line + dots.join('');
}

function legend(name: string, index: number): string {
  const left = MARGIN.left + (index % 3) * 190;
  const top = HEIGHT + Math.floor(index / 3) * LEGEND_LINE;
  const colour = COLOURS[index % COLOURS.length] ?? '#000';
  return `<circle cx="${left}" cy="${top}" r="4" fill="${colour}"/><text x="${left + 9}" y="${top + 4}" fill="#1a1a1a">${escapeXml(name)}</text>`;
}

function isPlottable({ x, y }: Plot): (point: readonly [number, number]) => boolean {
  return ([a, b]) =>
    Number.isFinite(a) && Number.isFinite(b) && (x.scale !== 'log' || a > 0) && (y.scale !== 'log' || b > 0);
}

function scaleOf(axis: Axis, values: readonly number[], [from, to]: readonly [number, number]): Scale {
  const low = values.length === 0 ? 0 : Math.min(...values);
  const high = values.length === 0 ? 1 : Math.max(...values);
  if (axis.scale === 'log') {
    const [a, b] = [Math.floor(Math.log10(low || 1)), Math.max(Math.ceil(Math.log10(high || 10)), 0)];
    const last = b === a ? a + 1 : b;
    const ticks = Array.from({ length: last - a + 1 }, (_, index) => 10 ** (a + index));
    return { ticks, place: (value) => from + ((Math.log10(value) - a) / (last - a)) * (to - from) };
  }
  const step = niceStep((high - low || Math.abs(high) || 1) / 5);
  const first = Math.floor(low / step) * step;
  const last = Math.max(Math.ceil(high / step) * step, first + step);
  const ticks = Array.from(
    { length: Math.round((last - first) / step) + 1 },
    (_, index) => first + index * step,
  );
  return { ticks, place: (value) => from + ((value - first) / (last - first)) * (to - from) };
}

/** 1, 2 or 5 times a power of ten. */
function niceStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = [1, 2, 5, 10].find((one) => one * power >= raw) ?? 10;
  return factor * power;
}

function tickText(value: number): string {
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3)) return value.toExponential(0);
  return String(Number(value.toPrecision(6))).replace(/(\d)(?=(\d{3})+$)/, '$1,');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** For element content and double-quoted attributes. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
