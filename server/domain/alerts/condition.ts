import { invalid } from '#server/kernel/errors.ts';
import { type AlertType, type Condition, DEFAULTS, isOfRequests, membersOf } from './conditions.shared.ts';

type Scope = { route_ids: readonly string[]; environments: readonly string[] };

/** A condition with all members of its type: the given ones, then those of `base`. @throws Refusal validation_error for members of other types */
export function conditionOf(type: AlertType, given: Condition, base: Condition = DEFAULTS[type]): Condition {
  const members = membersOf(type);
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && !members.includes(name as keyof Condition))
      throw invalid(`condition.${name}`, `isn't a member for alerts of type ${type}`);
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const condition: Condition = { ...base, ...set };
  if (type === 'audit_match' && !condition.action_prefix && !condition.resource_type)
    throw invalid('condition.action_prefix', 'is required unless resource_type is given');
  if (condition.include_status_codes) condition.include_status_codes = [...new Set(condition.include_status_codes)].sort((a, b) => a - b);
  return condition;
}

/** @throws Refusal validation_error for a scope of a type that isn't about calls */
export function checkScope(type: AlertType, { route_ids, environments }: Scope): void {
  if (isOfRequests(type)) return;
  if (route_ids.length > 0) throw invalid('route_ids', `must be empty for alerts of type ${type}`);
  if (environments.length > 0) throw invalid('environments', `must be empty for alerts of type ${type}`);
}
