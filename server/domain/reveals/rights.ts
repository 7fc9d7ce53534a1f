import { settingsOf } from '#server/domain/tenants/schema.ts';
import { type Capability, ROLE_MATRIX } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { MemberCtx } from './spend.ts';

/**
 * What a person lacks to reveal (interface rule 32 §4, steps 3a and 3b): class B needs an Owner or Admin whatever the capability says; of class A an Editor
 * has what the Reveal secrets setting gives.
 */
export function missingRight(
  { role, reveal_secrets }: Pick<MemberCtx['actor'], 'role' | 'reveal_secrets'>,
  { capabilities, of }: { capabilities: readonly Capability[]; of: 'A' | 'B' },
): 'role' | 'tick' | undefined {
  const cells = capabilities.map((capability) => ROLE_MATRIX.get(capability)?.[role] ?? '-');
  const granted = cells.every((cell) => cell === 'y' || cell === 'B' || cell === 't');
  if (!granted || (of === 'B' && role !== 'owner' && role !== 'admin')) return 'role';
  return cells.includes('t') && !reveal_secrets ? 'tick' : undefined;
}

/** Whether the workspace requires X-Reveal-Reason. */
export async function asksForReason(tx: Tx, ctx: Ctx): Promise<boolean> {
  const tenant = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { settings: true } });
  return settingsOf(tenant.settings).require_reveal_reason;
}
