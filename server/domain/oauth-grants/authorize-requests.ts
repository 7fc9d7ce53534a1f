import { mintToken } from '#server/crypto/tokens.ts';
import { CLI_CLIENT } from '#server/domain/oauth-clients/cli-client.shared.ts';
import { URL_CLIENT } from '#server/domain/oauth-clients/client-url.shared.ts';
import { matchesRedirectUri } from '#server/domain/oauth-clients/redirect-uris.shared.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { LiveSession } from '#server/kernel/person.ts';
import { type AuthorizeError, type AuthorizeRequest, answerAddress } from './authorize-rules.ts';
import { clientByRow, type OAuthClient } from './client.ts';
import type { ClientDocument } from './client-documents.ts';
import { handleDigest, isHandle, newHandle } from './handles.ts';

const REQUEST_MS = 10 * 60_000;
const CODE_MS = 60_000;

/** What the pages know of a client: a stored one, or the command line's before its workspace is chosen. */
export type AskingApp = {
  /** Null for the alias service-cli, and for a client that is known by the address of its document. */
  row: OAuthClient | null;
  name: string;
  type: 'confidential' | 'public';
  allowed_scopes: readonly string[];
  step_up_scopes: readonly string[];
  is_cli: boolean;
  /** Of a client that is known by the address of its document. */
  document: ClientDocument | null;
};

export const CLI_APP: AskingApp = { row: null, ...CLI_CLIENT, is_cli: true, document: null };

export const appOf = (row: OAuthClient): AskingApp => ({
  row,
  name: row.name,
  type: row.type,
  allowed_scopes: row.allowed_scopes,
  step_up_scopes: row.step_up_scopes,
  is_cli: row.system_role === 'cli',
  document: null,
});

const urlAppOf = (document: ClientDocument): AskingApp => ({ row: null, ...URL_CLIENT, name: document.name, is_cli: false, document });

/** Keeps a valid request until the person has decided. @returns the handle for the address of the consent page, 128 bits */
export async function storeRequest(
  db: Db,
  request: AuthorizeRequest & {
    client: Pick<OAuthClient, 'id' | 'tenant_id'> | null;
    document?: ClientDocument | null;
    issuer: string;
    sandbox: boolean;
    now: Date;
  },
): Promise<string> {
  const { client, document, now, ...asked } = request;
  const handle = newHandle();
  await db.oauth_auth_requests.create({
    data: {
      ...asked,
      ...(document && { document }),
      id: newId(),
      handle_digest: handleDigest(handle),
      client_row_id: client?.id ?? null,
      tenant_id: client?.tenant_id ?? null,
      created_at: now,
      expires_at: new Date(now.getTime() + REQUEST_MS),
    },
  });
  return handle;
}

export type PendingRequest = NonNullable<Awaited<ReturnType<typeof pendingRequest>>>;

/** The request of a handle that nobody has decided, with its client; null when it is over, whatever ended it. */
export async function pendingRequest(tx: Db | Tx, handle: string, now: Date) {
  if (!isHandle(handle)) return null;
  const row = await tx.oauth_auth_requests.findUnique({ where: { handle_digest: handleDigest(handle) } });
  if (!row || row.decided_at || row.expires_at <= now) return null;
  const document = row.document as ClientDocument | null;
  if (document !== null) return { ...row, document, app: urlAppOf(document) };
  if (row.client_row_id === null) return { ...row, document, app: CLI_APP };
  const client = await clientByRow(row.client_row_id, now);
  // An address that was taken from the client meanwhile gets no answer, not even an error.
  const leadsBack = client?.redirect_uris.some((registered) => matchesRedirectUri(registered, row.redirect_uri));
  return client?.active && leadsBack ? { ...row, document, app: appOf(client) } : null;
}

/** What is known of a request before anybody has signed in; null when it is over. */
export async function hintOf(db: Db, handle: string, now: Date): Promise<{ silent: boolean; login_hint: string | null } | null> {
  const request = await pendingRequest(db, handle, now);
  return request && { silent: request.prompt.includes('none'), login_hint: request.login_hint };
}

/** Ties the request to the first session that opens it. @returns whether it is this session's */
export async function tieRequest(db: Db, request: PendingRequest, session: Pick<LiveSession, 'id' | 'user_id'>): Promise<boolean> {
  if (request.session_id !== null) return request.session_id === session.id;
  const { count } = await db.oauth_auth_requests.updateMany({
    where: { id: request.id, session_id: null },
    data: { session_id: session.id, user_id: session.user_id },
  });
  if (count === 1) return true;
  const now = await db.oauth_auth_requests.findUnique({ where: { id: request.id }, select: { session_id: true } });
  return now?.session_id === session.id;
}

/** Lets another account open the request: the one that is signed in gives it up. */
export const releaseRequest = (tx: Tx | Db, id: string, sessionId: string) =>
  tx.oauth_auth_requests.updateMany({ where: { id, session_id: sessionId, decided_at: null }, data: { session_id: null, user_id: null } });

/** Ends the request: of two decisions at once, one counts. @throws Refusal not_found */
export async function closeRequest(
  tx: Tx,
  request: PendingRequest,
  decided: { tenant_id?: string; client_row_id?: string; now: Date },
): Promise<void> {
  const { now, ...chosen } = decided;
  const { count } = await tx.oauth_auth_requests.updateMany({
    where: { id: request.id, decided_at: null, expires_at: { gt: now } },
    data: { ...chosen, decided_at: now },
  });
  if (count !== 1) throw requestOver();
}

/** One answer for a handle that never was, that is over, and that another session opened first. */
export const requestOver = () => new Refusal('not_found', 'This login request has ended. Start again from the application.');

/** Where the browser goes with an error (RFC 6749 §4.1.2.1, RFC 9207). */
export const errorAddress = (
  { redirect_uri, state, issuer }: { redirect_uri: string; state: string | null; issuer: string },
  error: AuthorizeError,
  description: string,
): string => answerAddress(redirect_uri, { error, error_description: description, state, iss: issuer });

/** Where the browser goes with a code. */
export const codeAddress = ({ redirect_uri, state, issuer }: PendingRequest, code: string): string =>
  answerAddress(redirect_uri, { code, state, iss: issuer });

export type Granted = {
  tenant_id: string;
  sandbox: boolean;
  client_row_id: string;
  user_id: string;
  scopes: string[];
  step_up_at: Date | null;
  family_id: string;
  now: Date;
};

/** A code for the client, good for a minute and one use. @returns its text */
export async function issueCode(
  tx: Tx,
  { redirect_uri, code_challenge, resource, dpop_jkt }: PendingRequest,
  granted: Granted,
): Promise<string> {
  const { token, digest: codeDigest } = mintToken('authorization_code');
  const { now, ...grant } = granted;
  await tx.oauth_codes.create({
    data: {
      ...grant,
      digest: new Uint8Array(codeDigest),
      redirect_uri,
      code_challenge,
      resource,
      dpop_jkt,
      created_at: now,
      expires_at: new Date(now.getTime() + CODE_MS),
    },
  });
  return token;
}
