import { routeId } from '#server/domain/routes/samples.fixture.ts';
import { secretId } from '#server/domain/secrets/samples.fixture.ts';
import { newId } from '#server/kernel/ids.ts';
import { sql } from '#server/platform/sql.ts';
import { nothing, type Sample } from '#server/testing/factories.ts';

/** A call as the gateway logs it, old enough to have passed every watermark. */
const loggedCall: Sample = async (ctx) => {
  const request_id = newId();
  await sql().query(
    `insert into request_logs (request_id, tenant_id, sandbox, ts, method, status_code, path, proxy_mode) values ($1, $2, $3, now() - interval '1 minute', 'GET', 200, '/hello', 'route')`,
    [request_id, ctx.tenant_id, ctx.sandbox],
  );
  return { request_id };
};

export const samples: Record<string, Sample> = {
  'logs.follow': nothing,
  'logs.get': loggedCall,
  'logs.proof': loggedCall,
  'routes.logs': routeId,
  'logs.browse': nothing,
  'logs.inspect': loggedCall,
  'logs.stats': nothing,
  'logs.traffic': async (ctx) => ({ kind: 'secret', ids: [(await secretId(ctx)).id] }),
  'logs.days': nothing,
  'logs.days_export': nothing,
  'logs.facets': nothing,
  'logs.failures': nothing,
  'logs.export': nothing,
};
