'use client';

import { useState } from 'react';
import { useScope } from '#components/trpc/provider.tsx';
import { useForbidden } from '#components/trpc/role.ts';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { lazyOverlay, whenOpen } from '#components/ui/lazy.tsx';
import { BindingList } from './binding-list.tsx';
import type { BindingRow, TrustingClient } from './binding-row.ts';
import { ciSnippets } from './ci-snippets.ts';
import { TokenTest } from './token-test.tsx';

const BindingSheet = lazyOverlay(() => import('./binding-sheet.tsx').then((module) => module.BindingSheet), whenOpen);

/** Whose workloads may exchange their tokens for those of a client: the bindings, a dry run, and what a pipeline has to do. */
export function TrustBindingsTab({ client }: { client: TrustingClient }) {
  const { api_url, slug } = useScope();
  const readOnly = useForbidden('oauth_client:update');
  const [editing, setEditing] = useState<BindingRow | 'new'>();
  const forbidden = readOnly ?? (client.revoked_at === null ? undefined : 'The client is revoked.');
  return (
    <div className="flex flex-col gap-6">
      <BindingList client={client} forbidden={forbidden} onEdit={setEditing} />
      {!readOnly && <TokenTest client={client} />}
      <SectionCard title="In your pipeline" description="Get a token from your platform and exchange it. Nothing has to be stored.">
        <CodeBlock snippets={ciSnippets({ authUrl: api_url.replace(/\/v1$/, ''), slug, audience: `service:api:${slug}` })} />
      </SectionCard>
      <BindingSheet
        open={editing !== undefined}
        client={client}
        binding={editing === 'new' ? undefined : editing}
        onClose={() => setEditing(undefined)}
      />
    </div>
  );
}
