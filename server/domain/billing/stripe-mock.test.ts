import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { freePort } from '#scripts/ports.ts';
import { testDatabase } from '#server/testing/database.ts';
import { stripeSettings } from '#server/testing/stripe-server.ts';
import { until } from '#server/testing/until.ts';
import { stripeDriver } from './stripe.ts';

// The calls that the driver makes, against Stripe's own mock server: it has no memory, but refuses what isn't in Stripe's API.

const binary = [...(process.env.PATH ?? '').split(path.delimiter), path.join(homedir(), 'go/bin')]
  .map((folder) => path.join(folder, 'stripe-mock'))
  .find(isExecutable);
const port = await freePort();
await testDatabase(stripeSettings(`http://127.0.0.1:${port}`));

test('every call of the driver is one of Stripe’s API', async (t) => {
  if (!binary) return t.skip('stripe-mock is not installed: go install github.com/stripe/stripe-mock@latest');
  const server = spawn(binary, ['-http-addr', `127.0.0.1:${port}`], { stdio: 'ignore' });
  after(() => void server.kill());
  await answers(server);
  const until = new Date(Date.now() + 86_400_000);
  const customer = await stripeDriver.customer({ id: 'w', name: 'Acme', email: 'owner@example.com' });
  assert.match(customer, /^cus_/);
  const page = await stripeDriver
    .checkout({ key: 'k', customer, tenant_id: 'w', plan: 'pro', interval: 'month', backTo: 'https://example.com/billing' })
    .catch((error: Error) => error);
  // Its fixture of a session has no page; that it was made is what matters here.
  assert.ok(!(page instanceof Error) || /without a page/.test(page.message), String(page));
  await stripeDriver.expireCheckout('cs_1');
  assert.match(await stripeDriver.portal(customer, 'https://example.com'), /^https:/);
  await stripeDriver.changePlan('sub_1', 'starter', 'month', 'k1');
  await stripeDriver.scheduleCancel('sub_1', true, 'k2');
  await stripeDriver.pause('sub_1', until, 'k3');
  await stripeDriver.pause('sub_1', null, 'k4');
  await stripeDriver.retryPayment('sub_1');
  assert.ok('subscription' in (await stripeDriver.standing(customer, 'sub_1')));
  await stripeDriver.end('sub_1');
});

const answers = (server: ChildProcess) =>
  until(() => {
    if (server.exitCode !== null) throw new Error(`stripe-mock ended with ${server.exitCode}`);
    return fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
  }, 'stripe-mock answers');

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
