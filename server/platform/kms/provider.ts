import { setTimeout as sleep } from 'node:timers/promises';
import type { KmsPlace } from '#server/crypto/keyring.ts';
import { randomBuffer } from '#server/crypto/random.ts';
import { digestEquals } from '#server/crypto/tokens.ts';
import { processState } from '#server/kernel/process-state.ts';
import { type KmsBinding, KmsFailure, type KmsProvider, type KmsWrapped } from './kms.ts';

const TIMEOUT_MS = 3_000;
/** Only a KMS that couldn't be reached is asked again (interface rule 31 §5). */
const RETRY_AFTER_MS = [200, 800];

/** Wraps a key for a version of a workspace's master key. @throws KmsFailure */
export const wrapByKms = (place: KmsPlace, binding: KmsBinding, key: Uint8Array): Promise<KmsWrapped> =>
  attempt(place, (provider, signal) => provider.wrap(place, binding, key, signal));

/** The 32 bytes again. The caller wipes them. @throws KmsFailure */
export async function unwrapAt(place: KmsPlace, binding: KmsBinding, blob: Uint8Array): Promise<Uint8Array> {
  const key = await attempt(place, (provider, signal) => provider.unwrap(place, binding, blob, signal));
  if (key.length !== 32) throw new KmsFailure('access_denied', 'WrongPlaintext');
  return key;
}

/** Wraps and unwraps 32 random bytes: the key exists, and the service may use it both ways. Version 0 is no key of anybody. @throws KmsFailure */
export async function probeKms(place: KmsPlace, tenantId: string): Promise<void> {
  const [bytes, binding] = [randomBuffer(32), { tenantId, version: 0 }];
  const { blob, key_version } = await wrapByKms(place, binding, bytes);
  const back = await unwrapAt({ ...place, key_version }, binding, blob);
  if (!digestEquals(bytes, back)) throw new KmsFailure('access_denied', 'WrongPlaintext');
}

async function attempt<T>(place: KmsPlace, work: (provider: KmsProvider, signal: AbortSignal) => Promise<T>): Promise<T> {
  const provider = await providerOf(place.provider);
  for (let tries = 0; ; tries++) {
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      return await Promise.race([work(provider, signal), aborted(signal)]);
    } catch (error) {
      const refusal = error instanceof KmsFailure ? error.detail : provider.refusalOf(error);
      if (refusal !== undefined) throw new KmsFailure('access_denied', refusal, { cause: error });
      const wait = RETRY_AFTER_MS[tries];
      if (wait === undefined) throw new KmsFailure('unreachable', nameOf(error), { cause: error });
      await sleep(wait);
    }
  }
}

/** An SDK may not listen to the signal while it fetches a token. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

const nameOf = (error: unknown): string => {
  const { name, code } = error as { name?: unknown; code?: unknown };
  const text = typeof code === 'string' ? code : typeof name === 'string' && name !== 'Error' ? name : 'no answer';
  return text.slice(0, 60);
};

const loaded = processState('kms-providers', () => new Map<string, Promise<KmsProvider>>());

/** The SDKs are large, so each is loaded at its first use. */
function providerOf(name: string): Promise<KmsProvider> {
  const known = loaded.get(name) ?? load(name);
  loaded.set(name, known);
  known.catch(() => loaded.delete(name));
  return known;
}

async function load(name: string): Promise<KmsProvider> {
  switch (name) {
    case 'aws':
      return (await import('./aws.ts')).aws;
    case 'gcp':
      return (await import('./gcp.ts')).gcp;
    case 'azure':
      return (await import('./azure.ts')).azure;
    case 'fake':
      return (await import('./fake.ts')).fake();
    default:
      throw new KmsFailure('access_denied', 'UnknownProvider');
  }
}

/** Drops all tokens that providers hold, for tests and for a check that must not rest on an old one. */
export async function forgetKmsSessions(): Promise<void> {
  for (const provider of loaded.values()) (await provider.catch(() => undefined))?.forget?.();
}
