import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import { atLeastOne } from '#server/kernel/fields.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { assertGrowsLinearly } from '#server/testing/growth.ts';
import { bodyFields, bodyOf, ignoredFields, parseJsonObject } from './input.ts';
import { parsedInput } from './parse.ts';

const parsed = (text: string) => parseJsonObject(Buffer.from(text));

test('names that reach prototypes are dropped wherever they stand, however they are written', () => {
  const value = parsed('{"__proto__":{"a":1},"\\u005f_proto__":1,"ok":[{"constructor":1,"b":{"prototype":{"c":1},"d":null}}]}');
  assert.deepEqual(Object.keys(value), ['ok']);
  assert.equal(JSON.stringify(value), '{"ok":[{"b":{"d":null}}]}');
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

test('what is refused because a field is missing also names the fields that are unknown', () => {
  const problem = (schema: z.ZodType, fields: object) => {
    try {
      return parsedInput(schema, fields);
    } catch (error) {
      return (error as Error).message;
    }
  };
  const change = atLeastOne(z.object({ id: z.string(), budget: z.number().optional() }));
  assert.equal(problem(change, { id: '1', budget_dayly_usd: 1 }), 'No valid fields. Ignored unknown field: budget_dayly_usd.');
  assert.equal(problem(change, { id: '1' }), 'No valid fields');
  assert.equal(problem(z.object({ name: z.string() }), { nmae: 'x' }), 'name: is required. Ignored unknown field: nmae.');
  assert.equal(problem(z.object({ name: z.string() }), { name: 1, nmae: 'x' }), 'name: must be a string');
});

test('settings have no names that reach prototypes and no numbers that a double takes for 0; at the root such names are unknown fields', () => {
  const input = z.object({ map: z.record(z.string(), z.string()).optional(), usd: z.number().optional(), any: z.unknown().optional() });
  const fieldsOf = (text: string) =>
    bodyFields({ input }, { url: 'http://x/', headers: new Headers({ 'content-type': 'application/json' }) }, Buffer.from(text));
  for (const name of ['__proto__', 'constructor', 'prototype']) {
    assert.throws(() => fieldsOf(`{"map":{"${name}":"x"}}`), { type: 'validation_error', message: new RegExp(`^map: .*${name}`) });
    assert.match(ignoredFields({ input }, fieldsOf(`{"${name}":"x"}`)) ?? '', /^Ignored (?:an )?unknown field/);
    assert.equal(Object.getPrototypeOf(input.parse(fieldsOf(`{"${name}":{"usd":1}}`))), Object.prototype);
  }
  for (const tiny of ['0.1e-400', '-1e-999', '0.00e0000000001']) {
    const read = () => fieldsOf(`{"usd":${tiny}}`);
    if (tiny === '0.00e0000000001') assert.equal(read().usd, 0);
    else assert.throws(read, { type: 'validation_error', message: /^usd: must not be a number so small/ });
  }
  assert.ok(fieldsOf('{"any":0.1e-400}'));
});

test('72 levels are read and 73 refused, in objects and in lists', () => {
  const nested = (open: string, close: string, levels: number) => `{"a":${open.repeat(levels)}${close.repeat(levels)}}`;
  for (const [open, close] of [
    ['{"a":', '}'],
    ['[', ']'],
  ] as const) {
    const inner = (levels: number) => nested(open, close, levels).replace(`${open}${close}`, open === '[' ? '[]' : '{"a":1}');
    assert.ok(parsed(inner(71)));
    assert.throws(() => parsed(inner(72)), { type: 'validation_error' });
    assert.throws(() => parsed(inner(100_000)), { type: 'validation_error' });
  }
});

test('what was sent and is no field of the call is told, and no key, password or text that stands where a name should is repeated', () => {
  const told = (fields: Record<string, unknown>, input: z.ZodType = z.object({ id: z.string(), name: z.string() })) =>
    ignoredFields({ input } as AnyOperation, fields);
  assert.equal(told({ id: '1', name: 'x' }), undefined);
  assert.equal(told({ id: '1', nmae: 'x' }), 'Ignored unknown field: nmae.');
  assert.equal(told({ id: '1', perPage: 5, ip_v4: 1 }), 'Ignored unknown fields: perPage, ip_v4.');
  const secrets = [
    'sk_live_51HxKq2eZvKYlo2C',
    'AKIAIOSFODNN7EXAMPLE',
    'ghp_16C7e42F292c6912E7',
    'd131dd02c5e6eec4',
    'a'.repeat(65),
    '{{x}}',
    'a\nb',
  ];
  for (const name of secrets) assert.equal(told({ id: '1', [name]: '' }), "Ignored an unknown field whose name isn't repeated here.", name);
  assert.equal(told({ 'page[size]': 1, 'sk-live-8d1': 1, '\u202e': 1 }), "Ignored 3 unknown fields whose names aren't repeated here.");
  assert.equal(told({ nmae: 'x', 'sk-live-8d1': 1 }), 'Ignored unknown fields: nmae and 1 more.');
  assert.match(
    told(Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`f${i}`, 1]))) ?? '',
    /: f0, f1, f2, f3, f4 and 995 more\.$/,
  );
  assert.equal(
    told(
      { anything: 1 },
      z.preprocess((v) => v, z.object({})),
    ),
    undefined,
    'a schema that reads names of its own is left alone',
  );
});

test('a body is read in linear time, up to the largest that anybody may send', async () => {
  // As many values as a body may have.
  for (const part of ['"and a text of some length",', '{"a":"a text of some length, which is the only one in it"},'])
    await assertGrowsLinearly(
      part,
      1024 * 1024,
      (size) => Buffer.from(`{"a":[${part.repeat(Math.max(size - 10, 0) / part.length)}1]}`),
      (body) => parseJsonObject(body),
    );
});

test('a caller that hangs up in the middle of a body is refused, and is no fault of ours', async () => {
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from('{"a":')),
    pull: (controller) => controller.error(Object.assign(new Error('aborted'), { code: 'ECONNRESET' })),
  });
  const req = new Request('http://x/', { method: 'POST', body: broken, duplex: 'half' } as RequestInit);
  await assert.rejects(bodyOf(req), { type: 'invalid_request', status: 400 });
  await assert.rejects(bodyOf(new Request('http://x/', { method: 'POST', body: 'x'.repeat(11) }), 10), {
    type: 'payload_too_large',
    message: 'The request body must not exceed 10 bytes.',
  });
});
