import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import type { z } from 'zod';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { call } from '../calls.ts';
import { workspace } from '../workspace.ts';
import { addressOf, hasBody } from './send.ts';
import type { Subject } from './subject.ts';

/** Numbers with more decimals than a setting or a column has, and one that a double takes for 0. */
const NUMBERS = ['2.0000000001', '0.5000000001', '1e-15', '0.1e-400'];
const HERE = 'the number';

/** Every member that takes a number refuses one which it would change: its answer never shows another number beside it, nor 0 for one that isn't. */
export function exactNumbers(subject: Subject): void {
  describe('a number that a setting would cut or round is refused', () => {
    for (const op of subject.byKey) {
      const places = hasBody(op) ? numberPlaces(op.input) : [];
      if (places.length > 0) test(`${op.id} (${places.map((path) => path.join('.')).join(', ')})`, () => sendAll(subject, op, places));
    }
  });
}

async function sendAll(subject: Subject, op: AnyOperation, places: readonly (readonly string[])[]): Promise<void> {
  const w = await workspace();
  const key = await w.credentialFor(op);
  for (const path of places)
    for (const number of NUMBERS) {
      const { method, path: address, rest } = addressOf(op, planted(await subject.sample(op, w.live), path));
      const answer = await call(method, address, { key, raw: JSON.stringify(rest).replace(JSON.stringify(HERE), number) });
      const what = `${op.id}, ${path.join('.')}: ${number}: ${answer.status} ${answer.text}`;
      assert.ok(answer.status < 500, what);
      const shown = answer.status < 400 ? valueAt(answer.body?.data, path) : undefined;
      if (shown === undefined || shown === null) continue;
      assert.ok(!isChanged(Number(number), Number(shown)), what);
    }
}

/** Cut, rounded, or 0 for what isn't; what was moved to a bound is further away. */
const isChanged = (sent: number, shown: number): boolean =>
  (shown !== sent && Math.abs(shown - sent) < 1e-3) || (sent === 0 && shown === 0);

function planted(from: unknown, [step, ...rest]: readonly string[]): Record<string, unknown> {
  const object = typeof from === 'object' && from !== null && !Array.isArray(from) ? (from as Record<string, unknown>) : {};
  return step === undefined ? object : { ...object, [step]: rest.length === 0 ? HERE : planted(object[step], rest) };
}

const valueAt = (answer: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, step) => (typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : undefined),
    answer,
  );

type Def = { type: string; innerType?: z.ZodType; in?: z.ZodType; options?: readonly z.ZodType[]; shape?: Record<string, z.ZodType> };

/** Paths of the members of objects that take a number. */
function numberPlaces(schema: z.ZodType, path: readonly string[] = []): (readonly string[])[] {
  const def = schema._zod.def as unknown as Def;
  const inner = def.innerType ?? (def.type === 'pipe' ? def.in : undefined);
  if (inner) return numberPlaces(inner, path);
  if (def.type === 'number') return [path];
  const found = def.shape
    ? Object.entries(def.shape).flatMap(([name, field]) => numberPlaces(field, [...path, name]))
    : (def.options ?? []).flatMap((option) => numberPlaces(option, path));
  return [...new Map(found.map((place) => [place.join('.'), place])).values()];
}
