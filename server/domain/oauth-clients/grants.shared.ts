import type { ClientType } from './redirect-uris.shared.ts';

/** The grants of the token endpoint as requests name them (RFC 6749, RFC 8628, RFC 8693). Isomorphic. */
export const GRANT_TYPES = [
  'client_credentials',
  'authorization_code',
  'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code',
  'urn:ietf:params:oauth:grant-type:token-exchange',
] as const;
export type GrantType = (typeof GRANT_TYPES)[number];

export const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code' satisfies GrantType;
export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange' satisfies GrantType;

/** What a public client may use: it can't keep a secret, so a person has to be there. */
export const PUBLIC_GRANTS: readonly GrantType[] = ['authorization_code', 'refresh_token', DEVICE_CODE];

export const DEFAULT_GRANTS: Readonly<Record<ClientType, readonly GrantType[]>> = {
  confidential: ['client_credentials'],
  public: ['authorization_code', 'refresh_token'],
};

/** Grants that a person consents to. */
export const isInteractive = (grants: readonly string[]): boolean => grants.includes('authorization_code') || grants.includes(DEVICE_CODE);
