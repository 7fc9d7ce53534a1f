import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { secretKey } from '#server/crypto/secret-key.ts';
import { kinds, open, seal } from '#server/crypto/svt1.ts';
import { digest } from '#server/crypto/tokens.ts';
import { env } from '../env.ts';
import { bindingText, KmsFailure, type KmsProvider } from './kms.ts';

// A KMS for tests: its keys follow from their names, and a file in the data directory says what each of them answers, for all processes.

type Mood = 'deny' | 'timeout';

/** @throws KmsFailure outside of test mode */
export function fake(): KmsProvider {
  if (!env.SVC_TEST_MODE) throw new KmsFailure('access_denied', 'UnknownProvider');
  return {
    async wrap({ key_ref }, binding, bytes, signal) {
      await answer(key_ref, signal);
      return { blob: seal(kinds.tenantKey, keyOf(key_ref), binding.version, bindingText(binding), bytes), key_version: null };
    },
    async unwrap({ key_ref }, binding, blob, signal) {
      await answer(key_ref, signal);
      return open(kinds.tenantKey, keyOf(key_ref), binding.version, bindingText(binding), blob);
    },
    refusalOf: (error) => ((error as Error).name === 'DecryptFailed' ? 'InvalidCiphertext' : undefined),
  };
}

const file = () => path.join(env.DATA_DIR, 'fake-kms.json');
const moods = (): Record<string, Mood | null> => (existsSync(file()) ? JSON.parse(readFileSync(file(), 'utf8')) : {});
const keyOf = (ref: string) => secretKey(digest(`fake kms ${ref}`));

/** How often the key was asked for in this process. */
export const fakeKmsCalls = (keyRef: string): number => calls.get(keyRef) ?? 0;
const calls = new Map<string, number>();

/** What the key answers from now on; null as usual. */
export function setFakeKms(keyRef: string, mood: Mood | null): void {
  mkdirSync(env.DATA_DIR, { recursive: true });
  writeFileSync(file(), JSON.stringify({ ...moods(), [keyRef]: mood }));
}

async function answer(ref: string, signal: AbortSignal): Promise<void> {
  calls.set(ref, fakeKmsCalls(ref) + 1);
  const mood = moods()[ref];
  if (mood === 'deny') throw new KmsFailure('access_denied', 'AccessDenied');
  if (mood === 'timeout') await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}
