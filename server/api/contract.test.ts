import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import fc from 'fast-check';
import { canonicalAddress } from '#server/kernel/address.ts';
import { KEY_ROLES } from '#server/kernel/capabilities.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { type Answer, call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { mutationsOf, type Schema, valuesOf } from '#server/testing/from-schema.ts';
import { samples } from '#server/testing/samples.ts';
import { workspace } from '#server/testing/workspace.ts';
import { openApiDocument } from './openapi/document.ts';
import { v1Operations } from './operations.ts';

/** openapi.json against the server: what the document accepts is not refused as invalid, and what it refuses is. An independent validator decides. */
await testDatabase();
// biome-ignore lint/suspicious/noExplicitAny: the module's default export is typed as a namespace under bundler resolution
const addFormats = addFormatsModule as any;
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
ajv.addFormat('ip-or-cidr', (text: string) => canonicalAddress(text).ok);

type Described = {
  parameters: { $ref?: string; name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { required?: boolean; content: { 'application/json': { schema: Schema } } };
};
const document = openApiDocument([]) as {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
};
const resolve = (schema: Schema): Schema =>
  schema.$ref ? resolve(document.components.schemas[schema.$ref.split('/').at(-1) as string] as Schema) : schema;
const described = (op: AnyOperation): Described => {
  const [method, path] = op.http.split(' ') as [string, string];
  return document.paths[path]?.[method.toLowerCase()] as Described;
};

/** Refusals that a schema of one body cannot foresee: each depends on what exists, on the clock, or on several members at once as its words say. */
const DEPENDS = [
  /is not an? (?:environment|client|member) (?:of|in) this |doesn't exist in this |: no such |names no |not found|names an unknown/, // a reference to what is not there
  /is not valid for this feed|cursor/i,
  /must be between 1 hour and 5 years/,
  /can't be changed once|must have at least one method|is required while rate limiting is on|rate_limit_burst: must be|only one entry per/,
  /requires rate_limit_requests|only access keys|must not be null|is given twice|is a reserved word|must not look like an id/i,
  /is required for variables of type|is only for variables of type|looks like a credential/,
  /would cover hosts of everyone/,
  /make another environment the default|last environment/i,
  /before to|after to/,
];

const seed = 12;
const RUNS = 10;

async function send(
  op: AnyOperation,
  ids: Record<string, unknown>,
  key: string,
  input: { query?: Record<string, unknown>; body?: unknown },
): Promise<Answer> {
  const [method, template] = op.http.split(' ') as [string, string];
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(ids[name])));
  const query = new URLSearchParams(Object.entries(input.query ?? {}).map(([name, value]) => [name, String(value)])).toString();
  return call(method, query ? `${path}?${query}` : path, { key, ...(input.body === undefined ? {} : { body: input.body }) });
}

const isInvalid = (answer: Answer) => answer.body?.error?.type === 'validation_error';

/** What the seeded role with the most capabilities may do. */
const byKey = v1Operations.filter(({ needs }) => Array.isArray(needs) && needs.every((one) => KEY_ROLES.at(-1)?.capabilities.has(one)));

/** A workspace with room, and the ids in the path of one operation. */
async function place(op: AnyOperation) {
  const w = await workspace();
  const { text: key } = await w.key('live');
  return { key, ids: await samples[op.id]!(w.live) };
}

describe('the document accepts what the server accepts', () => {
  for (const op of byKey.filter((one) => described(one).requestBody))
    test(op.id, async () => {
      const { schema } = described(op).requestBody!.content['application/json'];
      const fits = ajv.compile({ ...schema, components: document.components });
      const bodies = valuesOf(schema, resolve) as fc.Arbitrary<Record<string, unknown>>;
      const { key, ids } = await place(op);
      for (const body of fc.sample(
        bodies.filter((one) => fits(one)),
        { numRuns: RUNS, seed },
      )) {
        const answer = await send(op, ids, key, { body });
        const message: string = answer.body?.error?.message ?? '';
        assert.ok(
          answer.status < 500 && (!isInvalid(answer) || DEPENDS.some((rule) => rule.test(message))),
          `${message}\n${JSON.stringify(body)}`,
        );
      }
      const names = Object.keys(schema.properties ?? {});
      for (const body of fc.sample(
        mutationsOf(bodies, names).filter((one) => !fits(one)),
        { numRuns: 3 * RUNS, seed },
      )) {
        const answer = await send(op, ids, key, { body });
        assert.ok(
          isInvalid(answer),
          `${answer.status} for ${JSON.stringify(body).slice(0, 300)}\n${ajv.errorsText((fits(body), fits.errors))}`,
        );
      }
    });
});

describe('the same for queries', () => {
  for (const op of byKey.filter((one) => one.http.startsWith('GET ')))
    test(op.id, async () => {
      const inQuery = described(op).parameters.filter((parameter) => parameter.in === 'query');
      if (inQuery.length === 0) return;
      const { key, ids } = await place(op);
      for (const { name, schema } of inQuery) {
        const fits = ajv.compile({ ...schema, components: document.components });
        for (const value of fc.sample(
          valuesOf(schema, resolve).filter((one) => fits(one)),
          { numRuns: 10, seed },
        )) {
          const answer = await send(op, ids, key, { query: { [name]: value } });
          assert.ok(!isInvalid(answer) || DEPENDS.some((rule) => rule.test(answer.body.error.message)), `${name}=${value}: ${answer.text}`);
        }
        const { type, enum: allowed, format } = resolve(schema);
        const wrong = type === 'integer' || type === 'boolean' || allowed || format ? ['no-such-value', '', '1.5x'] : [];
        for (const value of wrong) {
          const answer = await send(op, ids, key, { query: { [name]: value } });
          assert.ok(isInvalid(answer), `${name}=${value}: ${answer.status}`);
        }
      }
    });
});
