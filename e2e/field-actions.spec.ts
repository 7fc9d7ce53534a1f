import fs from 'node:fs';
import { expect, test } from '@playwright/test';
import { found, foundInTables, needle } from './leak-scan.ts';
import { createWorkspace, json, operator, setting, startUpstream, unique, until } from './running-system.ts';

/**
 * C3: an application seals JSON by the API and calls a route whose field action opens it. The upstream gets the values with every digit that the application
 * wrote; the caller, who may not decrypt, the log and the rows never have them.
 */
const slug = unique('field-openers');
const api = setting('E2E_API_URL');
const CARD = `4929${Date.now()}`.slice(0, 16);
const HOLDER = `Ada Lovelace ${Date.now()}`;
const clear = `{"card":{"number":"${CARD}","holder":"${HOLDER}"},"amount":10.50,"reference":90071992547409931234,"rate":1.0E+2,"saved":true,"note":null}`;

test('C3: encrypt in an application, decrypt on the route', async () => {
  await createWorkspace(slug);
  const keyOf = async (role: string) =>
    (await operator(['create-key', '--slug', slug, '--space', 'live', '--role', role])).api_key as string;
  const [key, caller] = [await keyOf('Key - Infrastructure'), await keyOf('Key - Invoke')];
  const post = async (path: string, body: unknown) => {
    const answer = await json(`${api}/v1${path}`, { key, body });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer;
  };
  const upstream = await startUpstream((_, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{"paid":true}'));
  try {
    await post('/crypto/keys', { name: 'payments', key_type: 'ecdh-p256' });
    const sealed = (await post('/encrypt', `{"data":${clear},"key":"payments","role":"pci"}`)).body.data;
    expect(sealed).toMatchObject({ key: 'payments', key_version: 1, encrypted: 7 });
    const body = (payment: unknown) => `{"order":12345678901234567890,"payment":${JSON.stringify(payment)}}`;

    const route = (await post('/routes', { name: 'charges', target_base_url: upstream.url, log_payloads: 'all' })).body.data;
    const call = (text: string) =>
      json(`http://localhost:${setting('E2E_PROXY_PORT')}/p/${slug}/charges/v1/pay`, {
        body: text,
        headers: { 'x-svc-key': caller },
      });
    await until('the route serves', async () => (await call('{}')).status === 200);
    const action = { direction: 'request', action: 'decrypt', key_name: 'payments', data_role: 'pci' };
    await post(`/routes/${route.id}/actions`, { ...action, selectors: ['$.payment'] });
    const answer = await call(body(sealed.ciphertext));
    expect([answer.status, answer.text]).toEqual([200, '{"paid":true}']);
    expect(upstream.seen.at(-1)?.body, 'the values and their digits').toBe(`{"order":12345678901234567890,"payment":${clear}}`);

    await test.step('who calls the route can neither open a value nor have one opened that is not meant for it', async () => {
      const opened = await json(`${api}/v1/decrypt`, { key: caller, body: { data: sealed.ciphertext, role: 'pci' } });
      expect([opened.status, opened.body.error.type], opened.text).toEqual([403, 'forbidden']);
      const other = (await post('/encrypt', { data: { card: HOLDER }, key: 'payments', role: 'marketing' })).body.data.ciphertext;
      const before = upstream.seen.length;
      const refused = await call(body(other));
      expect([refused.status, refused.body.error.type], refused.text).toEqual([424, 'field_action_failed']);
      expect(refused.body.error.message).toBe(
        "The decrypt action of this route failed at /payment/card: the value can't be opened with this key and role.",
      );
      expect(upstream.seen.length, 'nothing was sent').toBe(before);
    });

    const values = [needle('card', CARD), needle('holder', HOLDER)];
    await test.step('its use is in the audit log, and the call in the log, both without the values', async () => {
      const id = answer.headers.get('x-svc-request-id');
      await until('the call is logged', async () => (await json(`${api}/v1/logs/${id}`, { key })).status === 200);
      const logged = await json(`${api}/v1/logs/${id}`, { key });
      expect(found(`${logged.text}\n${answer.text}\n${[...answer.headers].join('\n')}`, values)).toEqual([]);
      const audit = await json(`${api}/v1/audit-logs?action=transit.decrypt`, { key });
      expect(audit.body.data[0]?.details, audit.text).toMatchObject({ route_id: route.id, leaves: 7, role: 'pci' });
    });
    expect(found(fs.readFileSync(setting('E2E_LOG')), values), 'the log of the system').toEqual([]);
    expect(await foundInTables(setting('DATABASE_URL'), values)).toEqual([]);
  } finally {
    upstream.close();
  }
});
