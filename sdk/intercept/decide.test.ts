import assert from 'node:assert/strict';
import test from 'node:test';
import { type Decision, decide, type ManifestRoute, type Rules } from './decide.ts';

// The table of interface rule 34 §4: one line for each reason, and what lies next to it.

const route = (host: string, base_path: string, slug: string, more: Partial<ManifestRoute> = {}): ManifestRoute => ({
  ...{ host, base_path, slug, route_id: '33333333-4444-4555-8666-777777777777' },
  ...{ requires_clients: false, allowed_methods: null, updated_at: null, ...more },
});
const rules: Rules = {
  enabled: true,
  own_hosts: ['api.service.test', 'acme.proxy.service.test', 'localhost:4000'],
  route_around: [{ host: 'api.hubapi.com', path_prefix: '/files' }, { host: 'Private.Example.com.' }],
  hosts: ['api.hubapi.com', 'api.openai.com', '[2001:db8::1]'],
  inside: true,
  routes: [
    route('api.hubapi.com', '/crm/v3', 'crm'),
    route('api.hubapi.com', '/crm', 'crm-all'),
    route('api.twilio.com', '/', 'b-twilio', { ambiguous: true }),
    route('api.twilio.com', '/', 'a-twilio', { ambiguous: true }),
    route('only.example.com', '/v1', 'only'),
  ],
};
const text = (decision: Decision) =>
  decision.mode === 'route' ? `route ${decision.route.slug} ${decision.path}` : `${decision.mode} ${decision.reason}`;

for (const [url, expected, more] of [
  ['https://api.hubapi.com/crm/v3/x', 'direct kill_switch', { enabled: false }],
  ['not a url', 'direct unparseable'],
  ['ftp://api.hubapi.com/crm', 'direct unparseable'],
  ['mailto:a@api.hubapi.com', 'direct unparseable'],
  ['https://api.service.test/v1/routes', 'direct own_host'],
  ['https://ACME.proxy.service.test./x', 'direct own_host'],
  ['http://localhost:4000/p/acme', 'direct own_host'],
  ['http://localhost:4999/p/acme', 'direct unlisted'],
  ['https://api.service.test.evil.example/v1', 'direct unlisted'],
  ['https://api.hubapi.com/files/1', 'direct route_around'],
  ['https://private.example.com/any', 'direct route_around'],
  ['https://api.stripe.com/v1/tokens', 'direct route_around', { hosts: 'all' }],
  ['https://api.stripe.com/v1//%74okens', 'direct route_around', { routes: [route('api.stripe.com', '/', 'stripe')] }],
  ['https://api.hubapi.com/crm/v3/x', 'direct outside_context', { inside: false }],
  ['https://api.hubapi.com/crm/v3/objects?limit=1', 'route crm /objects?limit=1'],
  ['https://api.hubapi.com/crm/v3', 'route crm /'],
  ['https://api.hubapi.com/crm/v3/', 'route crm /'],
  ['https://api.hubapi.com/crm/v30', 'route crm-all /v30'],
  ['https://API.HubAPI.com./crm/v3/x', 'route crm /x'],
  ['https://api.hubapi.com/crm/v3/../../other', 'ephemeral no_base_path_match'],
  ['https://api.hubapi.com/crm/v3/%2e%2e/%2e%2e/files/1', 'direct route_around'],
  ['https://api.hubapi.com/crmx', 'ephemeral no_base_path_match'],
  ['https://api.hubapi.com/CRM/v3/x', 'ephemeral no_base_path_match'],
  ['https://api.hubapi.com:8443/crm/v3/x', 'ephemeral no_base_path_match'],
  ['https://api.hubapi.com:443/crm/v3/x', 'route crm /x'],
  ['https://api.twilio.com/2010-04-01/a%2Fb?x=%2e#part', 'route a-twilio /2010-04-01/a%2Fb?x=%2e'],
  ['https://api.openai.com/v1/models', 'ephemeral no_route'],
  ['https://[2001:DB8::1]/v1', 'ephemeral no_route'],
  ['https://other.example.com/', 'ephemeral no_route', { hosts: 'all' }],
  ['https://only.example.com/v2', 'direct unlisted'],
  ['https://other.example.com/', 'direct unlisted'],
  ['https://api.hubapi.com@other.example.com/crm/v3', 'direct unlisted'],
] as [string, string, Partial<Rules>?][])
  test(`${url} is ${expected}`, () => {
    assert.equal(text(decide(url, { ...rules, ...more })), expected);
  });
