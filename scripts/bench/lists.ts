import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Place } from './family-bench.ts';
import { get } from './http.ts';
import { type ListCase, listCases } from './list-cases.ts';
import { median, percentile } from './machine.ts';
import { millis, type Row, say, times } from './report.ts';
import { fillWorkspace } from './rows.ts';
import { type Installation, install } from './service.ts';
import { makeWorkspace } from './workspace.ts';

const sizes = { small: 100, large: 100_000 };
const rounds = 3;
const perRound = 40;
/** A session may make 400 calls in ten seconds, and two lists make 280: the next of the dashboard is asked so long after the one before, in ms. */
const pace = 5_500;
/** BENCH_LISTS="routes|by latency" measures the lists whose name matches. */
const only = new RegExp(process.env.BENCH_LISTS ?? '');

type Side = { place: Place; key: Record<string, string>; session: Record<string, string> };

/** The lists of the API and of the dashboard through the front door, for two workspaces of one installation that differ in their number of rows only. */
export async function measureLists(directory: string): Promise<Row[]> {
  const installation = await install(directory);
  try {
    const small = await makeSide(installation, 'bench-small', sizes.small);
    const large = await makeSide(installation, 'bench-large', sizes.large);
    say('starting the web process and the gateway');
    await installation.startWeb();
    const began = performance.now();
    await installation.startGateway();
    const loaded = performance.now() - began;
    const rows: Row[] = [];
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    for (const asked of listCases.filter(({ list, asks }) => only.test(`${list}: ${asks}`))) {
      const paced = sleep(asked.plane === 'dashboard' ? pace : 0);
      rows.push(await compare(installation, agent, small, large, asked));
      await paced;
    }
    agent.destroy();
    const row = { measured: millis(loaded), against: '', value: '', target: '', pass: null };
    return [...rows, { ...row, what: 'gateway start over these rows' }];
  } finally {
    await installation.stop();
  }
}

async function makeSide(installation: Installation, slug: string, count: number): Promise<Side> {
  say(`inserting ${count} rows`);
  const { headers } = await makeWorkspace(installation, slug, 9);
  const { openSession, provisionTenant } = await import('../../server/domain/operator/service.ts');
  await provisionTenant({ slug, owner_email: `owner@${slug}.example.com` });
  const { token } = await openSession({ email: `owner@${slug}.example.com`, i_understand: true });
  return {
    place: await fillWorkspace(installation.url, slug, count),
    key: { Authorization: `Bearer ${headers['X-Svc-Key']}` },
    session: { Authorization: `Bearer ${token}`, 'X-Tenant-ID': slug, 'X-Svc-Space': 'live' },
  };
}

async function ask({ ports }: Installation, agent: http.Agent, { place, key, session }: Side, asked: ListCase): Promise<number> {
  const path = asked.path(place);
  const v1 = asked.plane === 'v1';
  const { status, body, ms } = await get(`http://127.0.0.1:${v1 ? ports.api : ports.admin}${path}`, v1 ? key : session, agent);
  if (status !== 200) throw new Error(`${path} answered ${status}: ${body.slice(0, 300)}`);
  return ms;
}

/** Calls take turns, so that a slow moment of the machine falls on both. */
async function compare(installation: Installation, agent: http.Agent, small: Side, large: Side, asked: ListCase): Promise<Row> {
  const one = (side: Side) => ask(installation, agent, side, asked);
  for (let i = 0; i < 10; i++) for (const side of [small, large]) await one(side);
  const p95 = { small: [] as number[], large: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const taken = { small: [] as number[], large: [] as number[] };
    for (let i = 0; i < perRound; i++) {
      taken.small.push(await one(small));
      taken.large.push(await one(large));
    }
    p95.small.push(percentile(taken.small, 0.95));
    p95.large.push(percentile(taken.large, 0.95));
  }
  const ratio = median(p95.large.map((ms, round) => ms / (p95.small[round] ?? Number.NaN)));
  const what = `${asked.list}: ${asked.asks}, p95`;
  say(`${what}: ${millis(median(p95.large))}, at ${sizes.small} rows ${millis(median(p95.small))}`);
  return {
    what,
    measured: millis(median(p95.large)),
    against: `${sizes.small} rows ${millis(median(p95.small))}`,
    value: times(ratio),
    target: '<= 2.0 x',
    pass: ratio <= 2,
  };
}
