import type { z } from 'zod';
import { isClientUrl } from '#server/domain/oauth-clients/client-url.shared.ts';
import { DEVICE_CODE, type GrantType, TOKEN_EXCHANGE } from '#server/domain/oauth-clients/grants.shared.ts';
import type { ClientType } from '#server/domain/oauth-clients/redirect-uris.shared.ts';
import type { OAuthClient, OAuthClientDetail } from '#server/domain/oauth-clients/schema.ts';

export type ClientRow = z.output<typeof OAuthClient>;
export type Detail = z.output<typeof OAuthClientDetail>;

export const TYPES = { confidential: 'Confidential', public: 'Public' } as const;

const GRANTS: Record<GrantType, string> = {
  client_credentials: 'Client credentials',
  authorization_code: 'Browser login',
  refresh_token: 'Refresh',
  [DEVICE_CODE]: 'Device code',
  [TOKEN_EXCHANGE]: 'Token exchange',
};
export const grantName = (grant: GrantType): string => GRANTS[grant];

/** What somebody builds, and the type and grants that go with it. */
export const USE_CASES = [
  {
    id: 'server',
    title: 'Server or script',
    description: 'Acts for itself, with a secret.',
    type: 'confidential',
    grant_types: ['client_credentials'],
  },
  {
    id: 'web',
    title: 'Web application',
    description: 'People sign in, and your server keeps a secret.',
    type: 'confidential',
    grant_types: ['authorization_code', 'refresh_token'],
  },
  {
    id: 'native',
    title: 'Native app or CLI',
    description: 'People sign in on their device. No secret.',
    type: 'public',
    grant_types: ['authorization_code', 'refresh_token', DEVICE_CODE],
  },
  {
    id: 'workload',
    title: 'CI or cloud workload',
    description: 'Exchanges the token of its platform. No stored secret.',
    type: 'confidential',
    grant_types: [TOKEN_EXCHANGE],
  },
] as const satisfies readonly { id: string; title: string; description: string; type: ClientType; grant_types: readonly GrantType[] }[];
export type UseCase = (typeof USE_CASES)[number];
export const USE_CASE_IDS = USE_CASES.map(({ id }) => id) as [UseCase['id'], ...UseCase['id'][]];

/** `why` nothing of it can be changed, and why its settings are `fixed` while it can still be turned off. */
type Origin = { label: string; why: string | undefined; fixed?: string };

/** What a client is beside its type: managed by an API key or by service-cli, or registered by its address. */
export function originOf({
  source_api_key_id,
  system_role,
  client_id,
}: Pick<ClientRow, 'source_api_key_id' | 'system_role' | 'client_id'>): Origin | undefined {
  if (source_api_key_id) return { label: 'API key', why: 'Managed by its API key. Change or revoke the key instead.' };
  if (system_role) return { label: 'CLI', why: 'Belongs to service-cli and can’t be changed.' };
  if (isClientUrl(client_id))
    return {
      label: 'By URL',
      why: undefined,
      fixed: 'Described by the document at its address. Change it there, or turn the client off here.',
    };
  return undefined;
}

export function stateOf({ active, revoked_at }: Pick<ClientRow, 'active' | 'revoked_at'>): {
  state: 'ok' | 'off' | 'blocked';
  label: string;
} {
  if (revoked_at) return { state: 'blocked', label: 'Revoked' };
  return active ? { state: 'ok', label: 'On' } : { state: 'off', label: 'Off' };
}
