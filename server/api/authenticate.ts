import type { Ctx } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { writeAudit } from '#server/kernel/mutate.ts';
import { processState } from '#server/kernel/process-state.ts';
import { db } from '#server/platform/db.ts';
import { apiKeys, KeyRefused, type Recognised } from './credentials/api-key.ts';
import { type CredentialReader, readCredential } from './credentials/credential-reader.ts';
import { oauthTokens } from './credentials/oauth-token.ts';
import { invalidKey, presentedCredential, type V1Request, v1RequestOf } from './credentials/presented.ts';
import type { Edge } from './edge.ts';

/** The credentials that the Management API accepts. */
export const V1_CREDENTIALS: readonly CredentialReader<Recognised, V1Request>[] = [apiKeys, oauthTokens];

/**
 * Steps 5 to 9 of the order of checks (interface rule 01 §2): a credential is present, valid, of this space, from an allowed address, and its
 * workspace is servable.
 */
export async function authenticate(req: Pick<Request, 'method' | 'url' | 'headers'>, edge: Edge): Promise<Recognised> {
  const { text, scheme } = presentedCredential(req.headers);
  const recognised = await readCredential(V1_CREDENTIALS, text, v1RequestOf(req, scheme, edge)).catch(async (error: unknown) => {
    if (!(error instanceof KeyRefused)) throw error;
    if (error.wrongAddress) await recordWrongAddress(error.wrongAddress);
    throw error.refusal;
  });
  if (!recognised) throw invalidKey();
  return recognised;
}

/** One audit row per key and address in ten minutes (interface rule 20 §1.7). */
async function recordWrongAddress({ ctx: caller, name, key_id }: NonNullable<KeyRefused['wrongAddress']>): Promise<void> {
  const ctx: Ctx = { ...caller, db: db() };
  const { id } = ctx.actor;
  const mark = `${id}:${ctx.ip}`;
  if (ctx.now.getTime() - (refusedAddresses.get(mark) ?? 0) < 600_000) return;
  if (refusedAddresses.size > 10_000) refusedAddresses.clear();
  refusedAddresses.set(mark, ctx.now.getTime());
  await db().$transaction((tx) =>
    writeAudit(
      tx,
      { ...ctx, request_id: ctx.request_id || newId() },
      {
        action: 'login_failed',
        resource_type: 'api_key',
        resource_id: id,
        name,
        details: { reason: 'address', key_id },
      },
    ),
  );
}
const refusedAddresses = processState('refused-addresses', () => new Map<string, number>());
