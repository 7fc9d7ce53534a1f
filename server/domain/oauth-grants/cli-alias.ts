import { classifyCredential, digest } from '#server/crypto/tokens.ts';
import { CLI_ALIAS } from '#server/domain/oauth-clients/cli-client.shared.ts';
import { isClientUrl } from '#server/domain/oauth-clients/client-url.shared.ts';
import { sql } from '#server/platform/sql.ts';
import { clientByRow, type OAuthClient } from './client.ts';

/** IDs that stand for a client in each workspace: the alias of the command line, and the addresses of documents. */
export const isSharedId = (clientId: string): boolean => clientId === CLI_ALIAS || isClientUrl(clientId);

/**
 * The workspace's own client of a shared ID that a code, device code or token was made for; null when there is none, or no workspace was chosen yet. The ID
 * stands for no other client.
 */
export async function clientOfCredential(clientId: string, form: ReadonlyMap<string, string>, now: Date): Promise<OAuthClient | null> {
  const text = form.get('code') ?? form.get('refresh_token') ?? form.get('device_code') ?? form.get('token');
  const table = text === undefined ? undefined : CLIENT_ROW[classifyCredential(text).kind];
  if (text === undefined || table === undefined) return null;
  const { rows } = await sql().query<{ id: string | null }>({
    name: `oauth-alias-${table.name}`,
    text: table.text,
    values: [digest(text)],
  });
  const client = rows[0]?.id ? await clientByRow(rows[0].id, now) : null;
  const isMeant = clientId === CLI_ALIAS ? client?.system_role === 'cli' : client?.client_id === clientId;
  return client?.active && isMeant ? client : null;
}

const refresh = {
  name: 'refresh',
  text: 'select f.client_row_id as id from oauth_refresh r join oauth_families f on f.id = r.family_id where r.digest = $1',
};
const CLIENT_ROW: Readonly<Record<string, { name: string; text: string }>> = {
  authorization_code: { name: 'code', text: 'select client_row_id as id from oauth_codes where digest = $1' },
  device_code: { name: 'device', text: 'select client_row_id as id from oauth_device_codes where digest = $1' },
  oauth_token: { name: 'access', text: 'select client_row_id as id from oauth_access where digest = $1' },
  refresh_token_live: refresh,
  refresh_token_test: refresh,
};
