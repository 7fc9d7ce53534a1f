import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { call } from '../calls.ts';
import { textPlaces } from '../hostile/text-places.ts';
import { workspace } from '../workspace.ts';
import { addressOf, hasBody } from './send.ts';
import type { Subject } from './subject.ts';

/** Numbers that a double changes, and names that a careless copy drops. */
const DOCUMENT =
  '{"id":7615917337495251231,"rate":1.10,"list":[0.1234567890123456789,{"2":20.0,"1":1e0}],"constructor":{"prototype":1152921504606846977},"toString":3}';
/** No column and no browser keeps these: they are refused, unless the member is a text that nothing reads. */
const UNKEEPABLE = ['{"__proto__":{"x":1}}', '{"a":[1e400]}'];
const MEMBER = 'x-planted';
const HERE = 'the document';

/**
 * Every member that takes any JSON is given a document of hostile numbers and names. What the answer, and the next read of the row, shows of it has the same
 * values to the last digit; or the call is refused with 4xx.
 */
export function exactJson(subject: Subject): void {
  describe('any JSON that an operation takes is kept to the last digit and name, or refused', () => {
    for (const op of subject.byKey) {
      const places = hasBody(op) ? freePlaces(op) : [];
      if (places.length > 0) test(`${op.id} (${places.map((path) => path.join('.')).join(', ')})`, () => sendAll(subject, op, places));
    }
  });
}

/** Paths of the members that take any JSON object: their schema says unknown, or a record of unknown. */
function freePlaces(op: AnyOperation): (readonly string[])[] {
  const found = textPlaces(op.input)
    .filter(({ schema, path }) => ['unknown', 'any'].includes(schema._zod.def.type) && !path.slice(0, -1).includes('{v}'))
    .map(({ path }) => (path.at(-1) === '{v}' ? path.slice(0, -1) : path))
    .filter((path) => path.length > 0 && path.at(-1) !== '*');
  return [...new Map(found.map((path) => [path.join('.'), path])).values()];
}

async function sendAll(subject: Subject, op: AnyOperation, places: readonly (readonly string[])[]): Promise<void> {
  const w = await workspace();
  const key = await w.credentialFor(op);
  for (const path of places)
    for (const text of [DOCUMENT, ...UNKEEPABLE]) {
      const what = `${op.id}, ${path.join('.')}: ${text}`;
      const { method, path: address, rest } = addressOf(op, planted(await subject.sample(op, w.live), path));
      const answer = await call(method, address, { key, raw: JSON.stringify(rest).replace(JSON.stringify(HERE), text) });
      assert.ok(answer.status < 500, `${what}: ${answer.status} ${answer.text}`);
      if (answer.status >= 400) continue;
      assertSame(answer.text, text, what);
      const get = subject.v1.find(({ id }) => id === `${op.id.split('.')[0]}.get`);
      const id: unknown = answer.body?.data?.id;
      if (typeof id !== 'string' || !get?.http.endsWith('/{id}')) continue;
      const read = await call('GET', get.http.replace('GET ', '').replace('{id}', id), { key });
      if (read.status === 200) assertSame(read.text, text, `${what}, the next read`);
    }
}

/** A copy of the input with the place of the document as one more member of the object at the path. */
function planted(from: unknown, [step, ...rest]: readonly string[]): Record<string, unknown> {
  const object = typeof from === 'object' && from !== null && !Array.isArray(from) ? (from as Record<string, unknown>) : {};
  if (step === undefined) return { ...object, [MEMBER]: HERE };
  if (rest[0] === '*') {
    const list = Array.isArray(object[step]) ? (object[step] as unknown[]) : [{}];
    return { ...object, [step]: [planted(list[0], rest.slice(1)), ...list.slice(1)] };
  }
  return { ...object, [step]: planted(object[step], rest) };
}

/** Every planted member of the answer has the values of the text: numbers as they were written, members in any order. */
function assertSame(answer: string, text: string, what: string): void {
  const search = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value))
      if (name === MEMBER && isSealed(member)) continue;
      else if (name === MEMBER) assert.equal(ordered(member), ordered(sourced(text)), what);
      else search(member);
  };
  search(sourced(answer));
}

/** JSON with the source of each number, as the engine tells it: independent of the module that is judged. */
const sourced = (text: string): unknown => JSON.parse(text, withSource as (name: string, value: unknown) => unknown);
const withSource = (_: string, value: unknown, { source }: { source: string }) => (typeof value === 'number' ? `number ${source}` : value);

/** Sealed by the call, leaf by leaf: what opens it shows the digits, which its family tests. */
const isSealed = (member: unknown) => JSON.stringify(member).includes('"kc:1:');

const ordered = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member) && Object.getPrototypeOf(member) === Object.prototype
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
