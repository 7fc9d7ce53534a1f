import { routeId } from '#server/domain/routes/samples.fixture.ts';
import { secretId } from '#server/domain/secrets/samples.fixture.ts';
import { newId } from '#server/kernel/ids.ts';
import { sql } from '#server/platform/sql.ts';
import { type Fixture, nothing, type Sample } from '#server/testing/factories.ts';
import { keepPayload } from './payloads/payloads.fixture.ts';

/** A call as the gateway logs it, old enough to have passed every watermark. */
const loggedCall: Sample = async (ctx) => {
  const request_id = newId();
  await sql().query(
    `insert into request_logs (request_id, tenant_id, sandbox, ts, method, status_code, path, proxy_mode) values ($1, $2, $3, now() - interval '1 minute', 'GET', 200, '/hello', 'route')`,
    [request_id, ctx.tenant_id, ctx.sandbox],
  );
  return { request_id };
};

/** The same, with a payload. */
const capturedCall: Sample = async (ctx) => {
  const sample = (await loggedCall(ctx)) as { request_id: string };
  await keepPayload(ctx, sample.request_id);
  return sample;
};

export const samples: Record<string, Sample> = {
  'logs.follow': nothing,
  'logs.get': loggedCall,
  'logs.proof': loggedCall,
  'routes.logs': routeId,
  'logs.browse': nothing,
  'logs.inspect': loggedCall,
  'logs.reveal': capturedCall,
  'logs.file': capturedCall,
  'logs.stats': nothing,
  'logs.analytics': async () => ({ metric: 'requests', group_by: ['route'] }),
  'logs.client_health': nothing,
  'logs.live': async () => ({ places: true }),
  'logs.traffic': async (ctx) => ({ kind: 'secret', ids: [(await secretId(ctx)).id] }),
  'logs.days': nothing,
  'logs.days_export': nothing,
  'logs.facets': nothing,
  'logs.failures': nothing,
  'logs.export': nothing,
};

export const revealed: Fixture['revealed'] = {
  'logs.reveal': ({ payload }) => [payload.request.body, payload.response.body],
  'logs.file': (body) => [body],
};
