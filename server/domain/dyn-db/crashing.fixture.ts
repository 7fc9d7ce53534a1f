import { sweepLeases } from '#server/domain/leases/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { db } from '#server/platform/db.ts';
import { keyActor } from '#server/testing/workspace.ts';
import { leases } from './leases.ts';
import * as operations from './operations.ts';

// A process of the service that does one thing to a lease, and is killed at it by the test that started it.

type Asked = { tenant_id: string; operation: string; input: Record<string, unknown> };

process.on('message', async ({ tenant_id, operation, input }: Asked) => {
  const outcome = await work(tenant_id, operation, input).then(
    () => 'done',
    (error: Error) => `failed: ${error.message}`,
  );
  process.send?.(outcome);
});
process.send?.('ready');

async function work(tenant_id: string, operation: string, input: Record<string, unknown>): Promise<void> {
  if (operation === 'sweep') return void (await sweepLeases(leases, { db: db(), now: new Date(String(input.now)) }));
  const ctx: Ctx = {
    ...{ db: db(), tenant_id, sandbox: true, actor: keyActor('Key - Infrastructure'), plan: 'enterprise', request_id: crypto.randomUUID() },
    ...{ ip: null, user_agent: null, now: new Date(), warnings: [] },
  };
  // Without the pipeline, which would load all of the service into each of these processes.
  const row = Object.values(operations).find(({ id }) => id === operation) as AnyOperation;
  await row.run(ctx, row.input.parse(input), []);
}
