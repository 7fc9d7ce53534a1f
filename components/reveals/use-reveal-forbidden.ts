import { useScope } from '#components/trpc/provider.tsx';
import type { Capability } from '#server/domain/roles/catalogue.shared.ts';
import { revealForbidden } from './reveal-forbidden.ts';

/** Why this member can't reveal what needs a capability, as far as their role and setting tell; undefined when the server should be asked. */
export function useRevealForbidden(capability: Capability): string | undefined {
  const { role, reveal_secrets } = useScope();
  return revealForbidden(role, reveal_secrets, capability);
}
