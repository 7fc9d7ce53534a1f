'use client';

import { useQuery } from '@tanstack/react-query';
import { ArrowRight, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { nounOf } from '#components/shell/resources.ts';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { Badge } from '#components/ui/badge.tsx';
import { capitalize } from '#components/ui/capitalize.ts';
import { CopyText } from '#components/ui/copy.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input } from '#components/ui/input.tsx';
import { textLink } from '#components/ui/layout.tsx';
import { Link } from '#components/ui/link.tsx';
import { TestChip } from '#components/ui/test-band.tsx';
import { useSettledText } from '#components/ui/use-settled.ts';
import { idText } from './id-text.ts';

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
      <Field label="Resource ID" className="w-full max-w-xl" hint="Any resource ID, or the start of an API key.">
        <Input mono autoFocus value={typed} spellCheck={false} autoComplete="off" onChange={(event) => paste(event.target.value)} />
      </Field>
      <div aria-live="polite" className="flex flex-col gap-2">
        {isCredential && (
          <p className="flex items-start gap-2 text-warn-ink">
            <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
            That looks like a credential, not an ID. It was discarded and never left this page.
          </p>
        )}
        {missing && (
          <p className="text-ink-2">
            {missing.code === 'not_found'
              ? 'No resource found. Check the ID. It may have been deleted, be in another workspace, or be hidden from your role.'
              : missing.message}
          </p>
        )}
        {found && (
          <>
            <p className="flex flex-wrap items-center gap-2">
              <span className="text-ink-2">{capitalize(nounOf(found.kind))}</span>
              {found.space !== null && found.space !== space && (found.space === 'test' ? <TestChip /> : <Badge tone="good">Live</Badge>)}
            </p>
            <Link href={found.url} className={`${textLink} inline-flex w-fit max-w-full items-center gap-1.5 font-medium`}>
              <span className="truncate">{found.title}</span>
              <ArrowRight aria-hidden className="size-3.5 shrink-0" />
            </Link>
            {found.subtitle && found.subtitle !== found.id && <p className="truncate text-ink-3 text-xs">{found.subtitle}</p>}
            <CopyText value={found.id} label="ID" />
          </>
        )}
      </div>
    </div>
  );
}
