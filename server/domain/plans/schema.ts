import { ENTERPRISE_FEATURES, PRO_FEATURES } from '#server/kernel/features.ts';
import type { PlanName } from '#server/kernel/plan-limits.ts';

export { LIMITS, type LimitKey, PLANS, type PlanName, planLimit } from '#server/kernel/plan-limits.ts';

export const FEATURES = [...PRO_FEATURES, ...ENTERPRISE_FEATURES] as const;
export type Feature = (typeof FEATURES)[number];
/** Never tried out in Test (interface rule 64 §4). */
export const ENTERPRISE_IDENTITY: ReadonlySet<Feature> = new Set<Feature>(['scim', 'sso', 'byok_kms']);

export const planFeature = (plan: PlanName, feature: Feature): boolean =>
  plan === 'enterprise' || (plan === 'pro' && (PRO_FEATURES as readonly string[]).includes(feature));
