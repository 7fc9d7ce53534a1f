import { createHash } from 'node:crypto';
import type { ProofStep } from './merkle.ts';

/** As somebody else would check a proof: by the published rule alone, with nothing of ours. */
export function proofHolds(leaf: Buffer, steps: readonly ProofStep[], root: Buffer): boolean {
  let at = leaf;
  for (const { hash, right } of steps) {
    if (!/^[0-9a-f]{64}$/.test(hash)) return false;
    const neighbour = Buffer.from(hash, 'hex');
    const pair = right ? [at, neighbour] : [neighbour, at];
    at = createHash('sha256')
      .update(Buffer.from([1]))
      .update(Buffer.concat(pair))
      .digest();
  }
  return at.equals(root);
}
