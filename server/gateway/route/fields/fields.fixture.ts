import { perform } from '#server/api/perform.ts';
import * as keys from '#server/domain/crypto-keys/operations.ts';
import * as routes from '#server/domain/routes/operations.ts';
import { makeVault } from '#server/domain/vaults/vaults.fixture.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';
import { type Workspace, workspace } from '#server/testing/workspace.ts';
import { type Ask, ask, makeRoute, type Running, served } from '../../gateway.fixture.ts';

// Field actions as a customer makes them: keys, vaults and actions by their operations, calls over sockets.

export type Action = Record<string, unknown>;

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of many shapes by field name
export const called = async (op: AnyOperation, ctx: Ctx, input: Record<string, unknown>): Promise<any> =>
  (await perform(op, { ...ctx, now: new Date() }, input)).output;

/** A workspace with a sealing key `app-key`, a signing key `mac`, a vault `pan-vault` of cards and a vault `any` of texts. */
export async function custodian() {
  const w = await workspace();
  await called(keys.create, w.live, { name: 'app-key', key_type: 'ecdh-p256' });
  await called(keys.create, w.live, { name: 'mac', key_type: 'hmac-sha256' });
  const cards = await makeVault(w.live, { name: 'pan-vault', token_format: 'pan' });
  const any = await makeVault(w.live, { name: 'any' });
  const { text: key } = await w.key();
  return { w, cards, any, key };
}

let routesMade = 0;

/** A route with field actions, in their order, served by the gateway. */
export async function routeWith(
  running: Running,
  { w, key }: { w: Workspace; key: string },
  target: string,
  actions: readonly Action[],
  config: Record<string, unknown> = {},
) {
  const slug = `fields-${++routesMade}`;
  const route = await makeRoute(w, slug, target, config);
  const made = [];
  for (const action of actions) made.push(await called(routes.createAction, w.live, { id: route.id, ...action }));
  await served(running, w);
  const call = (options: Ask = {}, path = '') => ask(running.port, w.tenant.slug, `/${slug}${path}`, { method: 'POST', key, ...options });
  const json = (body: string | Buffer, headers: Record<string, string> = {}) =>
    call({ body, headers: { 'content-type': 'application/json', ...headers } });
  return { route, actions: made, call, json, slug };
}
