'use client';

import { Terminal } from 'lucide-react';
import { useScope } from '#components/trpc/provider.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { codeOf } from './call-code.ts';

export type ApiEquivalentProps = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the API's base, e.g. `/routes`. */
  path: string;
  body?: object;
};

/** "Do this with the API": the exact call a form makes, as a program of six languages. The key stays in the environment; for a secret the form gives a mark. */
export function ApiEquivalent({ method, path, body }: ApiEquivalentProps) {
  const { api_url } = useScope();
  const snippets = codeOf({ method, url: `${api_url}${path}`, headers: { Authorization: 'Bearer $SALLYPORT_KEY' }, body });
  return (
    <details className="group/api rounded-lg border border-line-strong bg-subtle">
      <summary className="flex h-9 cursor-pointer select-none items-center gap-2 rounded-lg px-3 text-ink-2 text-xs hover:text-ink">
        <Terminal aria-hidden className="size-3.5 shrink-0" /> <span className="shrink-0">API equivalent</span>
        <span className="ml-auto truncate font-mono text-ink-3">
          {method} {path}
        </span>
      </summary>
      <CodeBlock snippets={snippets} className="rounded-t-none border-0 border-line-strong border-t" />
    </details>
  );
}
