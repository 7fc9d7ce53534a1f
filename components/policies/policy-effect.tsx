'use client';

import { useMutation } from '@tanstack/react-query';
import { Eye } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Button } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { counted } from '#components/ui/numbers.ts';
import { Time } from '#components/ui/time.tsx';

const DAYS = 7;

type Draft = {
  name: string;
  actions: string[];
  subjects: { all?: boolean; roles?: string[]; user_ids?: string[]; api_key_ids?: string[]; oauth_client_ids?: string[] };
  resources: string[] | null;
  space: 'live' | 'test' | 'both';
  reason: string | null;
};

/** A dry run: whom and which calls of the last week the policy would stop if it were on. */
export function PolicyEffect({ draft }: { draft: Draft }) {
  const trpc = useTRPC();
  const preview = useMutation(trpc.policies.preview.mutationOptions());
  const [shown, setShown] = useState<string>();
  const text = JSON.stringify(draft);
  const found = shown === text ? preview.data : undefined;
  const run = () => {
    setShown(text);
    preview.mutate({ draft: JSON.parse(text) as never, days: DAYS });
  };
  return (
    <section aria-label="Effect" className="flex flex-col gap-2 rounded-lg border border-line-strong p-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="font-medium text-sm">What it would deny</h3>
        <Button size="sm" icon={<Eye />} loading={preview.isPending} onClick={run}>
          Preview
        </Button>
      </div>
      <div aria-live="polite" className="flex flex-col gap-2 text-sm">
        {shown === text && preview.error && <Callout tone="bad" title={refusalOf(preview.error).message} />}
        {!found && !preview.isPending && !(shown === text && preview.error) && (
          <p className="text-ink-3 text-xs">
            Compares the policy with current people and keys, and with calls of the last {DAYS} days. Saves nothing.
          </p>
        )}
        {found && (
          <>
            {found.locks_out_owners && (
              <Callout tone="bad" title="No Owner could change policies any more">
                This policy can’t be saved.
              </Callout>
            )}
            <Losers
              title={counted(found.people.length, 'person', 'people')}
              rows={found.people.map((one) => ({ id: one.user_id, name: one.name, loses: one.loses }))}
            />
            <Losers title={counted(found.keys.length, 'API key')} rows={found.keys} />
            <p>
              <span className="font-medium">{counted(found.calls.total, 'call')}</span> through routes in the last {DAYS} days
              {found.calls.by_key.length > 0 &&
                `, most by ${found.calls.by_key
                  .slice(0, 3)
                  .map(({ name, calls }) => `${name} (${calls})`)
                  .join(', ')}`}
            </p>
            {found.uses.length > 0 && (
              <ul className="flex flex-col gap-0.5 text-ink-2 text-xs">
                {found.uses.slice(0, 5).map(({ api_key_id, name, capability, last_used_at }) => (
                  <li key={`${api_key_id} ${capability}`}>
                    {name} used <code className="font-mono">{capability}</code> <Time value={last_used_at} />
                  </li>
                ))}
              </ul>
            )}
          </>
        )}
      </div>
    </section>
  );
}

function Losers({ title, rows }: { title: string; rows: readonly { id: string; name: string; loses: readonly string[] }[] }) {
  if (rows.length === 0) return <p className="text-ink-2">{title}</p>;
  return (
    <details>
      <summary className="cursor-pointer">
        <span className="font-medium">{title}</span> would lose something
      </summary>
      <ul className="mt-1 flex flex-col gap-1 pl-4 text-ink-2 text-xs">
        {rows.slice(0, 20).map(({ id, name, loses }) => (
          <li key={id}>
            {name}: <span className="break-words font-mono">{loses.slice(0, 8).join(', ')}</span>
            {loses.length > 8 && ` and ${loses.length - 8} more`}
          </li>
        ))}
        {rows.length > 20 && <li>and {rows.length - 20} more</li>}
      </ul>
    </details>
  );
}
