import type { HotCtx } from '#server/kernel/context.ts';
import { processState } from '#server/kernel/process-state.ts';
import { log } from '#server/platform/log.ts';
import { sql } from '#server/platform/sql.ts';
import type { UsableKey } from './keys.ts';

/** What is counted per key and day, as `crypto_key_uses.operation` says. */
export const COUNTED = ['encrypt', 'decrypt', 'rewrap', 'sign', 'verify', 'jwt_sign', 'jwt_verify', 'webhook_sign', 'datakey'] as const;
export type CountedUse = (typeof COUNTED)[number];

/** Interface rule 40 §6.5. */
const EVERY_MS = 10_000;

type UseCount = { tenant_id: string; sandbox: boolean; key_id: string; day: string; operation: CountedUse; n: number };
type State = { uses: Map<string, UseCount>; encryptions: Map<string, number>; timer: NodeJS.Timeout | undefined; writing: Promise<void> };
const state = processState(
  'key-counts',
  (): State => ({ uses: new Map(), encryptions: new Map(), timer: undefined, writing: Promise.resolve() }),
);

/**
 * Counts uses of a key; `encryptedWith` is the version whose random IVs they took. An addition in memory: sums are written every ten seconds. What a
 * process hasn't written when it is killed is not counted.
 */
export function countUse(ctx: Pick<HotCtx, 'now'>, key: UsableKey, operation: CountedUse, n: number, encryptedWith?: number): void {
  const day = ctx.now.toISOString().slice(0, 10);
  const name = `${key.id} ${day} ${operation}`;
  const use = state.uses.get(name);
  if (use) use.n += n;
  else state.uses.set(name, { tenant_id: key.tenant_id, sandbox: key.sandbox, key_id: key.id, day, operation, n });
  const version = encryptedWith === undefined ? undefined : key.versions.find((one) => one.version === encryptedWith)?.id;
  if (version !== undefined) state.encryptions.set(version, (state.encryptions.get(version) ?? 0) + n);
  state.timer ??= setTimeout(() => void writeCounts(), EVERY_MS).unref();
}

/** Writes what was counted so far. Never throws: what can't be written now is kept and added to the next sums. */
export function writeCounts(): Promise<void> {
  clearTimeout(state.timer);
  state.timer = undefined;
  state.writing = state.writing.then(write);
  return state.writing;
}

async function write(): Promise<void> {
  const { uses, encryptions } = state;
  if (uses.size === 0) return;
  state.uses = new Map();
  state.encryptions = new Map();
  try {
    const versions = [...encryptions].map(([id, n]) => ({ id, n }));
    await sql().query({ name: 'key-counts', text: WRITE, values: [JSON.stringify([...uses.values()]), JSON.stringify(versions)] });
  } catch (error) {
    log.warn({ err: error, keys: uses.size }, 'cannot write how often keys were used; trying again');
    for (const [name, use] of uses) {
      const later = state.uses.get(name);
      if (later) later.n += use.n;
      else state.uses.set(name, use);
    }
    for (const [id, n] of encryptions) state.encryptions.set(id, (state.encryptions.get(id) ?? 0) + n);
    state.timer ??= setTimeout(() => void writeCounts(), EVERY_MS).unref();
  }
}

// In one order always, so that two processes never wait for each other in a circle. Keys that are gone are left out.
const WRITE = `with worn as (
    update crypto_key_versions v set encrypt_count = v.encrypt_count + r.n
    from (select id, n from json_to_recordset($2::json) as r(id uuid, n bigint) order by id) r where v.id = r.id)
  insert into crypto_key_uses (tenant_id, sandbox, key_id, day, operation, n)
  select r.tenant_id, r.sandbox, r.key_id, r.day, r.operation, r.n
  from json_to_recordset($1::json) as r(tenant_id uuid, sandbox boolean, key_id uuid, day date, operation text, n bigint)
  where exists (select from crypto_keys k where k.id = r.key_id) order by r.key_id, r.day, r.operation
  on conflict (key_id, day, operation) do update set n = crypto_key_uses.n + excluded.n`;
