import { NotConnected, TokenUnavailable } from '#server/custody/connections/connection.ts';
import { accessToken } from '#server/custody/connections/connections.ts';
import { auditFirst } from '#server/custody/uses.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { processState } from '#server/kernel/process-state.ts';
import { connectionFor } from './consents.ts';

/**
 * The live access token, refreshed if it ended: the one value that the Management API hands out (interface rule 30 §10.5). A pinned or escrowed secret's
 * token would leave its pin, so it is refused. @throws Refusal not_found, invalid_type, forbidden, token_error, tenant_sealed
 */
export async function readToken(ctx: Ctx, input: { id: string; environment?: string | undefined }) {
  const { secret, environment } = await connectionFor(ctx, input);
  if (secret.is_escrow || secret.allowed_hosts !== null)
    throw new Refusal('forbidden', 'The tokens of this secret may only be sent to its allowed hosts, by a route. They are not handed out.');
  try {
    const { access_token, token_type, connection } = await accessToken(ctx, { secretId: secret.id, environment });
    const key = `${ctx.actor.type} ${ctx.actor.id} ${secret.id} ${environment}`;
    await recordRead(key, ctx.now, (count) =>
      auditFirst(ctx, [
        {
          action: 'execute',
          resource_type: 'secret',
          resource_id: secret.id,
          name: secret.name,
          details: { operation: 'oauth2_token_read', environment, count },
        },
      ]),
    );
    return { access_token: access_token.reveal(), expires_at: connection.expires_at, token_type, connection_status: connection.status };
  } catch (error) {
    if (error instanceof NotConnected || error instanceof TokenUnavailable) throw new Refusal('token_error', error.message);
    throw error;
  }
}

const MINUTE = 60_000;
const MOST = 10_000;
type Read = { since: number; more: number; written: Promise<void> };
const reads = processState('connection-token-reads', () => new Map<string, Read>());

/**
 * One entry stands for the reads of a minute; those after it are counted in the next (interface rule 30 §10.5). Nobody is given a token before the entry of
 * the minute is durable. @throws Refusal audit_unavailable
 */
async function recordRead(key: string, now: Date, write: (count: number) => Promise<void>): Promise<void> {
  const known = reads.get(key);
  if (known && now.getTime() - known.since < MINUTE) {
    await known.written;
    known.more += 1;
    return;
  }
  if (reads.size >= MOST) reads.clear();
  const read: Read = { since: now.getTime(), more: 0, written: write(1 + (known?.more ?? 0)) };
  reads.set(key, read);
  try {
    await read.written;
  } catch (error) {
    if (reads.get(key) === read) {
      if (known) reads.set(key, known);
      else reads.delete(key);
    }
    throw error;
  }
}
