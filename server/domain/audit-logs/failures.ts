import { type DomainEvent, raise } from '#server/domain/events/service.ts';
import { dispatch, postTeamMails } from '#server/domain/mail/service.ts';
import type { Tx } from '#server/kernel/database.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { db } from '#server/platform/db.ts';
import { env } from '#server/platform/env.ts';
import { log } from '#server/platform/log.ts';
import { auditKeys } from './audit-keys.ts';
import { chainIds } from './baseline.ts';
import { isChainId } from './chain-ids.ts';
import { faultOfSeal, nextHead, readEnd, writeHead } from './heads.ts';
import { chainFailed } from './letters.ts';
import type { ChainFailureKind } from './schema.ts';
import { type CriticalVerdict, verifyCritical } from './verify.ts';

export type ChainFailure = { kind: ChainFailureKind; sequence_number: string };
export type FailedChain = { chain_id: string; failure: CriticalVerdict['failure'] };

/** Every chain of the deployment, nightly. A failure is kept, and told to operators in the log at level fatal and to Owners. @returns the chains that failed, and where */
export async function verifyAllChains(now = new Date()): Promise<{ checked: number; failed: FailedChain[] }> {
  const chains = await chainIds();
  const failed: FailedChain[] = [];
  for (const chain_id of chains) {
    const { failure } = await verifyCritical(chain_id);
    if (failure) failed.push({ chain_id, failure });
  }
  for (const { chain_id, failure } of failed) {
    // What is wrong with one chain must not keep the others from being told.
    if (failure)
      await keepFailure(chain_id, failure, now).catch((error: unknown) =>
        log.error({ err: error, chain_id }, 'cannot keep the failure of a chain'),
      );
  }
  return { checked: chains.length, failed };
}

/** Seals a failure into the head of its chain, where it stays until an operator accepts it. Owners are told once. */
export async function keepFailure(chainId: string, failure: ChainFailure, now: Date): Promise<void> {
  log.fatal(
    { chain_id: chainId, failure },
    'critical audit chain verification failed: run verify-chains, compare with an export or a backup, then accept-chain',
  );
  if (failure.kind === 'keys_missing' || !isChainId(chainId)) return; // nothing can be sealed, or there is no such chain
  const { mac } = await auditKeys();
  const mails = await db().$transaction(async (tx) => {
    await holdLock(tx, `critical:${chainId}`);
    const { head, tail } = await readEnd(tx, chainId);
    const ours = head && !faultOfSeal(mac, head);
    if (ours && head.failure && head.reported) return [];
    const kept = ours && head.failure ? {} : { failure: failure.kind, failed_sequence: BigInt(failure.sequence_number), failed_at: now };
    await writeHead(tx, mac, nextHead(mac, head, chainId, { ...(ours ? {} : tail), ...kept, reported: true }));
    return tellOwners(tx, chainId, failure, now);
  });
  for (const id of mails) dispatch(db(), id);
}

/** @returns mails to dispatch after the commit */
async function tellOwners(tx: Tx, chainId: string, failure: ChainFailure, now: Date): Promise<string[]> {
  const tenant = await tx.$queryRaw<{ id: string; name: string; slug: string }[]>`
    select id, name, slug from tenants where id::text = ${chainId} and deleted_at is null`;
  const [workspace] = tenant;
  if (!workspace) return [];
  const event: DomainEvent = { type: 'audit_chain.failed', source_id: workspace.id, data: { ...failure } };
  await raise(tx, { tenant_id: workspace.id, sandbox: false, now }, [event]);
  const letter = chainFailed({ workspace: workspace.name, url: `${env.PUBLIC_ADMIN_URL}/${workspace.slug}/live/audit?tab=chain` });
  return postTeamMails(tx, { tenant_id: workspace.id, kind: 'audit_chain', letter, now });
}
