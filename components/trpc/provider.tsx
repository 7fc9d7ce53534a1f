'use client';

import { QueryClientProvider } from '@tanstack/react-query';
import { createTRPCClient, httpBatchLink, httpLink, splitLink } from '@trpc/client';
import { createTRPCContext } from '@trpc/tanstack-react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { headersOf, stepUpLink } from '#components/step-up/step-up-link.ts';
import { InTestContext } from '#components/ui/environment-label.ts';
import type { Space } from '#components/ui/test-band.tsx';
import type { SecretFields } from '#server/domain/explorer/masking.shared.ts';
import type { AppRouter } from '#server/trpc/root.ts';
import { fetchExact } from './exact-answers.ts';
import { newQueryClient } from './query-client.ts';
import { rateLimitLink } from './rate-limit-link.ts';
import { recordingLink } from './recording-link.ts';
import { sessionLink } from './session-link.ts';

const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

export { useTRPC, useTRPCClient };

/** The workspace and space every call of this page names, and what its links are made of. Filled from the address, never from a cookie. */
export type Scope = {
  slug: string;
  space: Space;
  csrf: string;
  api_url: string;
  proxy_url: string;
  role: string;
  /** Whether an Editor may reveal values. */
  reveal_secrets: boolean;
  /** The fields that no page may show again. */
  secret_fields: SecretFields;
  /** Whose session it is: the id of the person. */
  person: string;
  /** Whether they have proved their address; null where no mail leaves, so that nobody can. */
  email_verified: boolean | null;
};

const ScopeContext = createContext<Scope | null>(null);

/** The scope of the page. @throws outside `DashboardData` */
export function useScope(): Scope {
  const scope = useContext(ScopeContext);
  if (!scope) throw new Error('useScope stands outside DashboardData');
  return scope;
}

/** The same on pages that may stand outside, such as those of signing in. */
export const useScopeIfAny = (): Scope | null => useContext(ScopeContext);

const CsrfContext = createContext<(csrf: string) => void>(() => {});

/** Goes on in this page with a session that its person began in another tab, or that got a new token: later calls carry the CSRF token of that one. */
export const useTakeCsrf = (): ((csrf: string) => void) => useContext(CsrfContext);

/** `/acme/test/routes` from `/routes`. */
export function usePath(): (path: string) => string {
  const { slug, space } = useScope();
  return (path) => `/${slug}/${space}${path}`;
}

/**
 * Data access of the dashboard. One query cache and one client per workspace and space: an answer of one partition can never be shown in the other.
 * Give it `key={slug + space}` so that a switch starts fresh.
 */
export function DashboardData({ scope, children }: { scope: Scope; children: ReactNode }) {
  const [queryClient] = useState(newQueryClient);
  const [taken, setTaken] = useState<{ after: string; csrf: string }>();
  // What the server has said since counts again.
  const csrf = taken?.after === scope.csrf ? taken.csrf : scope.csrf;
  const current = useRef(csrf);
  useEffect(() => {
    current.current = csrf;
  }, [csrf]);
  const inUse = useMemo(() => ({ ...scope, csrf }), [scope, csrf]);
  const [client] = useState(() => {
    const url = '/admin/trpc';
    const headers = () => ({ 'x-svc-space': scope.space, 'x-tenant-id': scope.slug, 'x-csrf-token': current.current });
    return createTRPCClient<AppRouter>({
      links: [
        stepUpLink,
        recordingLink(scope),
        sessionLink,
        rateLimitLink,
        splitLink({
          // What one call carries of its own, a verification or a reason, is for that call alone.
          condition: (op) => headersOf(op) !== undefined,
          true: httpLink({ url, fetch: fetchExact, headers: ({ op }) => ({ ...headers(), ...headersOf(op) }) }),
          false: httpBatchLink({ url, fetch: fetchExact, headers, maxURLLength: 4_000, maxItems: 50 }), // more are refused (server/trpc/handle.ts)
        }),
      ],
    });
  });
  return (
    <ScopeContext.Provider value={inUse}>
      <CsrfContext.Provider value={(csrf) => setTaken({ after: scope.csrf, csrf })}>
        <InTestContext.Provider value={scope.space === 'test'}>
          <QueryClientProvider client={queryClient}>
            <TRPCProvider trpcClient={client} queryClient={queryClient}>
              {children}
            </TRPCProvider>
          </QueryClientProvider>
        </InTestContext.Provider>
      </CsrfContext.Provider>
    </ScopeContext.Provider>
  );
}
