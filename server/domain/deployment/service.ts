import type { Ctx } from '#server/kernel/context.ts';
import type { Family } from '#server/kernel/family.ts';
import { NEWEST } from '#server/kernel/versions.ts';
import { env } from '#server/platform/env.ts';
import { builtIn, providedBy } from './features.ts';
import type { ParityAudit } from './schema.ts';

/** How this deployment stands against the full product: its parts, their versions, and what its operator provides. */
export async function parityAudit(ctx: Ctx, families: readonly Family[]): Promise<ParityAudit> {
  const [row] = await ctx.db.$queryRaw<{ postgresql: string; schema: string }[]>`
    select current_setting('server_version') as postgresql,
      coalesce((select migration_name from _prisma_migrations where finished_at is not null order by migration_name desc limit 1), '') as schema`;
  return {
    mode: {
      environment: env.NODE_ENV,
      database: isEmbedded(env.DATABASE_URL) ? 'embedded' : 'external',
      counters: env.REDIS_URL ? 'redis' : env.SVC_GATEWAYS > 1 ? 'postgresql' : 'memory',
      gateways: env.SVC_GATEWAYS,
      billing: env.BILLING_DRIVER,
    },
    versions: {
      node: process.versions.node,
      postgresql: row?.postgresql.split(' ')[0] ?? '',
      api: NEWEST,
      schema: row?.schema.slice(0, 14) ?? '',
    },
    egress_ips: env.EGRESS_IPS.map((range) => range.replace(/\/(?:32|128)$/, '')),
    features: [...providedBy(env), ...builtIn(families)],
  };
}

/** The database that comes with the service listens on a socket in a folder alone. */
const isEmbedded = (url: string | undefined) => url === undefined || /[?&]host=(?:%2F|\/)/i.test(url);
