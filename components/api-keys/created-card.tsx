'use client';

import { handOver, madeIn } from '#components/trpc/handover.ts';
import { useScope } from '#components/trpc/provider.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { onceOnly, ShownOnce, type ShownOnceProps } from '#components/ui/shown-once.tsx';
import { halvesOf } from './key-labels.ts';

export type NewKey = { name: string; key_id: string; api_key: string; replaced?: boolean };

/** Hands a new key over, wherever its person is by the time it is there. */
export function useKeyHandover(): (key: NewKey) => void {
  const scope = useScope();
  return ({ api_key: value, ...key }) => {
    const made = { ...key, api_url: scope.api_url };
    handOver([{ name: 'api_key', value, person: scope.person, from: madeIn(scope), made }]);
  };
}

type Props = { created: (NewKey & { api_url: string }) | undefined; from: string; onGone: ShownOnceProps['onGone'] };

/** The only time a key is shown: the key, a line that uses it, and its two halves. Nothing keeps it afterwards. */
export function CreatedCard({ created, from, onGone }: Props) {
  return (
    <ShownOnce
      value={created?.api_key}
      title={created?.replaced ? 'Your new key' : 'Your API key'}
      label="API key"
      description={`${from} ${onceOnly('API key')}`}
      filename={`${(created?.name ?? 'key').replace(/[^\w.-]+/g, '-')}.txt`}
      onGone={onGone}
    >
      {created && (
        <>
          <CodeBlock
            title="Try it"
            snippets={[
              {
                id: 'curl',
                label: 'cURL',
                language: 'bash',
                code: `export SALLYPORT_KEY=${created.api_key}\ncurl ${created.api_url}/account -H "Authorization: Bearer $SALLYPORT_KEY"`,
              },
            ]}
          />
          <details className="rounded-lg border border-line-strong bg-subtle px-3 py-2 text-xs">
            <summary className="cursor-pointer text-ink-2">Client ID and client secret</summary>
            <dl className="mt-2 grid grid-cols-[7rem_minmax(0,1fr)] gap-y-1">
              <dt className="py-1 text-ink-3">client_id</dt>
              <dd className="min-w-0">
                <CopyText value={created.key_id} label="client ID" />
              </dd>
              <dt className="py-1 text-ink-3">client_secret</dt>
              <dd className="min-w-0">
                <CopyText value={halvesOf(created.api_key, created.key_id).client_secret} label="client secret" display="••••••••••••" />
              </dd>
            </dl>
          </details>
        </>
      )}
    </ShownOnce>
  );
}
