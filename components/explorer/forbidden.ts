import { forbiddenTo } from '#components/roles/forbidden-reason.ts';
import { type Needs, sufficientSets } from '#server/domain/roles/matrix.shared.ts';

/** Why a person with this role can't make the call; undefined when they can. Of several ways to be allowed, the first one is named. */
export function forbiddenCall(role: string, { needs }: { needs: Needs }): string | undefined {
  const reasons = sufficientSets(needs).map((set) => set.flatMap((capability) => forbiddenTo(role, capability) ?? [])[0]);
  return reasons.includes(undefined) ? undefined : reasons[0];
}
