import type { Seed } from '#server/kernel/seed.ts';

const DAY = 24 * 3_600_000;

/** What an SDK would have reported over two days: hosts with a known service, one that a route covers, and ones that were decided. */
const REPORTED = [
  { host: 'api.stripe.com', first_segment: '/v1', method: 'POST', header_name: 'authorization', count: 1_240 },
  { host: 'api.stripe.com', first_segment: '/v1', method: 'GET', header_name: 'authorization', count: 310 },
  { host: 'api.anthropic.com', first_segment: '/v1', method: 'POST', header_name: 'x-api-key', count: 86 },
  { host: 'api.hubapi.com', first_segment: '/crm', method: 'GET', header_name: 'authorization', count: 42 },
  { host: 'hooks.slack.com', first_segment: '/services', method: 'POST', header_name: 'x-token', count: 17 },
  { host: 'metrics.internal.example.com', first_segment: '/', method: 'POST', header_name: 'x-api-key', count: 9_000 },
  { host: 'api.once.example.com', first_segment: '/', method: 'GET', header_name: 'authorization', count: 2 },
];

export const seed: Seed = {
  after: ['routes', 'secrets', 'wrap'],
  run: async (make) => {
    const now = Date.now();
    const [first_seen, last_seen] = [new Date(now - 2 * DAY).toISOString(), new Date(now - 60_000).toISOString()];
    const observations = REPORTED.map((one) => ({ ...one, first_seen, last_seen }));
    await make('opportunities.report_egress', { sdk: 'typescript/1.4.2', observations });
    const found = Object.values(await make('opportunities.list', { per_page: 100 })) as { id: string; destination_host: string }[];
    const of = (host: string) => found.find(({ destination_host }) => destination_host === host);
    const [later, no] = [of('hooks.slack.com'), of('api.hubapi.com')];
    if (later) await make('opportunities.snooze', { id: later.id, until: new Date(now + 7 * DAY).toISOString() });
    if (no) await make('opportunities.dismiss', { id: no.id, reason: 'Moves to the partner API next month' });
    await make('opportunities.ignore_host', { host: 'metrics.internal.example.com' });
  },
};
