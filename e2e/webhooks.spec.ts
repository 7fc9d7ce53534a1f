import { createHmac } from 'node:crypto';
import http from 'node:http';
import { expect, test } from '@playwright/test';
import { freePort } from '../scripts/ports.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, logged, operator, setting, startUpstream, unique, until } from './running-system.ts';

/** E1: events arrive signed; what a receiver missed is tried again, and recovered. And the other way: what others sign is verified. */
const slug = unique('couriers');
const person = { email: `owner@${slug}.example`, password: 'nine letters in the rain' };
let key = '';

test.beforeAll(async () => {
  await createWorkspace(slug, person);
  key = (await operator(['create-key', '--slug', slug, '--space', 'test'])).api_key ?? '';
});

type Got = { event: string; body: string; signature: string };

/** A receiver that can be stopped and started on the same port. */
async function receiver() {
  const seen: Got[] = [];
  let server: http.Server | undefined;
  const port = await freePort();
  const start = async () => {
    server = http.createServer(async (req, res) => {
      const body = Buffer.concat(await req.toArray()).toString();
      if (body !== '')
        seen.push({
          event: String(req.headers['x-webhook-event']),
          body,
          signature: String(req.headers['x-webhook-signature']),
        });
      res.end();
    });
    await new Promise<void>((listening) => server?.listen(port, '127.0.0.1', listening));
  };
  const stop = () => {
    server?.close();
    server?.closeAllConnections();
  };
  await start();
  return { seen, start, stop, url: `http://127.0.0.1:${port}/hooks` };
}

test('E1: add a webhook, test it, get a real failure; stop the receiver, start it, recover all', async ({ page }) => {
  const upstream = await startUpstream((_, res) => void res.writeHead(503).end('down'));
  const made = await json(`${setting('E2E_SANDBOX_API_URL')}/v1/routes`, { key, body: { name: 'Orders', target_base_url: upstream.url } });
  const call = () =>
    json(`http://127.0.0.1:${setting('E2E_PROXY_PORT')}/p/sandbox-${slug}/${made.body.data.id}/orders`, { key }).then(({ status }) =>
      expect(status).toBe(503),
    );
  const hook = await receiver();

  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/webhooks`);
  await accessible(page, 'without webhooks');
  await page.getByRole('button', { name: 'New webhook' }).first().click();
  const sheet = page.getByRole('dialog', { name: 'New webhook' });
  await sheet.getByLabel('Name', { exact: false }).first().fill('Pager');
  await sheet.getByLabel('URL', { exact: false }).first().fill(hook.url);
  await sheet.getByRole('combobox', { name: /Events/ }).fill('server_error');
  await page.getByRole('option', { name: /request\.server_error/ }).click();
  await sheet.getByText('Delivery', { exact: true }).click();
  await sheet.getByLabel('Retries', { exact: false }).fill('1');
  await accessible(page, 'the form');
  await sheet.getByRole('button', { name: 'Create webhook' }).click();
  const shown = page.getByRole('dialog', { name: 'Webhook created' });
  const secret = ((await shown.locator('pre').textContent()) ?? '').trim();
  expect(secret).toMatch(/^whsec_/);
  await shown.getByRole('checkbox').check();
  await shown.getByRole('button', { name: 'Done' }).click();
  await page.waitForURL(`**/${slug}/test/webhooks/*`);
  expect(await page.content()).not.toContain(secret);

  await page.getByRole('navigation', { name: 'Webhook' }).getByRole('link', { name: 'Test', exact: true }).click();
  await page.getByRole('button', { name: 'Send test' }).click();
  await expect(page.getByText('Delivered: status 200')).toBeVisible();
  const signed = ({ body, signature }: Got) => expect(signature).toBe(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  expect(hook.seen[0]?.event).toBe('webhook.test');
  signed(hook.seen[0] as Got);

  await call();
  await until('the event arrived', () => hook.seen.length > 1);
  const got = hook.seen[1] as Got;
  signed(got);
  expect([got.event, JSON.parse(got.body).data.response.status]).toEqual(['request.server_error', 503]);

  hook.stop();
  const before = hook.seen.length;
  await call();
  await call();
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await expect(page.getByRole('row', { name: /Failed, tried again/ }).first()).toBeVisible();
  await accessible(page, 'deliveries that fail');
  await expect(page.getByRole('cell', { name: 'Failed', exact: true })).toHaveCount(2);
  expect(hook.seen.length).toBe(before);

  await hook.start();
  await page.getByRole('button', { name: 'Deliver again' }).click();
  await expect(page.getByText('2 deliveries queued again')).toBeVisible();
  await until('both were recovered', () => hook.seen.length === before + 2);
  for (const one of hook.seen.slice(before)) signed(one);
  expect(new Set(hook.seen.map(({ body }) => JSON.parse(body).id)).size, 'an event of its own each').toBe(hook.seen.length);
  await expect(page.getByText('Recovered').first()).toBeVisible();
  hook.stop();
  upstream.close();
});

test('an inbound webhook: its address takes what the sender signs, through the front door, and nothing else', async ({ page }) => {
  const target = await startUpstream((_, res) => void res.writeHead(202, { 'content-type': 'application/json' }).end('{"taken":true}'));
  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/inbound`);
  await accessible(page, 'without receivers');
  await page.getByRole('button', { name: 'New inbound webhook' }).first().click();
  const sheet = page.getByRole('dialog', { name: 'New inbound webhook' });
  await sheet.getByLabel('Name', { exact: false }).first().fill('repository');
  await sheet.getByRole('combobox', { name: 'Signed by' }).click();
  await page.getByRole('option', { name: 'GitHub' }).click();
  await sheet.getByLabel('URL', { exact: false }).last().fill(`${target.url}/push`);
  await accessible(page, 'the form of a receiver');
  await sheet.getByRole('button', { name: 'Create inbound webhook' }).click();
  const shown = page.getByRole('dialog', { name: 'Inbound webhook created' });
  const secret = ((await shown.locator('pre').textContent()) ?? '').trim();
  await shown.getByRole('checkbox').check();
  await shown.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row', { name: /repository/ });
  await expect(row).toContainText('Waiting for a call');
  await row.click();
  const address = await page.getByText(new RegExp(`/in/sandbox-${slug}/repository$`)).textContent();
  expect(address).toContain(new URL(setting('E2E_API_URL')).host);

  const body = '{"ref":"refs/heads/main"}';
  const send = (signature: string) =>
    json(address ?? '', { body, headers: { 'x-hub-signature-256': signature, 'x-svc-verified': 'yes', 'x-github-event': 'push' } });
  const good = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const taken = await send(good);
  expect([taken.status, taken.text]).toEqual([202, '{"taken":true}']);
  expect(target.seen.map(({ url, body: text, headers }) => [url, text, headers['x-svc-verified'], headers['x-github-event']])).toEqual([
    ['/push', body, 'true', 'push'],
  ]);
  const forged = await send(good.replace(/.$/, (last) => (last === '0' ? '1' : '0')));
  expect([forged.status, forged.body.error.type]).toEqual([401, 'invalid_signature']);
  expect((await json(`${address}x`, { body })).status).toBe(404);
  expect((await json(address ?? '')).status).toBe(405);
  expect(target.seen.length).toBe(1);

  await logged(setting('E2E_SANDBOX_API_URL'), key, [taken, forged]);
  await page.goto(`/${slug}/test/logs?mode=inbound`);
  await expect(page.getByRole('list', { name: 'Calls' }).getByRole('button', { name: /\/in\/repository/ })).toHaveCount(2);
  await accessible(page, 'its calls in the log');
  target.close();
});
