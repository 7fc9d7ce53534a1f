import { entitled } from '../entitled.ts';
import { type Row, say } from './report.ts';
import { install } from './service.ts';

const SECRETS = 10_000;
const SIZE = 8_192;
/** Secrets after which the process has compiled and cached what it needs. */
const WARM = 1_000;
const MIB = 1024 * 1024;
/** More memory than after the first thousand; the values are 80 MiB together, as text and sealed more than twice that. */
const target = 64;

/** A migration as large as one can be, of values of 8 KiB, read from a store in this process; the discovery is the worker's own. */
export async function measureMigrations(directory: string): Promise<Row[]> {
  const installation = await install(directory);
  try {
    const operator = await import('../../server/domain/operator/service.ts');
    const { createMigration, getMigration } = await import('../../server/domain/migrations/service.ts');
    const { CreateMigration } = await import('../../server/domain/migrations/schema.ts');
    const { discover } = await import('../../server/domain/migrations/discovery.ts');
    const { db } = await import('../../server/platform/db.ts');
    const tenant = await operator.provisionTenant({ slug: 'bench', plan: 'enterprise', starter: false });
    const ctx = entitled(operator.operatorCtx(tenant.id, 'live'));
    const { id } = await createMigration(ctx, CreateMigration.parse({ provider: 'env_file', content: 'A=1\n' }));
    let [served, warm, peak] = [0, 0, 0];
    const provider = {
      probe: async () => {},
      list: async (cursor: Readonly<Record<string, unknown>> | null) => {
        const from = Number(cursor?.from ?? 0);
        const entries = Array.from({ length: 100 }, (_, i) => ({
          ...{ ref: `store/${from + i}`, name: `secret-${from + i}`, version: '1', region: '', updated_at: null, tags: {} },
        }));
        return { entries, next: from + 100 < SECRETS ? { from: from + 100 } : null };
      },
      readValue: async () => {
        const rss = process.memoryUsage().rss;
        peak = Math.max(peak, rss);
        if (++served === WARM) warm = peak;
        if (served % 1_000 === 0) say(`${served} secrets read, RSS ${Math.round(rss / MIB)} MiB`);
        return { version: '1', bytes: Buffer.alloc(SIZE, 'x'), binary: false };
      },
      close: async () => {},
    };
    const began = performance.now();
    const added = await discover(db(), id, { open: async () => provider, rate: 1_000_000 });
    const seconds = (performance.now() - began) / 1_000;
    const { discovered_count } = await getMigration(ctx, { id });
    if (added !== SECRETS || discovered_count !== SECRETS) throw new Error(`${added} of ${SECRETS} secrets were read`);
    const grown = Math.round((peak - warm) / MIB);
    return [
      {
        what: `migration of ${SECRETS.toLocaleString('en')} secrets of ${SIZE / 1024} KiB, memory`,
        measured: `${Math.round(peak / MIB)} MiB at most`,
        against: `${Math.round(warm / MIB)} MiB after ${WARM.toLocaleString('en')}`,
        value: `${grown} MiB more`,
        target: `<= ${target} MiB`,
        pass: grown <= target,
      },
      {
        what: 'the same without the pace of 10 calls/s, time',
        measured: `${seconds.toFixed(0)} s`,
        against: '',
        value: `${((seconds / SECRETS) * 1_000).toFixed(1)} ms each`,
        target: '',
        pass: null,
      },
    ];
  } finally {
    await installation.stop();
  }
}
