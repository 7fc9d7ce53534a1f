import { invalid } from '#server/kernel/errors.ts';
import { onThread, WorkTooLarge, WorkTooSlow, work } from '#server/platform/threads/pool.ts';
import type { run } from './ssh-key.thread.ts';

const READ = work<Parameters<typeof run>[0], string | undefined>('server/domain/dyn-db/ssh-key.thread.ts');
/** 200 rounds of bcrypt take two seconds. */
const MS = 10_000;

/** Parses the key with its passphrase: Ed25519, ECDSA or RSA of 2,048 bits or more. `owner` is whose work it is. @throws Refusal validation_error, dependency_unavailable */
export async function assertSshKey(owner: string, text: string, passphrase: string | undefined): Promise<void> {
  const problem = await onThread(READ, { text, passphrase }, { owner, ms: MS }).catch((error: unknown) => {
    if (error instanceof WorkTooSlow || error instanceof WorkTooLarge) return 'The private key takes too long to open. Use fewer rounds.';
    throw error;
  });
  if (problem !== undefined) throw invalid('ssh_private_key', problem);
}
