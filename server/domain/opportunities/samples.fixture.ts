import { secretId } from '#server/domain/secrets/samples.fixture.ts';
import { own } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { db } from '#server/platform/db.ts';
import { fresh, made, nothing, type Sample } from '#server/testing/factories.ts';

/** Nobody makes one by hand: the calls it comes from are long gone. */
const opportunity =
  (status: string): Sample =>
  async (ctx) => {
    const row = await db().opportunities.create({
      data: {
        ...own(ctx),
        ...{
          id: newId(),
          source: 'gateway_traffic',
          service: 'acme',
          destination_host: `${fresh('api').toLowerCase()}.example.com`,
          status,
        },
        ...{ confidence: 0.7, created_at: ctx.now, updated_at: ctx.now },
      },
    });
    return { id: row.id };
  };
const pending = opportunity('pending');

const observation = { host: 'api.example.com', first_segment: '/v1', method: 'GET', header_name: 'authorization', count: 3 };
const ahead = (days: number) => new Date(Date.now() + days * 24 * 3_600_000).toISOString();

/** Reported before: a further report counts the same calls up and adds no row. */
const report: Sample = async (ctx) => {
  const at = ctx.now.toISOString();
  const input = { sdk: 'typescript/1.0.0', observations: [{ ...observation, first_seen: at, last_seen: at }] };
  await made(ctx, 'opportunities.report_egress', input);
  return input;
};

export const samples: Record<string, Sample> = {
  'opportunities.list': nothing,
  'opportunities.accept': async (ctx) => ({ ...(await pending(ctx)), secret: (await secretId(ctx)).id }),
  'opportunities.dismiss': pending,
  'opportunities.snooze': async (ctx) => ({ ...(await pending(ctx)), until: ahead(7) }),
  'opportunities.reopen': opportunity('dismissed'),
  'opportunities.manifest': nothing,
  'opportunities.report_egress': report,
  'opportunities.observed': nothing,
  'opportunities.ignore_host': async () => ({ host: 'api.example.com' }),
  'opportunities.show_host': async (ctx) => {
    const host = `${fresh('api').toLowerCase()}.example.com`;
    await made(ctx, 'opportunities.ignore_host', { host });
    return { host };
  },
};

/** Hosts are the same words in every space. */
export const byName = ['opportunities.ignore_host'];
export const dependsOnState = [
  /must be between 1 hour and 90 days ahead|must be in the future|must be a host name|no secret to bind|no such secret|no such environment|pinned to other hosts|has no value in|path segments|percent-encoding/i,
];

export const grantless = {
  'opportunities.accept': 'makes a route without field actions',
};
