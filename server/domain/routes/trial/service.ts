import type { z } from 'zod';
import { callersOf } from '#server/domain/policies/service.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { invalid } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { askGateway } from '#server/platform/gateway-control.ts';
import { limitTests } from '#server/platform/test-limit.ts';
import type { TestRoute } from '../schema.ts';
import { routeByRef } from '../store.ts';
import { type TrialOrder, TrialReport } from './schema.ts';

/**
 * Sends one request through the route as the acting person, by the gateway and with all it does to a call but asking who may call (interface rule 10 §15.2).
 * The entry in the audit log is written before anything is sent: nobody uses a credential without it.
 * @throws Refusal not_found, rate_limited, dependency_unavailable when no gateway runs beside this process
 */
export async function testRoute(ctx: Ctx, input: z.output<typeof TestRoute>) {
  const { environment = null, method, dry_run } = input;
  const target = targetOf(input);
  const body = bodyOf(input); // may refuse, so before anything is written
  await limitTests(ctx, 'trial', { what: 'route tests', instead: 'the route' });
  const request_id = newId();
  const route = await mutate(ctx, async (tx) => {
    const { id, name, slug } = await routeByRef(tx, ctx, input.id);
    return audited(
      { id },
      {
        action: 'execute',
        resource_type: 'route',
        resource_id: id,
        name,
        details: { slug, test: true, dry_run, environment, method, path: input.path.split('?')[0], call_request_id: request_id },
      },
    );
  });
  const order: TrialOrder = {
    tenant_id: ctx.tenant_id,
    space: spaceOf(ctx.sandbox),
    user_id: ctx.actor.type === 'member' ? ctx.actor.id : null,
    callers: callersOf(ctx.actor),
    request_id,
    route_id: route.id,
    environment,
    method,
    target,
    headers: input.headers,
    body,
    dry_run,
    source_address: ctx.ip ?? '',
  };
  return { request_id, dry_run, ...TrialReport.parse(await askGateway(order)) };
}

/** Path and query as they stand in a request line: what may not stand there is percent-encoded, what is encoded already stays. */
function targetOf({ path, query }: z.output<typeof TestRoute>): string {
  const pairs = query.map(({ key, value }) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&');
  const plain = path.replace(/[^\x21-\x7e]/gu, encodeURIComponent);
  return pairs === '' ? plain : `${plain}${plain.includes('?') ? '&' : '?'}${pairs}`;
}

const MAX_BODY = 64 * 1024;
function bodyOf({ body, body_encoding }: z.output<typeof TestRoute>): string {
  const bytes = Buffer.from(body, body_encoding === 'base64' ? 'base64' : 'utf8');
  if (bytes.length > MAX_BODY) throw invalid('body', 'must be at most 64 KiB');
  return bytes.toString('base64');
}
