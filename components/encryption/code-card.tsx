'use client';

import { useQuery } from '@tanstack/react-query';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { sealingSnippets } from './snippets.ts';

/** How to seal elsewhere, with the integrity hash of the library as it is served. */
export function CodeCard() {
  const trpc = useTRPC();
  const { api_url } = useScope();
  const elements = useQuery(trpc.elements.get.queryOptions({}));
  const bundle = useQuery(trpc.encryption.bundle.queryOptions({}));
  return (
    <SectionCard title="In your code" description="The browser library needs no credential. The API takes a key with transit:encrypt.">
      {elements.data && bundle.data ? (
        <div className="flex flex-col gap-3">
          <CodeBlock wrap snippets={sealingSnippets(elements.data, api_url, bundle.data)} />
          <p className="text-ink-3 text-xs">
            Integrity of the library <CopyText value={elements.data.integrity} label="integrity hash" />
          </p>
        </div>
      ) : (
        <Skeleton lines={6} label="Loading the snippets" />
      )}
    </SectionCard>
  );
}
