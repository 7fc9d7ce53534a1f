'use client';

import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { QueryError } from '#components/trpc/query-error.tsx';
import { Button } from '#components/ui/button.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { SectionCard } from '#components/ui/layout.tsx';
import { Select } from '#components/ui/select.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import type { Detail } from './key-labels.ts';

/** The public half of a version, to copy and to save. */
export function PublicKeyCard({ crypto }: { crypto: Detail }) {
  const trpc = useTRPC();
  const [chosen, setChosen] = useState<string>();
  const live = crypto.versions.filter(({ status }) => status !== 'destroyed');
  const version = Number(chosen ?? crypto.current_version);
  const query = useQuery(trpc.cryptoKeys.public_key.queryOptions({ name: crypto.id, version }));
  const save = (pem: string) => {
    const url = URL.createObjectURL(new Blob([pem], { type: 'application/x-pem-file' }));
    Object.assign(document.createElement('a'), { href: url, download: `${crypto.name.replace(/[^\w.-]+/g, '-')}-v${version}.pem` }).click();
    URL.revokeObjectURL(url);
  };
  return (
    <SectionCard
      title="Public key"
      description={`Safe to share. It ${crypto.key_type === 'ecdh-p256' ? 'seals values that only this service opens' : 'verifies what this key signs'}.`}
      actions={
        <>
          {live.length > 1 && (
            <Select
              size="sm"
              label="Version"
              className="w-32"
              value={String(version)}
              onValueChange={setChosen}
              options={live.map((one) => ({ value: String(one.version), label: `Version ${one.version}` }))}
            />
          )}
          <Button
            size="sm"
            icon={<Download />}
            disabledReason={query.data ? undefined : 'Loading…'}
            onClick={() => query.data && save(query.data.pem)}
          >
            Download
          </Button>
        </>
      }
    >
      {query.isError ? (
        <QueryError query={query} what="Public key" />
      ) : query.data ? (
        <CodeBlock
          snippets={[
            { id: 'pem', label: 'PEM', language: 'text', code: query.data.pem.trim() },
            { id: 'jwk', label: 'JWK', language: 'json', code: JSON.stringify(query.data.jwk, null, 2) },
          ]}
        />
      ) : (
        <Skeleton lines={4} label="Loading public key" />
      )}
    </SectionCard>
  );
}
