'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { capital } from '#components/ui/capital.ts';
import type { View, ViewPage } from './use-views.ts';

/** What can be done with the views of a page that are kept, and by whom. */
export function useViewChanges() {
  const trpc = useTRPC();
  const cache = useQueryClient();
  const { role } = useScope();
  const settled = {
    onSuccess: () => cache.invalidateQueries(trpc.views.pathFilter()),
    onError: (error: unknown) => notifyRefused(error),
  };
  return {
    update: useMutation(trpc.views.update.mutationOptions(settled)),
    remove: useMutation(trpc.views.delete.mutationOptions(settled)),
    mayEdit: (view: View) => view.mine || role === 'owner' || role === 'admin',
  };
}

const or = new Intl.ListFormat('en', { type: 'disjunction' });

/** Why this person may not share a view of a page; undefined when they may. */
export function useShareReason(page: ViewPage): string | undefined {
  const { role } = useScope();
  const roles = page === 'audit' ? ['owner', 'admin'] : ['owner', 'admin', 'editor'];
  return roles.includes(role) ? undefined : `Sharing requires the ${or.format(roles.map(capital))} role.`;
}
