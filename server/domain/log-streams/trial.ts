import type { Ctx } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import { limitTests } from '#server/platform/test-limit.ts';
import { openCredentials } from './credentials.ts';
import type { StreamSource } from './schema.ts';
import { sendBatch } from './sending.ts';
import { streamById } from './service.ts';

/** Sends one record that says it is a test, as any other would be sent; the stream stays as it is. @throws Refusal not_found, rate_limited, tenant_sealed */
export async function testStream(ctx: Ctx, { id }: { id: string }) {
  const { stream, tenant } = await read(ctx, async (tx) => ({
    stream: await streamById(tx, ctx, id),
    tenant: await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { slug: true } }),
  }));
  await limitTests(ctx, 'log-stream-test', { what: 'tests of log streams', instead: 'the destination' });
  const credentials = await openCredentials(ctx, stream);
  const source = stream.source as StreamSource;
  const origin = { tenant_id: ctx.tenant_id, workspace: tenant.slug, space: ctx.sandbox ? 'test' : 'live', source } as const;
  const data = { id: newId(), test: true, action: 'test', resource_type: 'log_stream', resource_id: stream.id, created_at: ctx.now };
  const started = performance.now();
  const sent = await sendBatch(stream, credentials, [{ position: 0n, at: ctx.now, data }], { origin, now: ctx.now });
  const error = sent.ok ? (sent.warning ?? null) : sent.error;
  return { ok: error === null, status: sent.status, latency_ms: Math.round(performance.now() - started), error };
}
