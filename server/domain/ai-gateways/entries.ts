import { Refusal } from '#server/kernel/errors.ts';
import type { AuditEntry } from '#server/kernel/mutate.ts';
import type { AgentRow, GatewayRow } from './store.ts';

export const gatewayEntry = (action: string, row: GatewayRow, details: Record<string, unknown> = {}): AuditEntry => ({
  action,
  resource_type: 'ai_gateway',
  resource_id: row.id,
  name: row.name,
  details: { slug: row.slug, ...details },
});

export const agentEntry = (action: string, row: AgentRow, details: Record<string, unknown> = {}): AuditEntry => ({
  action,
  resource_type: 'ai_agent',
  resource_id: row.id,
  name: row.name,
  details: { slug: row.slug, gateway_id: row.gateway_id, ...details },
});

/** An archived one is kept for its history alone. @throws Refusal conflict */
export function assertNotArchived({ status }: { status: string }, noun: 'gateway' | 'agent'): void {
  if (status === 'archived') throw new Refusal('conflict', `This ${noun} is archived. Create another one: its slug is free again.`);
}
