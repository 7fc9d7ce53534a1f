'use client';

import Link from 'next/link';
import { useState } from 'react';
import { usePath, useScope } from '#components/trpc/provider.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { addressings, callSnippets } from './call-snippets.ts';

export type CallThisProps = {
  reference: string;
  /** Named in the call; absent, the route's base environment answers. */
  environment?: string | undefined;
  /** A path to try behind the route; `/` when there is none. */
  path?: string | undefined;
};

/** The call of a route in four languages, addressed by path or by header. */
export function CallThis({ reference, environment, path: sample = '/' }: CallThisProps) {
  const { proxy_url } = useScope();
  const path = usePath();
  const [form, setForm] = useState<'byPath' | 'byHeader'>('byPath');
  const call = addressings({ proxyUrl: proxy_url, reference, environment, path: sample.startsWith('/') ? sample : `/${sample}` });
  return (
    <div className="flex flex-col gap-2">
      <Segmented
        label="How the route is addressed"
        size="sm"
        options={[
          { value: 'byPath', label: 'In the path' },
          { value: 'byHeader', label: 'In a header' },
        ]}
        value={form}
        onValueChange={setForm}
      />
      <CodeBlock snippets={callSnippets(call[form])} />
      <p className="text-ink-3 text-xs">
        Put a key from{' '}
        <Link href={path('/api-keys')} className={textLink}>
          API keys
        </Link>{' '}
        in place of YOUR_KEY. What follows the route’s name is added to the upstream URL.
      </p>
    </div>
  );
}
