import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import { parseEnv } from '../../server/platform/env.ts';
import { freePorts } from '../ports.ts';
import { clockFinding, pastFinding, releaseFinding } from './clock.ts';
import { type Server, serverFindings } from './database.ts';
import { diskOf } from './machine.ts';
import { localAddresses, mail, ports, reachable } from './network.ts';
import { settingsFindings } from './settings.ts';

const GOOD: Server = {
  version: '17.2',
  now: new Date(),
  size: '1 MB',
  user: 'svc',
  standby: false,
  database: 'sallyport',
  read_only: false,
  read_only_by: 'default',
  encoding: 'UTF8',
  may_create: true,
  foreign_tables: 0,
  lacking: [],
  missing: [],
  may_extend: false,
  most: 97,
  used: 3,
};

test('a server that the service can work with has no finding, and each of its lacks has one with the next step', () => {
  assert.deepEqual(serverFindings(GOOD), []);
  const lacks: [Partial<Server>, RegExp][] = [
    [{ standby: true, read_only: true }, /standby.*primary/],
    [{ read_only: true, read_only_by: 'user' }, /read-only.*ALTER ROLE "svc" RESET/],
    [{ read_only: true, read_only_by: 'database' }, /read-only.*ALTER DATABASE "sallyport" RESET/],
    [{ read_only: true, read_only_by: 'database user' }, /read-only.*ALTER ROLE "svc" IN DATABASE "sallyport" RESET/],
    [{ read_only: true, read_only_by: 'client' }, /read-only.*options of DATABASE_URL/],
    [{ read_only: true, read_only_by: 'configuration file' }, /read-only.*ALTER SYSTEM RESET/],
    [{ encoding: 'SQL_ASCII' }, /SQL_ASCII.*ENCODING 'UTF8'/],
    [{ may_create: false }, /svc may not create tables.*GRANT ALL ON SCHEMA public TO "svc"/],
    [{ foreign_tables: 4 }, /4 tables belong to another user/],
    [{ lacking: ['pg_trgm'], missing: ['pg_trgm'] }, /lacks pg_trgm.*contrib/],
    [{ missing: ['btree_gin'] }, /CREATE EXTENSION btree_gin;/],
    [{ most: 97, used: 80 }, /80 of 97.*max_connections/],
  ];
  for (const [lack, says] of lacks) {
    const found = serverFindings({ ...GOOD, ...lack });
    assert.equal(found.length, 1, JSON.stringify(lack));
    assert.match(`${found[0]?.says} ${found[0]?.next}`, says);
  }
});

test('an address of this machine that leads to no port of ours is warned of', () => {
  const warned = (settings: Record<string, string>) => localAddresses(parseEnv(settings)).map(({ says }) => says.split(' ')[0]);
  assert.deepEqual(warned({}), []);
  assert.deepEqual(warned({ PLANE_PORTS: 'api:4000,sandbox:4001,admin:5002', PUBLIC_ADMIN_URL: 'http://localhost:4002' }), [
    'PUBLIC_ADMIN_URL',
  ]);
  assert.deepEqual(warned({ PLANE_PORTS: 'api:4000,sandbox:4001', PUBLIC_ADMIN_URL: 'http://localhost:4002' }), ['PUBLIC_ADMIN_URL']);
  assert.deepEqual(warned({ PLANE_PORTS: 'admin:5002', PUBLIC_ADMIN_URL: 'https://admin.example.com' }), [
    'PUBLIC_API_URL',
    'PUBLIC_SANDBOX_API_URL',
  ]);
  assert.deepEqual(warned({ PLANE_PORTS: 'api:4100', SALLYPORT_ROLES: 'worker' }), []);
});

test('what the service works without is a warning when it is away', async () => {
  const [metrics = 0, away] = await freePorts(4);
  const taken = net.createServer();
  await new Promise<void>((resolve) => taken.listen(metrics, '127.0.0.1', resolve));
  const env = parseEnv({
    METRICS_PORT: String(metrics),
    PLANE_PORTS: `api:${metrics + 3}`,
    SMTP_URL: `smtp://127.0.0.1:${away}`,
    WEB_SOCKET: '/nowhere/web.sock',
  });
  const of = (await ports(env)).map(({ state }) => state);
  taken.close();
  assert.deepEqual(of, ['OK', 'WARN', 'OK', 'OK']);
  assert.deepEqual(
    [(await mail(env)).state, (await reachable(`redis://127.0.0.1:${away}`, 6379, 'REDIS_URL', '')).state],
    ['WARN', 'WARN'],
  );
});

test('a clock is judged by others and by what has already happened', () => {
  const now = Date.UTC(2026, 10, 30);
  const of = 'the database';
  assert.equal(clockFinding({ of, at: new Date(now - 1_000), took_ms: 0 }, now).state, 'OK');
  assert.equal(clockFinding({ of, at: new Date(now + 30_000), took_ms: 0 }, now).state, 'WARN');
  assert.equal(clockFinding({ of, at: new Date(now + 90_000), took_ms: 0 }, now).state, 'FAIL');
  assert.equal(clockFinding({ of, at: new Date(now + 90_000), took_ms: 90_000 }, now).state, 'OK', 'the answer took so long');
  assert.equal(pastFinding('x', new Date(now + 50_000), 60_000, now), undefined);
  assert.match(pastFinding('the newest entry', new Date(now + 3_600_000), 60_000, now)?.says ?? '', /before the newest entry/);
  assert.equal(releaseFinding(), undefined);
  assert.match(releaseFinding(Date.UTC(2001, 0, 1))?.says ?? '', /this release was made/);
});

test('a disk that is nearly full, has no room for files or is none is told', () => {
  const room = { bsize: 4096, blocks: 2 ** 28, bavail: 2 ** 27, files: 2 ** 24, ffree: 2 ** 23 };
  const state = (less: Partial<typeof room>) => diskOf('DATA_DIR', '/data', { ...room, ...less }, 'PostgreSQL').state;
  assert.deepEqual(
    [
      state({}),
      state({ bavail: 2 ** 20 }),
      state({ bavail: 2 ** 16 }),
      state({ ffree: 3 }),
      state({ files: 0, ffree: 0 }),
      state({ blocks: 0 }),
    ],
    ['OK', 'WARN', 'FAIL', 'FAIL', 'OK', 'FAIL'],
  );
});

test('an allowlist that reaches more than private networks, or the metadata service of a cloud, is warned of', () => {
  const warned = (list: string) =>
    settingsFindings(parseEnv({ UPSTREAM_PRIVATE_ALLOWLIST: list }), {}).filter(({ state }) => state === 'WARN').length;
  for (const wide of [
    '0.0.0.0/0',
    '::/0',
    '0.0.0.0/0:443',
    '0.0.0.0/1',
    '128.0.0.0/1',
    '169.254.0.0/16',
    '169.254.169.254',
    'f000::/4',
    'fd00:ec2::/32',
  ])
    assert.equal(warned(wide), 1, wide);
  for (const fine of ['10.0.0.0/8', '127.0.0.1:9000', '192.168.0.0/16', 'fd12:3456::/32', '169.254.10.0/24'])
    assert.equal(warned(fine), 0, fine);
  assert.equal(warned('10.0.0.0/8,0.0.0.0/0,::/0'), 2);
});
