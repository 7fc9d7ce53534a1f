import assert from 'node:assert/strict';
import test from 'node:test';
import { testDatabase } from '#server/testing/database.ts';
import { made } from '#server/testing/factories.ts';
import { neverBlocks } from '#server/testing/loop-probe.ts';
import { workspace } from '#server/testing/workspace.ts';
import { samples } from './samples.fixture.ts';

await testDatabase();

const range = <T>(n: number, one: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => one(i));
const described = (schemas: object, uses: number) => ({
  openapi: '3.1.0',
  components: { schemas },
  paths: Object.fromEntries(
    range(uses, (i) => [`/p${i}`, { get: { parameters: [{ name: 'a', in: 'query', schema: { $ref: '#/components/schemas/n0' } }] } }]),
  ),
});
const next = (i: number) => ({ $ref: `#/components/schemas/n${i + 1}` });

/** What of each is worst. */
const HOSTILE: Record<string, object> = {
  'schemas that double': described(Object.fromEntries(range(40, (i) => [`n${i}`, { allOf: [next(i), next(i)] }])), 1_500),
  'patterns of 200,000 instructions': described(
    { n0: { properties: Object.fromEntries(range(1_000, (i) => [`q${i}`, { pattern: '(a?){1000}'.repeat(40) }])) } },
    200,
  ),
  'long lists of allowed values': described({ n0: { enum: range(30_000, (i) => i) } }, 1_500),
  'parameters by the hundred': {
    openapi: '3.1.0',
    paths: Object.fromEntries(
      range(200, (i) => [
        `/p${i}`,
        { get: { parameters: range(60, (j) => ({ name: `!!!!${j}`, in: 'query', schema: { type: 'string' } })) } },
      ]),
    ),
  },
};

for (const [what, document] of Object.entries(HOSTILE))
  for (const text of [false, true])
    test(`a description is read on a thread, for seconds at most: ${what}${text ? ', as a text' : ''}`, async () => {
      const w = await workspace();
      const sample = await (samples['mcp_servers.tools.import_openapi'] as (ctx: typeof w.live) => Promise<object>)(w.live);
      const sent = text ? JSON.stringify(document).slice(0, 524_288) : document;
      await neverBlocks(async () => {
        const answer = await made(w.live, 'mcp_servers.tools.import_openapi', { ...sample, dry_run: true, document: sent }).catch(
          (error: { type: string; message: string }) => error,
        );
        if ('tools' in answer) assert.ok(answer.tools.length + answer.skipped.length > 0);
        else assert.match(`${answer.type} ${answer.message}`, /^validation_error document: (takes too long to read|is neither valid)/);
      });
    });
