import { countDenial } from '#server/domain/policies/denials.ts';
import type { Capability } from '#server/kernel/capabilities.ts';
import type { Call } from './call.ts';
import { type Refused, refused } from './refusal.ts';

/** The refusal of a call that a tenant policy denies, worded as the Management API words it (interface rule 24 §6). Counts the denial. */
export function deniedByPolicy(call: Call, { id, name }: { id: string; name: string }, capability: Capability): Refused {
  const { caller } = call.credential;
  countDenial({
    tenant_id: call.snapshot.tenant.id,
    sandbox: call.snapshot.sandbox,
    policy_id: id,
    capability,
    actor_type: caller?.kind ?? 'client',
    actor_id: caller?.ref ?? call.client?.client.id ?? '',
    actor_label: caller?.label ?? call.client?.client.name ?? 'no credential',
    request_id: call.requestId,
  });
  return refused('forbidden', `denied by tenant policy ${name}`);
}
