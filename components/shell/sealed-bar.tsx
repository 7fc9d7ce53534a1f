'use client';

import { useQuery } from '@tanstack/react-query';
import { Lock } from 'lucide-react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { Link } from '#components/ui/link.tsx';
import { useHydrated } from '#components/ui/use-hydrated.ts';

const ASK_MS = 10_000;

const WORDS: Record<string, string> = {
  access_denied: 'Its KMS refuses the key.',
  unreachable: 'Its KMS can’t be reached.',
  key_revoked: 'The key version in use was revoked for good.',
};

type Seal = { reason: string | null; error: string | null };

/** Stands over every page while the workspace's own KMS doesn't give its key, and goes by itself when it does again (interface rule 31 §9). */
export function SealedBar({ slug, initial }: { slug: string; initial: Seal }) {
  // Drawn on the server, the query would be there before the page brings its data, and the page would be drawn without it.
  return useHydrated() ? <LiveBar slug={slug} initial={initial} /> : <Bar slug={slug} {...initial} />;
}

function LiveBar({ slug, initial }: { slug: string; initial: Seal }) {
  const trpc = useTRPC();
  const { data } = useQuery({ ...trpc.tenantKeys.state.queryOptions({}), refetchInterval: ASK_MS });
  return <Bar slug={slug} {...(data ? { reason: data.sealed_reason, error: data.last_error } : initial)} />;
}

function Bar({ slug, reason, error }: Seal & { slug: string }) {
  return (
    <div role="status">
      {reason && (
        <p className="flex flex-wrap items-start justify-center gap-x-2 border-bad-line border-b bg-bad-soft px-4 py-1.5 text-center text-bad-ink text-xs">
          <span className="inline-flex items-center gap-2 font-medium">
            <Lock aria-hidden className="size-3.5 shrink-0" /> This workspace is sealed.
          </span>
          <span>
            {WORDS[reason] ?? 'Its key is unavailable.'} Calls that need a secret are refused.
            {error && reason !== 'key_revoked' && <span className="[overflow-wrap:anywhere]"> Last error: {error}.</span>}
          </span>
          <Link className="font-medium underline underline-offset-2" href={`/${slug}/settings/keys`}>
            Open Tenant KMS
          </Link>
        </p>
      )}
    </div>
  );
}
