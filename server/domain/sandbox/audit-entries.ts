import type { AuditEntry } from '#server/kernel/mutate.ts';
import type { Step } from './plan-builder.ts';

/** As the family's own verb tells it, and which promotion did it. */
export const entryFor = (step: Step, run: string, details: Record<string, unknown> = {}): AuditEntry => ({
  action: step.exists ? 'update' : 'create',
  resource_type: step.type,
  resource_id: step.there,
  name: step.name,
  ...(step.exists ? { changes: step.changes.map(({ field, from, to }) => ({ field, from, to })) } : {}),
  details: { ...origin(step, run), ...details },
});

/** Found by `promotion` are all entries of one run, in both spaces. */
export const origin = (step: Pick<Step, 'id'>, run: string) => ({ promotion: run, promoted_from: step.id });
