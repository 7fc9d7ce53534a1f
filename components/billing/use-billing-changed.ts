'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { notifyDone } from '#components/ui/toaster.tsx';

/** After a change of the subscription: limits, pages and the banner of the frame follow it. */
export function useBillingChanged(): (told: string) => void {
  const cache = useQueryClient();
  const router = useRouter();
  return (told) => {
    void cache.invalidateQueries();
    router.refresh();
    notifyDone(told);
  };
}
