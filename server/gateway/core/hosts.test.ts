import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type HostConfig, type PortPlane, planeOf, tenantLabel } from './hosts.ts';

const local: HostConfig = {
  apiUrl: 'http://localhost:4000',
  sandboxUrl: 'http://localhost:4001',
  adminUrl: 'http://localhost:4002',
  hooksUrl: 'http://localhost:4000/hooks',
  baseHost: 'localhost',
  pathMode: true,
};
const hosted: HostConfig = {
  apiUrl: 'https://api.sallyport.example',
  sandboxUrl: 'https://sandbox.sallyport.example',
  adminUrl: 'https://admin.sallyport.example',
  hooksUrl: 'https://hooks.sallyport.example',
  baseHost: 'sallyport.example',
  wrapBaseHost: 'wrap.sallyport.example',
  pathMode: false,
};
const at = (config: HostConfig, portPlane: PortPlane, host: string, target = '/v1/x?a=1') => planeOf({ portPlane, host, target }, config);
const plane = (...args: Parameters<typeof at>) => {
  const found = at(...args);
  return 'space' in found ? `${found.plane} ${found.space}` : found.plane;
};

test('on a bound port plain localhost means the plane of the port', () => {
  for (const host of ['localhost:4000', 'LOCALHOST:4000', 'localhost', '127.0.0.1:4000', '[::1]:4000', 'localhost:9']) {
    assert.equal(plane(local, 'api', host), 'api live', host);
    assert.equal(plane(local, 'sandbox', host), 'api test', host);
    assert.equal(plane(local, 'admin', host), 'admin', host);
    assert.equal(plane(local, 'proxy', host), 'unknown', host);
  }
});

test('a tenant label under the base host wins on every port, in any case', () => {
  for (const port of ['api', 'sandbox', 'admin', 'proxy'] as const) {
    assert.deepEqual(at(local, port, 'Acme.Localhost:4003', '/orders?x=1'), {
      plane: 'tenant',
      label: 'acme',
      slug: 'acme',
      space: 'live',
      mount: '',
      target: '/orders?x=1',
    });
    assert.equal(plane(local, port, 'sandbox-acme.localhost'), 'tenant test');
  }
  assert.equal(plane(hosted, null, 'acme.sallyport.example:8443'), 'tenant live');
  assert.equal(plane(hosted, null, 'sandbox-acme.sallyport.example'), 'tenant test');
});

test('with one port the configured public URLs tell the planes apart', () => {
  assert.equal(plane(hosted, null, 'api.sallyport.example'), 'api live');
  assert.equal(plane(hosted, null, 'API.sallyport.example:443'), 'api live');
  assert.equal(plane(hosted, null, 'sandbox.sallyport.example'), 'api test');
  assert.equal(plane(hosted, null, 'admin.sallyport.example'), 'admin');
  assert.deepEqual(at(hosted, null, 'hooks.sallyport.example', '/wf/t'), { plane: 'hooks', target: '/wf/t' });
  const sharing = {
    ...hosted,
    apiUrl: 'https://one.example',
    sandboxUrl: 'https://one.example:8443',
    adminUrl: 'https://one.example:9443',
  };
  assert.equal(plane(sharing, null, 'one.example'), 'api live');
  assert.equal(plane(sharing, null, 'one.example:443'), 'api live');
  assert.equal(plane(sharing, null, 'one.example:8443'), 'api test');
  assert.equal(plane(sharing, null, 'one.example:1'), 'unknown');
});

test('deeper names, the apex, suffix tricks and nonsense are nobody', () => {
  const strangers = [
    'sallyport.example',
    'a.b.sallyport.example',
    'acme.sallyport.example.evil.test',
    'acmesallyport.example',
    'evil.test',
  ];
  strangers.push(
    'acme.sallyport.example.',
    '.sallyport.example',
    '-acme.sallyport.example',
    'ac_me.sallyport.example',
    'sandbox-.sallyport.example',
  );
  strangers.push(
    '',
    ' ',
    'localhost',
    '127.0.0.1',
    '[::1]',
    'acme.sallyport.example:x',
    'acme.sallyport.example/',
    'acme.sallyport.example:1:2',
  );
  strangers.push(
    'a@acme.sallyport.example',
    'acme.sallyport.example\u0000',
    'äcme.sallyport.example',
    `${'a'.repeat(56)}.sallyport.example`,
  );
  for (const host of strangers) assert.equal(plane(hosted, null, host), 'unknown', host);
});

test('reserved labels are never tenants, and neither is a sandbox of a sandbox', () => {
  for (const slug of ['api', 'www', 'hooks', 'scim', 'status', 'sandbox', 'sandbox-admin', 'sandbox-sandbox-acme', 'api-staging'])
    assert.equal(tenantLabel(slug), undefined, slug);
  assert.deepEqual(tenantLabel('SANDBOX-Acme'), { label: 'sandbox-acme', slug: 'acme', space: 'test' });
  assert.equal(tenantLabel('a'.repeat(55))?.slug.length, 55);
  assert.equal(tenantLabel(`sandbox-${'a'.repeat(55)}`)?.space, 'test');
});

test('a foreign Host on a bound port is nobody: a page of another site cannot reach the dashboard by rebinding its name', () => {
  for (const port of ['api', 'sandbox', 'admin', 'proxy'] as const) {
    assert.equal(plane(local, port, 'evil.test:4002'), 'unknown');
    assert.equal(plane(hosted, port, 'evil.test'), 'unknown');
  }
  assert.equal(plane(hosted, 'api', 'admin.sallyport.example'), 'unknown');
  assert.equal(plane(hosted, 'admin', 'admin.sallyport.example'), 'admin');
});

test('the path mount is the tenant host in another spelling, and never on the dashboard', () => {
  const mounted = (target: string, port: PortPlane = 'api') => at(local, port, 'localhost:4000', target);
  const acme = { plane: 'tenant', label: 'acme', slug: 'acme', space: 'live' };
  assert.deepEqual(mounted('/p/acme/orders//x%2F?y=1'), { ...acme, mount: '/p/acme', target: '/orders//x%2F?y=1' });
  assert.deepEqual(mounted('/p/acme'), { ...acme, mount: '/p/acme', target: '/' });
  assert.deepEqual(mounted('/p/acme?x'), { ...acme, mount: '/p/acme', target: '/?x' });
  assert.deepEqual(mounted('/p/ACME//x', 'proxy'), { ...acme, mount: '/p/ACME', target: '//x' });
  assert.equal((mounted('/p/sandbox-acme/x') as { space: string }).space, 'test');
  for (const target of ['/p/', '/p//x', '/p/a%63me/x', '/p/api/x', '/p/../x', '/p/ac.me/x'])
    assert.equal(mounted(target).plane, 'unknown', target);
  assert.equal(mounted('/p/acme/x', 'admin').plane, 'admin');
  assert.deepEqual(at({ ...local, pathMode: false }, 'api', 'localhost', '/p/acme/x'), {
    plane: 'api',
    space: 'live',
    target: '/p/acme/x',
  });
});

test('hooks below the API are found by whole segment, on the live host only', () => {
  assert.deepEqual(at(local, 'api', 'localhost', '/hooks/wf/abc?x'), { plane: 'hooks', target: '/wf/abc?x' });
  assert.deepEqual(at(local, 'api', 'localhost', '/hooks'), { plane: 'hooks', target: '/' });
  assert.equal(plane(local, 'api', 'localhost', '/hookshop'), 'api live');
  assert.equal(plane(local, 'sandbox', 'localhost', '/hooks/wf/abc'), 'api test');
});

test('gateway-token hosts need exactly 52 base32 characters', () => {
  const token = 'abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst';
  assert.deepEqual(at(hosted, null, `${token}.wrap.sallyport.example`, '/v1/chat'), { plane: 'wrap', token, target: '/v1/chat' });
  for (const bad of [`${token}a`, token.slice(1), `${token.slice(1)}1`, `x.${token}`])
    assert.equal(plane(hosted, null, `${bad}.wrap.sallyport.example`), 'unknown');
});

test('no host outside the base host is ever a tenant, and the memory of hosts does not change answers', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), fc.constantFrom<PortPlane>('api', 'admin', 'proxy', null), (host, port) => {
      const first = at(hosted, port, host);
      assert.deepEqual(at(hosted, port, host), first);
      if (!host.toLowerCase().split(':')[0]?.endsWith('.sallyport.example')) assert.notEqual(first.plane, 'tenant');
    }),
    { numRuns: 1000 },
  );
});
