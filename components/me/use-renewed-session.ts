'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useScope, useTakeCsrf } from '#components/trpc/provider.tsx';
import { usePersonCall } from './person-calls.ts';
import { ME, type Person } from './use-me.ts';

/** For after a change that gave this session a new token: reads the person again, and the next call of the page carries the new token. */
export function useRenewedSession(): () => Promise<void> {
  const call = usePersonCall();
  const queryClient = useQueryClient();
  const { person } = useScope();
  const take = useTakeCsrf();
  return async () => {
    const { user, csrf_token } = await queryClient.fetchQuery({
      queryKey: ME,
      queryFn: () => call<Person>('GET', '/auth/me'),
      staleTime: 0,
    });
    if (user.id === person) take(csrf_token);
  };
}
