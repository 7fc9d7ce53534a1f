'use client';

import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useScope, useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import type { Item, Plan } from './plan-text.ts';

export type Picks = 'all' | { type: Item['type']; id: string }[];
type Asked = { items: Picks; keep_target_urls: boolean };

/** Promotes out of Test and copies out of Live: what moves is always what the open space has. */
function useMove() {
  const client = useTRPCClient();
  const { space } = useScope();
  return (input: Asked & { dry_run: boolean; fingerprint?: string }): Promise<Plan> =>
    (space === 'test' ? client.sandbox.promote : client.sandbox.clone).mutate(input);
}

/** What would become of these; asked anew whenever the page is looked at again. */
export function usePlan(asked: Asked, enabled = true) {
  const move = useMove();
  const { space } = useScope();
  return useQuery({
    queryKey: ['sandbox-plan', space, asked],
    queryFn: () => move({ ...asked, dry_run: true }),
    placeholderData: keepPreviousData,
    staleTime: 0,
    enabled,
    retry: false,
  });
}

/** Does what a plan says, if it is still true. */
export function useCarryOut(onDone: (plan: Plan) => void) {
  const trpc = useTRPC();
  const move = useMove();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: ({ plan, ...asked }: Asked & { plan: Plan }) => move({ ...asked, dry_run: false, fingerprint: plan.fingerprint }),
    onSuccess: (done) => {
      onDone(done);
      void cache.invalidateQueries({ queryKey: ['sandbox-plan'] });
      void cache.invalidateQueries(trpc.auditLogs.pathFilter());
    },
  });
}

/** The plan as it is now, when what was looked at is no longer true. */
export function planIn(error: unknown): Plan | undefined {
  const data = (error as { data?: { code?: string; current?: Plan } | null } | null)?.data;
  return data?.code === 'conflict' ? data.current : undefined;
}
