import assert from 'node:assert/strict';
import test from 'node:test';
import { createResolver, type ResolveFamily } from './resolver.ts';
import { type EgressOptions, egressSettings } from './settings.ts';
import { checkTargetUrl } from './target-url.ts';

const zone: Record<string, string[]> = {
  'api.example.com': ['93.184.216.34', '2606:2800::1'],
  'inside.example.com': ['10.0.0.5'],
  'mixed.example.com': ['93.184.216.34', '10.0.0.5'],
  'six.example.com': ['fd00::5'],
  'vault.internal': ['10.0.0.5'],
};
const dns: ResolveFamily = async (host, family) => {
  const found = (zone[host] ?? []).filter((address) => address.includes(':') === (family === 6));
  if (found.length === 0) throw Object.assign(new Error('none'), { code: 'ENOTFOUND' });
  return found.map((address) => ({ address, ttl: 30 }));
};
const check = (url: string, options: EgressOptions = {}) =>
  checkTargetUrl(url, createResolver({ settings: egressSettings({ ownHosts: ['sallyport.example'], ...options }), resolve: dns }));

test('a public https URL is taken apart without touching its path', async () => {
  const verdict = await check('https://API.example.com:8443/backend/a%2Fb//c/');
  assert.ok(verdict.ok);
  assert.deepEqual(verdict.target, {
    scheme: 'https',
    host: 'api.example.com',
    port: 8443,
    authority: 'api.example.com:8443',
    path: '/backend/a%2Fb//c/',
  });
  assert.deepEqual(verdict.warnings, []);
  const bare = await check('https://api.example.com');
  assert.ok(bare.ok && bare.target.path === '' && bare.target.authority === 'api.example.com' && bare.target.port === 443);
});

test('each fault of the table has its own reason', async () => {
  const table: [string, string][] = [
    ['', 'syntax'],
    ['api.example.com', 'syntax'],
    ['//api.example.com', 'syntax'],
    ['https:api.example.com', 'syntax'],
    ['https://', 'syntax'],
    ['https:///path', 'syntax'],
    [`https://api.example.com/${'a'.repeat(2048)}`, 'syntax'],
    ['https://api.example.com/a b', 'syntax'],
    ['https://api.exam\tple.com', 'syntax'],
    ['https://api.exam\nple.com', 'syntax'],
    ['https://api.example.com\\@evil.test', 'syntax'],
    ['https://①②⑦.⓪.⓪.①', 'syntax'],
    ['gopher://api.example.com', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['ftp://api.example.com', 'scheme'],
    ['data://text', 'scheme'],
    ['ws://api.example.com', 'scheme'],
    ['javascript://api.example.com', 'scheme'],
    ['http://api.example.com', 'scheme'],
    ['https://user:pass@api.example.com', 'credentials'],
    ['https://foo@127.0.0.1', 'credentials'],
    ['https://127.0.0.1#@api.example.com', 'query'],
    ['https://api.example.com?x=1', 'query'],
    ['https://api.example.com/a#b', 'query'],
    ['https://api.example.com/a/../b', 'path'],
    ['https://api.example.com/%2e%2E/b', 'path'],
    ['https://api.example.com/%00', 'path'],
    ['https://api.example.com/%zz', 'path'],
    ['https://api.example.com:0/', 'port'],
    ['https://api.example.com:22/', 'port'],
    ['https://api.example.com:25/', 'port'],
    ['https://api.example.com:6379/', 'port'],
    ['https://api.example.com:65536/', 'port'],
    ['https://api.example.com:443x/', 'syntax'],
    ['https://2130706433', 'host'],
    ['https://0x7f.1', 'host'],
    ['https://127.1', 'host'],
    ['https://0177.0.0.1', 'host'],
    ['https://localhost.', 'host'],
    ['https://[fe80::1%25eth0]/', 'host'],
    [`https://${'a'.repeat(300)}.com`, 'host'],
    ['https://127.0.0.1', 'not_allowed'],
    ['https://[::ffff:7f00:1]', 'not_allowed'],
    ['https://[::]/', 'not_allowed'],
    ['https://169.254.169.254/latest/meta-data', 'not_allowed'],
    ['https://sallyport.example', 'own_host'],
    ['https://acme.sallyport.example/x', 'own_host'],
    ['https://inside.example.com', 'not_allowed'],
    ['https://mixed.example.com', 'not_allowed'],
    ['https://six.example.com', 'not_allowed'],
    ['https://api.example.com/{{secret:KEY}}', 'template'],
    ['https://{{secret_id:x}}.example.com', 'template'],
    ['https://api.example.com/{{var:}}', 'template'],
    ['https://api.example.com/{x}', 'syntax'],
    ['https://api.example.com:{{var:port}}/', 'syntax'],
    ['http://{{var:region}}.example.com/', 'scheme'],
    ['https://{{var:tenant}}.sallyport.example/', 'own_host'],
    ['https://{{var:x}}.internal/', 'host'],
  ];
  for (const [url, reason] of table) {
    const verdict = await check(url);
    assert.equal(verdict.ok ? 'accepted' : verdict.reason, reason, url);
    if (!verdict.ok) assert.doesNotMatch(verdict.message, /10\.0\.0|fd00/, 'the message names no inside address');
  }
});

test('a name that does not resolve is accepted with a warning', async () => {
  const verdict = await check('https://soon.example.com/v1');
  assert.ok(verdict.ok);
  assert.match(verdict.warnings[0] ?? '', /doesn't resolve/);
});

test('variables may stand in host labels and path', async () => {
  const verdict = await check('https://{{var:region}}.example.com/{{var:ver}}/x');
  assert.ok(verdict.ok && verdict.hasVariables);
  assert.equal(verdict.target.host, '{{var:region}}.example.com');
  assert.equal(verdict.target.path, '/{{var:ver}}/x');
  assert.ok((await check('https://{{var:host}}/')).ok);
});

test('http is for the private allow-list and for operators who ask for it', async () => {
  const privateAllowlist = [{ cidr: '10.0.0.0/8' }];
  assert.ok((await check('http://inside.example.com/', { privateAllowlist })).ok);
  assert.ok((await check('http://10.1.1.1:8080/', { privateAllowlist })).ok);
  assert.ok((await check('http://vault.internal/', { privateAllowlist })).ok);
  assert.equal((await check('http://api.example.com/', { privateAllowlist })).ok, false);
  assert.equal((await check('http://gone.internal/', { privateAllowlist })).ok, false);
  assert.ok((await check('http://api.example.com/', { allowHttp: true })).ok);
  assert.equal((await check('http://inside.example.com/', { allowHttp: true })).ok, false);
});

test('an allow-list entry that names a refused port opens it', async () => {
  const privateAllowlist = [{ cidr: '127.0.0.0/8', port: 9200 }];
  assert.ok((await check('http://127.0.0.1:9200', { privateAllowlist })).ok);
  assert.ok((await check('http://localhost:9200', { privateAllowlist })).ok);
  assert.equal((await check('http://127.0.0.1:6379', { privateAllowlist })).ok, false);
});
