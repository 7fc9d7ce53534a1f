'use client';

import { useScope } from '#components/trpc/provider.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import type { Detail } from './client-labels.ts';
import { usagesOf } from './snippets.ts';

/** How the client gets a token, ready to copy. */
export function UsageCard({ client }: { client: Detail }) {
  const { api_url } = useScope();
  const usages = usagesOf(client, api_url.replace(/\/v1$/, ''));
  if (usages.length === 0) return null;
  return (
    <SectionCard title="Use it">
      <div className="flex flex-col gap-5">
        {usages.map(({ id, title, text, snippets }) => (
          <div key={id} className="flex min-w-0 flex-col gap-2">
            <h3 className="font-medium">{title}</h3>
            <p className="text-ink-2">{text}</p>
            <CodeBlock snippets={snippets} />
          </div>
        ))}
      </div>
    </SectionCard>
  );
}
