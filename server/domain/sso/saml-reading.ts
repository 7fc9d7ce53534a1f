import { type SamlIdentity, type SamlProvider, SamlRefused } from '#server/crypto/saml.ts';
import { onThread, WorkTooLarge, WorkTooSlow, work } from '#server/platform/threads/pool.ts';
import type { Asked, Response, Verified } from './saml.thread.ts';

const FILE = 'server/domain/sso/saml.thread.ts';
/** Of the largest response that is let through, on a machine that is busy with other work. */
export const MS = 5_000;

/** `verifySamlResponse` on a thread. `from` is who posted it: whoever floods a connection waits behind themselves. @throws SamlRefused, what `onThread` throws when it's busy */
export async function verifiedResponse(response: Response, from: string): Promise<SamlIdentity> {
  const answer = await onThread(work<Asked, Verified>(FILE), response, { owner: `sso ${from}`, anonymous: true, ms: MS }).catch(
    (error: unknown) => {
      throw isOver(error) ? new SamlRefused('assertion_invalid', 'The SAML response takes too long to verify.') : error;
    },
  );
  if ('problem' in answer) throw new SamlRefused(answer.problem, answer.message);
  return answer.identity;
}

/** `providerFromMetadata` on a thread. @throws what `onThread` throws when it's busy */
export const providerOf = (metadata: string, owner: string): Promise<SamlProvider | undefined> =>
  onThread(work<Asked, SamlProvider | undefined>(FILE), { metadata }, { owner, ms: MS }).catch((error: unknown) => {
    if (isOver(error)) return undefined;
    throw error;
  });

const isOver = (error: unknown) => error instanceof WorkTooSlow || error instanceof WorkTooLarge;
