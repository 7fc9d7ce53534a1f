import http from 'node:http';
import { get } from './http.ts';
import { median, percentile } from './machine.ts';
import { millis, type Row, say, times } from './report.ts';
import { fillWorkspace } from './rows.ts';
import { install } from './service.ts';
import { makeWorkspace } from './workspace.ts';

const sizes = { small: 100, large: 100_000 };
const rounds = 3;
const perRound = 100;
const paths = (routeId: string) => [
  '/v1/routes',
  '/v1/secrets',
  '/v1/clients',
  '/v1/audit-logs',
  `/v1/routes/${routeId}/logs`,
  '/v1/api-keys',
];

type Side = { name: string; headers: Record<string, string>; paths: string[] };

/** The lists of the API through the front door, for two workspaces of one installation that differ in their number of rows only. */
export async function measureLists(directory: string): Promise<Row[]> {
  const installation = await install(directory);
  try {
    const sides: Side[] = [];
    for (const [name, count] of Object.entries(sizes)) {
      say(`making a workspace of ${count} rows`);
      const { headers } = await makeWorkspace(installation, `bench-${name}`, 9);
      const { routeId } = await fillWorkspace(installation.url, `bench-${name}`, count);
      sides.push({ name, headers: { Authorization: `Bearer ${headers['X-Svc-Key']}` }, paths: paths(routeId) });
    }
    say('starting the web process and the gateway');
    await installation.startWeb();
    const began = performance.now();
    await installation.startGateway();
    const loaded = performance.now() - began;
    const [small, large] = sides as [Side, Side];
    const origin = `http://127.0.0.1:${installation.ports.api}`;
    const rows: Row[] = [];
    for (let i = 0; i < small.paths.length; i++) rows.push(await compare(origin, small, large, i));
    rows.push({
      what: 'gateway start over these rows',
      measured: millis(loaded),
      against: '',
      value: '',
      target: '',
      pass: null,
    });
    return rows;
  } finally {
    await installation.stop();
  }
}

/** Calls take turns, so that a slow moment of the machine falls on both. */
async function compare(origin: string, small: Side, large: Side, path: number): Promise<Row> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async (side: Side) => {
    const { status, body, ms } = await get(origin + side.paths[path], side.headers, agent);
    if (status !== 200) throw new Error(`${side.paths[path]} answered ${status}: ${body.slice(0, 300)}`);
    return { ms, total: (JSON.parse(body) as { meta: { total: number } }).meta.total };
  };
  const { total } = await ask(large);
  if (total < sizes.large) throw new Error(`${large.paths[path]} says it has ${total} rows instead of ${sizes.large}.`);
  for (let i = 0; i < 30; i++) for (const side of [small, large]) await ask(side);
  const p95 = { small: [] as number[], large: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const taken = { small: [] as number[], large: [] as number[] };
    for (let i = 0; i < perRound; i++) {
      taken.small.push((await ask(small)).ms);
      taken.large.push((await ask(large)).ms);
    }
    p95.small.push(percentile(taken.small, 0.95));
    p95.large.push(percentile(taken.large, 0.95));
  }
  agent.destroy();
  const ratio = median(p95.large.map((ms, round) => ms / (p95.small[round] ?? Number.NaN)));
  const what = `GET ${(small.paths[path] ?? '').replace(/[0-9a-f-]{36}/, '{id}')}, p95`;
  say(`${what}: ${millis(median(p95.large))}, at ${sizes.small} rows ${millis(median(p95.small))}`);
  return {
    what,
    measured: millis(median(p95.large)),
    against: `100 rows ${millis(median(p95.small))}`,
    value: times(ratio),
    target: '<= 2.0 x',
    pass: ratio <= 2,
  };
}
