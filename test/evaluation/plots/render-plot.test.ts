import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { renderPlot } from '../../../src/evaluation/plots/render-plot.js';

/** Attributes of every element of a name, from a parser that refuses what is not well-formed. */
function elements(svg: string, name: string): Record<string, string>[] {
  const found: Record<string, string>[] = [];
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', (tag) => {
    if (tag.name === name) found.push(tag.attributes as Record<string, string>);
  });
  parser.write(svg).close();
  return found;
}

describe('renderPlot', () => {
  it('places larger values further right and higher up, inside the frame', () => {
    const svg = renderPlot({
      title: 'a < b & "c"',
      x: { title: 'notes', scale: 'log' },
      y: { title: 'ms' },
      series: [
        {
          name: 'one',
          points: [
            [1_000, 1],
            [10_000, 2],
            [100_000, 8],
          ],
        },
      ],
    });
    const dots = elements(svg, 'circle').map(({ cx, cy }) => [Number(cx), Number(cy)] as const);
    expect(dots).toHaveLength(3);
    const xs = dots.map(([x]) => x);
    const ys = dots.map(([, y]) => y);
    expect(xs).toEqual(xs.toSorted((a, b) => a - b));
    expect(ys).toEqual(ys.toSorted((a, b) => b - a));
    expect(xs[1]! - xs[0]!).toBeCloseTo(xs[2]! - xs[1]!, 0);
    expect(Math.min(...xs, ...ys)).toBeGreaterThan(0);
    expect(Math.max(...xs)).toBeLessThan(640);
    expect(svg).toContain('a &#60; b &#38;');
    expect(svg).not.toMatch(/https?:\/\/(?!www\.w3\.org\/2000\/svg)/u);
  });

  it('leaves out what cannot be placed and draws a single value', () => {
    const svg = renderPlot({
      title: 't',
      x: { title: 'x', scale: 'log' },
      y: { title: 'y' },
      series: [
        {
          name: 'one',
          points: [
            [0, 1],
            [10, Number.NaN],
            [10, 3],
          ],
          mark: 'points',
          labels: ['p'],
        },
      ],
    });
    expect(elements(svg, 'circle')).toHaveLength(1);
    expect(svg).not.toMatch(/NaN|Infinity/u);
    expect(renderPlot({ title: 't', x: { title: 'x' }, y: { title: 'y' }, series: [] })).not.toMatch(/NaN/u);
  });
});
