import { expect, type Page, test } from '@playwright/test';
import { mailTo } from './authenticator.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, query, setting, startUpstream, type Upstream, unique, until } from './running-system.ts';

/** 70 §7 and §8: an alert opens, tells people, and resolves; the bell of everybody else rings. */

const slug = unique('watchers');
const person = { email: `owner@${slug}.example`, password: 'all along the quiet tower' };
const onCall = `on-call@${slug}.example`;
let upstream: Upstream;
let key = '';
let failing = true;

const call = () => fetch(`http://localhost:${setting('E2E_PROXY_PORT')}/p/${slug}/payments/charges`, { headers: { 'x-svc-key': key } });
const row = (page: Page, table: string, name: string) => page.getByRole('table', { name: table }).getByRole('row', { name });

test.beforeAll(async () => {
  await createWorkspace(slug, person);
  key =
    (await operator(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Infrastructure', '--name', 'worker'])).api_key ?? '';
  upstream = await startUpstream((_, res) => res.writeHead(failing ? 503 : 200).end('{}'));
  const made = await json(`${setting('E2E_API_URL')}/v1/routes`, {
    key,
    body: { name: 'payments', slug: 'payments', target_base_url: upstream.url },
  });
  expect(made.status, made.text).toBe(201);
});
test.afterAll(() => upstream.close());

test('E3: failed calls open an incident, which is mailed, shown with its calls, acknowledged, and resolves by itself', async ({ page }) => {
  await signIn(page, person, slug);

  // Where it is told.
  await page.goto(`/${slug}/live/alerts/channels`);
  await expect(page.getByRole('heading', { name: 'No channels yet' })).toBeVisible();
  await page.getByRole('button', { name: 'New channel' }).first().click();
  const channel = page.getByRole('dialog', { name: 'New channel' });
  await channel.getByLabel('Name').fill('On-call');
  await channel.getByRole('button', { name: 'Create channel' }).click();
  await expect(channel.getByText(/is required/i).first()).toBeVisible();
  await channel.getByLabel('Email addresses').fill(onCall);
  await accessible(page, 'a new channel');
  await channel.getByRole('button', { name: 'Create channel' }).click();
  await expect(row(page, 'Alert channels', 'On-call')).toContainText(onCall);
  await row(page, 'Alert channels', 'On-call')
    .getByRole('button', { name: /^Actions/ })
    .click();
  await page.getByRole('menuitem', { name: 'Send test message' }).click();
  await expect(page.getByText(/^On-call took the test message in/)).toBeVisible();

  // What is watched: from a template, seen over the last seven days.
  await page.goto(`/${slug}/live/alerts`);
  await page.getByRole('button', { name: 'New alert' }).first().click();
  const alert = page.getByRole('dialog', { name: 'New alert' });
  await alert.getByRole('combobox', { name: /^Template/ }).click();
  await page.getByRole('option', { name: 'Any server error' }).click();
  await expect(alert.getByLabel('Name')).toHaveValue('Any server error');
  await alert.getByLabel('Within').fill('1');
  await expect(alert.getByText(/^Fires when 1 or more calls with status 500, 502, 503, 504 in 1 minute/)).toBeVisible();
  await alert.getByRole('checkbox', { name: 'On-call' }).click();
  await alert.getByRole('button', { name: 'Preview', exact: true }).click();
  await expect(alert.getByText(/^It would have fired/)).toBeVisible();
  await accessible(page, 'a new alert with its preview');
  await alert.getByRole('button', { name: 'Create alert' }).click();
  await expect(row(page, 'Alerts', 'Any server error')).toContainText(/No data|OK/);

  // A real failure through the route.
  await until('the route serves', async () => (await call()).status === 503);
  await expect(row(page, 'Alerts', 'Any server error')).toContainText('Firing');
  const link = await mailTo(page, onCall, /(https?:\/\/\S+\/alerts\/incidents\/[0-9a-f-]{36})/);

  // The bell: nobody reloads anything.
  await page.getByRole('button', { name: /^Notifications, \d+ unread/ }).click();
  const inbox = page.getByRole('dialog', { name: 'Notifications' });
  await expect(inbox.getByRole('link', { name: 'Alert: Any server error' })).toBeVisible();
  await accessible(page, 'the inbox beside a page');
  await inbox.getByRole('link', { name: 'Alert: Any server error' }).click();
  await expect(page).toHaveURL(new RegExp(new URL(link).pathname));

  await expect(page.getByRole('heading', { level: 1, name: 'Any server error' })).toBeVisible();
  await expect(page.getByText('On-call: delivered')).toBeVisible();
  await expect(
    page
      .locator('section')
      .filter({ hasText: 'Sample requests' })
      .getByRole('link', { name: /^[0-9a-f-]{36}$/ })
      .first(),
  ).toBeVisible();
  await expect(page.getByRole('link', { name: 'alert.create' })).toBeVisible();
  await page.getByRole('button', { name: 'Acknowledge' }).click();
  await expect(page.getByText(/^By nobody$/)).toHaveCount(0);
  await page.getByLabel('Note').fill('The bank is down.');
  await page.getByRole('button', { name: 'Add note' }).click();
  await expect(page.getByRole('list').getByText('The bank is down.')).toBeVisible();
  await accessible(page, 'an incident');

  // Two clean windows later it is over.
  failing = false;
  expect((await call()).status).toBe(200);
  await expect(async () => {
    await letTimePass();
    await expect(page.getByText('Told that it resolved')).toBeVisible({ timeout: 1_000 });
  }).toPass();
  await page.goto(`/${slug}/live/alerts/incidents`);
  await expect(row(page, 'Incidents', 'Any server error')).toContainText('Resolved');
  await mailTo(page, onCall, /(resolved)/i);
  await page.goto(`/${slug}/settings/notifications`);
  await expect(page.getByRole('link', { name: 'Resolved: Any server error' })).toBeVisible();
});

/** Moves the failed call, and the first look that found none, into the past: the worker's next looks find two clean windows. */
async function letTimePass(): Promise<void> {
  const whose = 'tenant_id = (select id from tenants where slug = $1)';
  await query(
    `update request_rollups set minute = minute - interval '1 hour' where errors > 0 and minute > now() - interval '30 minutes' and ${whose}`,
    [slug],
  );
  await query(
    `update alert_incidents set clean_since = clean_since - interval '1 hour' where clean_since > now() - interval '30 minutes' and ${whose}`,
    [slug],
  );
}

test('a person chooses where they hear of what, and reads their inbox on a phone', async ({ page }) => {
  await signIn(page, person, slug);
  await page.setViewportSize({ width: 360, height: 800 });
  await page.goto(`/${slug}/settings/notifications?tab=preferences`);
  await expect(page.getByRole('checkbox', { name: 'Security, email' })).toBeDisabled();
  await page.getByRole('checkbox', { name: 'Operations, email' }).click();
  await expect(page.getByText('Saved', { exact: true }).first()).toBeVisible();
  await page.getByRole('radio', { name: 'Once an hour' }).click();
  await page.getByRole('button', { name: 'Turn on quiet hours' }).click();
  await expect(page.getByRole('button', { name: 'Turn off' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('checkbox', { name: 'Operations, email' })).not.toBeChecked();
  await expect(page.getByRole('radio', { name: 'Once an hour' })).toBeChecked();
  await accessible(page, 'notification preferences');
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await page.goto(`/${slug}/settings/notifications`);
  const all = page.getByRole('button', { name: 'Mark all as read' });
  await expect(all).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await all.click();
  await expect(page.getByText('(unread)')).toHaveCount(0);
});
