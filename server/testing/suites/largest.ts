import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import type { z } from 'zod';
import { BODY_LIMIT } from '#server/api/input.ts';
import { perform } from '#server/api/perform.ts';
import { BODY_SHAPE } from '#server/kernel/bounded-text.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { call } from '../calls.ts';
import { type Place, textPlaces, withTextAt } from '../hostile/text-places.ts';
import { neverBlocks } from '../loop-probe.ts';
import { quickPasswords } from '../quick-passwords.ts';
import { sampled } from '../thorough.ts';
import { memberActor, type Workspace, workspace } from '../workspace.ts';
import { addressOf, hasBody } from './send.ts';
import type { Subject } from './subject.ts';

type Input = Record<string, unknown>;

/** Pieces that texts are slow to read by. */
const PIECES = [
  'a',
  '[',
  '{"a":',
  '\\',
  '"',
  '(',
  '{{',
  '{{a | upper}}',
  '$.a',
  '.*',
  'a@a.',
  'a\u0301',
  '\u1100',
  '%41',
  'a.',
  '\n',
  'a,',
  '://',
  '-----BEGIN ',
];
/** Of what no schema bounds, as much as a body may hold beside the rest. */
const REST = BODY_LIMIT - 64 * 1024;
/** Attacks on one operation: another part of them for each, all with --thorough. */
const AT_ONCE = 3;

/**
 * The largest input that an operation takes, in its worst shape, keeps nobody else waiting: each text of its largest length, each list of its largest
 * count, JSON of any form as deep and as wide as bodies may be. A sample of them by default, all with `npm test -- --thorough`.
 */
export function largest(subject: Subject): void {
  describe('the largest input in its worst shape keeps nobody else waiting', () => {
    for (const op of [...subject.byKey, ...subject.dashboard]) {
      if (!hasBody(op)) continue;
      const attacks = sampled(attacksOn(op), AT_ONCE, op.id);
      if (attacks.length > 0) test(op.id, () => besideTheProbe(subject, op, attacks));
    }
  });
}

type Attack = { what: string; place: Place; value: () => unknown };

function attacksOn(op: AnyOperation): Attack[] {
  const inPath = new Set(Array.from(op.http.matchAll(/\{(\w+)\}/g), ([, name]) => name));
  return textPlaces(op.input)
    .filter(({ path }) => !inPath.has(path[0] ?? '') && !path.includes('{}'))
    .flatMap((place): Attack[] => {
      const { type } = place.schema._zod.def;
      const many = place.path.includes('*') ? 200 : 1;
      if (type === 'unknown' || type === 'any' || type === 'lazy')
        return Object.entries(SHAPES).map(([name, value]) => ({ what: `${place.label}: ${name}`, place, value }));
      if (type !== 'string') return [];
      const length = Math.floor(Math.min(REST, lengthOf(place.schema)) / many);
      return PIECES.map((piece) => ({
        ...{ what: `${place.label}: ${length} characters of ${JSON.stringify(piece)}`, place },
        value: () => piece.repeat(Math.ceil(length / piece.length)).slice(0, length),
      }));
    });
}

const lengthOf = (schema: z.ZodType): number => (schema as { maxLength?: number | null }).maxLength ?? Number.POSITIVE_INFINITY;

const MOST = BODY_SHAPE.values - 1_000;
const nested = (levels: number): unknown => Array.from({ length: levels }).reduce<unknown>((inner) => ({ a: [inner] }), 1);
/** JSON that is as much as a body may be. */
const SHAPES: Record<string, () => unknown> = {
  depth: () => nested(Math.floor(BODY_SHAPE.levels / 2) - 8),
  members: () => Object.fromEntries(Array.from({ length: MOST / 2 }, (_, i) => [`m${i}`, i])),
  numbers: () => Array.from({ length: MOST }, (_, i) => i),
  objects: () => Array.from({ length: MOST / 4 }, () => ({ a: 1 })),
  texts: () => Array.from({ length: 1_000 }, () => '{{a}} '.repeat(REST / 6_000)),
  'one text': () => '\u0007"\\'.repeat(REST / 12),
};

async function besideTheProbe(subject: Subject, op: AnyOperation, attacks: readonly Attack[]): Promise<void> {
  const restore = quickPasswords();
  try {
    const w = await workspace();
    const attempt = await attemptOf(subject, op, w);
    // The first call of an operation may load half of it.
    await attempt(await subject.sample(op, contextOf(subject, op, w)));
    for (const { what, place, value } of attacks) {
      const input = withTextAt(op.input, await subject.sample(op, contextOf(subject, op, w)), place.path, value() as string) as Input;
      const status = await attempt(input).catch((error: unknown) => assert.fail(`${op.id}, ${what}: ${String(error)}`));
      assert.ok(status < 500 || status === 503, `${op.id}, ${what}: ${status}`);
    }
  } finally {
    restore();
  }
}

const contextOf = (subject: Subject, op: AnyOperation, w: Workspace) =>
  subject.byKey.includes(op) ? w.live : w.ctx('live', memberActor('owner'));

/** Calls the operation as web does, beside the probe; answers its status. */
async function attemptOf(subject: Subject, op: AnyOperation, w: Workspace): Promise<(input: Input) => Promise<number>> {
  if (!subject.byKey.includes(op))
    return (input) =>
      neverBlocks(async () => {
        try {
          await perform(op, contextOf(subject, op, w), input);
          return 200;
        } catch (error) {
          return asRefusal(error).status;
        }
      });
  const key = await w.credentialFor(op);
  return (input) => {
    const { method, path, rest } = addressOf(op, input);
    const raw = JSON.stringify(rest);
    return neverBlocks(async () => (await call(method, path, { key, raw })).status);
  };
}
