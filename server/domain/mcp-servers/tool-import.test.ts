import assert from 'node:assert/strict';
import test from 'node:test';
import { call } from '#server/testing/calls.ts';
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

const SCHEMA =
  '{"type":"integer","default":7615917337495251231,"minimum":1.10,"maximum":9223372036854775807,"enum":[7615917337495251231,1.0],"const":1e2,"exclusiveMinimum":0.10}';
const LOSSLESS = `{"openapi":"3.0.3","paths":{"/a":{"get":{"operationId":"a","parameters":[{"name":"id","in":"query","schema":${SCHEMA}}]}}}}`;
const YAML = `openapi: 3.0\npaths:\n  /a:\n    get:\n      operationId: a\n      parameters: [{name: id, in: query, schema: ${SCHEMA}}]\n`;

for (const [what, document] of Object.entries({
  'an object': LOSSLESS,
  'JSON text': JSON.stringify(LOSSLESS),
  'YAML text': JSON.stringify(YAML),
}))
  test(`numbers of a description arrive in the schema of its tool as they were written: ${what}`, async () => {
    const w = await workspace();
    const sample = await (samples['mcp_servers.tools.import_openapi'] as (ctx: typeof w.live) => Promise<{ id: string }>)(w.live);
    const { text: key } = await w.key();
    const { id, ...rest } = sample;
    const send = (dry_run: boolean) =>
      call('POST', `/ai-gateway/mcp-servers/${id}/tools/import-openapi`, {
        ...{ key, raw: JSON.stringify({ ...rest, include: undefined, dry_run, document: 'HERE' }).replace('"HERE"', () => document) },
      });
    for (const dry_run of [true, false]) {
      const { status, text } = await send(dry_run);
      assert.equal(status, 200, text);
      assert.ok(text.includes(`"id":${SCHEMA}`), text);
    }
    const { text } = await call('GET', `/ai-gateway/mcp-servers/${id}/tools`, { key });
    assert.ok(text.includes(`"id":${SCHEMA}`), text);
  });

test('a description that is nested too deeply is refused with words', async () => {
  const w = await workspace();
  const sample = await (samples['mcp_servers.tools.import_openapi'] as (ctx: typeof w.live) => Promise<object>)(w.live);
  const document = LOSSLESS.replace(SCHEMA, `{"default":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
  await assert.rejects(made(w.live, 'mcp_servers.tools.import_openapi', { ...sample, dry_run: true, document }), {
    ...{ type: 'validation_error', message: /nested too deeply|neither valid JSON/ },
  });
});

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
