import path from 'node:path';
import { root } from '../command.ts';
import { freePorts } from '../ports.ts';
import { drive, type Load } from './load.ts';
import { cores, cpuSeconds, median, spawnOn, stopChild, until } from './machine.ts';
import { micros, type Row, say, times } from './report.ts';
import { install } from './service.ts';

const rounds = 3;
const seconds = 4;
const connections = 16;
/** A client may mint 600 tokens a minute, so there are enough of them for any load. */
const CLIENTS = 200;

/**
 * CPU of minting by client_credentials and of introspection, answered by the gateway from PostgreSQL, beside oidc-provider doing the same from its memory.
 * PostgreSQL is reported apart: it is not a serving process.
 */
export async function measureOAuth(directory: string): Promise<Row[]> {
  const installation = await install(directory);
  const [peerPort] = (await freePorts(1)) as [number];
  const clients = await makeClients();
  const gateway = await installation.startGateway();
  const peer = spawnOn(
    cores.measured,
    process.execPath,
    [path.join(root, 'scripts/bench/oidc-peer.ts'), JSON.stringify({ port: peerPort, clients })],
    { env: { ...process.env, NODE_ENV: 'production' } },
  );
  const servers = {
    sallyport: {
      origin: `http://127.0.0.1:${installation.ports.api}`,
      token: '/oauth/token',
      introspect: '/oauth/introspect',
      pid: gateway.pid ?? 0,
    },
    'oidc-provider': { origin: `http://127.0.0.1:${peerPort}`, token: '/token', introspect: '/token/introspection', pid: peer.pid ?? 0 },
  };
  try {
    await until('oidc-provider', () => answers(servers['oidc-provider'].origin), 30_000, peer);
    const rows: Row[] = [];
    for (const act of ['token', 'introspect'] as const) {
      const cpu: Record<string, number[]> = {};
      const database: number[] = [];
      for (let round = 0; round <= rounds; round++)
        for (const [name, { origin, pid, ...paths }] of Object.entries(servers)) {
          const form = act === 'token' ? MINT : `token=${await mint(origin + paths.token, clients[0] as Client)}`;
          const load: Load = {
            url: origin + paths[act],
            method: 'POST',
            body: form,
            headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
            rotating: { name: 'Authorization', values: clients.map(({ id, secret }) => basic(id, secret)) },
            connections,
            seconds,
          };
          const before = { own: cpuSeconds([pid]), database: cpuSeconds(installation.databasePids()) };
          const { requests, p50 } = await drive(load, directory);
          const us = ((cpuSeconds([pid]) - before.own) / requests) * 1e6;
          if (round === 0) continue; // to warm up
          cpu[name] = [...(cpu[name] ?? []), us];
          if (name === 'sallyport') database.push(((cpuSeconds(installation.databasePids()) - before.database) / requests) * 1e6);
          say(`${act}, round ${round}, ${name}: ${micros(us)}, ${Math.round(requests / seconds)} calls/s, p50 ${p50} ms`);
        }
      const [ours, theirs] = [cpu.sallyport ?? [], cpu['oidc-provider'] ?? []];
      const ratio = median(theirs.map((us, round) => us / (ours[round] ?? Number.NaN)));
      const what = act === 'token' ? 'minting a token' : 'introspection';
      rows.push(
        {
          what: `${what}, CPU a call`,
          measured: micros(median(ours)),
          against: `oidc-provider ${micros(median(theirs))}`,
          value: `${times(ratio)} less`,
          target: '> 1 x less',
          pass: ratio > 1,
        },
        { what: `${what}, CPU of PostgreSQL`, measured: micros(median(database)), against: '', value: '', target: '', pass: null },
      );
    }
    return rows;
  } finally {
    await stopChild(peer);
    await installation.stop();
  }
}

const MINT = 'grant_type=client_credentials&scope=routes%3Aread';
type Client = { id: string; secret: string };
const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
const answers = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  );

async function mint(url: string, { id, secret }: Client): Promise<string> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization: basic(id, secret) };
  const answer = await fetch(url, { method: 'POST', headers, body: MINT });
  const { access_token } = (await answer.json()) as { access_token?: string };
  if (access_token === undefined) throw new Error(`${url} mints no token: ${answer.status}`);
  return access_token;
}

async function makeClients(): Promise<Client[]> {
  const [operator, tokens, { db }, { newId }] = await Promise.all([
    import('../../server/domain/operator/service.ts'),
    import('../../server/crypto/tokens.ts'),
    import('../../server/platform/db.ts'),
    import('../../server/kernel/ids.ts'),
  ]);
  const tenant = await operator.provisionTenant({ slug: 'bench', plan: 'enterprise', starter: false });
  const own = { tenant_id: tenant.id, sandbox: false };
  const made = Array.from({ length: CLIENTS }, () => ({
    row: newId(),
    id: tokens.mintClientId(),
    secret: tokens.mintToken('client_secret'),
  }));
  await db().oauth_clients.createMany({
    data: made.map(({ row, id }) => ({
      id: row,
      ...own,
      client_id: id,
      name: 'bench',
      type: 'confidential',
      grant_types: ['client_credentials'],
      allowed_scopes: ['routes:read'],
    })),
  });
  await db().oauth_client_secrets.createMany({
    data: made.map(({ row, secret }) => ({ id: newId(), ...own, client_row_id: row, digest: new Uint8Array(secret.digest) })),
  });
  return made.map(({ id, secret }) => ({ id, secret: secret.token }));
}
