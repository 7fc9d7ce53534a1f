import { hash } from 'node:crypto';
import { lengthPrefixed } from './length-prefixed.ts';

/** Name of leaf form, tree form and hash together (interface rule 13 §5.1). */
export const merkleAlgo = 'sha256-merkle-v1';

/** The twelve fields of a leaf, in order. */
export const leafFields = [
  'id',
  'request_id',
  'tenant_id',
  'route_id',
  'matched_client_id',
  'identification_method',
  'method',
  'status_code',
  'src_ip',
  'environment',
  'sandbox',
  'ts',
] as const;

/** A request-log row as far as its leaf goes; `id` is the decimal text of a bigint. */
export type LeafRow = {
  id: string;
  request_id: string;
  tenant_id: string;
  route_id: string | null;
  matched_client_id: string | null;
  identification_method: string | null;
  method: string | null;
  status_code: number | null;
  src_ip: string | null;
  environment: string | null;
  sandbox: boolean | null;
  ts: Date;
};

/** One step up the tree: the neighbour's hash, and whether it stands on the right. */
export type ProofStep = { hash: string; right: boolean };

export function leafBytes(row: LeafRow): Buffer {
  return lengthPrefixed(leafFields.map((field) => leafText(row[field])));
}

/** SHA-256(0x00 || leaf bytes): a leaf can never pass for a node. */
export function leafHash(row: LeafRow): Buffer {
  return sha256(0x00, leafBytes(row));
}

/** The root over leaf hashes in order of id; an odd last node moves up unchanged. Throws RangeError without leaves. */
export function merkleRoot(leaves: readonly Buffer[]): Buffer {
  let level = leaves;
  while (level.length > 1) level = nextLevel(level);
  const root = level[0];
  if (!root) throw new RangeError('a tree has at least one leaf');
  return root;
}

/** The steps from a leaf to the root, lowest first. Throws RangeError when there is no such leaf. */
export function merkleProof(leaves: readonly Buffer[], index: number): ProofStep[] {
  if (!Number.isInteger(index) || index < 0 || index >= leaves.length) throw new RangeError('no such leaf');
  const steps: ProofStep[] = [];
  let level = leaves;
  for (let at = index; level.length > 1; at >>= 1, level = nextLevel(level)) {
    const right = at % 2 === 0;
    const neighbour = level[right ? at + 1 : at - 1];
    if (neighbour) steps.push({ hash: neighbour.toString('hex'), right });
  }
  return steps;
}

function nextLevel(level: readonly Buffer[]): Buffer[] {
  const above: Buffer[] = [];
  for (let i = 0; i < level.length; i += 2) {
    const [left, right] = level.slice(i, i + 2);
    if (left) above.push(right ? node(left, right) : left);
  }
  return above;
}

function node(left: Buffer, right: Buffer): Buffer {
  return sha256(0x01, left, right);
}

function sha256(domain: number, ...parts: Buffer[]): Buffer {
  return hash('sha256', Buffer.concat([Buffer.of(domain), ...parts]), 'buffer');
}

function leafText(value: string | number | boolean | Date | null): string | null {
  if (value === null) return null;
  return value instanceof Date ? value.toISOString() : String(value);
}
