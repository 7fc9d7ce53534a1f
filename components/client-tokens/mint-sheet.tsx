'use client';

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { revealSnippet, tokenSnippet } from '#components/encryption/snippets.ts';
import { listOf } from '#components/secrets/secret-text.ts';
import { ApiCode } from '#components/shell/api-code.tsx';
import { useScope, useTRPC } from '#components/trpc/provider.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { CodeBlock } from '#components/ui/code-block.tsx';
import { Field } from '#components/ui/field.tsx';
import { Input, Textarea } from '#components/ui/input.tsx';
import { Sheet } from '#components/ui/sheet.tsx';
import { Skeleton } from '#components/ui/skeleton.tsx';
import { Segmented } from '#components/ui/tabs.tsx';
import { ACTION_LABELS } from './labels.ts';

type Action = keyof typeof ACTION_LABELS;
type Draft = { action: Action; vault: string; origins: string; data: string; role: string; ttl: string };

const EMPTY: Draft = { action: 'tokenize', vault: 'cards', origins: '', data: '', role: '', ttl: '300' };
const EXPLAINED: Readonly<Record<Action, string>> = {
  tokenize: 'The page puts one value into the vault.',
  detokenize: 'The page sees the value of one vault token.',
  decrypt: 'The page sees one sealed value.',
};

/** Writes the code that mints a client token, and the code that spends it. Nothing is minted: the right to open values is never a person's. */
export function MintSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const { slug, space } = useScope();
  const [draft, setDraft] = useState(EMPTY);
  const elements = useQuery(trpc.elements.get.queryOptions({}, { enabled: open }));
  const set = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const sample = space === 'test' ? 'http://localhost:5173' : 'https://shop.example.com';
  return (
    <Sheet open={open} onOpenChange={(next) => next || onClose()} title="Mint client tokens" size="lg" resizable>
      <div className="flex flex-col gap-5">
        <Callout title="Your backend mints, your page spends">
          Fill this in to get the code. Nothing is minted here: only API keys may mint, since a client token opens values.
        </Callout>
        <div className="flex flex-col gap-4">
          <Field label="The page may" group hint={EXPLAINED[draft.action]}>
            <Segmented
              label="The page may"
              value={draft.action}
              onValueChange={(action) => set({ action })}
              options={(Object.keys(ACTION_LABELS) as Action[]).map((value) => ({ value, label: ACTION_LABELS[value] }))}
            />
          </Field>
          {draft.action === 'tokenize' ? (
            <>
              <Field label="Vault" className="max-w-sm">
                <Input mono value={draft.vault} maxLength={128} onChange={(event) => set({ vault: event.target.value })} />
              </Field>
              <Field label="Page origins" hint="One to ten, one per line. The token works on these pages only." className="max-w-sm">
                <Textarea
                  mono
                  rows={2}
                  value={draft.origins}
                  placeholder={sample}
                  onChange={(event) => set({ origins: event.target.value })}
                />
              </Field>
            </>
          ) : (
            <Field
              label={draft.action === 'decrypt' ? 'Sealed value' : 'Vault token'}
              hint="The token opens this very text and nothing else. Leave empty for a placeholder."
            >
              <Input
                mono
                value={draft.data}
                placeholder={PLACEHOLDERS[draft.action]}
                onChange={(event) => set({ data: event.target.value })}
              />
            </Field>
          )}
          <div className="grid gap-4 sm:grid-cols-2">
            <Field label="Valid for" hint="Seconds, at most 600.">
              <Input type="number" min={1} max={600} value={draft.ttl} onChange={(event) => set({ ttl: event.target.value })} />
            </Field>
            {draft.action === 'decrypt' && (
              <Field label="Role" optional hint="The role that the value is sealed with.">
                <Input mono value={draft.role} maxLength={63} onChange={(event) => set({ role: event.target.value })} />
              </Field>
            )}
          </div>
        </div>
        <section className="flex flex-col gap-2">
          <h3 className="font-medium">In your backend</h3>
          <div className="overflow-hidden rounded-lg border border-line-strong">
            <ApiCode method="POST" path="/client-tokens" body={bodyOf(draft, sample)} />
          </div>
        </section>
        <section className="flex flex-col gap-2">
          <h3 className="font-medium">In your page</h3>
          {elements.data ? (
            <CodeBlock
              wrap
              snippets={[draft.action === 'tokenize' ? tokenSnippet(elements.data, slug) : revealSnippet(elements.data, slug)]}
            />
          ) : (
            <Skeleton lines={5} label="Loading the snippet" />
          )}
        </section>
      </div>
    </Sheet>
  );
}

const PLACEHOLDERS = { decrypt: 'kc:1:s:…:$', detokenize: 'tok_01JD8Z3T9V6Q2M4N8K7H5R1C0B' };

function bodyOf({ action, vault, origins, data, role, ttl }: Draft, sample: string): object {
  const named = listOf(origins);
  return {
    action,
    ...(action === 'tokenize'
      ? { vault: vault.trim() || 'cards', origins: named.length > 0 ? named : [sample] }
      : { data: data.trim() || PLACEHOLDERS[action] }),
    ...(action === 'decrypt' && role.trim() && { role: role.trim() }),
    ...(/^[1-9]\d*$/.test(ttl) && ttl !== '300' && { ttl_seconds: Math.min(Number(ttl), 600) }),
  };
}
