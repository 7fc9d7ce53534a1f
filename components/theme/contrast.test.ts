import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const css = readFileSync(new URL('../../app/globals.css', import.meta.url), 'utf8');

type Tokens = Record<string, string>;

/** The custom properties of one `@utility` block, with what it applies underneath. */
function tokensOf(name: string): Tokens {
  const body = new RegExp(`@utility ${name} \\{([^}]*)\\}`).exec(css)?.[1];
  assert.ok(body, `theme ${name} exists`);
  const base = /@apply (tokens-[a-z-]+);/.exec(body)?.[1];
  const own = Object.fromEntries([...body.matchAll(/--([a-z0-9-]+): ([^;]+);/g)].map((m) => [m[1] ?? '', m[2] ?? '']));
  return { ...(base ? tokensOf(base) : {}), ...own };
}

/** Relative luminance of an `oklch(L C H)` colour, clipped to sRGB as a browser paints it (WCAG 2.2, relative luminance). */
function luminance(oklch: string): number {
  const [l, c, h] = oklch.slice(6, -1).split(/[ /]+/).map(Number) as [number, number, number];
  const a = c * Math.cos((h * Math.PI) / 180);
  const b = c * Math.sin((h * Math.PI) / 180);
  const l3 = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m3 = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s3 = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const clip = (x: number) => Math.min(1, Math.max(0, x));
  const red = clip(4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3);
  const green = clip(-1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3);
  const blue = clip(-0.0041960863 * l3 - 0.7034186147 * m3 + 1.707614701 * s3);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, two: string): number {
  const [hi, lo] = [luminance(one), luminance(two)].sort((x, y) => y - x) as [number, number];
  return (hi + 0.05) / (lo + 0.05);
}

const text: [ink: string, on: string[]][] = [
  ['ink', ['canvas', 'surface', 'subtle', 'pressed', 'overlay', 'accent-soft']],
  ['ink-2', ['canvas', 'surface', 'subtle', 'pressed', 'overlay', 'accent-soft', 'test-soft']],
  ['ink-3', ['canvas', 'surface', 'subtle', 'overlay']],
  ['accent-ink', ['canvas', 'surface', 'subtle', 'overlay', 'accent-soft']],
  ['good-ink', ['canvas', 'surface', 'subtle', 'good-soft']],
  ['warn-ink', ['canvas', 'surface', 'subtle', 'warn-soft']],
  ['bad-ink', ['canvas', 'surface', 'subtle', 'overlay', 'bad-soft']],
  ['note-ink', ['surface', 'subtle', 'note-soft']],
  ['test-ink', ['canvas', 'surface', 'subtle', 'test-soft']],
  ['on-accent', ['accent', 'accent-hover']],
  ['on-bad', ['bad', 'bad-hover']],
  ['code-key', ['surface', 'subtle']],
  ['code-string', ['surface', 'subtle']],
  ['code-number', ['surface', 'subtle']],
  ['code-word', ['surface', 'subtle']],
  ['code-comment', ['surface', 'subtle']],
];

/** Edges of controls, focus rings and chart marks: WCAG 2.2 success criterion 1.4.11 asks 3:1. */
const edges: [edge: string, on: string[]][] = [
  ['line-control', ['canvas', 'surface', 'overlay']],
  ['focus', ['canvas', 'surface', 'subtle', 'overlay']],
  ['accent', ['canvas', 'surface']],
  ['bad', ['canvas', 'surface']],
  ['good', ['canvas', 'surface']],
  ['note', ['canvas', 'surface']],
];

function failures(theme: string, pairs: [string, string[]][], least: number): string[] {
  const t = tokensOf(theme);
  return pairs.flatMap(([front, backs]) =>
    backs.flatMap((back) => {
      const ratio = contrast(t[front] ?? '', t[back] ?? '');
      return ratio >= least ? [] : [`${front} on ${back}: ${ratio.toFixed(2)} < ${least}`];
    }),
  );
}

for (const theme of ['tokens-light', 'tokens-dark', 'tokens-contrast-light', 'tokens-contrast-dark']) {
  const high = theme.includes('contrast');
  test(`${theme}: every text token reaches ${high ? '7:1' : '4.5:1'} on every surface it is used on`, () => {
    assert.deepEqual(failures(theme, text.slice(0, high ? 11 : undefined), high ? 7 : 4.5), []);
  });
  test(`${theme}: control edges, focus rings and chart marks reach 3:1`, () => {
    assert.deepEqual(failures(theme, edges, 3), []);
  });
}

test('no component names a colour outside the tokens', () => {
  assert.match(css, /--color-\*: initial;/);
});
