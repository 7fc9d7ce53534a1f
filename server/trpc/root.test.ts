import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { operations, v1Operations } from '#server/api/operations.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { call } from '#server/testing/calls.ts';
import { testDatabase } from '#server/testing/database.ts';
import { samples } from '#server/testing/samples.ts';
import { workspace } from '#server/testing/workspace.ts';
import { appRouter } from './root.ts';

await testDatabase();

/** Operations without a procedure, and why. */
const WITHOUT: Record<string, string> = {
  'signup.start': 'the web form signs up through the session plane',
  'signup.claim': 'collected by machines',
  'openapi.get': 'a public document',
  'logs.export': 'a download over plain HTTP',
  'logs.days_export': 'a download over plain HTTP',
  'audit_logs.export': 'a download over plain HTTP',
  'audit_logs.export_critical': 'a download over plain HTTP',
};

type Procedure = { _def: { meta?: { operation?: string } } };
const procedures = new Map(
  Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>).flatMap(([path, p]) =>
    p._def.meta?.operation ? [[p._def.meta.operation, path] as const] : [],
  ),
);

test('every operation has its procedure, so that no capability exists by API alone', () => {
  const missing = operations.map((op) => op.id).filter((id) => !procedures.has(id) && !WITHOUT[id]);
  assert.deepEqual(missing, []);
});

describe('a read answers the same through REST and tRPC', () => {
  for (const op of v1Operations.filter((o) => o.http.startsWith('GET ') && procedures.has(o.id) && !o.stream))
    test(op.id, async () => {
      const w = await workspace();
      const { text: key } = await w.key('live');
      const input = await samples[op.id]!(w.live);
      const [, template] = op.http.split(' ') as [string, string];
      const rest = { ...input };
      const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
        const value = String(rest[name]);
        delete rest[name];
        return encodeURIComponent(value);
      });
      const query = new URLSearchParams(Object.entries(rest).map(([k, v]) => [k, String(v)])).toString();
      const overRest = await call('GET', query ? `${path}?${query}` : path, { key });
      assert.equal(overRest.status, 200, overRest.text);
      const overTrpc = await invoke(procedures.get(op.id)!, w.member('owner'), input);
      const { request_id: _, ...meta } = overRest.body.meta;
      const expected = op.list ? { data: overRest.body.data, meta } : overRest.body.data;
      assert.deepEqual(JSON.parse(JSON.stringify(overTrpc)), expected);
    });
});

test('a mutation that does not say its space is refused, and so is a stranger', async () => {
  const w = await workspace();
  const { Refusal } = await import('#server/kernel/errors.ts');
  const caller = appRouter.createCaller({
    request_id: 'r',
    changed: () => {},
    member: async ({ space }) => {
      if (space) throw new Refusal('invalid', 'X-Svc-Space: is required for changes and must be live or test');
      return w.member('owner');
    },
  });
  assert.equal((await caller.environments.list({})).data.length, 1);
  await assert.rejects(caller.environments.create({ name: 'x' }), /X-Svc-Space/);
});

async function invoke(path: string, ctx: Ctx, input: Record<string, unknown>): Promise<unknown> {
  const caller = appRouter.createCaller({ request_id: 'r', changed: () => {}, member: async () => ctx }) as unknown as Record<
    string,
    Record<string, (input: unknown) => Promise<unknown>>
  >;
  const [family, verb] = path.split('.') as [string, string];
  return caller[family]![verb]!(input);
}
