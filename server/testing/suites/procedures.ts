import assert from 'node:assert/strict';
import test, { describe } from 'node:test';
import { memberCapabilities } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { capabilitiesOf } from '#server/kernel/needs.ts';
import { appRouter } from '#server/trpc/root.ts';
import { call } from '../calls.ts';
import { workspace } from '../workspace.ts';
import { addressOf } from './send.ts';
import type { Subject } from './subject.ts';

type Procedure = { _def: { meta?: { operation?: string } } };
const procedures = new Map(
  Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>).flatMap(([path, p]) =>
    p._def.meta?.operation ? [[p._def.meta.operation, path] as const] : [],
  ),
);

/** What only machines may, people do by a reveal. */
const OWNERS = memberCapabilities('owner', { reveal_secrets: true });

/** The dashboard's procedures are the same operations. */
export function sameOverTrpc({ operations, v1, sample }: Subject): void {
  test('every operation but downloads has its procedure, so that no capability exists by API alone', () => {
    assert.deepEqual(
      operations.filter((op) => !op.stream && !procedures.has(op.id)).map((op) => op.id),
      [],
    );
  });

  describe('a read answers the same through REST and tRPC', () => {
    for (const op of v1.filter((o) => o.http.startsWith('GET ') && !o.stream && capabilitiesOf(o.needs).every((one) => OWNERS.has(one))))
      test(op.id, async () => {
        const w = await workspace();
        const key = await w.credentialFor(op);
        const input = await sample(op, w.live);
        const overRest = await call('GET', addressOf(op, input).path, { key });
        assert.equal(overRest.status, 200, overRest.text);
        const overTrpc = await invoke(procedures.get(op.id)!, w.member('owner'), input);
        const { request_id: _, ...meta } = overRest.body.meta;
        const expected = op.list ? { data: overRest.body.data, meta } : overRest.body.data;
        assert.deepEqual(JSON.parse(JSON.stringify(overTrpc)), expected);
      });
  });
}

async function invoke(path: string, ctx: Ctx, input: Record<string, unknown>): Promise<unknown> {
  const caller = appRouter.createCaller({ request_id: 'r', changed: () => {}, member: async () => ctx }) as unknown as Record<
    string,
    Record<string, (input: unknown) => Promise<unknown>>
  >;
  const [family, verb] = path.split('.') as [string, string];
  return caller[family]?.[verb]?.(input);
}
