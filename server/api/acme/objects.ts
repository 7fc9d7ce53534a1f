import { accountUrl } from '#server/domain/acme/directory.ts';
import type { AccountRow, AuthorizationRow, ChallengeRow, OrderRow } from '#server/domain/acme/store.ts';

// The objects of RFC 8555 §7.1 as JSON, and the URLs between them.

export const urlsOf = (base: string) => ({
  newNonce: `${base}/new-nonce`,
  newAccount: `${base}/new-account`,
  newOrder: `${base}/new-order`,
  revokeCert: `${base}/revoke-cert`,
  keyChange: `${base}/key-change`,
});
export const orderUrl = (base: string, id: string): string => `${base}/order/${id}`;
export const authorizationUrl = (base: string, id: string): string => `${base}/authz/${id}`;

/** §7.1.1. Authorizations come with orders alone, so there is no newAuthz. */
export const directoryObject = (base: string, website: string) => ({ ...urlsOf(base), meta: { website, externalAccountRequired: true } });

export const accountObject = (base: string, { id, status, contact }: AccountRow) => ({
  status,
  contact,
  orders: `${accountUrl(base, id)}/orders`,
});

export const orderObject = (base: string, order: OrderRow) => ({
  status: order.status,
  expires: order.expires_at.toISOString(),
  identifiers: order.names.map((value) => ({ type: 'dns', value })),
  authorizations: order.authorizations.map(({ id }) => authorizationUrl(base, id)),
  finalize: `${orderUrl(base, order.id)}/finalize`,
  ...(order.error ? { error: order.error } : {}),
  ...(order.status === 'valid' ? { certificate: `${base}/cert/${order.id}` } : {}),
});

/** A decided authorization shows the challenge that decided it, any other all (§7.1.4). */
export function authorizationObject(base: string, { name, wildcard, status, expires_at, challenges }: AuthorizationRow) {
  const shown = status === 'valid' || status === 'invalid' ? challenges.filter((one) => one.status === status) : challenges;
  return {
    identifier: { type: 'dns', value: name },
    status,
    expires: expires_at.toISOString(),
    challenges: shown.map((one) => challengeObject(base, one)),
    ...(wildcard ? { wildcard } : {}),
  };
}

export const challengeObject = (base: string, { id, type, status, token, validated_at, error }: ChallengeRow) => ({
  type,
  url: `${base}/challenge/${id}`,
  status,
  token,
  ...(validated_at ? { validated: validated_at.toISOString() } : {}),
  ...(error ? { error } : {}),
});
