import type { Db, Tx } from '#server/kernel/database.ts';
import { newId } from '#server/kernel/ids.ts';
import type { Granted, PendingRequest } from './authorize-requests.ts';

/** How long a consent answers further requests for the same or less. */
const REMEMBERED_MS = 90 * 86_400_000;

/**
 * A code that goes to an https address reaches the client that registered it. One that goes to this computer may reach any program on it, so its page is
 * shown every time (interface rule 21 §7, RFC 8252 §8.6).
 */
const mayRemember = ({ redirect_uri, app }: PendingRequest): boolean => /^https:/i.test(redirect_uri) && !app.is_cli;

/** Whether the person consented to all of these scopes for this client within 90 days, and the client doesn't ask for the page. */
export async function isRemembered(
  db: Db | Tx,
  request: PendingRequest,
  scopes: readonly string[],
  { user_id, now }: { user_id: string; now: Date },
): Promise<boolean> {
  const asks = request.prompt.some((one) => one !== 'none');
  if (asks || !mayRemember(request) || !request.app.row) return false;
  const consent = await db.oauth_consents.findUnique({
    where: { client_row_id_user_id: { client_row_id: request.app.row.id, user_id } },
  });
  return consent !== null && consent.expires_at > now && scopes.every((scope) => consent.scopes.includes(scope));
}

/** Remembers what was granted without a second factor. */
export async function rememberConsent(tx: Tx, request: PendingRequest, granted: Granted): Promise<void> {
  if (!mayRemember(request)) return;
  const { tenant_id, sandbox, client_row_id, user_id, now } = granted;
  const scopes = granted.scopes.filter((scope) => !request.app.step_up_scopes.includes(scope));
  const kept = { scopes, consented_at: now, expires_at: new Date(now.getTime() + REMEMBERED_MS) };
  await tx.oauth_consents.upsert({
    where: { client_row_id_user_id: { client_row_id, user_id } },
    create: { id: newId(), tenant_id, sandbox, client_row_id, user_id, ...kept },
    update: kept,
  });
}

/** The next login shows the page again. */
export const forgetConsent = (tx: Tx, { client_row_id, user_id }: Pick<Granted, 'client_row_id' | 'user_id'>) =>
  tx.oauth_consents.deleteMany({ where: { client_row_id, user_id } });
