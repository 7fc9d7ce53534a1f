import { createHmac, type KeyObject } from 'node:crypto';
import { subKey } from './derive.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The marker of a workspace that stays the same from call to call, 16 characters of base32; `tenantKey` is the tenant master key. */
export const workspaceCanary = (tenantKey: KeyObject, tenantId: string): string =>
  Array.from(
    createHmac('sha256', subKey(tenantKey, 'svc/ai-canary/v1')).update(tenantId).digest().subarray(0, 16),
    (byte) => ALPHABET[byte & 31],
  ).join('');
