import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, type Page, test } from '@playwright/test';
import { found, foundInTables, needle } from './leak-scan.ts';
import { accessible, signIn } from './person.ts';
import { createWorkspace, json, operator, setting, startUpstream, unique, until } from './running-system.ts';

/**
 * Interface rule 41 §13: a customer's page on another origin takes a card number in a hosted field. It gets a sealed value, and nothing that stays behind has
 * the number.
 */
test.describe.configure({ mode: 'serial' });

const slug = unique('hosted-fields');
const person = { email: `owner@${slug}.example`, password: 'seven drawers in the hall' };
const api = setting('E2E_SANDBOX_API_URL');
const CARD = luhn(`4929${String(Date.now()).slice(-11)}`);

type Server = {
  url: string;
  port: number;
  /** Every request it was sent, and what it was answered by others. */
  seen: string[];
  /** Set: what its server does with an order of its page. */
  order?: ((body: string) => Promise<Response>) | undefined;
  close: () => void;
};
/** The customer: its page, its server, and what that server was sent. */
let shop: Server;
let stranger: Server;
let key: string;
let liveKey: string;
let tenantId: string;

test.beforeAll(async () => {
  await createWorkspace(slug, person);
  key = (await operator(['create-key', '--slug', slug, '--space', 'test', '--role', 'Key - Infrastructure'])).api_key as string;
  liveKey = (await operator(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Infrastructure'])).api_key as string;
  shop = await customer('localhost');
  stranger = await customer('127.0.0.1');
});
test.afterAll(() => {
  for (const server of [shop, stranger]) server?.close();
});

test('an Owner registers the page under Element origins', async ({ page }) => {
  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/encryption`);
  await page.getByRole('textbox', { name: 'Origins' }).fill(`${shop.url}/pay`);
  await page.getByRole('button', { name: 'Save origins' }).click();
  await expect(page.getByText(/must be https:\/\/host or https:\/\/host:port/)).toBeVisible();
  await page.getByRole('textbox', { name: 'Origins' }).fill(shop.url);
  await page.getByRole('button', { name: 'Save origins' }).click();
  await expect(page.getByText('Element origins saved')).toBeVisible();
  tenantId = (await json(`${api}/v1/account`, { key })).body.data.id;
});

test('into a vault: the page and its server get a token, and the person sees the number in a frame', async ({ page }) => {
  const vault = await json(`${api}/v1/vaults`, { key, body: { name: 'cards', token_format: 'pan' } });
  expect(vault.status, vault.text).toBe(201);
  const minted = await mint({ action: 'tokenize', vault: 'cards', origins: [shop.url] });
  await page.goto(shop.url);
  await mount(page, 'mountCard', { token: minted, workspace: slug });
  await expect(page.frameLocator('iframe').getByLabel('Name on card')).toBeHidden();
  await pay(page);
  const result = await resultOf(page);
  expect(Object.keys(result).sort()).toEqual(['brand', 'exp', 'last4', 'token']);
  expect(result.token).toMatch(/^\d{16}$/);
  expect(result.token).not.toBe(CARD);
  const kept = await json(`${api}/v1/vaults/cards/tokens/${result.token}`, { key });
  expect(kept.body.data).toMatchObject({ value: CARD, card_expires_on: '2030-12-31' });

  await test.step('the person sees the number in a frame, and the page does not', async () => {
    const token = await mint({ action: 'detokenize', data: result.token });
    await page.goto(shop.url);
    await mount(page, 'mountReveal', { token, data: result.token, workspace: slug });
    const frame = page.frameLocator('iframe');
    await expect(frame.getByText(CARD)).toBeVisible();
    await expect(frame.getByText(/Hidden in \d+ s/)).toBeVisible();
    expect(await page.evaluate('window.heard')).toEqual(expect.arrayContaining(['{"type":"svc:shown"}']));
    await nothingStayed(page);
  });
});

test('C2: the shop sends the token of a card through a route, and only the upstream gets the number', async ({ page }) => {
  const bank = await startUpstream((_, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{"paid":true}'));
  try {
    const made = await json(`${api}/v1/routes`, { key, body: { name: 'bank', target_base_url: bank.url, log_payloads: 'all' } });
    expect(made.status, made.text).toBe(201);
    const action = { direction: 'request', action: 'detokenize', key_name: 'cards', selectors: ['$.card.number'] };
    const added = await json(`${api}/v1/routes/${made.body.data.id}/actions`, { key, body: action });
    expect(added.status, added.text).toBe(201);
    const charge = (body: string) =>
      fetch(`http://localhost:${setting('E2E_PROXY_PORT')}/p/sandbox-${slug}/bank/charges`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-svc-key': key },
        body,
      });
    await until('the route serves', async () => (await charge('{}')).status === 200);
    shop.order = charge;

    const { promise: sentByPerson, resolve: letCheckGo } = Promise.withResolvers<void>();
    await page.route('**/v1/client/check', (route) => sentByPerson.then(() => route.continue()));
    await page.goto(shop.url);
    await mount(page, 'mountCard', { token: await mint({ action: 'tokenize', vault: 'cards', origins: [shop.url] }), workspace: slug });
    await pay(page);
    letCheckGo(); // who types fast presses Enter before the token was checked
    const { token } = await resultOf(page);
    expect(token).not.toBe(CARD);
    const order = `{"amount":12.50,"card":{"number":"${token}"}}`;
    const answer = await page.evaluate(async (body) => {
      const sent = await fetch('/orders', { method: 'POST', body });
      return { status: sent.status, request: sent.headers.get('x-svc-request-id'), text: await sent.text() };
    }, order);
    expect([answer.status, answer.text]).toEqual([200, '{"paid":true}']);
    expect(bank.seen.at(-1)?.body).toBe(`{"amount":12.50,"card":{"number":"${CARD}"}}`);
    expect(
      shop.seen.some((seen) => seen.startsWith('POST /orders') && seen.endsWith(order)),
      'the shop had the token',
    ).toBe(true);
    await nothingStayed(page);
    await until('the call is logged', async () => (await json(`${api}/v1/logs/${answer.request}`, { key })).status === 200);
    const logged = await json(`${api}/v1/logs/${answer.request}`, { key });
    expect(found(logged.text, [needle('card number', CARD)])).toEqual([]);
  } finally {
    shop.order = undefined;
    bank.close();
  }
});

test('the card form is accessible, and says what to do about each mistake', async ({ page }) => {
  const bundle = (await json(`${api}/v1/encrypt/sealing-bundle`, { key })).body.data;
  await page.goto(shop.url);
  await mount(page, 'mountCard', { bundle, theme: 'dark', button: 'Pay 12 €' });
  const frame = page.frameLocator('iframe');
  const number = frame.getByLabel('Card number');
  await frame.getByRole('button', { name: 'Pay 12 €' }).click();
  await expect(number).toBeFocused();
  await expect(number).toHaveAccessibleDescription('Enter the card number.');
  await number.fill('4242424242424241');
  await expect(number).toHaveAccessibleDescription("This card number doesn't exist. Check its digits.");
  await number.fill('4242424242424242');
  await expect(number).toHaveValue('4242 4242 4242 4242');
  await expect(frame.getByText('Visa')).toBeVisible();
  await page.keyboard.press('Tab');
  await page.keyboard.type('0120');
  await page.keyboard.press('Enter');
  await expect(frame.getByLabel('Expiry date')).toHaveAccessibleDescription('This card has expired. Use another card.');
  const url = page.frames()[1]?.url() ?? '';
  await page.goto(url); // by itself, where axe can look at it
  await accessible(page);
});

test('no other page gets a field: unregistered, lying about its origin, or without one', async ({ page }) => {
  const bundle = (await json(`${api}/v1/encrypt/sealing-bundle`, { key })).body.data;
  const workspace = tenantId;
  const asked = (origin: string) => `${api}/elements/v1/card?${new URLSearchParams({ workspace, origin })}`;
  for (const [where, origin] of [
    [stranger.url, stranger.url],
    [stranger.url, shop.url],
  ] as const) {
    await page.goto(where);
    await page.evaluate((src) => document.body.append(Object.assign(document.createElement('iframe'), { src })), asked(origin));
    await expect.poll(() => page.frames()[1]?.url()).toContain('chrome-error:');
  }
  await page.goto(shop.url);
  await page.evaluate((src) => {
    const sandboxed = Object.assign(document.createElement('iframe'), { srcdoc: `<iframe src="${src}"></iframe>` });
    sandboxed.setAttribute('sandbox', 'allow-scripts');
    document.body.append(sandboxed);
  }, asked(shop.url));
  await expect.poll(() => page.frames().at(-1)?.url(), 'a page of the origin null').toContain('chrome-error:');

  await test.step('and the page that has one cannot read it', async () => {
    await page.goto(shop.url);
    await mount(page, 'mountCard', { bundle });
    await page.frameLocator('iframe').getByLabel('Card number').fill(CARD);
    const read = await page.evaluate(() => {
      const frame = document.querySelector('iframe') as HTMLIFrameElement;
      const tries = [() => frame.contentWindow?.document.body, () => (frame.contentWindow as never as { digits: string }).digits];
      return [
        frame.contentDocument,
        ...tries.map((attempt) => {
          try {
            return String(attempt());
          } catch (error) {
            return (error as Error).name;
          }
        }),
      ];
    });
    expect(read).toEqual([null, 'SecurityError', 'SecurityError']);
  });
});

test('a forged message is not heard, neither by the field nor by the page', async ({ page, context }) => {
  const bundle = (await json(`${api}/v1/encrypt/sealing-bundle`, { key })).body.data;
  const forged = { ...bundle, key_ref: { ...bundle.key_ref, app_key_id: '7c9e6679-7425-40de-944b-e07fc1f90ae7' } };
  await page.goto(stranger.url);
  const [victim] = await Promise.all([
    context.waitForEvent('page'),
    page.evaluate((url) => void Object.assign(window, { victim: window.open(url) }), shop.url),
  ]);
  await mount(victim, 'mountCard', { bundle });
  await expect(victim.frameLocator('iframe').getByRole('button', { name: 'Save card' })).toBeEnabled();
  await page.evaluate(
    ([init, result]) => {
      const { victim } = window as unknown as { victim: Window };
      for (const origin of ['http://localhost', (init as { origin: string }).origin])
        victim.frames[0]?.postMessage({ ...(init as object), origin }, '*');
      victim.frames[0]?.postMessage({ type: 'svc:submit' }, '*');
      victim.postMessage(result, '*');
    },
    [
      { type: 'svc:init', origin: shop.url, bundle: forged, button: 'Forged' },
      { type: 'svc:result', result: { last4: '0000', brand: 'visa', exp: '01/99', token: 'forged' } },
    ],
  );
  await expect.poll(() => victim.evaluate('window.heard.length'), 'the forged result arrived').toBeGreaterThan(0);
  await pay(victim);
  const { ciphertext, last4 } = await resultOf(victim);
  expect(last4).toBe(CARD.slice(-4));
  const ref = Buffer.from(String((ciphertext as Record<string, string>).number).split(':')[3] ?? '', 'base64url').toString();
  expect(ref, 'sealed with the key of the page').toContain(bundle.key_ref.app_key_id);
});

test('a hostile script in the registered page gets no number out of the genuine frame', async ({ page }) => {
  const thief = unique('hosted-thief');
  await createWorkspace(thief, { email: `owner@${thief}.example`, password: 'seven drawers in the hall' });
  const theirs = (await operator(['create-key', '--slug', thief, '--space', 'test', '--role', 'Key - Infrastructure'])).api_key as string;
  const made = await json(`${api}/v1/vaults`, { key: theirs, body: { name: 'loot', token_format: 'pan' } });
  expect(made.status, made.text).toBe(201);
  const body = { action: 'tokenize', vault: 'loot', origins: [shop.url] };
  const foreign = async () => (await json(`${api}/v1/client-tokens`, { key: theirs, body })).body.data.token as string;
  const stolen = (await json(`${api}/v1/encrypt/sealing-bundle`, { key: theirs })).body.data;
  const own = (await json(`${api}/v1/encrypt/sealing-bundle`, { key })).body.data;
  // The point of the thief under the name of the shop's own key: the sealed value would look genuine.
  const forged = { ...own, public_key_raw: stolen.public_key_raw };
  const sent: string[] = [];
  page.on('request', (request) => sent.push(`${request.method()} ${request.url()} ${request.postData() ?? ''}`));
  const card = [needle('card number', CARD), needle('as it is printed', CARD.replace(/(\d{4})(?=\d)/g, '$1 '))];
  /** What the script in the page does: it waits for the field to be ready and is the first, or the second, to speak to it. */
  const attack = (init: object, when: 'first' | 'second') =>
    page.evaluate(
      ([given, turn]) =>
        addEventListener('message', ({ data, source, origin }) => {
          if (data.type !== 'svc:ready') return;
          const speak = () => (source as Window).postMessage({ type: 'svc:init', origin: location.origin, ...(given as object) }, origin);
          if (turn === 'first') speak();
          else setTimeout(speak, 0);
        }),
      [init, when] as const,
    );
  const ended = async () => {
    const frame = page.frameLocator('iframe');
    await expect(frame.getByText('This form can no longer be used.')).toBeVisible();
    await expect(frame.getByRole('button', { name: 'Save card' })).toBeDisabled();
    await frame.getByLabel('Card number').fill(CARD);
    await frame.getByLabel('Expiry date').fill('12 / 30');
    await page.keyboard.press('Enter');
    await expect(page.locator('#result')).toContainText('"type"');
  };

  await test.step('its own public key, before the page speaks', async () => {
    for (const [bundle, refused] of [
      [stolen, 'invalid_request'],
      [forged, 'field_already_mounted'], // not used, and then the page is the second to speak
    ] as const) {
      await page.goto(shop.url);
      await attack({ bundle }, 'first');
      await mount(page, 'mountCard', { workspace: slug });
      await ended();
      await expect(page.locator('#result')).toContainText(`"type":"${refused}"`);
      await nothingStayed(page);
    }
  });
  await test.step('its own public key, in the way of the library of an earlier release', async () => {
    await page.goto(shop.url);
    await attack({ bundle: forged }, 'first');
    await page.evaluate(
      (src) => document.querySelector('#field')?.append(Object.assign(document.createElement('iframe'), { src, height: 260 })),
      `${api}/elements/v1/card?${new URLSearchParams({ workspace: tenantId, keeps: 'name', origin: shop.url })}`,
    );
    await pay(page);
    const told = () => page.evaluate("window.heard.find((message) => message.includes('svc:result')) ?? ''") as Promise<string>;
    await expect.poll(told).not.toBe('');
    const { result } = JSON.parse(await told());
    const opened = await json(`${api}/v1/decrypt`, { key, body: { data: result.ciphertext.number } });
    expect(opened.body.data.plaintext, 'only the workspace opens it').toBe(CARD);
  });
  await test.step('its own public key in the options of the library', async () => {
    await page.goto(shop.url);
    await mount(page, 'mountCard', { bundle: forged });
    await pay(page);
    const { ciphertext } = await resultOf(page);
    const { number } = ciphertext as Record<string, string>;
    const opened = await json(`${api}/v1/decrypt`, { key, body: { data: number } });
    expect(opened.body.data.plaintext, 'only the workspace opens it').toBe(CARD);
  });
  await test.step('a client token of its own workspace, bound to this very page', async () => {
    for (const when of ['first', 'second'] as const) {
      await page.goto(shop.url);
      await attack({ token: await foreign() }, when);
      await mount(page, 'mountCard', {
        token: await mint({ action: 'tokenize', vault: 'cards', origins: [shop.url] }),
        workspace: slug,
      });
      await ended();
      await nothingStayed(page);
    }
    await page.goto(shop.url);
    await mount(page, 'mountCard', { token: await foreign(), workspace: slug });
    await ended();
    await expect(page.locator('#result')).toContainText('"type":"invalid_client_token"');
    const kept = await json(`${api}/v1/vaults/loot`, { key: theirs });
    expect(kept.body.data.stats.token_count, kept.text).toBe(0);
  });
  await test.step('a key of its own workspace by name, and one that the workspace lacks', async () => {
    for (const name of [stolen.key_ref.app_key_id, 'no-such-key']) {
      const answer = await fetch(`${api}/elements/v1/card?${new URLSearchParams({ workspace: slug, origin: shop.url, key: name })}`);
      expect(answer.status).toBe(404);
    }
  });
  await test.step('nor does the height of a frame say what is in it', async () => {
    const heightOf = async (value: string) => {
      const data = (await json(`${api}/v1/encrypt`, { key, body: { data: value } })).body.data.ciphertext;
      await page.goto(shop.url);
      await page.locator('#field').evaluate((place) => (place as HTMLElement).style.setProperty('width', '140px'));
      await mount(page, 'mountReveal', { token: await mint({ action: 'decrypt', data }), data, workspace: slug });
      await expect(page.frameLocator('iframe').getByText(/Hidden in/)).toBeVisible();
      const heights = (await page.evaluate('window.heard')) as string[];
      return heights.filter((message) => message.includes('svc:resize')).at(-1);
    };
    expect(await heightOf('1')).toBe(await heightOf('1234567890'.repeat(20)));
  });
  for (const request of sent) expect(found(request, card), 'no request of the browser carries the number').toEqual([]);
});

test('a client token of another space, or an API key, opens nothing', async ({ page }) => {
  const live = setting('E2E_API_URL');
  const data = (await json(`${live}/v1/encrypt`, { key: liveKey, body: { data: 'hello' } })).body.data.ciphertext;
  const other = await json(`${live}/v1/client-tokens`, { key: liveKey, body: { action: 'decrypt', data } });
  expect(other.status, other.text).toBe(201);
  await page.goto(shop.url);
  for (const token of [other.body.data.token, key]) {
    await page.reload();
    await mount(page, 'mountReveal', { token, data, workspace: slug });
    await expect(page.locator('#result')).toContainText('"type":"invalid_client_token"');
    await expect(page.frameLocator('iframe').getByText('This value can no longer be shown.')).toBeVisible();
  }
});

test('a script that is not the one of the integrity hash is not run', async ({ page }) => {
  await page.goto(`${shop.url}/?integrity=sha384-${'A'.repeat(64)}`);
  await expect(page.locator('#result')).toContainText('failed');
});

test('the dashboard shows both fields at work', async ({ page }) => {
  await signIn(page, person, slug);
  await page.goto(`/${slug}/test/encryption/hosted-fields`);
  const frame = page.frameLocator('iframe[title="Card details"]');
  await frame.getByLabel('Card number').pressSequentially(CARD);
  await frame.getByLabel('Expiry date').pressSequentially('1230');
  await frame.getByLabel('Name on card').fill('Ada Lovelace');
  await frame.getByRole('button', { name: 'Save card' }).click();
  await expect(page.getByText('What your page gets')).toBeVisible();
  await nothingStayed(page);
});

test('nothing that stays behind has the number: no request of the customer, no log, no row', async () => {
  const card = [needle('card number', CARD), needle('as it is printed', CARD.replace(/(\d{4})(?=\d)/g, '$1 '))];
  expect(shop.seen.length).toBeGreaterThan(2);
  for (const seen of [...shop.seen, ...stranger.seen]) expect(found(seen, card), 'a request of the customer').toEqual([]);
  expect(found(fs.readFileSync(setting('E2E_LOG')), card), 'the log').toEqual([]);
  expect(await foundInTables(setting('DATABASE_URL'), card)).toEqual([]);
});

async function mint(body: object): Promise<string> {
  const minted = await json(`${api}/v1/client-tokens`, { key, body });
  expect(minted.status, minted.text).toBe(201);
  return minted.body.data.token;
}

/** The page's own three lines, with what came of them written into the page. */
const mount = (page: Page, how: 'mountCard' | 'mountReveal', options: object): Promise<void> =>
  page.evaluate(
    async ([url, name, given]) => {
      const library = await import(url as string);
      const result = document.querySelector('#result') as HTMLElement;
      (library[name as string] as (target: string, options: object) => Promise<unknown>)('#field', given as object).then(
        (value) => (result.textContent = JSON.stringify(value ?? 'shown')),
        (error: Error & { type?: string }) => (result.textContent = JSON.stringify({ type: error.type, message: error.message })),
      );
    },
    [`${api}/elements/v1/seal.js`, how, options] as const,
  );

async function pay(page: Page): Promise<void> {
  const frame = page.frameLocator('iframe');
  await frame.getByLabel('Card number').pressSequentially(CARD);
  await frame.getByLabel('Expiry date').pressSequentially('1230');
  if (await frame.getByLabel('Name on card').isVisible()) await frame.getByLabel('Name on card').fill('Ada Lovelace');
  await expect(frame.getByRole('button')).toBeEnabled();
  await page.keyboard.press('Enter');
}

async function resultOf(page: Page): Promise<Record<string, unknown>> {
  await expect(page.locator('#result')).not.toBeEmpty();
  return JSON.parse((await page.locator('#result').textContent()) ?? '');
}

/** Neither the document of the page nor any message it was sent has the number. */
async function nothingStayed(page: Page): Promise<void> {
  const card = [needle('card number', CARD), needle('as it is printed', CARD.replace(/(\d{4})(?=\d)/g, '$1 '))];
  expect(found(await page.content(), card)).toEqual([]);
  expect(found(JSON.stringify((await page.evaluate('window.heard ?? []')) as string[]), card)).toEqual([]);
}

/** A shop: a page with a place for a field, and a server that notes what it is sent. */
async function customer(host: string): Promise<Server> {
  const seen: string[] = [];
  const made: Pick<Server, 'order'> = {};
  const server = http.createServer(async (req, res) => {
    const body = Buffer.concat(await req.toArray()).toString();
    seen.push(`${req.method} ${req.url}\n${req.rawHeaders.join('\n')}\n${body}`);
    if (req.method === 'POST' && made.order) {
      const answer = await made.order(body);
      const text = await answer.text();
      seen.push(`${[...answer.headers].join('\n')}\n${text}`);
      return void res.writeHead(answer.status, { 'x-svc-request-id': answer.headers.get('x-svc-request-id') ?? '' }).end(text);
    }
    const integrity = new URL(req.url ?? '/', 'http://shop').searchParams.get('integrity');
    res.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><html lang="en"><title>Shop</title>
<script>window.heard = []; addEventListener('message', ({ data }) => heard.push(JSON.stringify(data)));</script>
${
  integrity === null
    ? ''
    : `<script type="importmap">{"integrity":{"${api}/elements/v1/seal.js":"${integrity}"}}</script>
<script type="module">import('${api}/elements/v1/seal.js').then(() => (result.textContent = 'ran'), (error) => (result.textContent = 'failed: ' + error.message));</script>`
}
<h1>Shop</h1><div id="field"></div><pre id="result"></pre></html>`);
  });
  await new Promise<void>((listening) => server.listen(0, host, listening));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return Object.assign(made, { url: `http://${host}:${port}`, port, seen, close });
}

/** With the check digit that makes it a card number. */
function luhn(digits: string): string {
  const sum = [...digits].reverse().reduce((total, digit, i) => {
    const doubled = i % 2 === 0 ? Number(digit) * 2 : Number(digit);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}
