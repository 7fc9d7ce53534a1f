import assert from 'node:assert/strict';
import test from 'node:test';
import { splitStatements } from '#server/domain/dyn-db/statements.shared.ts';
import { type Credential, connectCommands } from './connect-commands.ts';
import { grantsFor } from './grants.ts';

const credential: Credential = {
  username: 'svc_app_k3j7x2m4pq_t8aeo0',
  password: 'Aa0_-pass',
  expires_at: '2026-11-23T20:00:00.000Z',
  lease_id: 1,
  connection_name: 'orders',
  role_name: 'app',
  host: 'db.example.com',
  port: 5432,
  database_name: 'orders',
  engine: 'postgres',
  ttl_seconds: 3600,
  renewable: true,
};
const texts = (given: Partial<Credential>, options: Parameters<typeof connectCommands>[1]['options'] = {}, iam = false) =>
  connectCommands({ ...credential, ...given }, { iam, options }).map(({ code }) => code);

test('commands ask for the password, and URLs contain it', () => {
  assert.deepEqual(texts({}), [
    "psql 'host=db.example.com port=5432 dbname=orders user=svc_app_k3j7x2m4pq_t8aeo0 sslmode=require'",
    'postgresql://svc_app_k3j7x2m4pq_t8aeo0:Aa0_-pass@db.example.com:5432/orders?sslmode=require',
  ]);
  assert.deepEqual(texts({ engine: 'mysql', port: 3306 }), [
    'mysql --host=db.example.com --port=3306 --user=svc_app_k3j7x2m4pq_t8aeo0 --password orders',
    'mysql://svc_app_k3j7x2m4pq_t8aeo0:Aa0_-pass@db.example.com:3306/orders',
  ]);
  assert.deepEqual(texts({ engine: 'mssql', port: 1433 }), [
    'sqlcmd -S db.example.com,1433 -d orders -U svc_app_k3j7x2m4pq_t8aeo0 -N',
    'jdbc:sqlserver://db.example.com:1433;databaseName=orders;user=svc_app_k3j7x2m4pq_t8aeo0;password=Aa0_-pass;encrypt=true',
  ]);
  assert.deepEqual(texts({ engine: 'mongo', port: 27017 }), [
    "mongosh 'mongodb://db.example.com:27017/orders?authSource=orders&tls=true' --username svc_app_k3j7x2m4pq_t8aeo0",
    'mongodb://svc_app_k3j7x2m4pq_t8aeo0:Aa0_-pass@db.example.com:27017/orders?authSource=orders&tls=true',
  ]);
  for (const engine of ['postgres', 'mysql', 'mssql', 'mongo'] as const) assert.ok(!texts({ engine })[0]?.includes('Aa0_-pass'));
});

test('a token of IAM stands in a URL as one password, and MySQL sends it in clear inside of TLS', () => {
  const token = 'db.example.com:5432/?Action=connect&DBUser=app&X-Amz-Signature=ab%2Fcd';
  const url = new URL(texts({ username: 'app@corp', password: token }, {}, true)[1] as string);
  assert.deepEqual([decodeURIComponent(url.username), decodeURIComponent(url.password)], ['app@corp', token]);
  assert.match(texts({ engine: 'mysql', password: token }, {}, true)[0] as string, /^mysql --enable-cleartext-plugin /);
});

test('lists of hosts, SRV names and IPv6 addresses are written as their engines read them', () => {
  assert.match(
    texts({ engine: 'mongo', host: 'a:1,b:2' }, { replica_set: 'rs' })[1] as string,
    /@a:1,b:2\/orders\?authSource=orders&tls=true&replicaSet=rs$/,
  );
  assert.match(
    texts({ engine: 'mongo', host: 'cluster.example.com' }, { srv: true })[1] as string,
    /^mongodb\+srv:.*@cluster\.example\.com\/orders\?authSource=orders$/,
  );
  assert.match(texts({ host: 'fd00::1' })[1] as string, /@\[fd00::1\]:5432\//);
});

const hostile = `a'b"c\`d]e\\f;g--h`;

test('a grant script of any name is the same number of statements', () => {
  for (const engine of ['postgres', 'mysql', 'mssql'] as const) {
    const statements = (username: string, database: string) =>
      grantsFor({ engine, iam: false, username, database, region: '' }).map(({ code }) => splitStatements(code, engine));
    const [plain, quoted] = [statements('sallyport', 'app'), statements(hostile, hostile)];
    assert.deepEqual(
      quoted.map(({ statements: all, problem }) => [all.length, problem]),
      plain.map(({ statements: all, problem }) => [all.length, problem]),
      engine,
    );
    assert.ok((plain[0]?.statements.length ?? 0) >= 4);
  }
  const [mongo] = grantsFor({ engine: 'mongo', iam: false, username: hostile, database: hostile, region: '' });
  assert.ok(mongo.code.includes(JSON.stringify(hostile)));
});

test('a database user of IAM gets a role and a policy, and no password', () => {
  for (const engine of ['postgres', 'mysql'] as const) {
    const [sql, policy, trust] = grantsFor(
      { engine, iam: true, username: 'app', database: '', region: 'eu-central-1' },
      { external_id: 'e-1', aws_principal: null },
    );
    assert.deepEqual(JSON.parse(trust?.code ?? '').Statement[0].Condition, { StringEquals: { 'sts:ExternalId': 'e-1' } });
    assert.doesNotMatch(sql.code, /PASSWORD|IDENTIFIED BY/);
    assert.equal(JSON.parse(policy?.code ?? '').Statement[0].Resource, 'arn:aws:rds-db:eu-central-1:ACCOUNT:dbuser:DB_RESOURCE_ID/app');
  }
});
