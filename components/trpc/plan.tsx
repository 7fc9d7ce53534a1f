'use client';

import { useQuery } from '@tanstack/react-query';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import type { RefusalView } from '#components/ui/refusal.ts';
import type { Feature, LimitKey } from '#server/domain/plans/schema.ts';
import { useScope, useTRPC } from './provider.tsx';

/** Limits and features of the workspace as the server applies them in this space (interface rule 20 §3.6). */
export function usePlan() {
  const trpc = useTRPC();
  return useQuery({ ...trpc.account.plan.queryOptions({}), staleTime: 60_000 });
}

/** "8 of 50 routes" for a list's title; undefined until it is known. */
export function useLimit(key: LimitKey, noun: string): { used: number; limit: number | null; noun: string } | undefined {
  const plan = usePlan();
  const row = plan.data?.limits.find((limit) => limit.key === key);
  const used = row?.used ?? 0;
  return row && { used, limit: row.limit, noun: used === 1 && row.limit === null ? noun.replace(/s$/, '') : noun };
}

/** Why a feature cannot be used here, for disabled controls; undefined when it can, or while that is not known. */
export function useFeatureReason(feature: Feature): string | undefined {
  const plan = usePlan();
  const row = plan.data?.features.find((one) => one.key === feature);
  if (!row || row.usable_here) return undefined;
  return `The ${plan.data?.plan ?? 'current'} plan doesn’t include this. Compare plans in Settings > Usage.`;
}

/** Whether it is the plan that refused. */
export const isPlanRefusal = (refusal: Pick<RefusalView, 'type'> | undefined): boolean =>
  refusal?.type === 'plan_limit' || refusal?.type === 'plan_feature' || refusal?.type === 'scim_plan_required';

/** A refusal that the plan caused: what the limit is and where it can be raised. Nothing is lost; the form stays as it is. */
export function PlanPanel({ refusal }: { refusal: RefusalView }) {
  const { slug } = useScope();
  return (
    <Callout
      tone="warn"
      title={refusal.type === 'plan_limit' ? 'Plan limit reached' : 'Not included in your plan'}
      requestId={refusal.request_id}
      actions={
        <LinkButton size="sm" href={`/${slug}/settings/usage`}>
          View plan and usage
        </LinkButton>
      }
    >
      {refusal.message}
    </Callout>
  );
}
