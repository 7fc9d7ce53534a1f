import { classifyCredential, digest } from '#server/crypto/tokens.ts';
import { sql } from '#server/platform/sql.ts';
import { clientByRow, type OAuthClient } from './client.ts';

/**
 * The workspace's own client of service-cli that a code, device code or refresh token was made for; null when there is none, or no workspace was
 * chosen yet. The alias stands for no other client.
 */
export async function clientOfCredential(form: ReadonlyMap<string, string>, now: Date): Promise<OAuthClient | null> {
  const text = form.get('code') ?? form.get('refresh_token') ?? form.get('device_code');
  const table = text === undefined ? undefined : CLIENT_ROW[classifyCredential(text).kind];
  if (text === undefined || table === undefined) return null;
  const { rows } = await sql().query<{ id: string | null }>({
    name: `oauth-alias-${table.name}`,
    text: table.text,
    values: [digest(text)],
  });
  const client = rows[0]?.id ? await clientByRow(rows[0].id, now) : null;
  return client?.system_role === 'cli' && client.active ? client : null;
}

const refresh = {
  name: 'refresh',
  text: 'select f.client_row_id as id from oauth_refresh r join oauth_families f on f.id = r.family_id where r.digest = $1',
};
const CLIENT_ROW: Readonly<Record<string, { name: string; text: string }>> = {
  authorization_code: { name: 'code', text: 'select client_row_id as id from oauth_codes where digest = $1' },
  device_code: { name: 'device', text: 'select client_row_id as id from oauth_device_codes where digest = $1' },
  refresh_token_live: refresh,
  refresh_token_test: refresh,
};
