import path from 'node:path';
import { root } from '../../command.ts';
import { entitled } from '../../entitled.ts';
import { freePorts } from '../../ports.ts';
import { cores, spawnOn, stopChild } from '../machine.ts';
import type { Installation } from '../service.ts';
import type { NormalLoad } from './normal.ts';

const [CALLS_A_SECOND, API_A_SECOND] = [40, 10];

/** Makes something by an operation of the API, with every right. */
// biome-ignore lint/suspicious/noExplicitAny: attacks read answers of many operations by field name
export type Make = (id: string, input: Record<string, unknown>) => Promise<any>;
export type Workspaces = {
  ports: Installation['ports'];
  normal: NormalLoad;
  /** The workspace of the attacker: makes things in it, and headers of its calls to routes and to the API. */
  make: Make;
  tenantId: string;
  slug: string;
  routeHeaders: Record<string, string>;
  apiHeaders: Record<string, string>;
  /** An upstream that answers whatever it is sent. */
  upstream: string;
  stop: () => Promise<void>;
};

/** One workspace that goes about its business, and one that attacks. */
export async function makeWorkspaces({ ports }: Installation): Promise<Workspaces> {
  const { perform } = await import('../../../server/api/perform.ts');
  const { operations } = await import('../../../server/api/operations.ts');
  const operator = await import('../../../server/domain/operator/service.ts');
  const { env } = await import('../../../server/platform/env.ts');
  const [port] = (await freePorts(1)) as [number];
  const provider = path.join(root, 'scripts/bench/ai-upstream.ts');
  const server = spawnOn(cores.others, process.execPath, [provider, JSON.stringify({ port, frames: 1 })]);
  const upstream = `http://127.0.0.1:${port}`;

  const workspace = async (slug: string) => {
    const tenant = await operator.provisionTenant({ slug, plan: 'enterprise', starter: false });
    await operator.setLimit({ slug, kind: 'tenant_rps', value: 1_000_000, reason: 'benchmark' });
    const ctx = entitled(operator.operatorCtx(tenant.id, 'live'));
    const make: Make = async (id, input) => {
      const op = operations.find((one) => one.id === id);
      if (!op) throw new Error(`There is no operation ${id}.`);
      return (await perform(op, { ...ctx, now: new Date() }, input)).output;
    };
    const key = await operator.createKey({ slug, space: 'live', role: 'Key - Infrastructure' });
    const routeHeaders = { Host: `${slug}.${env.PROXY_BASE_HOST}:${ports.proxy}`, 'X-Svc-Key': key.api_key };
    const apiHeaders = { Authorization: `Bearer ${key.api_key}`, 'Content-Type': 'application/json' };
    return { tenantId: tenant.id, make, routeHeaders, apiHeaders };
  };
  const normal = await workspace('normal');
  await normal.make('secrets.create', { name: 'UPSTREAM_KEY', value: 'sk_live_0123456789abcdef0123456789abcdef' });
  const inject_headers_json = { Authorization: 'Bearer {{secret:UPSTREAM_KEY}}' };
  await normal.make('routes.create', { name: 'orders', slug: 'orders', target_base_url: upstream, inject_headers_json });
  const hostile = await workspace('hostile');
  return {
    ports,
    ...hostile,
    slug: 'hostile',
    upstream,
    normal: {
      calls: { url: `http://127.0.0.1:${ports.proxy}/orders/small`, headers: normal.routeHeaders, perSecond: CALLS_A_SECOND },
      api: { url: `http://127.0.0.1:${ports.api}/v1/routes`, headers: normal.apiHeaders, perSecond: API_A_SECOND },
    },
    stop: () => stopChild(server),
  };
}
