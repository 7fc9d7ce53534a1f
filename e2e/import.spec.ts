import { expect, test } from '@playwright/test';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, setting, startUpstream, type Upstream, unique } from './running-system.ts';

/** What somebody has already, a description or a command that works, becomes a route in Live with its credential sealed, and is called with a key made there. */
const slug = unique('importer');
const person = { email: `owner@${slug}.example`, password: 'what stood in the old notebook' };
let upstream: Upstream;

test.beforeAll(async () => {
  await createWorkspace(slug, person);
  upstream = await startUpstream();
});
test.afterAll(() => upstream?.close());

test.beforeEach(async ({ page }) => {
  await signIn(page, person, slug);
  await page.goto(`/${slug}/live/import`);
});

test('a pasted description in YAML becomes a live route that injects its credential, called with a live key made in the browser', async ({
  page,
}) => {
  await page
    .getByRole('radio', { name: 'OpenAPI' })
    .or(page.getByRole('button', { name: 'OpenAPI' }))
    .click();
  await page.getByLabel('OpenAPI description (YAML or JSON)').fill(`openapi: 3.1.0
info: { title: Ledger }
servers:
  - url: ${upstream.url}
security:
  - key: []
components:
  securitySchemes:
    key: { type: apiKey, in: header, name: X-Ledger-Key }
paths:
  /entries:
    get: { summary: All entries }
    post: { summary: Add an entry }
`);
  await page.getByRole('button', { name: 'Preview' }).click();
  await expect(page.getByText('1 route found')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Operations' })).toContainText('Add an entry');
  await accessible(page);
  await page.getByLabel(/^Value in /).fill('ledger-key-of-the-old-notebook');
  await page.getByRole('button', { name: 'Create 1 route and 1 secret' }).click();
  await expect(page.getByText('1 route created')).toBeVisible();
  await page.getByRole('button', { name: /POST \/entries/ }).click();
  await expect(page.locator('figure code')).toContainText('curl -X POST');
  expect(await page.content(), 'the value is gone from the page').not.toContain('ledger-key-of-the-old-notebook');

  await page.goto(`/${slug}/live/api-keys`);
  await page
    .getByRole('button', { name: /^(?:New|Create)\b.*key/ })
    .first()
    .click();
  await page.getByLabel('Name', { exact: true }).fill('ledger reader');
  await page.getByRole('button', { name: 'Create key' }).click();
  const card = page.getByRole('dialog').filter({ hasText: 'Your API key' });
  await expect(card).toBeVisible();
  const key = (await card.innerText()).match(/tk_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{51}/)?.[0] ?? '';
  expect(key).not.toBe('');

  const answer = await json(`http://localhost:${setting('E2E_PROXY_PORT')}/p/${slug}/ledger/entries`, { headers: { 'x-svc-key': key } });
  expect(answer.status, answer.text).toBe(200);
  const seen = upstream.seen.at(-1);
  expect(seen?.headers['x-ledger-key']).toBe('ledger-key-of-the-old-notebook');
  expect(seen?.headers['x-svc-key']).toBeUndefined();
});

test('a pasted curl command comes back rewritten to the gateway, with its method, query, headers and body', async ({ page }) => {
  await page
    .getByLabel('curl command')
    .last()
    .fill(
      `curl -X PUT '${upstream.url}/v1/notes/7?draft=1' -H 'Authorization: Bearer curl-key-of-the-old-notebook' -H 'Content-Type: application/json' -H 'X-Trace: t1' -d '{"title":"Ahoy"}'`,
    );
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('button', { name: 'Create 1 route and 1 secret' }).click();
  const code = page.locator('figure code');
  await expect(code).toContainText("curl -X PUT 'http://localhost");
  await expect(code).toContainText('/v1/notes/7?draft=1');
  await expect(code).toContainText('X-Svc-Key: YOUR_KEY');
  await expect(code).toContainText('X-Trace: t1');
  await expect(code).toContainText('{"title":"Ahoy"}');
  expect(await page.content()).not.toContain('curl-key-of-the-old-notebook');
  await accessible(page);
});

test('a text that cannot be read is refused beside it, and stays', async ({ page }) => {
  await page
    .getByRole('radio', { name: 'OpenAPI' })
    .or(page.getByRole('button', { name: 'OpenAPI' }))
    .click();
  const text = page.getByLabel('OpenAPI description (YAML or JSON)');
  await text.fill('openapi: [3.1.0');
  await page.getByRole('button', { name: 'Preview' }).click();
  await expect(page.getByText(/neither valid JSON nor valid YAML/)).toBeVisible();
  await expect(text).toHaveValue('openapi: [3.1.0');
  await accessible(page);

  // One of the size that large APIs publish is read all the same, without its prose.
  const large = {
    openapi: '3.1.0',
    info: { title: 'Grand', description: 'x'.repeat(2_000_000) },
    servers: [{ url: upstream.url }],
    paths: {},
  };
  await page
    .getByLabel('Upload file')
    .setInputFiles({ name: 'grand.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(large)) });
  await expect(page.getByText('Shortened to the title')).toBeVisible();
  await page.getByRole('button', { name: 'Preview' }).click();
  await expect(page.getByText('1 route found')).toBeVisible();
});
