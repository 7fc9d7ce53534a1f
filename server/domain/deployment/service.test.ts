import assert from 'node:assert/strict';
import test from 'node:test';
import { families } from '#server/domain/families.ts';
import type { Family } from '#server/kernel/family.ts';
import { parseEnv } from '#server/platform/env.ts';
import { builtIn, providedBy } from './features.ts';
import { PARITY } from './schema.ts';

const statusOf = (key: string, source: Record<string, string> = {}) =>
  providedBy(parseEnv(source)).find((feature) => feature.key === key)?.status;

test('what the operator provides follows the settings that the code reads', () => {
  const settings = {
    mail: { SMTP_URL: 'smtp://localhost' },
    geography: { GEOIP_DB_PATH: '/x.mmdb' },
    custom_hosts: { PROXY_BASE_HOST: 'example.com' },
  };
  for (const [key, source] of Object.entries(settings))
    assert.deepEqual([statusOf(key), statusOf(key, source)], ['reduced', 'customer_provided'], key);
  const stripe = { BILLING_DRIVER: 'stripe', STRIPE_SECRET_KEY: 'x', STRIPE_WEBHOOK_SECRET: 'x', STRIPE_PRICES: 'pro:month=price_1' };
  assert.deepEqual([statusOf('payments'), statusOf('payments', stripe)], ['reduced', 'customer_provided']);
});

test('every family with an API is listed once, and no note repeats a setting’s value', () => {
  const all = [...providedBy(parseEnv({ SMTP_URL: 'smtp://user:hunter2@localhost' })), ...builtIn(families as readonly Family[])];
  assert.equal(new Set(all.map(({ key }) => key)).size, all.length);
  assert.ok(all.every(({ status }) => PARITY.includes(status)));
  assert.ok(all.some(({ key }) => key === 'routes') && !JSON.stringify(all).includes('hunter2'));
});
