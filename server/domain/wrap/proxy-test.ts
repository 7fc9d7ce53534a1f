import type { z } from 'zod';
import { callersOf } from '#server/domain/policies/service.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { askGateway } from '#server/platform/gateway-control.ts';
import { limitTests } from '#server/platform/test-limit.ts';
import { type ProxyTestOrder, ProxyTestReport, type TestProxyCall } from './proxy-test.schema.ts';

/**
 * One call of the ephemeral proxy by a person, made by the gateway as any other, or looked at. The entry in the audit log comes first.
 * @throws Refusal rate_limited, dependency_unavailable when no gateway runs beside this process
 */
export async function testProxyCall(ctx: Ctx, input: z.output<typeof TestProxyCall>) {
  await limitTests(ctx, 'proxy-test', { what: 'tests', instead: '/v1/proxy' });
  const request_id = newId();
  const { dry_run, method, secret = null, environment = null } = input;
  const host = URL.parse(input.url)?.hostname.slice(0, 253) ?? null;
  const details = { test: true, dry_run, via: 'proxy', method, upstream_host: host, secret, environment, call_request_id: request_id };
  await mutate(ctx, async () => audited(undefined, { action: 'execute', resource_type: 'wrap_credential', resource_id: null, details }));
  const order: ProxyTestOrder = {
    ...input,
    tenant_id: ctx.tenant_id,
    space: spaceOf(ctx.sandbox),
    user_id: ctx.actor.type === 'member' ? ctx.actor.id : null,
    callers: callersOf(ctx.actor),
    request_id,
    source_address: ctx.ip ?? '',
  };
  return { request_id, ...ProxyTestReport.parse(await askGateway(order, '/proxy-tests')) };
}
