import type http from 'node:http';
import { expect, type Page, test } from '@playwright/test';
import OpenAI, { type APIError, RateLimitError } from 'openai';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting, startUpstream, type Upstream, unique, until } from './running-system.ts';

/**
 * A1 to A3: a person stores a provider's key, makes an agent and hands its URL and token to the real OpenAI SDK; watches the calls come in with their cost;
 * runs out of budget and raises it; and stops the agent while it streams. The provider is a server on loopback that knows its own key only.
 */
const slug = unique('ai-people');
const owner = { email: `owner@${slug}.example`, password: 'a lantern in the long grass' };
const MODEL = 'gpt-journey';
const at = (path: string) => `/${slug}/live${path}`;
/** Playwright prepares once more after a test that failed. */
const run = Date.now();
const PROVIDER_KEY = `sk-provider-${run}`;

let provider: Upstream;
let key: string;
/** Of A2 and A3; A1 makes its own on the pages. */
let agent: { id: string; slug: string };
let token: string;
/** Set while a stream goes on until somebody stops it. */
let endless = false;

test.beforeAll(async () => {
  provider = await startUpstream(answer);
  await createWorkspace(slug, owner);
  key = (await operator(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Infrastructure'])).api_key as string;
  const secret = await api('POST', '/secrets', { name: `PROVIDER_KEY_${run}`, value: PROVIDER_KEY });
  const route = await api('POST', '/routes', {
    name: `Provider ${run}`,
    slug: `provider-${run}`,
    target_base_url: provider.url,
    inject_headers_json: { Authorization: `Bearer {{secret_id:${secret.id}}}` },
  });
  await api('PUT', `/ai-gateway/prices/custom/${MODEL}`, { input_per_mtok: 1, output_per_mtok: 4 });
  const gateway = await api('POST', '/ai-gateway/gateways', { name: `People ${run}`, slug: `people-${run}` });
  agent = await api('POST', `/ai-gateway/gateways/${gateway.id}/agents`, {
    name: `Night shift ${run}`,
    slug: `night-shift-${run}`,
    primary_route_id: route.id,
    default_model: MODEL,
  });
  token = (await api('POST', `/ai-gateway/agents/${agent.id}/tokens`, { name: 'sdk' })).token;
});
test.afterAll(() => provider.close());

/** A provider of chat completions: three pieces and the usage, or one answer. */
function answer(req: http.IncomingMessage, res: http.ServerResponse, body: string): void {
  const refuse = req.headers.authorization !== `Bearer ${PROVIDER_KEY}`;
  if (refuse) return void res.writeHead(401, { 'content-type': 'application/json' }).end('{"error":{"message":"wrong key"}}');
  const usage = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 };
  const base = { id: 'chatcmpl-1', created: 1, model: MODEL };
  if (!(JSON.parse(body) as { stream?: boolean }).stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello from afar' }, finish_reason: 'stop' }];
    return void res
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ ...base, object: 'chat.completion', choices, usage }));
  }
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (data: object) => res.write(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...data })}\n\n`);
  const piece = (content: string, finish_reason: string | null = null) =>
    send({ choices: [{ index: 0, delta: { content }, finish_reason }] });
  if (endless) {
    const ticking = setInterval(() => piece('and on '), 100);
    return void res.on('close', () => clearInterval(ticking));
  }
  for (const word of ['Hello ', 'from ']) piece(word);
  piece('afar', 'stop');
  send({ choices: [], usage });
  res.end('data: [DONE]\n\n');
}

/** The SDK as it comes. */
const sdk = (baseURL: string, apiKey = token) => new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const agentUrl = () => `${setting('E2E_API_URL')}/v1/ai/${agent.slug}/v1`;
const ask = () => sdk(agentUrl()).chat.completions.create({ model: MODEL, messages: [{ role: 'user', content: 'Say hello' }] });

async function api(method: string, path: string, body?: object) {
  const made = await json(`${setting('E2E_API_URL')}/v1${path}`, { method, key, ...(body ? { body } : {}) });
  expect(made.status, made.text).toBeLessThan(300);
  return made.body.data;
}

async function setDailyBudget(page: Page, amount: string): Promise<void> {
  await page.goto(at(`/ai/agents/${agent.id}?tab=budget`));
  await page.getByLabel('Per day').fill(amount);
  await page.getByRole('button', { name: 'Save' }).first().click();
  await expect(page.getByText('Agent saved').first()).toBeVisible();
}

test('A1: from a provider’s key to the first streamed call of the OpenAI SDK, with its cost', async ({ page }) => {
  await signIn(page, owner, slug);
  await page.goto(at('/secrets?open=new'));
  await page.getByLabel('Name', { exact: true }).fill(`FRONT_DESK_KEY_${run}`);
  await page.getByRole('textbox', { name: /^Value/ }).fill(PROVIDER_KEY);
  await page.getByRole('button', { name: 'Create secret' }).click();
  await page.waitForURL(/\/secrets\/[0-9a-f-]{36}/);
  const secret = /secrets\/([0-9a-f-]{36})/.exec(page.url())?.[1];
  await api('POST', '/routes', {
    name: `Front desk ${run}`,
    slug: `front-desk-${run}`,
    target_base_url: provider.url,
    inject_headers_json: { Authorization: `Bearer {{secret_id:${secret}}}` },
  });

  await page.goto(at('/ai'));
  await page.getByRole('button', { name: 'New agent' }).first().click();
  // The form loads its providers first: its person types without a click into it.
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused();
  await page.getByLabel('Name', { exact: true }).fill(`Support bot ${run}`);
  await page.getByRole('radio', { name: /Your own route/ }).check();
  await page.getByRole('combobox', { name: 'Route' }).fill(`${run}`);
  await page.getByRole('option', { name: `Front desk ${run}` }).click();
  await page.getByLabel('Default model').fill(MODEL);
  await accessible(page, 'the wizard');
  await page.getByRole('button', { name: 'Create agent' }).click();
  await page.getByRole('button', { name: 'Mint a token' }).click();
  await page.waitForURL(/\/ai\/agents\/[0-9a-f-]{36}/);
  const id = /agents\/([0-9a-f-]{36})/.exec(page.url())?.[1];
  await page.getByLabel('Name', { exact: true }).fill('sdk');
  await page.getByRole('button', { name: 'Mint token' }).last().click();
  const shown = page.getByRole('dialog').filter({ hasText: 'Save your capability token' });
  const minted = ((await shown.locator('pre').textContent()) ?? '').trim();
  expect(minted).toMatch(/^svcp_live_a_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
  await shown.getByLabel(/^I saved the/).check();
  await shown.getByRole('button', { name: 'Done' }).click();
  await expect(shown).toBeHidden();
  expect(await page.content(), 'nothing holds the token afterwards').not.toContain(minted);

  await page.goto(at(`/ai/agents/${id}?tab=connect`));
  const snippet = page.locator('figure').filter({ hasText: 'from openai import OpenAI' });
  const code = (await snippet.locator('pre').textContent()) ?? '';
  expect(code).toContain('svcp_YOUR_TOKEN');
  const base = new URL(/base_url="([^"]+)"/.exec(code)?.[1] ?? '');
  expect(base.pathname).toMatch(new RegExp(`/v1/ai/support-bot-${run}/v1$`));
  await accessible(page, 'Connect');

  await page.goto(at(`/ai/agents/${id}`));
  await expect(page.getByText('Waiting for the first call')).toBeVisible();
  const stream = await sdk(base.href, minted).chat.completions.create({
    model: MODEL,
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: 'user', content: 'Say hello' }],
  });
  let text = '';
  for await (const event of stream) text += event.choices[0]?.delta.content ?? '';
  expect(text).toBe('Hello from afar');
  // 1,000 tokens in at 1 USD and 500 out at 4 USD per million.
  const row = page.getByRole('row').filter({ hasText: MODEL });
  await expect(row).toContainText('$0.003');
  await expect(row).toContainText('OK');
  await accessible(page, 'the agent');
  expect(provider.seen.at(-1)?.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
  expect(JSON.stringify(provider.seen), 'the provider never sees the token').not.toContain(minted);

  await page.goto(at(`/ai/playground?agent=${id}`));
  await page.getByLabel('Message', { exact: true }).fill('Say hello');
  await page.getByRole('button', { name: 'Send' }).click();
  await expect(page.getByLabel('Messages').getByText('Hello from afar')).toBeVisible();
  await expect(page.getByText('$0.003')).toBeVisible();
  expect(await page.content(), 'no token reaches the page').not.toContain('svcp_live');
  await accessible(page, 'the playground');
});

test('A2: a spent budget refuses and says when it resets; a person raises it', async ({ page }) => {
  await signIn(page, owner, slug);
  await setDailyBudget(page, '0.001');
  let refused: unknown;
  await until('the budget refuses', async () => {
    refused = await ask().catch((error: unknown) => error);
    return refused instanceof RateLimitError;
  });
  const { error, headers } = refused as RateLimitError;
  expect(error).toBe('budget_exceeded');
  const left = Number(headers?.get('retry-after'));
  expect(left, 'the seconds until 00:00 UTC').toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(86_400);

  await page.goto(at(`/ai/agents/${agent.id}`));
  await expect(page.getByText('limit reached')).toBeVisible();
  await expect(page.getByText(/^Spent\. Resets/)).toBeVisible();
  await page.goto(at(`/ai/playground?agent=${agent.id}`));
  await page.getByLabel('Message', { exact: true }).fill('Say hello');
  await page.getByRole('button', { name: 'Send' }).click();
  await expect(page.getByText('budget_exceeded')).toBeVisible();
  await expect(page.getByText(/try again after/)).toBeVisible();

  await setDailyBudget(page, '5');
  await until('the raised budget lets calls pass', async () => (await ask()).choices[0]?.message.content === 'Hello from afar');
});

test('A3: the kill switch cuts a stream and refuses the next call, until it is turned back on', async ({ page }) => {
  await signIn(page, owner, slug);
  await page.goto(at(`/ai/agents/${agent.id}`));
  endless = true;
  const stream = await sdk(agentUrl()).chat.completions.create({
    model: MODEL,
    stream: true,
    messages: [{ role: 'user', content: 'Talk on' }],
  });
  let pieces = 0;
  const cut = (async () => {
    try {
      for await (const _ of stream) pieces++;
      return 'ended';
    } catch {
      return 'failed';
    }
  })();
  await until('the stream runs', () => pieces > 2);
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByLabel('Reason').fill('It talks too much');
  await page.getByRole('button', { name: 'Pause agent' }).click();
  expect(await cut, 'the SDK is told that the stream did not end well').toBe('failed');
  endless = false;

  await expect(page.getByText('It talks too much')).toBeVisible();
  const refused = (await ask().catch((error: unknown) => error)) as APIError;
  expect([refused.status, refused.error]).toEqual([503, 'agent_not_active']);
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(page.getByRole('button', { name: 'Pause', exact: true })).toBeVisible();
  await until('calls pass again', async () => (await ask()).choices.length === 1);
});
