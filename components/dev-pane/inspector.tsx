'use client';

import { useQuery } from '@tanstack/react-query';
import { ArrowRight, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Badge } from '#components/ui/badge.tsx';
import { CopyText } from '#components/ui/copy.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { useSettledText } from '#components/ui/settled.ts';
import { TestChip } from '#components/ui/test-band.tsx';
import type { InspectedKind } from '#server/domain/search/schema.ts';
import { idText } from './id-text.ts';

const kinds: Record<InspectedKind, string> = {
  route: 'A route',
  secret: 'A secret',
  client: 'A client',
  collection: 'A collection',
  environment: 'An environment',
  api_key: 'An API key',
  request: 'A call',
  audit_entry: 'An entry of the audit log',
  client_credential: 'A credential of a client',
  secret_version: 'A version of a secret',
  collection_variable: 'A variable of a collection',
  route_example: 'A saved example of a route',
  workspace: 'This workspace',
};

/** Paste any id: it says what it is and leads there (70 §11). `start` is one that was pressed elsewhere. */
export function Inspector({ start }: { start: string }) {
  const trpc = useTRPC();
  const { space } = useScope();
  const [typed, setTyped] = useState(start);
  const [isCredential, setCredential] = useState(false);
  const settled = useSettledText(isCredential ? '' : typed.trim(), 150);
  const query = useQuery(trpc.search.inspect.queryOptions({ id: settled }, { enabled: settled !== '', retry: false, staleTime: 0 }));
  const paste = (text: string) => {
    const { kept, credential } = idText(text);
    setTyped(kept);
    setCredential(credential);
  };
  const found = settled === '' ? undefined : query.data;
  const missing = settled !== '' && query.error ? refusalOf(query.error) : undefined;
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4 lg:px-5">
      <Field
        label="Any id"
        className="w-full max-w-xl"
        hint="Of a route, secret, client, collection, call, audit entry and whatever else has one; or the beginning of an API key up to its third part."
      >
        <Input mono autoFocus value={typed} spellCheck={false} autoComplete="off" onChange={(event) => paste(event.target.value)} />
      </Field>
      <div aria-live="polite" className="flex flex-col gap-2">
        {isCredential && (
          <p className="flex items-start gap-2 text-warn-ink">
            <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
            That looks like a credential, and not like an id. It was dropped here and never left this page.
          </p>
        )}
        {missing && (
          <p className="text-ink-2">
            {missing.code === 'not_found'
              ? 'Nothing that you can see has this id: it was mistyped or deleted, belongs to another workspace, or your role may not see it.'
              : missing.message}
          </p>
        )}
        {found && (
          <>
            <p className="flex flex-wrap items-center gap-2">
              <span className="text-ink-2">{kinds[found.kind]}</span>
              {found.space !== null && found.space !== space && (found.space === 'test' ? <TestChip /> : <Badge tone="good">Live</Badge>)}
            </p>
            <Link href={found.url} className={`${textLink} inline-flex w-fit max-w-full items-center gap-1.5 font-medium`}>
              <span className="truncate">{found.title}</span>
              <ArrowRight aria-hidden className="size-3.5 shrink-0" />
            </Link>
            {found.subtitle && found.subtitle !== found.id && <p className="truncate text-ink-3 text-xs">{found.subtitle}</p>}
            <CopyText value={found.id} label="id" />
          </>
        )}
      </div>
    </div>
  );
}
