import type { AddressInfo } from 'node:net';
import { expect, test } from '@playwright/test';
import { WebSocket, WebSocketServer } from 'ws';
import { createWorkspace, json, operator, setting, unique, until } from './running-system.ts';

/** G3: an application of WebSockets behind a route; the key of one of its callers is revoked, and that caller is out. */

const slug = unique('talkers');
/** A room: what one says is sent to all who are in it. */
const room = new WebSocketServer({ port: 0, host: '127.0.0.1' });
const keys: Record<string, { id?: string; api_key?: string }> = {};

room.on('connection', (socket, { headers }) => {
  const name = String(headers['x-name']);
  socket.on('message', (text) => {
    for (const each of room.clients) each.send(`${name}: ${text}`);
  });
});

test.beforeAll(async () => {
  await createWorkspace(slug);
  for (const name of ['operator', 'ada', 'grace'])
    keys[name] = await operator(['create-key', '--slug', slug, '--space', 'live', '--role', 'Key - Infrastructure', '--name', name]);
  const target_base_url = `http://127.0.0.1:${(room.address() as AddressInfo).port}`;
  const route = { name: 'chat', slug: 'chat', target_base_url };
  expect((await json(`${setting('E2E_API_URL')}/v1/routes`, { key: keys.operator?.api_key ?? '', body: route })).status).toBe(201);
});
test.afterAll(() => {
  for (const socket of room.clients) socket.terminate();
  room.close();
});

type Caller = { socket: WebSocket; heard: string[]; closed: Promise<number> };
const dial = (name: string) =>
  new WebSocket(`ws://localhost:${setting('E2E_PROXY_PORT')}/p/${slug}/chat/room`, {
    headers: { 'X-Svc-Key': keys[name]?.api_key ?? '', 'X-Name': name },
  });

async function enter(name: string): Promise<Caller> {
  const socket = dial(name);
  const heard: string[] = [];
  socket.on('message', (text) => heard.push(text.toString()));
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return { socket, heard, closed };
}

/** The status that a handshake is refused with. */
const refused = (name: string) =>
  new Promise<number | undefined>((resolve, reject) =>
    dial(name)
      .on('error', () => undefined)
      .once('unexpected-response', (_, { statusCode }) => resolve(statusCode))
      .once('open', () => reject(new Error(`${name} was let in`))),
  );

test('G3: who has lost their key has left the room, cannot come back, and the others talk on', async () => {
  let callers: Caller[] = [];
  const bothEnter = async () => {
    callers = [await enter('ada'), await enter('grace')];
    return true;
  };
  await until('the route serves', bothEnter);
  const [ada, grace] = callers as [Caller, Caller];
  ada.socket.send('good morning');
  await until('both hear it', () => callers.every(({ heard }) => heard.includes('ada: good morning')));

  const revoked = await json(`${setting('E2E_API_URL')}/v1/api-keys/${keys.ada?.id}`, {
    key: keys.operator?.api_key ?? '',
    method: 'DELETE',
  });
  expect(revoked.status, revoked.text).toBe(200);
  expect(await ada.closed).toBe(1001);

  expect(await refused('ada')).toBe(401);
  grace.socket.send('is anybody there');
  await until('the other talks on', () => grace.heard.includes('grace: is anybody there'));
  expect(ada.heard).toEqual(['ada: good morning']);
  expect(grace.socket.readyState).toBe(WebSocket.OPEN);
  grace.socket.close();
});
