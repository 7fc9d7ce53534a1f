'use client';

import { useState } from 'react';
import { curlOf } from '#components/shell/curl.ts';
import { LANGUAGES } from '#components/shell/languages.ts';
import { usePath, useScope } from '#components/trpc/provider.tsx';
import { CodeBlock, type Snippet } from '#components/ui/code-block.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { onDemand } from '#components/ui/on-demand.ts';
import { Segmented } from '#components/ui/tabs.tsx';
import { addressings, type CallSnippet } from './addressing.ts';

const writer = onDemand(() => import('./call-snippets.ts').then((module) => module.callSnippets));

export type CallThisProps = {
  reference: string;
  /** Named in the call; absent, the route's base environment answers. */
  environment?: string | undefined;
  /** A path to try behind the route; `/` when there is none. */
  path?: string | undefined;
};

/** The call of a route in each language, addressed by path or by header. */
export function CallThis({ reference, environment, path: sample = '/' }: CallThisProps) {
  const { proxy_url } = useScope();
  const path = usePath();
  const [form, setForm] = useState<'byPath' | 'byHeader'>('byPath');
  const call = addressings({ proxyUrl: proxy_url, reference, environment, path: sample.startsWith('/') ? sample : `/${sample}` });
  const write = writer.use(false) ?? curlFirst;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: whoever comes near does nothing by it; what they may press next is fetched.
    <div className="flex flex-col gap-2" onPointerEnter={writer.fetch} onFocus={writer.fetch}>
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
      <CodeBlock snippets={write(call[form])} />
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

/** Before the other languages are there, curl alone is written. */
function curlFirst(call: CallSnippet): readonly [Snippet, ...Snippet[]] {
  const [curl, ...others] = LANGUAGES;
  return [{ ...curl, code: curlOf({ method: 'GET', ...call }) }, ...others.map((one) => ({ ...one, code: '' }))];
}
