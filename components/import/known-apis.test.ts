import assert from 'node:assert/strict';
import test from 'node:test';
import { CreateRoute } from '#server/domain/routes/schema.ts';
import { KNOWN_APIS, KNOWN_APIS_CHECKED_ON, proposalOf } from './known-apis.ts';

const nothing = { routes: new Set<string>(), secrets: new Set<string>() };

test('every known API is a route that the service would take, and asks for exactly the secrets its templates name', () => {
  for (const api of KNOWN_APIS) {
    const { routes, secrets } = proposalOf(api, nothing);
    const [route] = routes;
    assert.ok(route);
    const { sample_call, ...body } = route;
    assert.ok(CreateRoute.safeParse(body).success, api.name);
    assert.match(body.target_base_url, /^https:/);
    assert.match(sample_call.path, /^\//);
    assert.match(api.docs, /^https:/);
    const named = [...JSON.stringify(body).matchAll(/\{\{secret:(\w+)\}\}/g)].map((m) => m[1]);
    assert.deepEqual([...new Set(named)].sort(), secrets.map((s) => s.name).sort(), api.name);
    assert.ok(named.length > 0, `${api.name} puts no credential in`);
    assert.doesNotMatch(JSON.stringify(api), /sk_live_|ghp_|xoxb-\d/, 'a template holds no credential');
  }
});

test('the catalog carries its date, and every mark is readable in white on its color', () => {
  assert.match(KNOWN_APIS_CHECKED_ON, /^20\d\d-\d\d-\d\d$/);
  assert.ok(new Date(KNOWN_APIS_CHECKED_ON) <= new Date());
  for (const { name, mark } of KNOWN_APIS) {
    assert.match(mark.letters, /^[A-Z][A-Za-z]?$/, name);
    assert.match(mark.color, /^#[0-9a-f]{6}$/, name);
    const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(mark.color.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    assert.ok(1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05) >= 4.5, `${name} ${mark.color}`);
  }
});

test('names that are taken count up, in the templates as well', () => {
  const api = KNOWN_APIS[0];
  assert.ok(api);
  const { routes, secrets } = proposalOf(api, { routes: new Set(['Stripe', 'Stripe 2']), secrets: new Set(['STRIPE_SECRET_KEY']) });
  assert.equal(routes[0]?.name, 'Stripe 3');
  assert.equal(secrets[0]?.name, 'STRIPE_SECRET_KEY_2');
  assert.equal(routes[0]?.inject_headers_json.Authorization, 'Bearer {{secret:STRIPE_SECRET_KEY_2}}');
});
