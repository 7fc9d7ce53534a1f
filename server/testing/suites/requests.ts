import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import fc from 'fast-check';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { type Answer, call } from '../calls.ts';
import { mutationsOf, valuesOf } from '../from-schema.ts';
import { THOROUGH } from '../thorough.ts';
import { workspace } from '../workspace.ts';
import { ajv, type Described, describedBy, resolved, validatorOf } from './document.ts';
import type { Subject } from './subject.ts';

/** Refusals that the schema of one request cannot foresee: they depend on what exists or on the clock. A family adds its own to its fixture. */
const DEPENDS_ON_STATE = [
  /is not an? (?:environment|client|member) (?:of|in) this |doesn't exist in this |: no such |names no |not found|names an unknown/,
  /is not valid for this feed|cursor/i,
  /must not be null|is given twice|is a reserved word|must not look like an id/i,
  /before to|after to/,
  /: a stored credential isn't sent to another place/,
  // A scale of doubles is no rule of JSON Schema.
  /at most \d decimals/,
  /can't be changed once|only one entry per|requires rate_limit_requests/i,
];

const SEED = 12;
const RUNS = THOROUGH ? 10 : 3;

/** The OpenAPI document against the server: what it accepts is not refused as invalid, and what it refuses is. A validator of others decides. */
export function requests({ byKey, sample, fixture }: Subject): void {
  const rules = [...DEPENDS_ON_STATE, ...(fixture.dependsOnState ?? [])];
  const depends = (message: string) => rules.some((rule) => rule.test(message));
  const place = async (op: AnyOperation) => {
    const w = await workspace();
    const key = await w.credentialFor(op);
    return { key, ids: await sample(op, w.live) };
  };

  describe('a body that the document accepts is accepted, and one that it refuses is refused', () => {
    for (const op of byKey.filter((one) => describedBy(one).requestBody))
      test(op.id, async () => {
        const { schema } = (describedBy(op).requestBody as NonNullable<Described['requestBody']>).content['application/json'];
        const fits = validatorOf(schema);
        const bodies = valuesOf(schema, resolved) as fc.Arbitrary<Record<string, unknown>>;
        const { key, ids } = await place(op);
        for (const body of generated(
          bodies.filter((one) => fits(one)),
          RUNS,
        )) {
          const answer = await send(op, ids, key, { body });
          const message: string = answer.body?.error?.message ?? '';
          assert.ok(answer.status < 500 && (!isInvalid(answer) || depends(message)), `${message}\n${JSON.stringify(body)}`);
        }
        const names = Object.keys(schema.properties ?? {});
        // Filtered after sampling: a body that takes any value has no wrong one.
        const wrong = generated(mutationsOf(bodies, names), 20 * RUNS).filter((one) => !fits(one));
        for (const body of wrong.slice(0, 3 * RUNS)) {
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
        const inQuery = describedBy(op).parameters.filter((parameter) => parameter.in === 'query');
        if (inQuery.length === 0) return;
        const { key, ids } = await place(op);
        for (const { name, schema } of inQuery) {
          const fits = validatorOf(schema);
          for (const value of generated(
            valuesOf(schema, resolved).filter((one) => fits(one)),
            RUNS,
          )) {
            const answer = await send(op, ids, key, { query: { [name]: value } });
            assert.ok(!isInvalid(answer) || depends(answer.body.error.message), `${name}=${value}: ${answer.text}`);
          }
          const { type, enum: allowed, format } = resolved(schema);
          const wrong = type === 'integer' || type === 'boolean' || allowed || format ? ['no-such-value', '', '1.5x'] : [];
          for (const value of wrong) {
            const answer = await send(op, ids, key, { query: { [name]: value } });
            assert.ok(isInvalid(answer), `${name}=${value}: ${answer.status}`);
          }
        }
      });
  });
}

const generated = <T>(values: fc.Arbitrary<T>, numRuns: number) => fc.sample(values, { numRuns, seed: SEED });
const isInvalid = (answer: Answer) => answer.body?.error?.type === 'validation_error';

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
