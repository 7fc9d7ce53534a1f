'use client';

import { GitCompareArrows, RotateCcw, Rows3 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { curlOf } from '#components/shell/curl.ts';
import { usePath, useScope } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { Button, LinkButton } from '#components/ui/button.tsx';
import { CopyButton, useCopy } from '#components/ui/copy.tsx';
import { useHotkeys } from '#components/ui/hotkeys.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Detail } from './trace.ts';

/** Marked calls of the list that a panel stands beside; absent where nothing can be compared. */
export type Marks = { ids: readonly string[]; toggle: (requestId: string) => void };

/** What can be done with one call: again in a shell, again in the tester, beside another, among its neighbours. */
export function InspectorActions({ detail, marks }: { detail: Detail; marks?: Marks | undefined }) {
  const { log } = detail;
  const path = usePath();
  const router = useRouter();
  const readOnly = useForbidden('route:test');
  const curl = useCurl(detail);
  const [, copy] = useCopy();
  const again = replayHref(detail);
  const noReplay = readOnly ?? (again ? undefined : detail.log.route_id ? 'The route was deleted.' : 'The call matched no route.');
  const marked = marks?.ids.includes(log.request_id) ?? false;
  useHotkeys([
    {
      keys: 'c',
      label: 'Copy call as cURL',
      group: 'Call',
      run: () => curl && void copy(curl).then(() => notifyDone('Copied as cURL')),
    },
    { keys: 't', label: 'Retry call', group: 'Call', run: () => again && !noReplay && router.push(path(again)) },
    {
      keys: 'y',
      label: 'Copy link to call',
      group: 'Call',
      run: () => void copy(`${window.location.origin}${path(momentHref(log))}`).then(() => notifyDone('Link copied')),
    },
  ]);
  return (
    <div className="flex flex-wrap gap-2">
      {curl && <CopyButton value={curl} label="as cURL" text="Copy as cURL" />}
      {again && !noReplay ? (
        <LinkButton size="sm" icon={<RotateCcw />} href={path(again)}>
          Retry
        </LinkButton>
      ) : (
        <Button size="sm" icon={<RotateCcw />} disabledReason={noReplay}>
          Retry
        </Button>
      )}
      {marks && (
        <Button size="sm" icon={<GitCompareArrows />} aria-pressed={marked} onClick={() => marks.toggle(log.request_id)}>
          {marked ? 'Selected for comparison' : marks.ids.length === 1 ? 'Compare with selected call' : 'Select to compare'}
        </Button>
      )}
      <LinkButton size="sm" icon={<Rows3 />} href={path(momentHref(log))}>
        Surrounding calls
      </LinkButton>
    </div>
  );
}

const MINUTE = 60_000;

/** The log at the moment of a call, a minute to each side: the same for whoever opens the link, and whenever. */
export function momentHref({ ts, request_id }: Pick<Detail['log'], 'ts' | 'request_id'>): string {
  const minute = Math.floor(Date.parse(ts) / MINUTE) * MINUTE;
  const at = (shift: number) => new Date(minute + shift * MINUTE).toISOString();
  return `/logs?${new URLSearchParams({ from: at(-1), to: at(2), peek: request_id }).toString()}`;
}

/** The tester of the call's route, filled in from the call; only the request id travels. */
function replayHref({ log, route }: Detail): string | undefined {
  if (!route) return undefined;
  const query = { tab: 'test', call: log.request_id, ...(log.environment ? { env: log.environment } : {}) };
  return `/routes/${route.id}?${new URLSearchParams(query).toString()}`;
}

/** The same call for a shell: the credential stays a variable, the body is the caller's own. */
function useCurl({ log }: Detail): string | undefined {
  const { proxy_url } = useScope();
  const reference = log.slug ?? log.route_id;
  if (!reference) return undefined;
  const path = log.path?.startsWith('/') ? log.path : `/${log.path ?? ''}`;
  return curlOf({
    method: log.method ?? 'GET',
    url: `${proxy_url}/${reference}${path}`,
    headers: { 'X-Svc-Key': '$SALLYPORT_KEY', ...(log.environment ? { 'X-Svc-Environment': log.environment } : {}) },
  });
}
