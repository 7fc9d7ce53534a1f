import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { call } from '../calls.ts';
import { textPlaces } from '../hostile/text-places.ts';
import { workspace } from '../workspace.ts';
import { addressOf, hasBody } from './send.ts';
import type { Subject } from './subject.ts';

/** Numbers that a double changes, names that a careless copy drops, and names that an engine or a column moves. */
const DOCUMENT =
  '{"id":7615917337495251231,"rate":1.10,"list":[0.1234567890123456789,{"2":20.0,"1":1e0}],"constructor":{"prototype":1152921504606846977},"20":{"longer":1,"b":2,"1":3},"3":2,"toString":3}';
/** No column and no browser keeps these: they are refused, unless the member is a text that nothing reads. */
const UNKEEPABLE = ['{"__proto__":{"x":1}}', '{"a":[1e400]}', '{"a":[{"b":1,"b":2}]}'];
const MEMBER = 'x-planted';
const BEHIND = ',"2":0,"1":0';
const HERE = 'the document';

/**
 * Every member that takes any JSON is given a document of hostile numbers and names. What the answer, and the next read of the row, shows of it has the same
 * values to the last digit and in the same order; or the call is refused with 4xx.
 */
export function exactJson(subject: Subject): void {
  describe('any JSON that an operation takes is kept to the last digit and in its order, or refused', () => {
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
      const answer = await call(method, address, { key, raw: JSON.stringify(rest).replace(JSON.stringify(HERE), `${text}${BEHIND}`) });
      assert.ok(answer.status < 500, `${what}: ${answer.status} ${answer.text}`);
      if (answer.status >= 400) continue;
      assertSame(answer.text, `${text}${BEHIND}`, what);
      const get = subject.v1.find(({ id }) => id === `${op.id.split('.')[0]}.get`);
      const id: unknown = answer.body?.data?.id;
      if (typeof id !== 'string' || !get?.http.endsWith('/{id}')) continue;
      const read = await call('GET', get.http.replace('GET ', '').replace('{id}', id), { key });
      if (read.status === 200) assertSame(read.text, `${text}${BEHIND}`, `${what}, the next read`);
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

/** Every planted member of the answer is the text, with its numbers and the order of its names, the members behind it too. */
function assertSame(answer: string, text: string, what: string): void {
  const planted = answer.split(`${JSON.stringify(MEMBER)}:`).slice(1);
  // Sealed by the call, leaf by leaf: what opens it shows the digits, which its family tests.
  for (const member of planted) if (!member.includes('"kc:1:')) assert.equal(member.slice(0, text.length), text, what);
}
