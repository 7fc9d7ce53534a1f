import { deactivateAuthorization, getAuthorization, getChallenge, respondToChallenge } from '#server/domain/acme/authorizations.ts';
import { accountUrl, type Directory } from '#server/domain/acme/directory.ts';
import { certificateOf, finalizeOrder } from '#server/domain/acme/issuing.ts';
import { networkAt, spend } from '#server/domain/acme/limits.ts';
import { createOrder, getOrder, listOrders } from '#server/domain/acme/orders.ts';
import { Deactivate, Finalize, NewAccount, NewOrder, payloadAs, Respond, Revoke, UpdateAccount } from '#server/domain/acme/payloads.ts';
import { malformed, notThere } from '#server/domain/acme/problem.ts';
import { changeKey, registerAccount, updateAccount } from '#server/domain/acme/registration.ts';
import { revokeByAcme } from '#server/domain/acme/revocation.ts';
import type { AccountRow, AuthorizationRow } from '#server/domain/acme/store.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { json, type Wire } from '../respond.ts';
import { accountObject, authorizationObject, authorizationUrl, challengeObject, orderObject, orderUrl } from './objects.ts';
import type { AcmeTarget, Resource } from './paths.ts';
import type { Signer, Verified } from './request.ts';

/** A verified request for one resource. */
export type AcmeCall = { directory: Directory; ctx: Ctx; target: AcmeTarget; url: URL; request: Verified };

/** Who signs the requests for a resource, and what answers them. */
export type Endpoint = { signer: Signer; run: (call: AcmeCall) => Promise<Wire> };

const byAccount = (
  run: (call: AcmeCall & { account: AccountRow; base: string; id: string; payload: unknown }) => Promise<Wire>,
): Endpoint => ({
  signer: 'account',
  run: (call) => {
    const { account } = call.request.by;
    if (!account) throw malformed('Sign this request with kid, the URL of your account.');
    return run({ ...call, account, base: call.directory.base, id: call.target.id, payload: call.request.payload });
  },
});

/** The resources that are POSTed to (RFC 8555 §7). */
export const ENDPOINTS: Readonly<Record<Exclude<Resource, 'directory' | 'new-nonce'>, Endpoint>> = {
  'new-account': {
    signer: 'key',
    run: async ({ directory, ctx, url, request: { by, payload } }) => {
      if (!by.key) throw malformed('Sign this request with jwk, the key of the new account.');
      await spend('register', networkAt(directory, ctx.ip), ctx.now);
      const { account, created } = await registerAccount(directory, ctx, {
        key: by.key,
        url: url.href,
        payload: payloadAs(NewAccount, payload),
      });
      return json(created ? 201 : 200, accountObject(directory.base, account), { location: accountUrl(directory.base, account.id) });
    },
  },
  account: byAccount(async ({ ctx, account, base, id, payload }) => {
    if (id !== account.id) throw notThere();
    const after = payload === undefined ? account : await updateAccount(ctx, account, payloadAs(UpdateAccount, payload));
    return json(200, accountObject(base, after), { location: accountUrl(base, id) });
  }),
  orders: byAccount(async ({ ctx, account, base, id, payload, url }) => {
    if (id !== account.id) throw notThere();
    assertRead(payload);
    const after = url.searchParams.get('after') ?? undefined;
    if (after !== undefined && !isUuid(after)) throw malformed('after must be the ID of an order.');
    const { ids, more } = await listOrders(ctx, account, after);
    const next: Record<string, string> = more ? { link: `<${accountUrl(base, id)}/orders?after=${ids.at(-1)}>;rel="next"` } : {};
    return json(200, { orders: ids.map((one) => orderUrl(base, one)) }, next);
  }),
  'key-change': byAccount(async ({ directory, ctx, account, url, payload, base }) => {
    await changeKey(directory, ctx, account, { url: url.href, inner: payload });
    return json(200, accountObject(base, account), { location: accountUrl(base, account.id) });
  }),
  'new-order': byAccount(async ({ directory, ctx, account, base, payload }) => {
    const order = await createOrder(directory, ctx, account, payloadAs(NewOrder, payload));
    return json(201, orderObject(base, order), { location: orderUrl(base, order.id) });
  }),
  order: byAccount(async ({ ctx, account, base, id, payload }) => {
    assertRead(payload);
    return json(200, orderObject(base, await getOrder(ctx, account, id)));
  }),
  finalize: byAccount(async ({ directory, ctx, account, base, id, payload }) => {
    const { csr } = payloadAs(Finalize, payload);
    return json(200, orderObject(base, await finalizeOrder(directory, ctx, account, { id, csr })), { location: orderUrl(base, id) });
  }),
  cert: byAccount(async ({ ctx, account, id, payload }) => {
    assertRead(payload);
    return { status: 200, body: await certificateOf(ctx, account, id), headers: { 'content-type': 'application/pem-certificate-chain' } };
  }),
  authz: byAccount(async ({ ctx, account, base, id, payload }) => {
    if (payload !== undefined) payloadAs(Deactivate, payload);
    const authorization = await (payload === undefined ? getAuthorization(ctx, account, id) : deactivateAuthorization(ctx, account, id));
    return json(200, authorizationObject(base, authorization), soon(authorization));
  }),
  challenge: byAccount(async ({ directory, ctx, account, base, id, payload }) => {
    if (payload !== undefined) payloadAs(Respond, payload);
    const { authorization, challenge } = await (payload === undefined
      ? getChallenge(ctx, account, id)
      : respondToChallenge(directory, ctx, account, id));
    return json(200, challengeObject(base, challenge), {
      link: `<${authorizationUrl(base, authorization.id)}>;rel="up"`,
      ...soon(authorization),
    });
  }),
  'revoke-cert': {
    signer: 'either',
    run: async ({ directory, ctx, request: { by, payload } }) => {
      await revokeByAcme(directory, ctx, by, payloadAs(Revoke, payload));
      return { status: 200, body: '', headers: {} };
    },
  },
};

/** @throws AcmeProblem for a payload where there is nothing to change (RFC 8555 §6.3) */
function assertRead(payload: unknown): void {
  if (payload !== undefined) throw malformed('Read this resource with an empty payload (POST-as-GET).');
}

/** When to ask again about what is being looked at (RFC 8555 §7.5.1). */
const soon = ({ status, challenges }: AuthorizationRow): Record<string, string> =>
  status === 'pending' && challenges.some((one) => one.status === 'processing') ? { 'retry-after': '1' } : {};
