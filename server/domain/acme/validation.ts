import { setTimeout as sleep } from 'node:timers/promises';
import { alpnFault, dnsDigest, isHttpProof, keyAuthorization } from '#server/crypto/acme/challenge-proof.ts';
import { type Db, inTransaction } from '#server/kernel/database.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { systemContext } from '#server/kernel/system-context.ts';
import { alpnCertificate, fetchProof, ProbeFault, txtValues } from '#server/platform/challenge-probes.ts';
import { addJob } from '#server/platform/queue.ts';
import { VALIDATE } from './authorizations.ts';
import { type ProblemDocument, type ProblemType, problem } from './problem.ts';
import { decided } from './states.ts';
import type { ChallengeType } from './store.ts';
import { takeSlot } from './validation-slots.ts';

/** A proven name can be certified for this long. */
const VALID_MS = 30 * 86_400_000;
/** Pauses before looking once more where nothing could be looked at: servers restart, and records spread. */
const PAUSES_MS = [1_000, 4_000];

/** The job: looks at once, or a little later when too many looks are going on. @returns what was decided; null when there was nothing to decide, or not yet */
export async function runValidation(db: Db, now: Date, payload: Record<string, unknown>) {
  const id = String(payload.challenge_id);
  const row = isUuid(id) ? await db.acme_challenges.findFirst({ where: { id, status: 'processing' }, select: { tenant_id: true } }) : null;
  if (!row) return null;
  const giveBack = takeSlot(row.tenant_id);
  if (!giveBack) {
    await addJob(null, VALIDATE, { challenge_id: id }, { run_at: new Date(now.getTime() + LATER_MS) });
    return null;
  }
  try {
    return await validateChallenge(db, now, payload);
  } finally {
    giveBack();
  }
}
const LATER_MS = 500;

/** Looks whether a challenge was met and decides its authorization. @returns what was decided; null when there was nothing to decide */
export async function validateChallenge(db: Db, now: Date, payload: Record<string, unknown>, pauses: readonly number[] = PAUSES_MS) {
  const id = String(payload.challenge_id);
  const row = isUuid(id)
    ? await db.acme_challenges.findFirst({
        where: { id, status: 'processing' },
        include: { authorization: { include: { order: { include: { account: true } } } } },
      })
    : null;
  if (!row) return null;
  const { authorization } = row;
  const { account } = authorization.order;
  const open =
    authorization.status === 'pending' && authorization.expires_at > now && account.status === 'valid' && account.thumbprint !== null;
  const error = open
    ? await faultOf(row.type as ChallengeType, authorization.name, keyAuthorization(row.token, account.thumbprint ?? ''), row.token, pauses)
    : problem('unauthorized', 'The authorization or its account has ended.');
  const status = error === null ? 'valid' : 'invalid';
  const ctx = systemContext(db, { tenant_id: row.tenant_id, sandbox: row.sandbox, now: new Date(), label: 'ACME validation' });
  await inTransaction(ctx, async (tx) => {
    // One order's challenges are decided one after the other, so that the last one sees the others.
    await tx.$queryRaw`select 1 from acme_orders where id = ${authorization.order_id}::uuid for no key update`;
    const { count } = await tx.acme_challenges.updateMany({
      where: { id, status: 'processing' },
      data: { status, ...(error ? { error } : { validated_at: ctx.now }) },
    });
    if (count === 0) return;
    const decision = decided(status);
    const { count: moved } = await tx.acme_authorizations.updateMany({
      where: { id: authorization.id, status: 'pending' },
      data: { status: decision, ...(decision === 'valid' ? { expires_at: new Date(ctx.now.getTime() + VALID_MS) } : {}) },
    });
    if (moved === 0) return;
    if (decision === 'invalid') {
      const about = error && { ...error, identifier: { type: 'dns', value: authorization.name } };
      await tx.acme_orders.updateMany({
        where: { id: authorization.order_id, status: 'pending' },
        data: { status: 'invalid', ...(about ? { error: about } : {}) },
      });
    } else if ((await tx.acme_authorizations.count({ where: { order_id: authorization.order_id, status: { not: 'valid' } } })) === 0)
      await tx.acme_orders.updateMany({ where: { id: authorization.order_id, status: 'pending' }, data: { status: 'ready' } });
  });
  return { challenge: id, status };
}

/** Why the challenge isn't met, or null when it is. */
async function faultOf(
  type: ChallengeType,
  name: string,
  authorization: string,
  token: string,
  pauses: readonly number[],
): Promise<ProblemDocument | null> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await PROOFS[type](name, authorization, token);
    } catch (error) {
      if (!(error instanceof ProbeFault)) throw error;
      const pause = error.kind === 'dns' || error.kind === 'connection' ? pauses[attempt] : undefined;
      if (pause === undefined) return problem(TYPES[error.kind], error.message);
      await sleep(pause);
    }
  }
}

const TYPES: Readonly<Record<ProbeFault['kind'], ProblemType>> = {
  dns: 'dns',
  connection: 'connection',
  tls: 'tls',
  redirect: 'connection',
  too_large: 'unauthorized',
};

type Proof = (name: string, authorization: string, token: string) => Promise<ProblemDocument | null>;

// What was found instead is told to nobody: it could be a page of a network that the client can't see.
const PROOFS: Readonly<Record<ChallengeType, Proof>> = {
  'http-01': async (name, authorization, token) => {
    const path = `/.well-known/acme-challenge/${token}`;
    const { status, body } = await fetchProof(name, path);
    if (status === 200 && isHttpProof(body, authorization)) return null;
    return problem('unauthorized', `http://${name}${path} did not answer with the key authorization of this challenge (status ${status}).`);
  },
  'dns-01': async (name, authorization) => {
    const record = `_acme-challenge.${name}`;
    const values = await txtValues(record);
    if (values.includes(dnsDigest(authorization))) return null;
    if (values.length === 0) return problem('dns', `There is no TXT record at ${record}.`);
    return problem('unauthorized', `None of the TXT records at ${record} is the one of this challenge.`);
  },
  'tls-alpn-01': async (name, authorization) => {
    const fault = alpnFault(await alpnCertificate(name), name, authorization);
    return fault === null ? null : problem('unauthorized', `${name} is not proven by its certificate: ${fault}.`);
  },
};
