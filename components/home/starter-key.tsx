'use client';

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { z } from 'zod';
import { fetchWithStepUp } from '#components/step-up/with-step-up.ts';
import { usePath, useScope, useTRPC } from '#components/trpc/provider.tsx';
import { MutationError } from '#components/trpc/query-error.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button } from '#components/ui/button.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import type { StarterKeyAnswer } from '#server/domain/signup/schema.ts';

type Taken = z.output<typeof StarterKeyAnswer>;

export type StarterKeyProps = {
  apiKey: string | undefined;
  /** `asked`: the person pressed for it, so their clipboard may be used. */
  onKey: (key: string, asked: boolean) => void;
};

/** Gets a key of this space for the snippet above it. The key is handed to the caller once and kept in memory only. */
export function StarterKey({ apiKey, onKey }: StarterKeyProps) {
  const { slug, csrf, space } = useScope();
  const path = usePath();
  const cache = useQueryClient();
  const trpc = useTRPC();
  const readOnly = useForbidden('api_key:create');
  const [gone, setGone] = useState(false);
  const keys = useQuery(trpc.apiKeys.list.queryOptions({ per_page: 1 }));
  const roles = useQuery(trpc.roles.list.queryOptions({ subject_kind: 'api_key' }));

  // Both answers hold a key that is shown once: neither stays in the cache of mutations.
  const take = useMutation({
    gcTime: 0,
    mutationFn: async (why: 'on visit' | 'asked'): Promise<Taken> => {
      // Nobody pressed anything on a visit, so nobody is asked for anything.
      const send = why === 'asked' ? fetchWithStepUp : fetch;
      const answer = await send('/auth/starter-key', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-csrf-token': csrf },
        body: JSON.stringify({ tenant_id: slug }),
      });
      const body = (await answer.json()) as Taken & { code?: string };
      // The shape of a tRPC error, so that both are shown by the same words.
      if (!answer.ok) throw Object.assign(new Error(body.message), { data: { ...body, status: answer.status } });
      return body;
    },
    onSuccess: (taken, why) => {
      onKey(taken.api_key, why === 'asked');
      return cache.invalidateQueries(trpc.apiKeys.pathFilter());
    },
    onError: (error: Error & { data?: { code?: string } }) => {
      if (error.data?.code === 'conflict') setGone(true);
    },
  });
  const create = useMutation({
    ...trpc.apiKeys.create.mutationOptions({
      onSuccess: (made) => {
        onKey(made.api_key, true);
        return cache.invalidateQueries(trpc.apiKeys.pathFilter());
      },
    }),
    gcTime: 0,
  });
  const invoke = roles.data?.data.find((role) => role.name === 'Key - Invoke');
  // A workspace is given a test key; a live key is only ever made by somebody who asks for it.
  const given = space === 'test' && !gone && (keys.data?.meta.total ?? 0) === 0;

  // The very first visit finds the call filled in: the key of a new workspace is made when its page first opens, and never by a reload.
  const asked = useRef(false);
  const { mutate: takeKey } = take;
  useEffect(() => {
    if (asked.current || !keys.data || !given || readOnly) return;
    asked.current = true;
    takeKey('on visit');
  }, [keys.data, given, readOnly, takeKey]);

  if (apiKey) {
    return (
      <p role="status" className="text-ink-2">
        Your {space} key is in the command above. It’s shown only once: copy it before you leave or reload the page. Manage it in{' '}
        <Link href={path('/api-keys')} className={textLink}>
          API keys
        </Link>
        .
      </p>
    );
  }
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        {given ? (
          <Button
            variant="primary"
            size="lg"
            icon={<KeyRound />}
            loading={take.isPending || keys.isPending}
            disabledReason={readOnly}
            onClick={() => take.mutate('asked')}
          >
            Add my test key
          </Button>
        ) : (
          <Button
            variant="primary"
            icon={<KeyRound />}
            loading={create.isPending || roles.isPending}
            disabledReason={readOnly}
            onClick={() =>
              create.mutate({ name: `First call ${new Date().toISOString().slice(0, 16)}`, ...(invoke ? { role_ids: [invoke.id] } : {}) })
            }
          >
            Create {space} key
          </Button>
        )}
        <p className="min-w-0 flex-1 basis-64 text-ink-2">
          {given
            ? 'Creates a key that is shown once and works in Test only.'
            : space === 'test'
              ? 'Keys are shown only once. Create a new one that can only call routes.'
              : 'Creates a key that can only call live routes, shows it once, and adds it to the command above.'}
        </p>
      </div>
      {!gone && <MutationError error={take.error} />}
      <MutationError error={create.error} />
    </div>
  );
}
