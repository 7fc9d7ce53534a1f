import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { rotateTenantKey } from '#server/domain/keys/service.ts';
import { checkPassword } from '#server/domain/people/service.ts';
import { db } from '#server/platform/db.ts';
import { rootKeys } from '#server/platform/keys.ts';
import { sql } from '#server/platform/sql.ts';
import { ownDatabase } from '#server/testing/database.ts';
import { workspace } from '#server/testing/workspace.ts';
import { postmaster } from './database.ts';

const { directory } = await ownDatabase();

const ADMIN = ['--disable-warning=ExperimentalWarning', 'scripts/admin.ts'];

/** The command as an operator types it, in a process of its own with settings of its own. */
function admin(args: string[], settings: Record<string, string> = {}, input = '') {
  const env = { ...process.env, ...settings };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...ADMIN, ...args], {
    encoding: 'utf8',
    env,
    input,
  });
  return { status, stdout, stderr };
}

test('every command refuses a root key that is not this database’s, and makes no key file beside it', async () => {
  const w = await workspace();
  const file = path.join(directory, 'lost.key');
  const keys = () => db().tenant_master_keys.count();
  const before = await keys();
  const settings: Record<string, string>[] = [
    { MASTER_KEY_B64: '', MASTER_KEY_FILE: file },
    { MASTER_KEY_B64: randomBytes(32).toString('base64') },
  ];
  for (const wrong of settings) {
    for (const args of [
      ['create-tenant', '--slug', 'late'],
      ['create-key', '--slug', w.tenant.slug, '--space', 'test'],
      ['list-tenants'],
    ]) {
      const { status, stdout, stderr } = admin(args, wrong);
      assert.deepEqual([status, stdout], [1, ''], args[0]);
      assert.match(stderr, /^there is no root key: .*lost\.key does not exist|^the root key doesn.t match this database/);
      assert.ok(stderr.includes(rootKeys().current.id), 'names the key that is missing');
    }
  }
  assert.equal(existsSync(file), false);
  assert.equal(await keys(), before);
  assert.equal(await db().tenants.findUnique({ where: { slug: 'late' } }), null);
});

test('verify-chains ends with 1 and names workspace and row when one chain does not hold, on a standard output that is JSON alone', async () => {
  const w = await workspace();
  for (let i = 0; i < 3; i++) await rotateTenantKey(w.live);
  const holds = admin(['verify-chains']);
  assert.deepEqual(
    [holds.status, JSON.parse(holds.stdout)],
    [0, { checked: 3, failed: [] }],
    "the operator's chain, and one per workspace",
  );
  await sql().query('alter table audit_log_critical disable trigger user');
  await sql().query(`update audit_log_critical set actor_id = 'somebody else' where tenant_id = $1 and sequence_number = 2`, [w.tenant.id]);
  await sql().query('alter table audit_log_critical enable trigger user');
  const broken = admin(['verify-chains']);
  assert.equal(broken.status, 1);
  assert.deepEqual(JSON.parse(broken.stdout), {
    checked: 3,
    failed: [{ slug: w.tenant.slug, chain_id: w.tenant.id, failure: { sequence_number: '2', kind: 'hash_mismatch' } }],
  });
  const accepted = admin(['accept-chain', '--slug', w.tenant.slug, '--reason', 'looked into']);
  assert.equal((JSON.parse(accepted.stdout) as { valid: boolean }).valid, true);
  assert.equal(admin(['verify-chains']).status, 0);
});

test('an unknown person or workspace is named back to the operator', () => {
  assert.match(admin(['create-session', '--email', 'nobody@example.com']).stderr, /No person has the address nobody@example\.com/);
  assert.match(admin(['suspend', '--slug', 'nobody']).stderr, /No workspace has the slug nobody/);
});

test('a command on a database that takes no changes, or has no installation, says so in one line', async () => {
  const name = new URL(process.env.DATABASE_URL as string).pathname.slice(1);
  const w = await workspace();
  await sql().query(`alter database "${name}" set default_transaction_read_only = on`);
  try {
    const { status, stdout, stderr } = admin(['suspend', '--slug', w.tenant.slug]);
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /^The database is read-only or a standby, so nothing was changed\. .*doctor.*\n$/);
  } finally {
    await sql().query('set default_transaction_read_only = off');
    await sql().query(`alter database "${name}" reset default_transaction_read_only`);
  }
  const empty = `${name}_empty`;
  await sql().query(`create database "${empty}"`);
  const url = new URL(process.env.DATABASE_URL as string);
  url.pathname = `/${empty}`;
  const { status, stderr } = admin(['list-tenants'], { DATABASE_URL: url.toString() });
  assert.equal(status, 1);
  assert.match(stderr, /^The database of DATABASE_URL has no installation of Sallyport\..*\n$/);
});

test('what would be ignored or cannot be is refused before anything is done, in one line on standard error', async () => {
  const w = await workspace();
  const { slug } = w.tenant;
  const before = await db().audit_logs.count();
  const cases: [RegExp, ...string[]][] = [
    [/^Unknown command toString\. Available commands:/, 'toString'],
    [/^suspend only takes flags, but got it\. Run/, 'suspend', 'it', '--slug', slug],
    [/^list-tenants doesn't take --slug\. Run/, 'list-tenants', '--slug', slug],
    [/^suspend requires --slug\. Run/, 'suspend'],
    [/^set-limit requires --value\. Run/, 'set-limit', '--slug', slug, '--kind', 'routes', '--value', ''],
    [/^Unknown option '--bogus'\. Run/, 'suspend', '--slug', slug, '--bogus'],
    [/^Option '--value' argument is ambiguous\. Run/, 'set-limit', '--slug', slug, '--kind', 'routes', '--value', '-1'],
  ];
  for (const [says, ...args] of cases) {
    const { status, stdout, stderr } = admin(args);
    assert.deepEqual([status, stdout], [1, ''], args.join(' '));
    assert.match(stderr, says);
    if (args[0] !== 'toString') assert.equal(stderr.trim().split('\n').length, 1, stderr);
  }
  assert.equal(await db().audit_logs.count(), before);
});

test('a key is not lost when the field that was to be printed has another name', async () => {
  const w = await workspace();
  const args = ['create-key', '--slug', w.tenant.slug, '--space', 'test'];
  const slip = admin([...args, '--print', 'key']);
  assert.equal(slip.status, 1);
  assert.match(JSON.parse(slip.stdout).api_key, /^tk_test_/);
  assert.match(slip.stderr, /no field key\. Available fields: .*api_key/);
  assert.match(admin([...args, '--print', 'api_key']).stdout, /^tk_test_\w+\n$/);
});

test('a password comes by standard input, where no process list shows it; one among the arguments is warned of', async () => {
  const email = ['--owner-email', 'dana@example.com'];
  const piped = admin(['create-tenant', '--slug', 'piped', ...email, '--owner-password-stdin'], {}, 'a quiet harbour at dusk\r\n');
  assert.deepEqual([piped.status, piped.stderr], [0, '']);
  const hash = async () => (await db().users.findUniqueOrThrow({ where: { email: 'dana@example.com' } })).password_hash;
  assert.equal((await checkPassword(await hash(), 'a quiet harbour at dusk')).valid, true);

  const member = ['set-member', '--slug', 'piped', '--email', 'dana@example.com', '--role', 'owner'];
  assert.equal(admin([...member, '--password-stdin'], {}, 'another harbour at dawn').status, 0);
  assert.equal((await checkPassword(await hash(), 'another harbour at dawn')).valid, true);

  const shown = admin([...member, '--password', 'a third harbour at noon']);
  assert.equal(shown.status, 0);
  assert.match(shown.stderr, /can see --password .* --password-stdin instead/);
  assert.ok(!shown.stderr.includes('harbour'));

  assert.match(admin([...member, '--password', 'x', '--password-stdin'], {}, 'y').stderr, /use either/);
  assert.match(admin([...member, '--password-stdin'], {}, '\n').stderr, /Standard input is empty/);
  assert.equal((await checkPassword(await hash(), 'a third harbour at noon')).valid, true);
});

test('commands at once on a new installation start one database, make one workspace, and stop it when the last is done', async (t) => {
  const data = mkdtempSync(path.join(tmpdir(), `sallyport-test-${process.pid}-`));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  const settings = { DATABASE_URL: '', DATA_DIR: data, MASTER_KEY_B64: '', MASTER_KEY_FILE: '' };
  const answers = await Promise.all(
    [1, 2, 3].map(async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [...ADMIN, 'create-tenant', '--slug', 'once'], {
        env: { ...process.env, ...settings },
      });
      return JSON.parse(stdout) as { id: string; created: boolean };
    }),
  );
  assert.deepEqual(answers.map((one) => one.created).sort(), [false, false, true]);
  assert.equal(new Set(answers.map((one) => one.id)).size, 1);
  assert.equal(postmaster(path.join(data, 'postgres/data')), undefined, 'nothing keeps running');
});
