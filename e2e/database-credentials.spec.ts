import { expect, type Page, test } from '@playwright/test';
import pg from 'pg';
import { type PostgresServer, postgresServer } from '../server/platform/databases/postgres/server.fixture.ts';
import { addPasskey, virtualAuthenticator } from './authenticator.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, query, setting, unique, until } from './running-system.ts';

/**
 * B2: a database is connected with the grants that the page wrote, an application gets a user of its own by one call and works with it, the lease ends, and
 * the next query is refused. Then a person gets one, which is shown once and revoked at once.
 */
const slug = unique('brokers');
const person = { email: `owner@${slug}.example`, password: 'seven keys to the cellar' };
const ADMIN_PASSWORD = 'admin-password-of-the-journey';

let server: PostgresServer;
let stop: () => Promise<void> = async () => undefined;

test.beforeAll(async () => {
  server = await postgresServer((ended) => {
    stop = ended;
  });
  await createWorkspace(slug, person);
});
test.afterAll(() => stop());

type Login = { username: string; password: string };

async function connected({ username, password }: Login): Promise<pg.Client> {
  const client = new pg.Client({ host: server.host, database: 'shop', user: username, password, ssl: { rejectUnauthorized: false } });
  // The server cuts the session when the user goes.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

const refused = (login: Login): Promise<boolean> =>
  connected(login).then(
    async (client) => {
      await client.end();
      return false;
    },
    () => true,
  );

/** Connects the server as the page asks for it, its grants included. */
async function connect(page: Page): Promise<void> {
  await page.goto(`/${slug}/live/database-credentials`);
  await accessible(page, 'without connections');
  await page.getByRole('button', { name: 'New connection' }).first().click();
  const sheet = page.getByRole('dialog', { name: 'New database connection' });
  await sheet.getByLabel('Name', { exact: true }).fill('orders');
  await sheet.getByLabel('Host', { exact: true }).fill(server.host);
  await sheet.getByLabel(/^Database/).fill('shop');
  await sheet.getByLabel('Admin user', { exact: true }).fill('sallyport');
  await sheet.getByLabel('Admin password', { exact: true }).fill(ADMIN_PASSWORD);
  await sheet.getByText('Create the admin user with these grants').click();
  await accessible(page, 'the form of a connection');
  const script = (await sheet.locator('figure pre').first().textContent()) ?? '';
  await server.query(script.replace('CHOOSE A PASSWORD', ADMIN_PASSWORD));
  await sheet.getByRole('button', { name: 'Create connection' }).click();

  const tested = page.getByRole('dialog', { name: 'Test the connection' });
  await tested.getByRole('button', { name: 'Test connection' }).click();
  await expect(tested.getByText(/^Connected in/)).toBeVisible();
  await expect(tested.getByText(/lacks/), 'the grants of the page are enough').toHaveCount(0);
  await accessible(page, 'a connection that works');
  await tested.getByRole('button', { name: 'Add roles' }).click();

  await page.getByRole('button', { name: 'New role' }).first().click();
  const role = page.getByRole('dialog', { name: 'New role' });
  await role.getByLabel('Name', { exact: true }).fill('reports');
  await accessible(page, 'the form of a role');
  await role.getByRole('button', { name: 'Create role' }).click();
  await expect(page.getByRole('row', { name: /reports/ })).toContainText('postgres-readonly');
}

test('B2: an application gets a database user by one call; when its lease ends, the next query is refused', async ({ page }) => {
  await signIn(page, person, slug);
  await connect(page);

  const { api_key: key = '' } = await operator([
    'create-key',
    '--slug',
    slug,
    '--space',
    'live',
    '--role',
    'Key - Infrastructure',
    '--name',
    'b2',
  ]);
  const minted = await json(`${setting('E2E_API_URL')}/v1/dyn-db-credentials/orders/creds/reports`, { key, body: { ttl_seconds: 3600 } });
  expect([minted.status, minted.headers.get('cache-control')], minted.text).toEqual([201, expect.stringContaining('no-store')]);
  const login = minted.body.data as Login & { lease_id: number };
  const client = await connected(login);
  expect((await client.query('SELECT count(*)::int AS orders FROM orders')).rows).toEqual([{ orders: 1 }]);
  await expect(client.query('INSERT INTO orders VALUES (2)')).rejects.toThrow(/permission denied/);

  await page.goto(`/${slug}/live/database-credentials/orders?tab=leases`);
  await expect(page.getByRole('row', { name: new RegExp(login.username) })).toContainText('Active');
  await accessible(page, 'a live lease');

  await query(`update dyn_db_leases set expires_at = now() where username = $1`, [login.username]);
  const known = `SELECT 1 FROM pg_roles WHERE rolname = ${pg.escapeLiteral(login.username)}`;
  await until('the user is gone', async () => (await server.query(known)).rows.length === 0);
  expect(await refused(login)).toBe(true);
  const isCut = () =>
    client.query('SELECT 1').then(
      () => false,
      () => true,
    );
  await until('the open session is cut', isCut);
  await client.end().catch(() => undefined);
  await expect(page.getByText('No live leases')).toBeVisible();
  await accessible(page, 'without leases');
});

test('B2: a person gets a credential after a verification, sees it once, and revokes it', async ({ page }) => {
  await signIn(page, person, slug);
  const device = await virtualAuthenticator(page);
  await addPasskey(page, device, person.email);
  await page.goto(`/${slug}/live/database-credentials/orders?tab=roles`);
  await page
    .getByRole('row', { name: /reports/ })
    .getByRole('button', { name: /actions/i })
    .click();
  await page.getByRole('menuitem', { name: 'Get credential…' }).click();
  const ask = page.getByRole('dialog', { name: 'Get credential' });
  await accessible(page, 'asking for a credential');
  const shown = page.getByRole('dialog', { name: 'Your database credential' });
  await device.presentFor(async () => {
    await ask.getByRole('button', { name: 'Get credential' }).click();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await expect(shown).toBeVisible();
  });
  await accessible(page, 'a credential');
  const password = (await shown.locator('pre').first().textContent()) ?? '';
  const command = (await shown.locator('figure pre').first().textContent()) ?? '';
  const username = /user=(svc_reports_[a-z2-7]{10}_[0-9a-z]{6})/.exec(command)?.[1] ?? '';
  expect(command).not.toContain(password);
  await (await connected({ username, password })).end();

  await shown.getByRole('button', { name: 'Revoke now' }).click();
  await expect(shown).toBeHidden();
  expect(await page.content()).not.toContain(password);
  expect(await refused({ username, password })).toBe(true);
  const log = await page.request.get('/admin/audit-logs?action=plaintext.reveal', {
    headers: { 'x-tenant-id': slug, 'x-svc-space': 'live' },
  });
  expect(await log.text()).not.toContain(password);
});
