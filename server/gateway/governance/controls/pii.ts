import type { PiiModes } from '#server/ai/pii/session.ts';
import { createTokenizer } from '#server/ai/pii/tokenizer.ts';
import type { TokenEntry } from '#server/ai/pii/tokens.ts';
import type { Waits } from '#server/ai/stream/steps.ts';
import { agentPiiKey, conversationKey } from '#server/crypto/pii-keys.ts';
import { type PooledPii, pooledPii } from '#server/custody/ai/detectors/pii.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { SpaceSnapshot } from '../../snapshot/slices.ts';
import { ControlFailed } from './control-failed.ts';

export type PiiSubject = {
  /** The agent, or the MCP server, below whose key tokens are made. */
  id: string;
  policyId: string | null;
  /** The capability token. */
  tokenId: string;
  /** What the conversation is recognized by: the caller's id of it, the root of a stored chain, or the first text of the user. */
  anchor: string;
} & PiiModes;

/**
 * The PII control of one call, under keys that come from the workspace's master key (interface rule 50 §7.5). `kept` are entries of earlier calls of the conversation.
 * @throws ControlFailed pii_unavailable when the policy, its sidecar or the key can't be used
 */
export async function openPii(
  runtime: Runtime,
  snapshot: SpaceSnapshot,
  subject: PiiSubject,
  kept: readonly TokenEntry[] = [],
): Promise<PooledPii> {
  try {
    const rules = snapshot.aiPolicies.pii(subject.policyId);
    if (rules.needsSidecar) throw new ControlFailed('pii_unavailable');
    const { key } = await runtime.keyring.activeTmk(snapshot.tenant.id);
    const tokenizer = createTokenizer(conversationKey(agentPiiKey(key, subject.id), subject.tokenId, subject.anchor), kept);
    return await pooledPii({ ...subject, rules, tokenizer, owner: snapshot.tenant.id });
  } catch (error) {
    throw error instanceof ControlFailed ? error : new ControlFailed('pii_unavailable', error);
  }
}

/** Runs a step of the control; what it throws, or rejects with, refuses the call. */
export function orPiiUnavailable<T>(work: () => Waits<T>): Waits<T> {
  try {
    const value = work();
    return value instanceof Promise ? value.catch(refuse) : value;
  } catch (error) {
    return refuse(error);
  }
}

function refuse(error: unknown): never {
  throw error instanceof ControlFailed ? error : new ControlFailed('pii_unavailable', error);
}
