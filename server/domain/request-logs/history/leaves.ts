import type { LeafRow } from '#server/crypto/merkle.ts';
import type { Tx } from '#server/kernel/database.ts';
import { ClickHouseError } from '#server/platform/clickhouse.ts';
import { leavesBetween } from '../anchors.ts';
import { pastOf, pastUnavailable } from './past.ts';
import { pastLeaves } from './reading.ts';

/** The rows of an anchored range of both spaces in order of id, out of both stores, one more than `most` at most. @throws Refusal dependency_unavailable */
export async function leavesOfAll(
  tx: Tx,
  tenant_id: string,
  { from, to, most }: { from: bigint; to: bigint; most: number },
): Promise<LeafRow[]> {
  const [live, test] = [await pastOf({ tenant_id, sandbox: false }, from - 1n), await pastOf({ tenant_id, sandbox: true }, from - 1n)];
  if (!live || !test) return leavesBetween(tx, tenant_id, from, to, most);
  // Both spaces up to one cut, also when it moved on between the two looks.
  const cut = live.cut < to ? live.cut : to;
  try {
    const older = [...(await pastLeaves(live, from, cut, most + 1)), ...(await pastLeaves(test, from, cut, most + 1))];
    older.sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
    const newer = cut < to ? await leavesBetween(tx, tenant_id, cut + 1n, to, most) : [];
    return [...older, ...newer].slice(0, most + 1);
  } catch (error) {
    throw error instanceof ClickHouseError ? pastUnavailable(error) : error;
  }
}
