'use client';

import { useQuery } from '@tanstack/react-query';
import { CircleAlert, CircleCheck, Info } from 'lucide-react';
import { useTRPC, useTRPCClient } from '#components/trpc/provider.tsx';
import { cn } from '#components/ui/cn.ts';
import { Spinner } from '#components/ui/spinner.tsx';
import { useSettledText } from '#components/ui/use-settled.ts';
import { hostOf } from './host.ts';
import { describeProbe, type Tone } from './probe-text.ts';

const PAUSE_MS = 700;

/** What stands at an upstream URL while it is typed: whether calls would get there, and what answers. It says, and hinders nobody from saving. */
export function TargetProbe({ url }: { url: string }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const settled = useSettledText(url.trim(), PAUSE_MS);
  const wanted = /^https?:\/\/[^/\s]+\.?[^/\s]/i.test(settled);
  const probe = useQuery({
    queryKey: [...trpc.routes.probe.mutationKey(), settled],
    queryFn: () => client.routes.probe.mutate({ target_base_url: settled }),
    enabled: wanted,
    staleTime: 60_000,
    retry: false,
    refetchOnWindowFocus: false,
  });
  const told = wanted && probe.data ? describeProbe(probe.data, hostOf(settled).split('/')[0] ?? '') : undefined;
  const Icon = told && { good: CircleCheck, bad: CircleAlert, plain: Info }[told.tone];
  return (
    <p role="status" className="-mt-3 flex min-h-5 items-start gap-1.5 text-xs empty:hidden">
      {wanted && probe.isFetching && (
        <>
          <Spinner label="" className="mt-0.5 size-3 text-ink-3" /> <span className="text-ink-3">Checking…</span>
        </>
      )}
      {told && Icon && !probe.isFetching && (
        <>
          <Icon aria-hidden className={cn('mt-0.5 size-3.5 shrink-0', INK[told.tone])} />
          <span className={cn('min-w-0 [overflow-wrap:anywhere]', INK[told.tone])}>{told.text}</span>
        </>
      )}
    </p>
  );
}

const INK: Record<Tone, string> = { good: 'text-good-ink', bad: 'text-warn-ink', plain: 'text-ink-3' };
