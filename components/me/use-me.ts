'use client';

import { useQuery } from '@tanstack/react-query';
import type { z } from 'zod';
import type { Me } from '#server/domain/people/schema.ts';
import { usePersonCall } from './person-calls.ts';

export type Person = z.output<typeof Me>;
export const ME = ['me'] as const;

/** The signed-in person, their factors and their workspaces. */
export const useMe = () => {
  const call = usePersonCall();
  return useQuery({ queryKey: ME, queryFn: () => call<Person>('GET', '/auth/me') });
};
