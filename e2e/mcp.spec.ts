import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { expect, test } from '@playwright/test';
import { z } from 'zod';
import { mailTo, virtualAuthenticator } from './authenticator.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting, startUpstream, type Upstream } from './running-system.ts';

/**
 * A4: an editor, which is the official MCP client, uses a tool of an MCP server through the gateway; the call waits until a person approves it with a
 * passkey. The upstream is the official server package on loopback, and knows its own credential only.
 */
/** Playwright prepares once more after a test that failed, and whoever has a passkey signs in differently. */
const run = Date.now();
const slug = `mcp-people-${run}`;
const owner = { email: `owner@${slug}.example`, password: 'a tool for every hand' };
const UPSTREAM_KEY = `issues-${run}`;
const at = (path: string) => `/${slug}/live${path}`;

let upstream: Upstream;
let key: string;
let server: { id: string };
let token: string;

test.beforeAll(async () => {
  upstream = await startUpstream((req, res, body) => {
    if (req.headers.authorization !== `Bearer ${UPSTREAM_KEY}`) return void res.writeHead(401).end();
    if (req.method !== 'POST') return void res.writeHead(405).end();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    void issueTracker()
      .connect(transport as never)
      .then(() => transport.handleRequest(req, res, JSON.parse(body)));
  });
  await createWorkspace(slug, owner);
  key = (await operator(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Infrastructure'])).api_key as string;
  const secret = await api('POST', '/secrets', { name: `ISSUES_KEY_${run}`, value: UPSTREAM_KEY });
  const gateway = await api('POST', '/ai-gateway/gateways', { name: `Editors ${run}`, slug: `editors-${run}` });
  server = await api('POST', `/ai-gateway/gateways/${gateway.id}/mcp-servers`, {
    name: `Issues ${run}`,
    slug: `issues-${run}`,
    upstream_url: `${upstream.url}/mcp`,
    auth: { headers: { Authorization: `Bearer {{secret_id:${secret.id}}}` } },
  });
  token = (await api('POST', `/ai-gateway/gateways/${gateway.id}/tokens`, { name: 'editor' })).token;
});
test.afterAll(() => upstream.close());

function issueTracker(): McpServer {
  const tracker = new McpServer({ name: 'issues', version: '1' });
  tracker.registerTool('close_issue', { description: 'Closes an issue', inputSchema: { number: z.number() } }, ({ number }) => ({
    content: [{ type: 'text', text: `Closed issue ${number}` }],
  }));
  return tracker;
}

async function api(method: string, path: string, body?: object) {
  const made = await json(`${setting('E2E_API_URL')}/v1${path}`, { method, key, ...(body ? { body } : {}) });
  expect(made.status, made.text).toBeLessThan(300);
  return made.body.data;
}

const callsUpstream = () => upstream.seen.filter(({ body }) => body.includes('"tools/call"'));

test('A4: an editor’s tool call waits until a person approves it with a passkey, then completes', async ({ page }) => {
  await signIn(page, owner, slug);
  const device = await virtualAuthenticator(page);
  await page.goto('/me/security');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  const code = await mailTo(page, owner.email, /\b(\d{6})\b/);
  await device.presentFor(async () => {
    await page.getByLabel('Code from the email').fill(code);
    await page.getByRole('button', { name: 'Save passkey' }).click();
    await page.getByLabel(/^I saved the/).check();
  });
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByRole('heading', { name: 'Save your recovery codes' })).toHaveCount(0);

  await page.goto(at(`/ai/mcp/${server.id}`));
  await page.getByRole('button', { name: 'Refresh tools' }).click();
  await device.presentFor(async () => {
    await page.getByRole('switch', { name: 'Allow close_issue' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Use a passkey' }).click();
    await expect(page.getByRole('switch', { name: 'Allow close_issue' })).toBeChecked();
  });
  await page.getByRole('row').filter({ hasText: 'close_issue' }).getByRole('button').first().click();
  await page.getByRole('switch', { name: 'Ask a person before each call' }).click();
  await expect(page.getByRole('switch', { name: 'Ask a person before each call' })).toBeChecked();
  await accessible(page, 'a tool');

  await page.goto(at(`/ai/mcp/${server.id}?tab=connect`));
  const shown = (await page.locator('figure pre').first().textContent()) ?? '';
  const url = /https?:\/\/\S+\/v1\/mcp\/issues-\d+/.exec(shown)?.[0];
  const editor = new Client({ name: 'editor', version: '1' });
  const headers = { Authorization: `Bearer ${token}` };
  await editor.connect(new StreamableHTTPClientTransport(new URL(url as string), { requestInit: { headers } }) as never);
  expect((await editor.listTools()).tools.map(({ name }) => name)).toEqual(['close_issue']);

  await page.goto(at('/ai/approvals'));
  await expect(page.getByText('No call is waiting')).toBeVisible();
  const call = editor.callTool({ name: 'close_issue', arguments: { number: 41 } });
  call.catch(() => undefined); // told below
  const waiting = page.getByRole('listitem').filter({ hasText: 'close_issue' });
  await expect(waiting).toContainText('41');
  await expect(waiting).toContainText('editor');
  await accessible(page, 'a call that waits');
  expect(callsUpstream(), 'nothing leaves before somebody decides').toHaveLength(0);
  await waiting.getByRole('button', { name: 'Approve call' }).click();
  await expect(page.getByRole('heading', { name: 'Confirm it’s you' })).toBeVisible();
  expect(callsUpstream()).toHaveLength(0);
  await device.presentFor(async () => {
    await page.getByRole('dialog').getByRole('button', { name: 'Use a passkey' }).click();
    expect(await call).toMatchObject({ content: [{ type: 'text', text: 'Closed issue 41' }] });
  });
  await expect(page.getByText('No call is waiting')).toBeVisible();
  expect(callsUpstream()).toHaveLength(1);
  expect(JSON.stringify(upstream.seen), 'the upstream never sees the token').not.toContain(token);

  await page.getByRole('radio', { name: 'Decided' }).click();
  await expect(waiting).toContainText('Approved');
  await page.goto(at(`/ai/mcp/${server.id}?tab=activity`));
  await expect(page.getByRole('row').filter({ hasText: 'ran MCP server' })).toHaveCount(1);
  await editor.close();
});
