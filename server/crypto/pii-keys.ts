import { createHmac, hash, type KeyObject } from 'node:crypto';
import { subKey } from './derive.ts';
import { randomBuffer } from './random.ts';
import { secretKey } from './secret-key.ts';

/** The key that tokens of one conversation are made with. */
export type ConversationKey = KeyObject;

/** The key below which an agent's reversible tokens are made; `tenantKey` is the tenant master key (interface rule 50 §7.5). */
export const agentPiiKey = (tenantKey: KeyObject, agentId: string): KeyObject => subKey(tenantKey, `svc/ai-pii/v1:${agentId}`);

/**
 * The key of one conversation: HMAC-SHA256 of the capability token's id and the anchor. Equal values give equal tokens within the conversation and
 * unrelated ones in the next.
 */
export function conversationKey(agentKey: KeyObject, tokenId: string, anchor: string): ConversationKey {
  return secretKey(createHmac('sha256', agentKey).update(`conv\0${tokenId}\0${anchor}`).digest());
}

/** The 32 bytes that a token of this value is written from; `counter` is above zero only after a collision. */
export function tokenBits(conversation: ConversationKey, entity: string, normalized: string, counter = 0): Buffer {
  const mac = createHmac('sha256', conversation).update(`${entity}\0${normalized}`);
  return (counter > 0 ? mac.update(Uint8Array.of(counter)) : mac).digest();
}

/** The key that encrypts values of one entity in their own format. */
export function formatKey(conversation: ConversationKey, entity: string): KeyObject {
  return secretKey(createHmac('sha256', conversation).update(`fpe\0${entity}`).digest());
}

/** Whether base58 text ends with the checksum of what precedes it, as addresses of Bitcoin and its relatives do. */
export function isBase58Checked(text: string): boolean {
  const bytes = base58Bytes(text);
  if (bytes?.length !== 25) return false;
  const digest = hash('sha256', hash('sha256', bytes.subarray(0, 21), 'buffer'), 'buffer');
  return digest.subarray(0, 4).equals(bytes.subarray(21));
}

function base58Bytes(text: string): Buffer | undefined {
  let value = 0n;
  for (const character of text) {
    const digit = BASE58.indexOf(character);
    if (digit === -1) return undefined;
    value = value * 58n + BigInt(digit);
  }
  const hex = value.toString(16);
  const significant = value === 0n ? Buffer.alloc(0) : Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  return Buffer.concat([Buffer.alloc(zeros), significant]);
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** The key of a conversation that nobody has: for tokens that are only looked at. */
export const passingConversationKey = (): ConversationKey => secretKey(randomBuffer(32));
