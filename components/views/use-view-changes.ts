'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { families } from '#components/families.ts';
import { forbiddenTo, requiredFor } from '#components/roles/forbidden-reason.ts';
import { notifyRefused } from '#components/trpc/notify-refused.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import type { View } from './use-views.ts';

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

const pages = families.flatMap((family) => family.pages);

/** Why this person may not share a view of a page; undefined when they may. */
export function useShareReason(page: string): string | undefined {
  const { role } = useScope();
  const share = pages.find(({ savedViews }) => savedViews?.name === page)?.savedViews?.share;
  return share && forbiddenTo(role, share) ? `Sharing requires ${requiredFor(share)}.` : undefined;
}
