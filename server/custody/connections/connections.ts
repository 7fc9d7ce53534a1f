import { openUnder } from '#server/crypto/envelope.ts';
import { uuidV7 } from '#server/crypto/random.ts';
import { Sensitive } from '#server/crypto/sensitive.ts';
import { spaceOf } from '#server/kernel/context.ts';
import type { Oauth2Config } from '#server/kernel/oauth2-providers.ts';
import { processState } from '#server/kernel/process-state.ts';
import { inBackground } from '#server/platform/background.ts';
import { TokenFault } from '#server/platform/connect/oauth2.ts';
import { keyring } from '#server/platform/keys.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';
import { sealedOrRefused } from '../material.ts';
import { clientTls } from './certificates.ts';
import {
  assertConnected,
  type Connection,
  type ConnectionRef,
  type ConnectionSpace,
  lifeLeft,
  NotConnected,
  notConnected,
  readConnection,
  TokenUnavailable,
} from './connection.ts';
import { storeFailure, storeTokens } from './outcomes.ts';
import { type Grant, requestTokens } from './token-endpoint.ts';
import { decodeTokenSet, type TokenSet } from './token-set.ts';

// Tokens of oauth2 secrets at run time (interface rule 30 §10.4): one process refreshes at a time, whoever asks, and everybody else waits for what it
// stored. Plaintext lives here only while a refresh is under way: what is handed out is a sealed value, which the caller opens.

/** A token with more life than this is used as it is; with less, another is fetched meanwhile. */
export const FRESH_MS = 300_000;
/** A token with less life than this isn't used any more. */
export const USABLE_MS = 60_000;
const WAIT_MS = 10_000;
const POLL_MS = 100;
const LEASE_MS = 20_000;
/** A token that the upstream refused is replaced only if it isn't as new as this. */
const YOUNG_MS = 30_000;

type Wanted = {
  /** Whatever its end says, the token of this generation was refused. */
  refused?: number | undefined;
  /** A token that is good for now is replaced all the same if it ends soon. */
  early?: boolean | undefined;
};

const flights = processState('connection-flights', () => new Map<string, Promise<Connection>>());
/** What this process has refreshed and its snapshot may not have yet, by the ID of the environment's row. */
const newest = processState('newest-connections', () => new Map<string, Connection>());
const MOST_NEWEST = 10_000;

/** What this process knows to be newer than `generation`; forgets it once the snapshot has it as well. */
export function newerConnection(id: string, generation: number): Connection | undefined {
  const known = newest.get(id);
  if (known === undefined || known.generation > generation) return known;
  newest.delete(id);
  return undefined;
}

/**
 * The connection with a token that can be used now, refreshed if it must be. All calls of a process for one connection wait for one look at it.
 * @throws NotConnected, TokenUnavailable, Refusal tenant_sealed
 */
export function usableConnection(space: ConnectionSpace, ref: ConnectionRef, wanted: Wanted = {}): Promise<Connection> {
  const key = `${space.tenant_id} ${space.sandbox} ${ref.secretId} ${ref.environment} ${wanted.refused ?? ''} ${wanted.early ?? ''}`;
  let flight = flights.get(key);
  if (!flight) {
    flight = obtain(space, ref, wanted).finally(() => flights.delete(key));
    flights.set(key, flight);
  }
  return flight;
}

/** Refreshes a token that ends soon, without anybody waiting: at most every few seconds for one connection. */
export function refreshSoon(space: ConnectionSpace, ref: ConnectionRef): void {
  const key = `${space.tenant_id} ${space.sandbox} ${ref.secretId} ${ref.environment}`;
  const now = performance.now();
  if ((asked.get(key) ?? Number.NEGATIVE_INFINITY) > now - ASK_MS) return;
  if (asked.size >= MOST_NEWEST) asked.clear();
  asked.set(key, now);
  inBackground('refresh a connection', () =>
    usableConnection(space, ref, { early: true }).catch((error: unknown) => {
      if (!(error instanceof NotConnected || error instanceof TokenUnavailable)) throw error;
    }),
  );
}

const ASK_MS = 5_000;
const asked = processState('connections-refreshed-early', () => new Map<string, number>());

/** An access token in plaintext, for processes without a snapshot. @throws NotConnected, TokenUnavailable, Refusal tenant_sealed */
export async function accessToken(
  space: ConnectionSpace,
  ref: ConnectionRef,
): Promise<{ access_token: Sensitive<string>; token_type: string; connection: Connection }> {
  const connection = await usableConnection(space, ref);
  const { access_token = '', token_type = 'Bearer' } = await openTokens(space, connection);
  return { access_token: new Sensitive(access_token), token_type, connection };
}

/** Everything that is sealed of a connection. @throws Refusal tenant_sealed */
export async function openTokens(space: ConnectionSpace, { value_id, value }: Pick<Connection, 'value_id' | 'value'>): Promise<TokenSet> {
  const place = { tenant_id: space.tenant_id, space: spaceOf(space.sandbox), purpose: 'secret_value' as const, row_id: value_id };
  const bytes = openUnder(await keyring().tmk(space.tenant_id, value.tmk_version).catch(sealedOrRefused), place, value);
  try {
    return decodeTokenSet(bytes);
  } finally {
    bytes.fill(0);
  }
}

async function obtain(space: ConnectionSpace, ref: ConnectionRef, wanted: Wanted): Promise<Connection> {
  const began = Date.now();
  let failures: number | undefined;
  for (;;) {
    const found = await readConnection(space, ref);
    if (!found) throw new NotConnected('The connection no longer exists.');
    assertConnected(found);
    if (isUsable(found, wanted, Date.now())) return remembered(found);
    // Another process tried while this one waited, and failed.
    if (failures !== undefined && found.failures > failures) throw unavailable(found);
    failures ??= found.failures;
    if (found.retry_at && found.retry_at.getTime() > Date.now()) throw unavailable(found);
    if (await takeLease(space, found)) return refresh(space, found, wanted);
    if (Date.now() - began >= WAIT_MS) throw unavailable(found);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function isUsable({ generation, expires_at, refreshed_at, config }: Connection, { refused, early }: Wanted, now: number): boolean {
  const left = lifeLeft(expires_at, now);
  if (refused !== undefined)
    return generation > refused || (refreshed_at !== null && now - refreshed_at.getTime() < YOUNG_MS && left > USABLE_MS);
  // Nothing replaces a token of this grant, so it is used to its end.
  if (config.grant_type === 'implicit') return left > 0;
  return left > (early ? FRESH_MS : USABLE_MS);
}

const unavailable = ({ name, environment }: Connection) =>
  new TokenUnavailable(`No access token for the secret ${name} in the environment ${environment} could be obtained. Try again shortly.`);

function remembered(connection: Connection): Connection {
  if (newest.size >= MOST_NEWEST) newest.clear();
  newest.set(connection.id, connection);
  return connection;
}

/** With the lease in hand: asks the provider, outside of any transaction, and stores what came before anybody uses it. */
async function refresh(space: ConnectionSpace, found: Connection, wanted: Wanted): Promise<Connection> {
  try {
    const tokens = await openTokens(space, found);
    const grant = grantOf(found.config, tokens);
    if (!grant) {
      // The token that there is may have some life left.
      const left = lifeLeft(found.expires_at, Date.now());
      if (left > 0 && wanted.refused === undefined && tokens.access_token !== undefined) {
        await releaseLease(space, found);
        return found;
      }
      await storeFailure(space, found, OWNER, { kind: 'ended', code: 'no_refresh_token' });
      throw new NotConnected(notConnected(found.name, found.environment, 'expired'));
    }
    const asker = { tenant: space.tenant_id, space: spaceOf(space.sandbox) };
    const { mtls_certificate_id: certificate } = found.config;
    const client = certificate === null ? undefined : await clientTls(space, certificate, found.environment);
    if (certificate !== null && !client) throw new TokenFault('blocked', 'The client certificate of this connection is missing.');
    const granted = await requestTokens(asker, found.config, tokens, grant, client);
    const stored = await storeTokens(space, found, OWNER, tokens, granted);
    if (!stored) throw new NotConnected(notConnected(found.name, found.environment, 'disconnected'));
    const next = await readConnection(space, { secretId: found.secret_id, environment: found.environment });
    if (!next) throw new NotConnected('The connection no longer exists.');
    return remembered(next);
  } catch (error) {
    if (error instanceof NotConnected) throw error;
    if (!(error instanceof TokenFault)) {
      await releaseLease(space, found).catch(() => {});
      throw error;
    }
    const status = await storeFailure(space, found, OWNER, { kind: error.kind, code: error.code ?? error.kind });
    if (status === 'expired') throw new NotConnected(notConnected(found.name, found.environment, 'expired'));
    throw unavailable(found);
  }
}

/** Null when nothing can be exchanged for another token. */
function grantOf({ grant_type }: Oauth2Config, { refresh_token, username = '', password = '' }: TokenSet): Grant | null {
  switch (grant_type) {
    case 'client_credentials':
      return { type: 'client_credentials' };
    case 'password':
      return { type: 'password', username, password };
    default:
      return refresh_token === undefined ? null : { type: 'refresh_token', refresh_token };
  }
}

/** This process, in leases. */
const OWNER = processState('connection-owner', () => ({ id: uuidV7() })).id;

/** Whoever changes the row first refreshes. A row that was refreshed since it was read changes nothing. */
const takeLease = (space: ConnectionSpace, { id, generation }: Connection): Promise<boolean> =>
  inOwnTransaction(space, async (client) => {
    const { rowCount } = await client.query(
      `update secret_environments set refresh_lease_owner = $1, refresh_lease_until = now() + interval '${LEASE_MS} milliseconds'
       where id = $2 and refresh_generation = $3 and (refresh_lease_until is null or refresh_lease_until < now())`,
      [OWNER, id, generation],
    );
    return rowCount === 1;
  });

const releaseLease = (space: ConnectionSpace, { id }: Connection): Promise<unknown> =>
  inOwnTransaction(space, (client) =>
    client.query(
      'update secret_environments set refresh_lease_owner = null, refresh_lease_until = null where id = $1 and refresh_lease_owner = $2',
      [id, OWNER],
    ),
  );
