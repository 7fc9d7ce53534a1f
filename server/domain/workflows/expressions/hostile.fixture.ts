import { onThread, work } from '#server/platform/threads/pool.ts';
import { isOver } from '../engine/json-size.ts';
import { kept } from '../engine/values.ts';
import { hash } from '../nodes/node-call.ts';
import { newMeter, TooLarge } from './meter.shared.ts';
import { evaluateValue } from './template.shared.ts';

const KIB = 1024;
const times = <T>(n: number, of: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => of(i));
const members = (n: number, name: (i: number) => string) => Object.fromEntries(times(n, (i) => [name(i), i]));
const nested = (wide: number, deep: number): unknown => (deep === 0 ? 'x' : times(wide, () => nested(wide, deep - 1)));

/** Values as large as a node can be given, in the shapes that cost most: what is long, wide, deep, escaped, or all of it. */
export const HOSTILE: Record<string, unknown> = {
  text: 'a,'.repeat(2_000 * KIB),
  wide: 'é漢'.repeat(1_000 * KIB),
  control: '\u0001'.repeat(2_000 * KIB),
  lone: '\ud800'.repeat(1_000 * KIB),
  spaces: ' '.repeat(2_000 * KIB),
  digits: '1'.repeat(2_000 * KIB),
  ones: times(60_000, () => 1),
  doubles: times(60_000, (i) => Math.PI * (i + 1) * 1e-7),
  strings: times(60_000, (i) => `s${i}`),
  empties: times(60_000, () => []),
  objects: times(60_000, () => ({})),
  nested: nested(10, 5),
  object: members(20_000, (i) => `name${i}`),
  names: members(20_000, (i) => `${'n'.repeat(200)}${i}`),
  escaped: members(2_000, (i) => `${'\u0001'.repeat(500)}${i}`),
  rows: times(250, () => members(300, (i) => `field_${i}`)),
  unlike: times(150, (row) => members(500, (i) => `f${row}_${i}`)),
  deep: JSON.parse(`${'['.repeat(600)}${']'.repeat(600)}`),
};
export const SECOND = structuredClone(HOSTILE);

/** Every filter that a template may have, and the reference alone. */
export const FILTERED = [
  ...[
    '',
    '|json',
    '|string',
    '|number',
    '|upper',
    '|lower',
    '|trim',
    '|length',
    '|first',
    '|last',
    '|join',
    '|split',
    "|split('')",
    '|base64',
  ],
  ...['|urlencode', '|date', "|date('YYYY')", '|sha256', '|keys', "|replace('a','bb')", "|replace('a','')", '|keys|join', '|split|join'],
];

/** A template that asks for the same as often as a definition can: as many texts of one placeholder, or few of many. */
export const repeated = (placeholder: string, many: boolean): unknown =>
  many ? times(9_000, () => placeholder) : times(40, () => `${placeholder.repeat(190)} `);

export const scope = (node: string): unknown => (node === 'large' ? HOSTILE : node === 'second' ? SECOND : undefined);

/** Evaluates a template, and measures and writes it as an output. @returns whether it was too much */
export function isTooLarge(template: unknown): boolean {
  try {
    const { value, size } = kept(evaluateValue(template, { scope, hash, meter: newMeter() }));
    JSON.stringify(value);
    return isOver(size);
  } catch (error) {
    if (error instanceof TooLarge) return true;
    throw error;
  }
}

/** The same in a thread whose memory is bounded, for every template that a filter can be in. */
export const run = ({ name }: { name: string }): number =>
  FILTERED.flatMap((filter) => [true, false].map((many) => isTooLarge(repeated(`{{large.${name}${filter}}}`, many)))).filter(Boolean)
    .length;
export const inLittleMemory = (name: string) =>
  onThread(
    work<{ name: string }, number>('server/domain/workflows/expressions/hostile.fixture.ts'),
    { name },
    { owner: name, ms: 120_000 },
  );
