import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { confirmActions } from './guarding.ts';
import { materialOf, mayNotUse } from './material.ts';
import type { FieldActionName } from './rules.shared.ts';
import type { FieldActionSettings } from './schema.ts';
import { actionsOf, settingsOfAction, shown } from './service.ts';

/** Copies the field actions of a route. Those that the caller couldn't save are copied switched off, and named in a warning. */
export async function copyFieldActions(tx: Tx, ctx: Ctx, from: string, to: string): Promise<void> {
  const rows = (await actionsOf(tx, ctx, from)).map(shown);
  const off: string[] = [];
  const copies: FieldActionSettings[] = [];
  for (const row of rows) {
    const denied = row.enabled && (await mayNotUse(ctx, row.action, await materialOf(tx, ctx, row)));
    if (denied) off.push(`${row.action} ${row.selectors.join(', ')}`);
    copies.push({ ...settingsOfAction(row), enabled: row.enabled && !denied });
  }
  await confirmActions(tx, ctx, [], copies);
  for (const copy of copies)
    await tx.route_field_actions.create({
      data: { ...copy, ...own(ctx), id: newId(), route_id: to, created_at: ctx.now, updated_at: ctx.now },
    });
  if (off.length > 0)
    ctx.warnings.push(
      `These field actions were copied switched off, because you lack the right to use their key or vault: ${off.join('; ')}.`,
    );
}

type Named = Pick<FieldActionSettings, 'action' | 'key_name' | 'selectors' | 'enabled'>;
/** An action in a few words, for lists of changes. */
export const actionInWords = ({ action, selectors, enabled }: Pick<Named, 'selectors' | 'enabled'> & { action: string }): string =>
  `${action} ${selectors.join(', ')}${enabled ? '' : ' (off)'}`;

/** Why an action can't run in the space that it comes to; undefined for one that can, or that is off. */
export type UnusableActions = (action: { action: string; key_name: string | null; enabled: boolean }) => string | undefined;

/** Judges actions of another space by the keys and vaults of this one, which they name, and by what the caller may have routes do with them. */
export async function unusableActions(
  tx: Tx,
  ctx: Ctx,
  actions: readonly { action: string; key_name: string | null; enabled: boolean }[],
): Promise<UnusableActions> {
  const problems = new Map<string, string | undefined>();
  for (const { action, key_name, enabled } of actions) {
    if (!enabled || problems.has(`${action} ${key_name}`)) continue;
    const name = action as FieldActionName; // checked by the table
    const material = await materialOf(tx, ctx, { action: name, key_name }).catch(asProblem);
    const problem = material instanceof Refusal ? material : await mayNotUse(ctx, name, material);
    problems.set(
      `${action} ${key_name}`,
      problem && `${key_name ?? action}: ${problem.message.replace(/^key_name: /, '').replace(/\.$/, '')}`,
    );
  }
  return ({ action, key_name, enabled }) => (enabled ? problems.get(`${action} ${key_name}`) : undefined);
}

function asProblem(error: unknown): Refusal {
  if (error instanceof Refusal && error.type === 'validation_error') return error;
  throw error;
}
