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
import { addressings, type CallSnippet, type RoutedCall } from './addressing.ts';
import { cliCall } from './cli-call.ts';

const writer = onDemand(() => import('./call-snippets.ts').then((module) => module.callSnippets));

export type RouteSnippetsProps = {
  reference: string;
  /** Named in the call; absent, the route's base environment answers. */
  environment?: string | undefined;
  /** The call to show; a GET of `/` when there is none. */
  call?: RoutedCall | undefined;
};

/** The call of a route in each language, addressed by path or by header. */
export function RouteSnippets({ reference, environment, call }: RouteSnippetsProps) {
  const { proxy_url } = useScope();
  const path = usePath();
  const [form, setForm] = useState<'byPath' | 'byHeader'>('byPath');
  const calls = addressings({ proxyUrl: proxy_url, reference, environment, call });
  const write = writer.use(false) ?? curlFirst;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: coming near only loads what may be pressed next.
    <div className="flex flex-col gap-2" onPointerEnter={writer.fetch} onFocus={writer.fetch}>
      <Segmented
        label="Route addressing"
        size="sm"
        options={[
          { value: 'byPath', label: 'Path' },
          { value: 'byHeader', label: 'Header' },
        ]}
        value={form}
        onValueChange={setForm}
      />
      <CodeBlock snippets={[...write(calls[form]), ...cliCall(reference, environment, call)]} />
      <p className="text-ink-3 text-xs">
        Replace YOUR_KEY with an{' '}
        <Link href={path('/api-keys')} className={textLink}>
          API key
        </Link>
        . The path after the slug is appended to the upstream URL.
      </p>
    </div>
  );
}

/** Before the other languages are there, curl alone is written. */
function curlFirst(call: CallSnippet): readonly [Snippet, ...Snippet[]] {
  const [curl, ...others] = LANGUAGES;
  return [{ ...curl, code: curlOf({ method: 'GET', ...call }) }, ...others.map((one) => ({ ...one, code: '' }))];
}
