import assert from 'node:assert/strict';
import test from 'node:test';
import { type KeyWindow, pagedRows } from './paged.ts';

type Row = { id: string; at: number; seen: number | null };
type By = Readonly<Record<string, 'asc' | 'desc' | { sort: 'asc' | 'desc'; nulls: 'first' | 'last' }>>;
const all: Row[] = Array.from({ length: 1_003 }, (_, i) => ({
  id: String(i).padStart(4, '0'),
  at: i % 50,
  seen: i % 3 === 0 ? null : i % 7,
}));

/** What PostgreSQL would make of an order. */
function sorted(orderBy: readonly By[]): Row[] {
  const compare = (a: Row, b: Row): number => {
    for (const one of orderBy)
      for (const [column, by] of Object.entries(one)) {
        const [x, y] = [a[column as keyof Row], b[column as keyof Row]];
        const { sort, nulls } = typeof by === 'string' ? { sort: by, nulls: 'last' as const } : by;
        if (x === y) continue;
        if (x === null || y === null) return (x === null) === (nulls === 'first') ? -1 : 1;
        return (x < y ? -1 : 1) * (sort === 'asc' ? 1 : -1);
      }
    return 0;
  };
  return [...all].sort(compare);
}

test('pages from the nearer end are those of the whole list, and pass over half of it at most', async () => {
  const orders: By[][] = [
    [{ at: 'desc' }, { id: 'desc' }],
    [{ at: 'asc' }, { id: 'asc' }],
    [{ seen: { sort: 'desc', nulls: 'last' } }, { id: 'asc' }],
    [{ seen: { sort: 'asc', nulls: 'first' } }, { id: 'asc' }],
  ];
  for (const orderBy of orders) {
    const whole = sorted(orderBy).map(({ id }) => id);
    for (const page of [1, 2, 25, 26, 50, 51, 52, 5_001]) {
      let [most, reads] = [0, 0];
      const keys = async ({ orderBy: by, skip, take }: KeyWindow<By>) => {
        [most, reads] = [Math.max(most, skip), reads + 1];
        return sorted(by).slice(skip, skip + take);
      };
      const rows = await pagedRows({ page, per_page: 20 }, all.length, orderBy, keys, async (ids) =>
        all.filter(({ id }) => ids.includes(id)),
      );
      assert.deepEqual(
        rows.map(({ id }) => id),
        whole.slice((page - 1) * 20, page * 20),
        `${JSON.stringify(orderBy)} page ${page}`,
      );
      assert.ok(most <= all.length / 2, `${most} passed over`);
      assert.equal(reads, page > 51 ? 0 : 1);
    }
  }
});
