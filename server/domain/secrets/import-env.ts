import type { z } from 'zod';
import { withinPlan } from '#server/domain/plans/service.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { type AuditEntry, audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { type DotenvEntry, parseDotenv } from './dotenv.ts';
import { type ImportEnv, normalisedName, SECRET_NAME, secretValue } from './schema.ts';
import { environmentFor, requireCollection } from './scope.ts';
import { type SealedNewValue, sealNewValue } from './values.ts';

/** So many secrets at once keep the transaction short. */
const IMPORT_MAX = 500;

type Line = { name: string; reason: string };
type Fault = { line: number; name: string | null; reason: string };

/**
 * Turns the text of a .env file into string secrets of one environment, all or none. With dry_run it only says what would happen. Names that
 * exist are skipped, never overwritten; answers carry names and lines, never values.
 * @throws Refusal plan_limit, conflict, tenant_sealed
 */
export async function importEnv(ctx: Ctx, input: z.output<typeof ImportEnv>) {
  const { wanted, skipped, refused } = judge(input);
  if (wanted.length > IMPORT_MAX) throw new Refusal('validation_error', `content: must not have more than ${IMPORT_MAX} secrets`);
  if (input.dry_run)
    return read(ctx, async (tx) => {
      const { environment, fresh, taken } = await sort(tx, ctx, input, wanted);
      return {
        dry_run: true,
        environment,
        created: fresh.map(({ name }) => ({ name, id: null })),
        skipped: [...skipped, ...taken],
        refused,
      };
    });

  const sealed = new Map<string, SealedNewValue>();
  for (const { name, value } of wanted) sealed.set(name, await sealNewValue(ctx, value));
  return mutate(ctx, async (tx) => {
    const { environment, fresh, taken } = await sort(tx, ctx, input, wanted);
    const values = fresh.flatMap(({ name }) => (sealed.has(name) ? [{ name, sealed: sealed.get(name) as SealedNewValue }] : []));
    const created = await insertAll(tx, ctx, { ...input, environment }, values);
    const answer = { dry_run: false, environment, created, skipped: [...skipped, ...taken], refused };
    const [first, ...rest] = created.map(
      ({ id, name }): AuditEntry => ({
        action: 'create',
        resource_type: 'secret',
        resource_id: id,
        name,
        details: { environment, value_version: 1, source: 'env_import' },
      }),
    );
    return first ? audited(answer, first, rest) : unchanged(answer);
  });
}

/** What the text alone decides: the last of equal names wins, as in every reader of such files. */
function judge({ content, only }: z.output<typeof ImportEnv>): { wanted: DotenvEntry[]; skipped: Line[]; refused: Fault[] } {
  const { entries, faults } = parseDotenv(content);
  const refused: Fault[] = [...faults];
  const skipped: Line[] = [];
  const byName = new Map<string, DotenvEntry>();
  const value = secretValue();
  for (const entry of entries) {
    const name = normalisedName(entry.name);
    const problem = SECRET_NAME.test(name) ? value.safeParse(entry.value).error?.issues[0]?.message : 'invalid name';
    if (problem !== undefined) refused.push({ line: entry.line, name: entry.name.slice(0, 128), reason: problem });
    else if (only && !only.includes(name)) skipped.push({ name, reason: 'not selected' });
    else {
      const earlier = byName.get(name.toLowerCase());
      if (earlier) skipped.push({ name: earlier.name, reason: `repeated on line ${entry.line}` });
      byName.set(name.toLowerCase(), { ...entry, name });
    }
  }
  return { wanted: [...byName.values()], skipped, refused: refused.sort((a, b) => a.line - b.line) };
}

/** What the workspace decides: which names are free. */
async function sort(tx: Tx, ctx: Ctx, input: z.output<typeof ImportEnv>, wanted: DotenvEntry[]) {
  const environment = await environmentFor(tx, ctx, input.environment);
  await requireCollection(tx, ctx, input.collection_id);
  const folded = wanted.map((entry) => entry.name.toLowerCase());
  const rows = await tx.$queryRaw<{ folded: string }[]>`
    select lower(shortcode_name) as folded from secrets
    where tenant_id = ${ctx.tenant_id}::uuid and sandbox = ${ctx.sandbox} and lower(shortcode_name) = any(${folded}::text[])`;
  const exists = new Set(rows.map((r) => r.folded));
  const isTaken = ({ name }: DotenvEntry) => exists.has(name.toLowerCase());
  return {
    environment,
    fresh: wanted.filter((entry) => !isTaken(entry)),
    taken: wanted.filter(isTaken).map(({ name }) => ({ name, reason: 'a secret with this name already exists' })),
  };
}

async function insertAll(
  tx: Tx,
  ctx: Ctx,
  {
    environment,
    collection_id = null,
    tags = [],
  }: { environment: string; collection_id?: string | null | undefined; tags?: string[] | undefined },
  values: { name: string; sealed: SealedNewValue }[],
) {
  if (values.length === 0) return [];
  await withinPlan(tx, ctx, 'secrets', values.length);
  const rows = values.map((v) => ({ ...v, id: newId(), environment_id: newId() }));
  const at = { created_at: ctx.now, updated_at: ctx.now };
  await tx.secrets
    .createMany({
      data: rows.map(({ id, name }) => ({
        ...own(ctx),
        ...at,
        id,
        name,
        shortcode_name: name,
        base_environment: environment,
        collection_id,
        tags,
        created_by: ctx.actor.id,
      })),
    })
    .catch(onUnique('A secret with one of these names was created at the same time. Try again.'));
  await tx.secret_environments.createMany({
    data: rows.map((r) => ({
      ...own(ctx),
      ...at,
      id: r.environment_id,
      secret_id: r.id,
      environment_name: environment,
      value_version: 1,
      current_value_id: r.sealed.id,
    })),
  });
  await tx.secret_values.createMany({
    data: rows.map((r) => ({ ...own(ctx), ...r.sealed, secret_environment_id: r.environment_id, value_version: 1, created_at: ctx.now })),
  });
  return rows.map(({ id, name }) => ({ id, name }));
}
